package integration

import (
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Every relative link in a document leads to a file, and to a heading of it where it names one.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, d := range documents(t) {
		links := 0
		d.each(func(n ast.Node) {
			link, ok := n.(*ast.Link)
			if !ok {
				return
			}
			target, err := url.Parse(string(link.Destination))
			if err != nil {
				t.Errorf("%s: %v", d.name, err)
				return
			}
			if target.IsAbs() {
				return
			}
			links++
			name := d.name
			if target.Path != "" {
				name = path.Join(path.Dir(d.name), target.Path)
			}
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				t.Errorf("%s links to %s: %v", d.name, link.Destination, errors.Unwrap(err))
			} else if target.Fragment != "" && !slices.Contains(openDocument(t, name).anchors(), target.Fragment) {
				t.Errorf("%s links to %s: no such heading", d.name, link.Destination)
			}
		})
		if d.name == "README.md" && links < 10 {
			t.Errorf("only %d links were found in README.md", links)
		}
	}
}

// Every file and folder that a document names by its path in the repository is there.
func TestPaths(t *testing.T) {
	t.Parallel()
	ours := regexp.MustCompile(
		`^(?:cmd|docs|integration|internal|mesh|native|prompts|resources|testdata|tools|workspace)/[a-z0-9_./-]+$`,
	)
	made := regexp.MustCompile(`^native/(build|lib)\b`) // by make
	found := 0
	for _, d := range documents(t) {
		for _, code := range d.codeSpans() {
			if !ours.MatchString(code) || made.MatchString(code) && !strings.HasSuffix(code, ".sh") {
				continue
			}
			found++
			if _, err := os.Stat(filepath.Join(root, code)); err != nil {
				t.Errorf("%s names %s: %v", d.name, code, errors.Unwrap(err))
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d paths were found", found)
	}
}

// Every make target and every command of the program that a document names exists.
func TestCommands(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	commands := commandsOf(t)
	for _, d := range documents(t) {
		for _, line := range append(d.codeSpans(), d.commandLines()...) {
			words := strings.Fields(line)
			switch {
			case len(words) > 1 && words[0] == "make":
				rule := regexp.MustCompile(`(?m)^([a-z-]+ )*` + regexp.QuoteMeta(words[1]) + `( [a-z-]+)*:([^=]|$)`)
				if !rule.Match(makefile) {
					t.Errorf("%s names make %s, for which the Makefile has no rule", d.name, words[1])
				}
			case len(words) > 1 && words[0] == "yamo-mcp":
				checkCommand(t, d.name, line, commands)
			}
		}
	}
}

// checkCommand checks one command line of the program, "yamo-mcp setup --from DIR".
func checkCommand(t *testing.T, where, line string, commands []string) {
	t.Helper()
	name := regexp.MustCompile(`^yamo-mcp( [a-z][a-z-]*)*`).FindString(line)
	// The last word may be an argument, as in yamo-mcp install claude-code.
	if command := name[:max(strings.LastIndex(name, " "), 0)]; !slices.Contains(commands, name) &&
		slices.Contains([]string{"yamo-mcp install", "yamo-mcp uninstall"}, command) {
		name = command
	}
	if name != "yamo-mcp" && !slices.Contains(commands, name) { // without a command: yamo-mcp --version
		t.Errorf("%s names the command %q; there are %q", where, name, commands)
		return
	}
	help := output(t, append(strings.Fields(name)[1:], "--help")...)
	for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(line, -1) {
		if !strings.Contains(help, " "+flag+" ") {
			t.Errorf("%s: %s has no flag %s", where, name, flag)
		}
	}
}

// ARCHITECTURE's code map has every package and nothing else.
func TestCodeMap(t *testing.T) {
	t.Parallel()
	packages := map[string]bool{}
	walk(t, func(name string) {
		if strings.HasSuffix(name, ".go") {
			packages[path.Dir(name)] = true
		}
	})
	mapped := map[string]bool{}
	for _, row := range openDocument(t, "ARCHITECTURE.md").table("Package") {
		mapped[row[0]] = true
	}
	if diff := cmp.Diff(packages, mapped); diff != "" {
		t.Errorf("the packages (-) and ARCHITECTURE's code map (+) differ:\n%s", diff)
	}
}

// README names the oldest C library that the program and its shared library start with. A library that was built
// from source on this machine may get by with an older one.
func TestRequiredCLibrary(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("glibc is linux's")
	}
	platform := runtime.GOOS + "_" + runtime.GOARCH
	library := filepath.Join(root, "native", "lib", platform, "liblancedb_go.so")
	newest := "0"
	for _, file := range []string{serverBinary(t), library} {
		f, err := elf.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := f.ImportedSymbols()
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		for _, s := range symbols {
			if version, ok := strings.CutPrefix(s.Version, "GLIBC_"); ok && less(newest, version) {
				newest = version
			}
		}
	}
	readme := string(openDocument(t, "README.md").source)
	stated := regexp.MustCompile(`needs glibc (\d+\.\d+) `).FindStringSubmatch(readme)
	if stated == nil {
		t.Fatal("README does not name the glibc that is needed")
	}
	if !strings.Contains(readme, "`GLIBC_"+stated[1]+"' not found`") {
		t.Errorf("README does not name the linker's error for glibc %s", stated[1])
	}
	if committed(t, platform, library) && stated[1] != newest || less(stated[1], newest) {
		t.Errorf("README names glibc %s, and %s is needed", stated[1], newest)
	}
}

// committed reports whether the library is the one that the repository has for the platform.
func committed(t *testing.T, platform, library string) bool {
	t.Helper()
	sums, err := os.ReadFile(filepath.Join(root, "native", "prebuilt", platform, "SHA256SUMS"))
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(sums), fmt.Sprintf("%x  liblancedb_go.so\n", sha256.Sum256(content)))
}

// less compares dotted versions.
func less(a, b string) bool {
	return slices.Compare(numbers(a), numbers(b)) < 0
}

func numbers(version string) (list []int) {
	for part := range strings.SplitSeq(version, ".") {
		n := 0
		for _, digit := range part {
			n = 10*n + int(digit-'0')
		}
		list = append(list, n)
	}
	return list
}

// walk visits the files of the repository that people write, by their slash-separated names.
func walk(t *testing.T, visit func(name string)) {
	t.Helper()
	made := map[string]bool{"bin": true, "dist": true, "native/build": true, "native/lib": true}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		hidden := name != "." && strings.ContainsAny(path.Base(name)[:1], "._")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (hidden || made[name] || path.Base(name) == "testdata"):
			return fs.SkipDir
		case !entry.IsDir():
			visit(name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// document is a parsed Markdown file.
type document struct {
	name   string // from the repository's root
	source []byte
	node   ast.Node
}

func documents(t *testing.T) (list []document) {
	t.Helper()
	walk(t, func(name string) {
		if strings.HasSuffix(name, ".md") {
			list = append(list, openDocument(t, name))
		}
	})
	return list
}

func openDocument(t *testing.T, name string) document {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	return document{name, source, markdown.Parser().Parse(text.NewReader(source))}
}

func (d document) each(visit func(ast.Node)) {
	_ = ast.Walk(d.node, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}

// anchors are the fragments that lead to d's headings.
func (d document) anchors() (ids []string) {
	d.each(func(n ast.Node) {
		if id, ok := n.AttributeString("id"); ok && n.Kind() == ast.KindHeading {
			ids = append(ids, string(id.([]byte)))
		}
	})
	return ids
}

// table is the rows, without the headings, of all tables whose first column is called first, one after the
// other. Cells are their text without markup.
func (d document) table(first string) (rows [][]string) {
	d.each(func(n ast.Node) {
		if n.Kind() != extast.KindTable || d.text(n.FirstChild().FirstChild()) != first {
			return
		}
		for row := n.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
			var cells []string
			for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
				cells = append(cells, d.text(cell))
			}
			rows = append(rows, cells)
		}
	})
	return rows
}

// fenced is the code blocks of a language.
func (d document) fenced(language string) (blocks []string) {
	d.each(func(n ast.Node) {
		if block, ok := n.(*ast.FencedCodeBlock); ok && string(block.Language(d.source)) == language {
			blocks = append(blocks, string(block.Lines().Value(d.source)))
		}
	})
	return blocks
}

// commandLines is the lines of the shell's code blocks.
func (d document) commandLines() (lines []string) {
	for _, block := range d.fenced("sh") {
		lines = append(lines, strings.Split(strings.TrimSpace(block), "\n")...)
	}
	return lines
}

func (d document) codeSpans() (spans []string) {
	d.each(func(n ast.Node) {
		if n.Kind() == ast.KindCodeSpan {
			spans = append(spans, d.text(n))
		}
	})
	return spans
}

// text is what n reads as.
func (d document) text(n ast.Node) string {
	var b strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if segment, ok := child.(*ast.Text); ok {
			b.Write(segment.Segment.Value(d.source))
			if segment.SoftLineBreak() {
				b.WriteByte(' ')
			}
		} else {
			b.WriteString(d.text(child))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ") // a code span keeps its line breaks
}

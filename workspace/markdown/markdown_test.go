package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	gmtext "github.com/yuin/goldmark/text"
	"pgregory.net/rapid"
)

// The names are the numbers of the examples of CommonMark 0.31.2. Of each text the kinds of its lines are given:
// t(ext), f(ence), c(ode), m (comment).
func TestScanner(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"119":                   {"```\n<\n >\n```", "fccf"},
		"120":                   {"~~~\n<\n >\n~~~", "fccf"},
		"121, too short":        {"``\nfoo\n``", "ttt"},
		"122, other character":  {"```\naaa\n~~~\n```", "fccf"},
		"123":                   {"~~~\naaa\n```\n~~~", "fccf"},
		"124, four close":       {"````\naaa\n```\n``````", "fccf"},
		"125":                   {"~~~~\naaa\n~~~\n~~~~", "fccf"},
		"126, never closed":     {"```", "f"},
		"127":                   {"`````\n\n```\naaa", "fccc"},
		"129, blank lines":      {"```\n\n  \n```", "fccf"},
		"131, indented":         {" ```\n aaa\naaa\n```", "fccf"},
		"133":                   {"   ```\n   aaa\n    aaa\n  aaa\n   ```", "fcccf"},
		"134, indented code":    {"    ```\n    aaa\n    ```", "ttt"},
		"135, closing":          {"```\naaa\n  ```", "fcf"},
		"136":                   {"   ```\naaa\n  ```", "fcf"},
		"137, closing too far":  {"```\naaa\n    ```", "fcc"},
		"138, inline":           {"``` ```\naaa", "tt"},
		"139":                   {"~~~~~~\naaa\n~~~ ~~", "fcc"},
		"140, in a paragraph":   {"foo\n```\nbar\n```\nbaz", "tfcft"},
		"142, info string":      {"```ruby\ndef foo(x)\n```", "fcf"},
		"145, inline with a":    {"``` aa ```\nfoo", "tt"},
		"146, tildes may":       {"~~~ aa ``` ~~~\nfoo\n~~~", "fcf"},
		"147, closing has none": {"```\n``` aaa\n```", "fcf"},
		"179, comment":          {"<!-- Foo\n\nbar\n   baz -->\nokay", "mmmmt"},
		"comment in a line":     {"<!-- a -->\nb", "mt"},
		"shortest comment":      {"<!-->\nb", "mt"},
		"fence in a comment":    {"<!--\n```\n-->\nb", "mmmt"},
		"comment in code":       {"```\n<!--\n```\nb", "fcft"},
		"tab":                   {"\t```\n  \t```\nb", "ttt"},
		"CRLF":                  {"```\r\na\r\n```\r\nb", "fcft"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var at Scanner
			got := ""
			for line := range strings.Lines(test.text) {
				got += string("tfcm"[at.Next(line)])
			}
			if got != test.want {
				t.Errorf("%q: %s, want %s", test.text, got, test.want)
			}
		})
	}
}

func TestClosing(t *testing.T) {
	t.Parallel()
	for open, want := range map[string]string{"````go": "````", "  ~~~": "  ~~~", "text": "", "<!--": ""} {
		var at Scanner
		at.Next(open)
		if got := at.Closing(); got != want {
			t.Errorf("after %q: %q, want %q", open, got, want)
		}
		if want == "" {
			continue
		}
		if at.Next(want); !at.Free() {
			t.Errorf("%q does not close %q", want, open)
		}
	}
}

func TestHeading(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line  string
		level int
		text  string
	}{
		{"# foo", 1, "foo"}, // 62
		{"###### foo", 6, "foo"},
		{"####### foo", 0, ""}, // 63
		{"#5 bolt", 0, ""},     // 64
		{"#hashtag", 0, ""},
		{`\## foo`, 0, ""},                     // 65
		{"#                  foo  ", 1, "foo"}, // 67
		{" ### foo", 3, "foo"},                 // 68
		{"   # foo", 1, "foo"},
		{"    # foo", 0, ""}, // 69
		{"\t# foo", 0, ""},
		{"## foo ##", 2, "foo"}, // 71
		{"  ###   bar    ###", 3, "bar"},
		{"# foo ##################################", 1, "foo"}, // 72
		{"### foo ###     ", 3, "foo"},                         // 73
		{"### foo ### b", 3, "foo ### b"},                      // 74
		{"# foo#", 1, "foo#"},                                  // 75
		{`### foo \###`, 3, `foo \###`},
		{"## ", 2, ""}, // 79
		{"#", 1, ""},
		{"### ###", 3, ""},
		{"## foo\r\n", 2, "foo"},
		{"#\tfoo", 1, "foo"},
		{"", 0, ""},
		{"foo", 0, ""},
	}
	for _, test := range tests {
		if level, text := Heading(test.line); level != test.level || text != test.text {
			t.Errorf("Heading(%q): %d, %q, want %d, %q", test.line, level, text, test.level, test.text)
		}
	}
}

func TestUnderline(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		"===": 1, "=": 1, "---": 2, "-": 2, "   --- \t": 2, "    ---": 0, "= =": 0, "--- -": 0, "=-": 0, "": 0, "***": 0,
		"\t---": 0,
	} {
		if got := Underline(line); got != want {
			t.Errorf("Underline(%q): %d, want %d", line, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	var got []string
	for line := range Lines("# T\r\n````\n```\n## in code\n````\n<!-- c -->\nend") {
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"# T", "<!-- c -->", "end"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Outside of containers the scanner finds the code blocks and headings that goldmark finds.
func TestScannerAgreesWithGoldmark(t *testing.T) {
	t.Parallel()
	lines := []string{
		"", "text", "```", "````", "~~~", "~~~~~", " ```", "   ~~~", "    ```", "\t```", "``` go", "```a`b", "~~~ `", "``` ",
		"~~~ ~~~",
		"# A", "## B ##", "  ### C#", "####### D", "#E", "#", "<!-- c -->", "<!-- open", "shut -->", "<!-->", "    # F",
	}
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 12).Draw(r, "lines"), "\n") + "\n"
		if diff := cmp.Diff(byGoldmark(text), byScanner(text)); diff != "" {
			r.Errorf("%q (-goldmark +scanner):\n%s", text, diff)
		}
	})
}

func byScanner(text string) (found []string) {
	var at Scanner
	for line := range strings.Lines(text) {
		free := at.Free()
		switch kind := at.Next(line); {
		case kind == Fence && free:
			found = append(found, "code ")
		case kind == Code:
			found[len(found)-1] += strings.TrimLeft(line, " \t")
		case free && kind == Text:
			if level, text := Heading(line); level > 0 {
				found = append(found, fmt.Sprintf("%d %s", level, text))
			}
		}
	}
	return found
}

func byGoldmark(text string) (found []string) {
	source := []byte(text)
	root := goldmark.DefaultParser().Parse(gmtext.NewReader(source))
	for node := root.FirstChild(); node != nil; node = node.NextSibling() {
		switch node := node.(type) {
		case *ast.FencedCodeBlock:
			code := "code "
			for i := range node.Lines().Len() {
				segment := node.Lines().At(i)
				code += strings.TrimLeft(string(segment.Value(source)), " \t")
			}
			found = append(found, code)
		case *ast.Heading:
			title := ""
			for i := range node.Lines().Len() {
				segment := node.Lines().At(i)
				title += string(segment.Value(source))
			}
			found = append(found, fmt.Sprintf("%d %s", node.Level, strings.TrimSpace(title)))
		}
	}
	return found
}

func FuzzScanner(f *testing.F) {
	f.Add("---\na: 1\n---\n# T\n````\n```\n````\n<!-- c\n-->")
	f.Add("~~~ a\r\n\t~~~\r\n   ~~~~ \r\n## x ##")
	f.Fuzz(func(t *testing.T, text string) {
		var at Scanner
		for line := range strings.Lines(text) {
			at.Next(line)
			switch level, title := Heading(line); {
			case level < 0, level > 6:
				t.Errorf("Heading(%q): level %d", line, level)
			case level == 0 && title != "":
				t.Errorf("Heading(%q): no heading, and the title %q", line, title)
			}
		}
		if closing := at.Closing(); closing != "" {
			if at.Next(closing) != Fence || !at.Free() {
				t.Errorf("%q is not closed by %q", text, closing)
			}
		}
	})
}

func ExampleScanner() {
	var at Scanner
	for line := range strings.Lines("# Title\n````\n```\n# not a heading\n````\n## Section ##\n") {
		free := at.Free()
		at.Next(line)
		if level, text := Heading(line); free && level > 0 {
			fmt.Println(level, text)
		}
	}
	// Output:
	// 1 Title
	// 2 Section
}

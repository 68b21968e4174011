package workspace

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
)

// cut is the first n characters (Unicode code points) of s; it never splits one.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// text returns the first n characters of the file called name, with invalid UTF-8 replaced and a byte
// order mark removed, and whether there is more. It reads no more of the file than that takes.
func (v *View) text(name string, n int) (text string, more bool, err error) {
	data, more, err := v.head(name, int64(n+1)*utf8.UTFMax)
	if err != nil {
		return "", false, err
	}
	full := strings.TrimPrefix(strings.ToValidUTF8(string(data), "\uFFFD"), "\uFEFF")
	text = cut(full, n)
	return text, more || len(text) < len(full), nil
}

// lines yields the lines of a Markdown text outside its front matter and fenced code blocks, without
// their line ends.
func lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		_, body, _ := frontmatter.Split(text)
		var code fence
		for line := range strings.Lines(body) {
			line = strings.TrimRight(line, "\r\n")
			if at := code.step(line); at == inside || at == delimiter {
				continue
			}
			if !yield(line) {
				return
			}
		}
	}
}

// fence follows the fenced code blocks of a text, line by line.
type fence struct{ mark, margin string } // of the open block: its backticks or tildes, and what stands before them

// place is where a line stands.
type place int

const (
	outside   place = iota // of code blocks
	delimiter              // it opens or closes one
	inside
	doubtful // it stands outside, but some readers take it for the opening of one
)

// step is where the next line stands.
func (f *fence) step(line string) place {
	body := strings.TrimLeft(line, " \t")
	margin := line[:len(line)-len(body)]
	mark := ""
	for _, c := range []string{"`", "~"} {
		if run := len(body) - len(strings.TrimLeft(body, c)); run >= 3 {
			mark = body[:run]
		}
	}
	rest := body[len(mark):]
	switch {
	case f.mark != "" && mark != "" && mark[0] == f.mark[0] && len(mark) >= len(f.mark) && strings.TrimSpace(rest) == "":
		*f = fence{}
		return delimiter
	case f.mark != "":
		return inside
	case mark == "":
		return outside
	case len(margin) > 3 || strings.Contains(margin, "\t") || mark[0] == '`' && strings.Contains(rest, "`"):
		return doubtful
	}
	*f = fence{mark, margin}
	return delimiter
}

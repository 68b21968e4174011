package workspace

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
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

// lines yields the lines of a Markdown text outside its front matter and fenced code blocks, without their line ends.
func lines(text string) iter.Seq[string] {
	_, body, _ := frontmatter.Split(text)
	return markdown.Lines(body)
}

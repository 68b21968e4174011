package markup

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// text decodes entities and the escapes of underscores within words.
func (c *cleaner) text(n *ast.Text) {
	start, end := c.base+n.Segment.Start, c.base+n.Segment.Stop
	for i := start; i < end; i++ {
		switch c.src[i] {
		case '\\':
			if chars.At(c.src, i+1) == '_' && chars.IsAlnum(chars.At(c.src, i-1)) && chars.IsAlnum(chars.At(c.src, i+2)) &&
				!isPath(c.src, i) {
				c.cut(i, i+1)
			}
		case '&':
			if n, decoded := entity(c.src[i:end]); n > 0 && plainEntity(decoded, c.src, i, n) {
				c.replace(i, i+n, decoded)
				i += n - 1
			}
		}
	}
}

// entity returns the length of the entity that s begins with, and what it
// means; 0 for none.
func entity(s string) (int, string) {
	semi := strings.IndexByte(s[:min(len(s), 33)], ';')
	if semi < 2 {
		return 0, ""
	}
	raw := []byte(s[:semi+1])
	out := util.ResolveEntityNames(util.ResolveNumericReferences(raw))
	if bytes.Equal(raw, out) {
		return 0, ""
	}
	return semi + 1, string(out)
}

// isPath reports whether the word around position i has a backslash that
// escapes nothing, as a Windows path or a TeX command has.
func isPath(src string, i int) bool {
	const most = 256 // of a word
	for k := i - 1; k >= max(0, i-most) && src[k] > ' '; k-- {
		if src[k] == '\\' && chars.IsAlnum(src[k+1]) {
			return true
		}
	}
	for k := i + 1; k < min(len(src)-1, i+most) && src[k] > ' '; k++ {
		if src[k] == '\\' && chars.IsAlnum(src[k+1]) {
			return true
		}
	}
	return false
}

// plainEntity reports whether char, the meaning of the entity src[i:i+n], is
// mere text there: not the beginning of a tag, an entity or other markup.
func plainEntity(char, src string, i, n int) bool {
	rest := src[i+n:]
	next := chars.At(rest, 0)
	switch char {
	case "<":
		return plainAngle(rest)
	case ">":
		line := src[lineStart(src, i):i]
		if strings.TrimLeft(line, " >") == "" {
			return false // a quote
		}
		open := strings.LastIndex(line, "&lt;")
		return open < 0 || plainAngle(src[i-len(line)+open+4:])
	case "&":
		return !chars.IsAlnum(next) && next != '#' && next != '&'
	case "\u00a0":
		return true
	}
	r, _ := utf8.DecodeRuneInString(char)
	return char == `"` || char == "'" || r >= 0xa1 && unicode.IsPrint(r)
}

// plainAngle reports whether "<" before rest begins neither an element of HTML
// nor a comment nor an address.
func plainAngle(rest string) bool {
	next := chars.At(rest, 0)
	if next == '!' || next == '?' || next == '&' {
		return false
	}
	rest = strings.TrimPrefix(rest, "/")
	n := 0
	for n < len(rest) && (chars.IsAlnum(rest[n]) || strings.IndexByte("+.-@_", rest[n]) >= 0) {
		n++
	}
	return !isElement(chars.Lower(rest[:n])) && chars.At(rest, n) != ':' && !strings.Contains(rest[:n], "@")
}

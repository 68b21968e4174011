package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// start returns the position of an inline node in src, or -1.
func (c *cleaner) start(n ast.Node) int {
	if e, ok := n.(*ast.Emphasis); ok { // goldmark gives that of the whole run of delimiters
		if e.FirstChild() == nil {
			return -1
		}
		return max(-1, c.start(e.FirstChild())-e.Level)
	}
	if n.Pos() < 0 || c.base+n.Pos() >= len(c.src) {
		return -1
	}
	return c.base + n.Pos()
}

// end returns the position after an inline node in src, or -1 where it cannot
// be told.
func (c *cleaner) end(n ast.Node) int {
	switch n := n.(type) {
	case *ast.Text:
		return c.base + n.Segment.Stop
	case *ast.RawHTML:
		return c.base + n.Segments.At(n.Segments.Len()-1).Stop
	case *ast.AutoLink:
		if s := c.start(n); s >= 0 {
			if i := strings.IndexByte(c.src[s:], '>'); i >= 0 {
				return s + i + 1
			}
		}
	case *ast.CodeSpan:
		s := c.start(n)
		if s < 0 {
			return -1
		}
		ticks := s
		for chars.At(c.src, ticks) == '`' {
			ticks++
		}
		for i := ticks; i < len(c.src); i++ {
			if c.src[i] != '`' {
				continue
			}
			j := i
			for chars.At(c.src, j) == '`' {
				j++
			}
			if j-i == ticks-s && ticks > s {
				return j
			}
			i = j
		}
	case *ast.Emphasis:
		if n.LastChild() != nil {
			if e := c.end(n.LastChild()); e >= 0 && e+n.Level <= len(c.src) {
				return e + n.Level
			}
		}
	case *ast.Link, *ast.Image:
		return c.linkEnd(n)
	}
	return -1
}

// linkEnd finds the parenthesis that closes an inline link or image.
func (c *cleaner) linkEnd(n ast.Node) int {
	s := c.start(n)
	if s < 0 {
		return -1
	}
	i := s + 1
	if n.Kind() == ast.KindImage {
		i++
	}
	if n.LastChild() != nil {
		i = c.end(n.LastChild())
	}
	if i < 0 || !strings.HasPrefix(c.src[min(i, len(c.src)):], "](") {
		return -1
	}
	depth, quote := 0, byte(0)
	for i++; i < len(c.src); i++ {
		ch := c.src[i]
		switch {
		case ch == '\\':
			i++
		case quote != 0:
			if ch == quote {
				quote = 0
			}
		case ch == '"' && c.src[i-1] == ' ':
			quote = ch
		case ch == '(':
			depth++
		case ch == ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case ch == '\n' && chars.At(c.src, i+1) == '\n':
			return -1
		}
	}
	return -1
}

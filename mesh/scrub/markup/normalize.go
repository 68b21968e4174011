package markup

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// Normalize is stage 3 (RFC-0011 §6.1): it gives text one form.
//
//   - Headings become "# Title", also those underlined with = or -.
//   - List markers "*", "+" and "•" become "-".
//   - No-break spaces become spaces; spaces between words become one, unless
//     the lines of the paragraph are aligned with them.
//   - Space at the ends of lines goes, and several blank lines become one.
//
// Quotation marks, dashes and dots stay as they are, and so does code.
func Normalize(src string) string {
	if !mayNeedNormalizing(src) || hostile(src) {
		return src
	}
	body := frontMatter(src)
	doc := markdown.Parse(text.NewReader([]byte(src[body:])))
	n := normalizer{src: src, base: body}
	_ = ast.Walk(doc, n.visit) // visit returns no error
	n.blankLines(doc)
	return apply(src, n.edits)
}

// mayNeedNormalizing is a quick no for most memories.
func mayNeedNormalizing(s string) bool {
	if strings.ContainsAny(s, "\t*+•#\u00a0\u202f\u2007") || strings.Contains(s, "  ") || strings.Contains(s, " \n") ||
		strings.Contains(s, "\n\n\n") {
		return true
	}
	return strings.Contains(s, "\n==") || strings.Contains(s, "\n--") || strings.HasSuffix(s, "\n=") ||
		strings.Contains(s, "\n=\n") || strings.Contains(s, "\n-\n") || strings.HasSuffix(s, "\n-")
}

// normalizer collects the edits that give src one form of headings, lists and paragraphs (RFC-0011 §6.1 stage 3).
type normalizer struct {
	src   string
	base  int
	edits []edit
}

// replace notes an edit that changes something.
func (n *normalizer) replace(start, end int, text string) {
	if n.src[start:end] != text {
		n.edits = append(n.edits, edit{start, end, text})
	}
}

// visit normalizes one node. Code and HTML stay as they are.
func (n *normalizer) visit(node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch node := node.(type) {
	case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.HTMLBlock:
		return ast.WalkSkipChildren, nil
	case *ast.Heading:
		n.heading(node)
		return ast.WalkSkipChildren, nil
	case *ast.ListItem:
		n.item(node)
	case *ast.Paragraph, *ast.TextBlock:
		n.paragraph(node)
	}
	return ast.WalkContinue, nil
}

// heading gives a heading the form "# Title": underlined ones and closing marks become that too. Headings in lists and
// quotes stay.
func (n *normalizer) heading(h *ast.Heading) {
	if h.Lines().Len() != 1 || h.Parent().Kind() != ast.KindDocument {
		return
	}
	l := h.Lines().At(0)
	start, stop := n.base+l.Start, n.base+l.Stop
	first, last := lineStart(n.src, start), lineEnd(n.src, max(start, stop-1))
	title := strings.TrimSpace(n.src[start:min(stop, last)])
	if title == "" {
		return
	}
	title = strings.ReplaceAll(title, "\u00a0", " ")
	mark := strings.Repeat("#", h.Level) + " "
	if strings.HasPrefix(strings.TrimLeft(n.src[first:start], " "), "#") {
		n.replace(first, last, mark+title)
		return
	}
	if last == len(n.src) { // underlined: the next line is the underline
		return
	}
	under := lineEnd(n.src, last+1)
	if line := strings.TrimSpace(n.src[last+1 : under]); line == "" || strings.Trim(line, "=") != "" &&
		strings.Trim(line, "-") != "" {
		return
	}
	n.replace(first, under, mark+title)
}

// item gives a list item the bullet "-". A line of other marks only may be a rule, and stays.
func (n *normalizer) item(item *ast.ListItem) {
	if item.Pos() < 0 {
		return
	}
	i := n.base + item.Pos()
	c := chars.At(n.src, i)
	rest := n.src[min(i+1, len(n.src)):lineEnd(n.src, min(i, len(n.src)))]
	if (c == '*' || c == '+') && strings.Trim(rest, "-*_+ \t") != "" {
		n.replace(i, i+1, "-")
	}
}

// paragraph collapses white space within the lines of a paragraph.
func (n *normalizer) paragraph(p ast.Node) {
	lines := p.Lines()
	if lines.Len() == 0 {
		return
	}
	bullets := strings.HasPrefix(n.src[n.base+lines.At(0).Start:], "• ")
	aligned := 0
	for i := range lines.Len() {
		l := lines.At(i)
		s := strings.TrimSpace(n.src[n.base+l.Start : n.base+l.Stop])
		if strings.Contains(s, "  ") || strings.Contains(s, "\t") {
			aligned++
		}
	}
	for i := range lines.Len() {
		l := lines.At(i)
		start := n.base + l.Start
		line := n.src[start:lineEnd(n.src, start)]
		clean := strings.TrimRight(strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2007", " ").Replace(line), " \t")
		if aligned < 2 && !strings.Contains(clean, "`") {
			body := strings.TrimLeft(clean, " \t")
			clean = clean[:len(clean)-len(body)] + strings.Join(strings.FieldsFunc(body,
				func(r rune) bool { return r == ' ' || r == '\t' }), " ")
		}
		if t := strings.TrimPrefix(clean, "• "); t != clean && strings.TrimSpace(t) != "" && (i == 0 || bullets) {
			clean = "- " + strings.TrimLeft(t, " ")
		}
		n.replace(start, start+len(line), clean)
	}
}

// blankLines leaves one blank line between blocks, and none within them, and
// takes the white space off blank lines. Lines of code are kept.
func (n *normalizer) blankLines(doc ast.Node) {
	code := codeSpans(doc, n.base)
	blank := 0
	for i := 0; i < len(n.src); {
		e := lineEnd(n.src, i)
		if strings.TrimLeft(n.src[i:e], " \t") != "" || slices.ContainsFunc(code,
			func(s span) bool { return i >= s.start && e <= s.end }) {
			blank = 0
		} else {
			blank++
			if blank > 1 && e < len(n.src) {
				n.replace(i, e+1, "")
			} else {
				n.replace(i, e, "")
			}
		}
		i = e + 1
	}
}

// codeSpans returns the line ranges of code blocks.
func codeSpans(doc ast.Node, base int) []span {
	var out []span
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && (n.Kind() == ast.KindCodeBlock || n.Kind() == ast.KindFencedCodeBlock) && n.Lines().Len() > 0 {
			out = append(out, span{base + n.Lines().At(0).Start, base + n.Lines().At(n.Lines().Len()-1).Stop})
		}
		return ast.WalkContinue, nil
	})
	return out
}

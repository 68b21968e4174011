package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// markdown parses CommonMark with tables. Parsers are safe for concurrent use.
var markdown = func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(),
			util.Prioritized(extension.NewTableParagraphTransformer(), 200))...),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
}()

// Clean is stage 1, structural cleaning (RFC-0011 §6.1): it removes Markdown
// and HTML markup and keeps what they say.
//
//   - Emphasis loses its asterisks, also its underscores when it is a phrase;
//     "__init__", "*args" and "2*3*4" are no emphasis.
//   - [text](url) becomes text (url), ![alt](url) becomes alt (url), <url>
//     becomes url. Reference links stay.
//   - Elements of HTML lose their tags: see html.go. Scripts, styles and
//     comments go with their content. What is no element of HTML, as in
//     List<String>, stays.
//   - Rules (---) go. Headings, lists, quotes, tables and code stay.
//   - Entities are decoded where the character could not become markup.
//
// A text that is an HTML document is treated as HTML throughout.
func Clean(src string) string {
	if !mayHaveMarkup(src) || hostile(src) {
		return src
	}
	if isHTMLDocument(src) {
		return renderDocument(src)
	}
	c := cleaner{src: src}
	body := frontMatter(src)
	doc := markdown.Parse(text.NewReader([]byte(src[body:])))
	c.base = body
	_ = ast.Walk(doc, c.visit) // visit returns no error
	c.html.edits(&c)
	return apply(src, c.edits)
}

// mayHaveMarkup is a quick no for most memories.
func mayHaveMarkup(s string) bool {
	return strings.ContainsAny(s, "*_<[&\\") || hasRule(s)
}

// hostile reports whether src opens many links that it does not close, for
// which the parser needs time quadratic in the length. No text is like that.
func hostile(src string) bool {
	const most = 100
	return strings.Count(src, "](")-strings.Count(src, ")") > most
}

// hasRule reports whether a line may be a thematic break of hyphens.
func hasRule(s string) bool { return strings.Contains(s, "---") || strings.Contains(s, "- -") }

// frontMatter returns where the text after a YAML front matter begins; 0
// without one.
func frontMatter(src string) int {
	if !strings.HasPrefix(src, "---\n") {
		return 0
	}
	for i := 4; i < len(src); {
		e := lineEnd(src, i)
		if l := src[i:e]; l == "---" || l == "..." {
			return min(e+1, len(src))
		}
		i = e + 1
	}
	return 0
}

// cleaner collects the edits that remove markup from src. It edits the source instead of rendering the tree, so that
// what it does not know stays as it is.
type cleaner struct {
	src   string
	base  int // offset of the parsed part in src
	edits []edit
	html  tags
}

func (c *cleaner) cut(start, end int) { c.replace(start, end, "") }
func (c *cleaner) replace(start, end int, text string) {
	c.edits = append(c.edits, edit{start, end, text})
}

// visit removes the markup of one node. Code keeps every character, because marks in it mean something.
func (c *cleaner) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.CodeSpan:
		return ast.WalkSkipChildren, nil
	case *ast.Emphasis:
		c.emphasis(n)
	case *ast.Link:
		c.link(n, n.Reference != nil, n.Pos())
	case *ast.Image:
		c.link(n, n.Reference != nil, n.Pos())
	case *ast.AutoLink:
		c.autoLink(n)
	case *ast.RawHTML:
		if s := n.Segments; s.Len() > 0 {
			c.html.inline(c, c.base+s.At(0).Start, c.base+s.At(s.Len()-1).Stop)
		}
	case *ast.HTMLBlock:
		c.html.block(c, n)
	case *ast.ThematicBreak:
		if n.Parent().Kind() == ast.KindDocument && n.Pos() >= 0 {
			i := c.base + n.Pos()
			c.cut(lineStart(c.src, i), lineEnd(c.src, i))
		}
	case *ast.Text:
		c.text(n)
	}
	return ast.WalkContinue, nil
}

// emphasis cuts the delimiters of an emphasis, unless they may be something
// else: an operator, a glob, a pointer, part of an identifier.
func (c *cleaner) emphasis(n *ast.Emphasis) {
	start, end := c.start(n), c.end(n)
	if start < 0 || end < 0 || end-start < 2*n.Level+1 {
		return
	}
	mark := c.src[start]
	if mark != '*' && mark != '_' || strings.Trim(c.src[start:start+n.Level]+c.src[end-n.Level:end], string(mark)) != "" {
		return
	}
	inner := c.src[start+n.Level : end-n.Level]
	if mark == '_' && !strings.ContainsAny(inner, " \n") {
		return
	}
	before, _ := utf8.DecodeLastRuneInString(c.src[:start])
	after, _ := utf8.DecodeRuneInString(c.src[end:])
	first, _ := utf8.DecodeRuneInString(inner)
	last, _ := utf8.DecodeLastRuneInString(inner)
	wide := n.Level == 2 && mark == '*'
	if start > 0 && !opensBefore(before) && !(wide && chars.IsUnspaced(before)) && before != rune(mark) {
		return
	}
	if end < len(c.src) && !closesAfter(after) && !(wide && chars.IsUnspaced(after)) && after != rune(mark) {
		return
	}
	if !startsPhrase(first) || !endsPhrase(last) {
		return
	}
	c.cut(start, start+n.Level)
	c.cut(end-n.Level, end)
}

func opensBefore(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune(`([{"'“‘«„—–-*_>|:`, r)
}

func closesAfter(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune(`)]}"'”’»“—–-*_<|.,:;!?…`, r)
}

// startsPhrase reports whether a phrase in emphasis may begin with r.
func startsPhrase(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) ||
		strings.ContainsRune("`\"'“‘«„([*_<&#@$€£+-~!¿¡§", r) || r > 0x2000
}

// endsPhrase reports whether a phrase in emphasis may end with r.
func endsPhrase(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) ||
		strings.ContainsRune("`\"'”’»“)]*_>.,:;!?…%+;", r) || r > 0x2000
}

// link turns an inline link or image into its text and its address.
func (c *cleaner) link(n ast.Node, reference bool, pos int) {
	start, end := c.start(n), c.end(n)
	if reference || pos < 0 || start < 0 || end < 0 {
		return
	}
	open := 1
	if n.Kind() == ast.KindImage {
		open = 2
	}
	textEnd := start + open
	if n.LastChild() != nil {
		textEnd = c.end(n.LastChild())
	}
	if textEnd < 0 || !strings.HasPrefix(c.src[textEnd:], "](") || c.src[start+open-1] != '[' {
		return
	}
	if b := chars.At(c.src, start-1); chars.IsAlnum(b) || b == ']' || b == ')' || b == '_' { // a[i](x)
		return
	}
	dest, ok := destination(c.src[textEnd+2 : end-1])
	label := c.src[start+open : textEnd]
	if !ok {
		return
	}
	shown := " (" + dest + ")"
	switch {
	case dest == "" || dest[0] == '#' && label != "":
		shown = ""
	case label == "":
		shown = dest
	case label == dest, "mailto:"+label == dest, "https://"+label == dest, "http://"+label == dest:
		c.replace(start, end, dest)
		return
	}
	c.cut(start, start+open)
	c.replace(textEnd, end, shown)
}

// destination returns the address in the parentheses of a link. ok is false
// for what may be no address: an index and a call, "handlers[name](args)".
func destination(inside string) (dest string, ok bool) {
	inside = strings.TrimSpace(inside)
	if strings.HasPrefix(inside, "<") {
		dest, _, ok = strings.Cut(inside[1:], ">")
		return dest, ok && !strings.ContainsAny(dest, " \n")
	}
	dest, title, titled := strings.Cut(inside, " ")
	title = strings.TrimSpace(title)
	if titled && (len(title) < 2 || strings.IndexByte(`"'(`, title[0]) < 0) || strings.ContainsAny(dest, "\\\n") ||
		strings.HasPrefix(dest, "data:") {
		return "", false
	}
	return dest, dest == "" || strings.ContainsAny(dest, "/:#.")
}

// autoLink removes the brackets around a link, unless a letter or digit touches them: then both would run together.
func (c *cleaner) autoLink(n *ast.AutoLink) {
	start := c.start(n)
	if start < 0 || chars.At(c.src, start) != '<' || chars.IsAlnum(chars.At(c.src, start-1)) {
		return
	}
	end := strings.IndexByte(c.src[start:], '>')
	if end < 0 || chars.IsAlnum(chars.At(c.src, start+end+1)) {
		return
	}
	c.cut(start, start+1)
	c.cut(start+end, start+end+1)
}

package markup

import (
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/text"

	"github.com/yuin/goldmark/ast"
	"golang.org/x/net/html"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// How elements of HTML become text:
//
//	br, p, div, section, …     a line break
//	h1 … h6                    a heading (#)
//	li                         a list item (-)
//	td, th                     a cell (a | b)
//	a href, img alt src        text (address)
//	code, kbd, samp            `code`
//	pre                        a fenced code block
//	blockquote                 a quote (>), as a document's block
//	script, style, comments    nothing, with their content
//	nav, noscript, template, svg, iframe   nothing, in an HTML document or block
//	any other                  its content
//
// Only tags of elements that HTML has are touched, and only where an opening
// tag has its closing tag, so that "List<String>", "a<b && c>d" and "the <div>
// tag" stay.

// blockElements begin and end on a line of their own.
var blockElements = text.Set(`address article aside blockquote body caption center dd details dialog dir div dl dt
	fieldset
	figcaption figure
	footer form h1 h2 h3 h4 h5 h6 head header html legend li main menu nav ol optgroup option p pre section select summary
	table tbody tfoot
	thead title tr ul hgroup search`)

var inlineElements = text.Set(`a abbr acronym audio b bdi bdo big button canvas cite code data datalist del dfn em font
	i iframe ins kbd label
	map mark meter noscript object output picture progress q rp rt ruby s samp script small span strike strong style sub
	sup svg td th
	template textarea time tt u var video colgroup`)

var voidElements = text.Set(`area base br col embed hr img input link meta param source track wbr`)

// optionalEnd are elements that HTML lets end without a closing tag.
var optionalEnd = text.Set(`li p td th tr dt dd option thead tbody tfoot`)

// dropped are elements whose content is no text.
var dropped = text.Set(`script style`)

// furniture are elements around the content of a page.
var furniture = text.Set(`nav noscript template svg iframe canvas object select`)

func isElement(name string) bool {
	return blockElements[name] || inlineElements[name] || voidElements[name]
}

// tag is a tag, comment or doctype, in document order.
type tag struct {
	start, end int // in src
	kind       html.TokenType
	name       string
	attr       map[string]string
	match      int // index of its partner; -1 without one
	strip      bool
	inline     bool // within a paragraph
}

// tags are all tags of a text, and the HTML blocks that contain them.
type tags struct {
	all    []tag
	blocks []span // top-level HTML blocks
}

// inline adds the raw HTML of a paragraph.
func (t *tags) inline(c *cleaner, start, end int) { t.scan(c.src, start, end, true) }

// block adds an HTML block. One within a list or a quote is taken line by
// line, since its lines have prefixes.
func (t *tags) block(c *cleaner, n *ast.HTMLBlock) {
	lines := n.Lines()
	if lines.Len() == 0 {
		return
	}
	start, end := c.base+lines.At(0).Start, c.base+lines.At(lines.Len()-1).Stop
	if n.HasClosure() {
		end = max(end, c.base+n.ClosureLine.Stop)
	}
	if n.Parent().Kind() != ast.KindDocument {
		for i := range lines.Len() {
			t.scan(c.src, c.base+lines.At(i).Start, c.base+lines.At(i).Stop, true)
		}
		return
	}
	start = lineStart(c.src, start)
	for end-1 > start && c.src[end-1] == '\n' && c.src[end-2] == '\n' { // the blank line that ends the block
		end--
	}
	t.blocks = append(t.blocks, span{start, end})
	t.scan(c.src, start, end, false)
}

// scan tokenizes src[start:end] and adds its tags.
func (t *tags) scan(src string, start, end int, inline bool) {
	z := html.NewTokenizer(strings.NewReader(src[start:end]))
	at := start
	for {
		kind := z.Next()
		n := len(z.Raw())
		switch kind {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken, html.CommentToken, html.DoctypeToken:
			g := tag{start: at, end: at + n, kind: kind, match: -1, inline: inline}
			if kind == html.CommentToken {
				g.name = src[at : at+n]
			} else {
				name, more := z.TagName()
				g.name = string(name)
				if component(src[at:at+n], g.name) {
					g.name = ""
				}
				for more {
					var k, v []byte
					k, v, more = z.TagAttr()
					if g.attr == nil {
						g.attr = make(map[string]string)
					}
					g.attr[string(k)] = string(v)
				}
			}
			t.all = append(t.all, g)
		}
		at += n
	}
}

// component reports whether a tag is one of JSX: "<Button>" is no "<button>".
// HTML is written in lower or in upper case.
func component(raw, name string) bool {
	i := strings.Index(chars.Lower(raw), name)
	if i < 0 || len(name) < 2 {
		return false
	}
	raw = raw[i : i+len(name)]
	return raw != name && raw != strings.ToUpper(raw)
}

// maxOpen bounds how far back an opening tag is looked for.
const maxOpen = 200

// pair finds each opening tag's closing tag and decides which tags go.
func (t *tags) pair(src string) {
	var open []int
	for i := range t.all {
		g := &t.all[i]
		switch {
		case g.kind == html.CommentToken:
			g.strip = strings.HasPrefix(g.name, "<!--") && strings.HasSuffix(g.name, "-->")
		case g.kind == html.DoctypeToken:
			g.strip = true
		case !isElement(g.name):
		case voidElements[g.name]:
			word := chars.IsAlnum(chars.At(src, g.start-1))
			g.strip = g.kind != html.EndTagToken && (!word || g.name == "br" || g.name == "wbr" || len(g.attr) > 0)
		case g.kind == html.StartTagToken:
			open = append(open, i)
		case g.kind == html.EndTagToken:
			for k := len(open) - 1; k >= max(0, len(open)-maxOpen); k-- {
				if o := &t.all[open[k]]; o.name == g.name {
					o.match, g.match = i, open[k]
					o.strip, g.strip = true, true
					open = open[:k]
					break
				}
			}
		}
	}
	// Tags without a partner, where HTML allows it: inside a table or a list,
	// and <p> at the beginning of a line.
	for i := range t.all {
		g := &t.all[i]
		if g.match < 0 && !g.inline && g.kind == html.StartTagToken && optionalEnd[g.name] {
			g.strip = true
		}
	}
}

// edits turns the tags into edits of c.
func (t *tags) edits(c *cleaner) {
	if len(t.all) == 0 {
		return
	}
	t.pair(c.src)
	for i := 0; i < len(t.all); i++ {
		g := t.all[i]
		if !g.inline || !g.strip {
			continue
		}
		if dropped[g.name] && g.match > i {
			c.cut(g.start, t.all[g.match].end)
			i = g.match
			continue
		}
		c.replace(g.start, g.end, t.inlineText(c, i))
	}
	for _, b := range t.blocks {
		if text, changed := t.render(c.src, b, true); changed {
			c.replace(b.start, b.end, text)
		}
	}
}

// inlineText is what a tag within a paragraph becomes.
func (t *tags) inlineText(c *cleaner, i int) string {
	g := t.all[i]
	switch g.name {
	case "br":
		if chars.At(c.src, g.end) == '\n' || chars.At(c.src, g.start-1) == '|' || lineHasCell(c.src, g.start) {
			return " "
		}
		return "\n"
	case "img":
		return imageText(g)
	case "code", "kbd", "samp", "tt":
		first, last := t.ends(i)
		inner := c.src[first.end:last.start]
		if inner != "" && !strings.ContainsAny(inner, "`\n<") && strings.TrimSpace(inner) == inner {
			if g.kind == html.StartTagToken && strings.Contains(inner, "&") {
				c.replace(first.end, last.start, html.UnescapeString(inner))
			}
			return "`"
		}
		return ""
	case "a":
		if g.kind == html.EndTagToken {
			return linkText(t.all[g.match], c.src[t.all[g.match].end:g.start])
		}
		return ""
	case "sup":
		first, last := t.ends(i)
		if g.kind == html.StartTagToken && strings.Trim(c.src[first.end:last.start], "0123456789+-nxyijk") == "" &&
			chars.IsAlnum(chars.At(c.src, g.start-1)) {
			return "^"
		}
		return ""
	}
	if blockElements[g.name] && !lineHasCell(c.src, g.start) {
		before, after := chars.At(c.src, g.start-1), chars.At(c.src, g.end)
		if before != '\n' && after != '\n' && after != ' ' && before != ' ' && g.start > 0 && g.end < len(c.src) {
			return " "
		}
	}
	return ""
}

// ends returns the first and last tag of the pair that tag i belongs to.
func (t *tags) ends(i int) (first, last tag) {
	g := t.all[i]
	if g.kind == html.StartTagToken {
		return g, t.all[g.match]
	}
	return t.all[g.match], g
}

// lineHasCell reports whether the line of position i is a row of a table.
func lineHasCell(src string, i int) bool {
	return strings.HasPrefix(strings.TrimLeft(src[lineStart(src, i):], " "), "|")
}

// imageText returns what remains of an image: its description and its address. A data URI is no address.
func imageText(g tag) string {
	alt, src := strings.TrimSpace(g.attr["alt"]), g.attr["src"]
	if strings.HasPrefix(src, "data:") || strings.ContainsAny(src, " \n<>") {
		src = ""
	}
	switch {
	case alt == "" || alt == src:
		return src
	case src == "":
		return alt
	}
	return alt + " (" + src + ")"
}

// linkText is what follows the text of a link.
func linkText(open tag, label string) string {
	href := strings.TrimSpace(open.attr["href"])
	if href == "" || href[0] == '#' || strings.HasPrefix(href, "javascript:") || strings.ContainsAny(href, " \n<>") ||
		strings.TrimSpace(label) == href || "mailto:"+strings.TrimSpace(label) == href {
		return ""
	}
	return " (" + href + ")"
}

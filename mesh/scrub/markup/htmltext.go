package markup

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// isHTMLDocument reports whether a whole text is HTML: it begins with a
// doctype or a block element and ends with the closing tag of that element.
func isHTMLDocument(src string) bool {
	lower := chars.Lower(src[:min(len(src), 64)])
	if strings.HasPrefix(lower, "<!doctype html") {
		return true
	}
	if !strings.HasPrefix(lower, "<") || !strings.HasSuffix(src, ">") {
		return false
	}
	n := 1
	for chars.IsAlnum(chars.At(lower, n)) {
		n++
	}
	name := lower[1:n]
	if next := chars.At(lower, n); next != '>' && next != ' ' && next != '\n' {
		return false
	}
	return blockElements[name] && strings.HasSuffix(chars.Lower(src[max(0, len(src)-16):]), "</"+name+">")
}

// renderDocument renders an HTML document as text.
func renderDocument(src string) string {
	var t tags
	t.scan(src, 0, len(src), false)
	t.pair(src)
	out, _ := t.render(src, span{0, len(src)}, false)
	return out
}

// render renders a span of HTML as text. changed is false when no tag in it
// goes. within is set for a block of a Markdown text.
func (t *tags) render(src string, b span, within bool) (out string, changed bool) {
	w := writer{}
	at := b.start
	for i := 0; i < len(t.all); i++ {
		g := t.all[i]
		if g.start < b.start || g.end > b.end || g.start < at || !g.strip {
			continue
		}
		changed = true
		w.text(src[at:g.start])
		at = g.end
		if g.match > i && t.all[g.match].end <= b.end && (dropped[g.name] || furniture[g.name]) {
			at = t.all[g.match].end
			continue
		}
		label := ""
		if g.name == "a" && g.kind == html.EndTagToken && g.match >= 0 && t.all[g.match].end >= b.start {
			label = src[t.all[g.match].end:g.start]
			w.raw(linkText(t.all[g.match], label))
			continue
		}
		w.tag(g)
	}
	if !changed {
		return "", false
	}
	w.text(src[at:b.end])
	if w.pre {
		w.closePre()
	}
	out = strings.Trim(w.b.String(), "\n")
	if within {
		// Text before and after a block stays separate.
		out += "\n"
		if b.start > 1 && src[b.start-2] != '\n' {
			out = "\n" + out
		}
		if b.end < len(src) && src[b.end] != '\n' {
			out += "\n"
		}
	}
	return out, true
}

// writer builds text from HTML: white space collapses, block elements begin
// lines, preformatted text is fenced.
type writer struct {
	b     strings.Builder
	line  string // prefix of the line to come: "- ", "## "
	space bool   // a space to come, unless the line ends
	pre   bool
	buf   strings.Builder // preformatted text
	cell  bool
	depth int // of lists
}

// raw writes s as it is, after the mark of the line that it begins or the space that is due.
func (w *writer) raw(s string) {
	if s == "" {
		return
	}
	if w.line != "" {
		w.b.WriteString(w.line)
		w.line = ""
	} else if w.space && !w.atLineStart() {
		w.b.WriteByte(' ')
	}
	w.space = false
	w.b.WriteString(s)
}

// text writes text between tags. Line breaks of the source stay, since they
// may be all the structure there is; indentation goes.
func (w *writer) text(s string) {
	if s == "" {
		return
	}
	if w.pre {
		w.buf.WriteString(html.UnescapeString(s))
		return
	}
	for k, l := range strings.Split(s, "\n") {
		if k > 0 {
			w.newline()
		}
		w.space = w.space || l != "" && (l[0] == ' ' || l[0] == '\t')
		w.raw(decode(strings.Join(strings.Fields(l), " ")))
		w.space = l != "" && (l[len(l)-1] == ' ' || l[len(l)-1] == '\t')
	}
}

func (w *writer) atLineStart() bool {
	s := w.b.String()
	return s == "" || s[len(s)-1] == '\n'
}

// newline begins a new line, unless one has just begun.
func (w *writer) newline() {
	w.space = false
	if !w.atLineStart() {
		w.b.WriteByte('\n')
	}
}

// paragraph leaves one blank line, unless there is one.
func (w *writer) paragraph() {
	w.newline()
	if s := w.b.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
		w.b.WriteByte('\n')
	}
}

// closePre writes what <pre> contained as a code block. The fence is longer than any in the code.
func (w *writer) closePre() {
	code := strings.Trim(w.buf.String(), "\n")
	w.buf.Reset()
	w.pre = false
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	w.paragraph()
	if strings.TrimSpace(code) != "" {
		w.b.WriteString(fence + "\n" + code + "\n" + fence)
	}
	w.paragraph()
}

// tag writes what a tag means in Markdown. Tags without a meaning for text leave nothing.
func (w *writer) tag(g tag) {
	start := g.kind != html.EndTagToken
	if w.pre {
		if g.name == "pre" && !start {
			w.closePre()
		} else if g.name == "br" {
			w.buf.WriteByte('\n')
		}
		return
	}
	switch g.name {
	case "pre":
		w.pre = start
	case "br":
		w.newline()
	case "img":
		w.raw(imageText(g))
	case "code", "kbd", "samp", "tt":
		w.raw("`")
	case "h1", "h2", "h3", "h4", "h5", "h6", "title":
		w.paragraph()
		w.line = ""
		if start {
			level := 1
			if g.name != "title" {
				level = int(g.name[1] - '0')
			}
			w.line = strings.Repeat("#", level) + " "
		}
	case "blockquote":
		w.paragraph()
		w.line = ""
		if start {
			w.line = "> "
		}
	case "ul", "ol", "menu":
		if start {
			w.depth++
		} else {
			w.depth--
		}
		w.line = ""
		if w.depth <= 1 && (start && w.depth == 1 || !start) {
			w.paragraph()
		}
	case "li":
		w.newline()
		w.line = ""
		if start {
			w.line = strings.Repeat("  ", max(0, w.depth-1)) + "- "
		}
	case "tr":
		w.newline()
		w.cell = false
	case "td", "th":
		if start {
			if w.cell {
				w.raw(" | ")
			}
			w.cell = true
		}
	case "p", "table", "section", "article", "header", "footer", "main", "aside", "dl", "figure", "details", "form":
		w.paragraph()
		if strings.Trim(w.line, " -") != "" {
			w.line = ""
		}
	default:
		if blockElements[g.name] {
			w.newline()
		}
	}
}

// decode decodes the entities of a line of text where that is safe.
func decode(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == '&' {
			if n, decoded := entity(s[i:]); n > 0 && plainEntity(decoded, s, i, n) {
				b.WriteString(decoded)
				i += n
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

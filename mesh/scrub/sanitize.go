package scrub

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// Sanitize makes text safe to store, show and search, without a change that a
// reader could see:
//
//   - bytes that are not UTF-8 become U+FFFD;
//   - line ends (CR LF, CR, form feed, NEL, U+2028, U+2029) become a line feed;
//   - terminal escape sequences, NUL and other control characters go, except
//     tab and line feed;
//   - characters that reorder or hide text go: bidirectional overrides and
//     isolates, zero-width spaces, soft hyphens, byte order marks, tags.
//     Joiners and direction marks stay next to a character that is not ASCII,
//     where Persian, Indic scripts, Arabic and emoji need them;
//   - canonically equivalent forms become one (NFC);
//   - blank lines at both ends and white space at the end of the last line go,
//     and indentation of the first line, unless it is that of code.
//
// Sanitize is idempotent.
func Sanitize(text string) string {
	text = trimOuter(text)
	if plainASCII(text) {
		return text
	}
	for {
		next := trimOuter(norm.NFC.String(replaceControls(strings.ToValidUTF8(text, "\uFFFD"))))
		if next == text {
			return text
		}
		text = next
	}
}

// plainASCII reports whether text is printable ASCII, tabs and line feeds.
func plainASCII(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

func replaceControls(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	prev := ' '
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\r':
			if chars.At(text, i+1) != '\n' {
				b.WriteByte('\n')
			}
			prev = '\n'
		case r == '\f', r == '\v', r == 0x85, r == 0x2028, r == 0x2029:
			b.WriteByte('\n')
			prev = '\n'
		case r == 0x1b:
			n = escapeLen(text[i:])
		case joins(r):
			next, _ := utf8.DecodeRuneInString(text[i+n:])
			if prev >= utf8.RuneSelf || next >= utf8.RuneSelf && next != utf8.RuneError && !hidden(next) && !joins(next) {
				b.WriteString(text[i : i+n])
			}
		case hidden(r):
		default:
			b.WriteString(text[i : i+n])
			prev = r
		}
		i += n
	}
	return b.String()
}

// escapeLen is the length of the terminal escape sequence that s begins with.
func escapeLen(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return 1
	}
	for i := 2; i < len(s) && i < 32; i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
		if s[i] < 0x20 {
			break
		}
	}
	return 1
}

// joins reports whether r is a joiner or a direction mark.
func joins(r rune) bool {
	return r == 0x200c || r == 0x200d || r == 0x200e || r == 0x200f || r == 0x061c
}

// hidden reports whether r is dropped: see Sanitize.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r):
		return true
	case r == 0xad, r == 0x180e, r == 0x200b, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x2069, r == 0xfeff:
		return true
	case r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe007f, r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef:
		return true
	}
	return false
}

// trimOuter removes blank lines around text, white space at its end, and the
// first line's indentation unless the text is indented code of several lines.
func trimOuter(text string) string {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	for {
		nl := strings.IndexByte(text, '\n')
		if nl < 0 || strings.TrimSpace(text[:nl]) != "" {
			break
		}
		text = text[nl+1:]
	}
	if strings.Contains(text, "\n") && (strings.HasPrefix(text, "    ") || strings.HasPrefix(text, "\t")) {
		return text
	}
	return strings.TrimLeftFunc(text, unicode.IsSpace)
}

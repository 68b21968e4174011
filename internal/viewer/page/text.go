package page

import (
	"fmt"
	"html/template"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns stored text for a page: escaped, and with each character that a person cannot see, or that changes how
// others are shown, as its code point.
func Text(s string) template.HTML {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `<span class="unseen" title="a byte that is not UTF-8">%02X</span>`, s[0])
		case isUnseen(r):
			fmt.Fprintf(&b, `<span class="unseen" title="%s">U+%04X</span>`, nameOf(r), r)
		default:
			b.WriteString(template.HTMLEscapeString(s[:size]))
		}
		s = s[size:]
	}
	return template.HTML(b.String()) //nolint:gosec // every character was escaped above
}

// isUnseen reports whether r is shown as nothing or as an ordinary space, or reorders the text around it.
func isUnseen(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == ' ' || r == 0x200D || r == 0xFE0F: // the latter two are parts of emoji
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Zl, r),
		unicode.Is(unicode.Zp, r):
		return true
	case unicode.Is(unicode.Zs, r):
		return r != 0xA0 && r != 0x202F // no-break spaces are ordinary typography
	case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return true
	}
	return r == 0x2800 // a Braille pattern without dots
}

// nameOf describes an unseen character.
func nameOf(r rune) string {
	switch {
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x61C:
		return "changes the direction of text"
	case r >= 0xE0000 && r <= 0xE007F:
		return "a hidden tag character"
	case unicode.IsControl(r):
		return "a control character"
	}
	return "an invisible character"
}

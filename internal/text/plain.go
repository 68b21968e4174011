package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain returns s as a reader sees it: valid UTF-8, with line feeds as its only line ends, and without what a terminal
// would obey or a model would read although no person can see it.
//
//   - Bytes that are not UTF-8 become U+FFFD.
//   - Terminal escape sequences and control characters go, except tab and line feed.
//   - Characters that reorder or hide text go: bidirectional controls, zero-width spaces, soft hyphens, byte order
//     marks, tags, fillers, and everything else that Unicode defines as ignorable or format characters without a shape.
//   - A joiner or direction mark stays next to a character that is not ASCII, and a variation selector after the kind
//     of character that it selects from, one at a time: Persian, Indic scripts, Han and emoji are spelled with them.
//
// Plain is idempotent.
//
// SECURITY: it is the one rule for what has come from outside. The write paths of memories, workspace files and the
// record of edits apply it, and so does reading a ledger, because earlier versions kept such characters in fields.
func Plain(s string) string {
	if visible(s) {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	var b strings.Builder
	b.Grow(len(s))
	prev, joined := ' ', false // the last character that stays, and whether something invisible follows it
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\r' || r == '\f' || r == '\v' || r == 0x85 || r == 0x2028 || r == 0x2029:
			if r != '\r' || i+1 >= len(s) || s[i+1] != '\n' {
				b.WriteByte('\n')
				prev, joined = '\n', false
			}
		case r == 0x1b:
			n = escapeLength(s[i:])
		case joins(r):
			next, _ := utf8.DecodeRuneInString(s[i+n:])
			if !joined && (prev >= utf8.RuneSelf || next >= utf8.RuneSelf && next != utf8.RuneError && shown(next)) {
				b.WriteRune(r)
				joined = true
			}
		case unicode.Is(unicode.Variation_Selector, r):
			if !joined && selects(r, prev) {
				b.WriteRune(r)
				prev = r // a joiner may follow it, another selector may not
			}
		case shown(r):
			b.WriteString(s[i : i+n])
			prev, joined = r, false
		}
		i += n
	}
	return b.String()
}

// Line returns [Plain] of s in one line, see [OneLine].
func Line(s string) string { return OneLine(Plain(s)) }

// visible reports whether s is Latin text that Plain does not change, which most text is.
func visible(s string) bool {
	for _, r := range s {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0xa0 || r == 0xad || r >= 0x300 {
			return false
		}
	}
	return true
}

// shown reports whether r has a shape or a width of its own.
func shown(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return true
	case unicode.IsControl(r), r == 0x2028, r == 0x2029, unicode.Is(unicode.Variation_Selector, r),
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Noncharacter_Code_Point, r):
		return false
	case unicode.Is(unicode.Cf, r):
		// Signs that enclose the numbers after them, and those that arrange hieroglyphs.
		return unicode.Is(unicode.Prepended_Concatenation_Mark, r) || r >= 0x13430 && r <= 0x1345f
	}
	return true
}

// joins reports whether r is a joiner or a direction mark.
func joins(r rune) bool {
	return r == 0x200c || r == 0x200d || r == 0x200e || r == 0x200f || r == 0x061c
}

// selects reports whether the variation selector r has a meaning after base.
func selects(r, base rune) bool {
	switch {
	case unicode.Is(unicode.Variation_Selector, base):
		return false
	case r >= 0xe0100:
		return unicode.Is(unicode.Han, base)
	case r < 0xfe00:
		return unicode.Is(unicode.Mongolian, base)
	}
	return base >= utf8.RuneSelf || base == '#' || base == '*' || '0' <= base && base <= '9'
}

// escapeLength is the length of the terminal escape sequence that s begins with.
func escapeLength(s string) int {
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

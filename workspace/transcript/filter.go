package transcript

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// rawFilter decides whether the decoded text of a raw line can contain a needle, much faster than decoding it. It may
// accept a line without the needle, and never rejects one with it.
type rawFilter struct {
	run     []byte // a part of the needle that a line with it contains unescaped; nil for none
	foreign bool   // the needle has a character outside ASCII, so that no line in pure ASCII has it
	lower   []byte // the line in lower case, reused
}

// newRawFilter returns the filter for needle, which is folded.
func newRawFilter(needle string) *rawFilter {
	f := &rawFilter{foreign: strings.ContainsFunc(needle, func(r rune) bool { return r >= utf8.RuneSelf })}
	for _, run := range strings.FieldsFunc(needle, func(r rune) bool { return !stable(r) }) {
		if len(run) > len(f.run) {
			f.run = []byte(run)
		}
	}
	return f
}

// stable reports whether every text that folds to r shows r itself in JSON, or a letter of ASCII that differs in case,
// or an escape, or one of undecided.
func stable(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= ' ' && r < 0x7f && !strings.ContainsRune(`"\/<>&'`, r) // writers differ in how they escape these
	}
	return r != utf8.RuneError && unicode.SimpleFold(r) == r && fold(string(r)) == string(r)
}

// undecided lists bytes of a line that can decode or fold to letters which the line does not show: an escape, and the
// characters outside ASCII that fold into ASCII (K, ſ, İ, ı). A line with one of them is decoded.
var undecided = [][]byte{[]byte(`\u`), []byte("\u212A"), []byte("\u017F"), []byte("\u0130"), []byte("\u0131")}

func (f *rawFilter) may(line []byte) bool {
	if !f.foreign && f.run == nil {
		return true
	}
	if slices.ContainsFunc(undecided, func(mark []byte) bool { return bytes.Contains(line, mark) }) {
		return true
	}
	ascii := true
	f.lower = append(f.lower[:0], line...)
	for i, c := range f.lower {
		if 'A' <= c && c <= 'Z' {
			f.lower[i] = c + ('a' - 'A')
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if f.foreign && ascii {
		return false
	}
	return f.run == nil || bytes.Contains(f.lower, f.run)
}

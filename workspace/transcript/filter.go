package transcript

import (
	"bytes"
	"slices"
)

// rawFilter says of a raw line whether its decoded text can contain a needle, much faster than decoding it.
// It never says no of a line that does.
type rawFilter struct {
	needle []byte // nil: any line may
	lower  []byte // the line in lower case, reused
}

// newRawFilter is the filter for needle, which is folded.
func newRawFilter(needle string) *rawFilter {
	for _, r := range needle {
		// Only these always stand in JSON as they are: writers differ in how they escape the others.
		if r >= 0x7f || r < ' ' || bytes.ContainsRune([]byte(`"\/<>&'`), r) {
			return &rawFilter{}
		}
	}
	return &rawFilter{needle: []byte(needle)}
}

// undecided are what a line has that can decode or fold to letters it does not show: an escape, and the
// characters outside ASCII that fold into it (K, ſ, İ, ı).
var undecided = [][]byte{[]byte(`\u`), []byte("\u212A"), []byte("\u017F"), []byte("\u0130"), []byte("\u0131")}

func (f *rawFilter) may(line []byte) bool {
	if f.needle == nil || slices.ContainsFunc(undecided, func(mark []byte) bool { return bytes.Contains(line, mark) }) {
		return true
	}
	f.lower = append(f.lower[:0], line...)
	for i, c := range f.lower {
		if 'A' <= c && c <= 'Z' {
			f.lower[i] = c + ('a' - 'A')
		}
	}
	return bytes.Contains(f.lower, f.needle)
}

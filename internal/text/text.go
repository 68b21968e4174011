// Package text shortens and cleans text for one line, one terminal or one file.
//
// Lengths are in characters (Unicode code points). Every function accepts any string, and returns valid UTF-8 for
// valid UTF-8.
package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine returns s with each run of white space replaced by one space, and none at its ends.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Printable returns [OneLine] of s with a space for each character that is not printable ([unicode.IsPrint]).
//
// It is the stricter rule, for what other programs show and none reads back, as the messages of commits: it also
// removes joiners, tag characters and those that Unicode has not assigned.
func Printable(s string) string {
	return OneLine(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s))
}

// ShowGaps returns s with each run of more than 3 empty lines, or of more than 40 blanks in a line, replaced by a note
// of how many there are. A line of a diff is empty if it has nothing but its sign.
//
// SECURITY: it is for what a person decides about: a dialog shows the beginning, and nothing is hidden after a page of
// emptiness, or far to the right.
func ShowGaps(s string) string {
	const lines, blanks = 3, 40
	var out []string
	empty := 0
	flush := func() {
		if empty > lines {
			out = append(out, "["+strconv.Itoa(empty)+" empty lines]")
		} else {
			out = append(out, make([]string, empty)...)
		}
		empty = 0
	}
	for line := range strings.SplitSeq(s, "\n") {
		sign := strings.TrimLeft(line[:min(1, len(line))], "+-")
		if strings.TrimFunc(sign+line[min(1, len(line)):], blank) == "" {
			empty++
			continue
		}
		flush()
		out = append(out, showBlanks(line, blanks))
	}
	flush()
	return strings.Join(out, "\n")
}

// showBlanks replaces each run of more than most blanks in a line by a note.
func showBlanks(line string, most int) string {
	var out strings.Builder
	for len(line) > 0 {
		end := strings.IndexFunc(line, func(r rune) bool { return !blank(r) })
		if end < 0 {
			end = len(line)
		}
		if n := utf8.RuneCountInString(line[:end]); n > most {
			out.WriteString(" [" + strconv.Itoa(n) + " blanks] ")
		} else {
			out.WriteString(line[:end])
		}
		line = line[end:]
		end = strings.IndexFunc(line, blank)
		if end < 0 {
			end = len(line)
		}
		out.WriteString(line[:end])
		line = line[end:]
	}
	return out.String()
}

// blank reports whether r looks like a space. U+2800 is a Braille cell without dots.
func blank(r rune) bool { return unicode.IsSpace(r) || r == 0x2800 }

// First returns the first n characters of s, or all of it.
func First(s string, n int) string {
	end, _ := offset(s, n)
	return s[:end]
}

// Last returns up to n characters from the end of s, from the beginning of a line if that loses less than a quarter.
func Last(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	tail := s[at:]
	if end := strings.IndexByte(tail, '\n'); at > 0 && end >= 0 && end < len(tail)/4 {
		tail = tail[end+1:]
	}
	return tail
}

// Gap marks a place where text was left out.
const Gap = "[…]"

// Shorten returns s, or its first n characters and "…" if it has more.
func Shorten(s string, n int) string {
	if end, cut := offset(s, n); cut {
		return s[:end] + "…"
	}
	return s
}

// Fit returns s, or its first n-1 characters and "…" if it has more than n, which is at least 1. It reports whether
// it left something out.
func Fit(s string, n int) (fitted string, cut bool) {
	if _, cut := offset(s, n); !cut {
		return s, false
	}
	end, _ := offset(s, n-1)
	return s[:end] + "…", true
}

// offset returns where in s the character n begins, and whether there is one.
func offset(s string, n int) (at int, ok bool) {
	if len(s) <= n {
		return len(s), false
	}
	for at := range s {
		if n <= 0 {
			return at, true
		}
		n--
	}
	return len(s), false
}

// Count returns a number with its noun: "1 memory", "2 memories".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Set returns the words of a list, which white space separates, as a set.
func Set(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

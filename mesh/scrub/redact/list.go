package redact

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxListed is the maximum number of lines of a list.
const maxListed = 10_000

// ParseList returns the detector of an operator's own list: a word or phrase a line, found as whole words in any case,
// or a regular expression (RE2) between slashes. Empty lines and lines that begin with "#" are ignored. The error names
// the line; it does not show it.
func ParseList(list string) (Detector, error) {
	var words, forms []string
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(list, "\ufeff")) {
		n++
		line = fold(strings.TrimSpace(line)).text
		switch {
		case n > maxListed:
			return nil, fmt.Errorf("the list has more than %d lines", maxListed)
		case line == "" || line[0] == '#':
		case len(line) > 2 && line[0] == '/' && line[len(line)-1] == '/':
			form, err := regexp.Compile(line[1 : len(line)-1])
			if err != nil {
				return nil, fmt.Errorf("line %d: not a regular expression", n)
			}
			if form.MatchString("") {
				return nil, fmt.Errorf("line %d: the regular expression matches empty text", n)
			}
			forms = append(forms, line[1:len(line)-1])
		case utf8.RuneCountInString(line) < 2:
			return nil, fmt.Errorf("line %d: a single character is too short", n)
		default:
			words = append(words, regexp.QuoteMeta(line))
		}
	}
	l := &listed{}
	if len(words) > 0 {
		l.words = regexp.MustCompile(`(?i)` + strings.Join(words, "|"))
		l.words.Longest()
	}
	for _, form := range forms {
		l.forms = append(l.forms, regexp.MustCompile(form))
	}
	return l, nil
}

// listed is the Detector of a list.
type listed struct {
	words *regexp.Regexp // nil for none
	forms []*regexp.Regexp
}

// Detect implements Detector.
func (l *listed) Detect(text string) (found []Finding) {
	if l.words != nil {
		for at := 0; at < len(text); {
			m := l.words.FindStringIndex(text[at:])
			if m == nil {
				break
			}
			start, end := at+m[0], at+m[1]
			before, _ := utf8.DecodeLastRuneInString(text[:start])
			after, _ := utf8.DecodeRuneInString(text[end:])
			if !isWordRune(before) && !isWordRune(after) {
				found = append(found, Listed.At(start, end))
				at = end
				continue
			}
			_, n := utf8.DecodeRuneInString(text[start:])
			at = start + n
		}
	}
	for _, form := range l.forms {
		for _, m := range form.FindAllStringIndex(text, -1) {
			found = append(found, Listed.At(m[0], m[1]))
		}
	}
	return found
}

// isWordRune reports whether r continues a word of a script that separates words.
func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

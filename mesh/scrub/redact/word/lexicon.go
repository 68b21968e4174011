package word

import (
	_ "embed"
	"strings"
)

// lexicon has ordinary English words in order, one a line; see lexicon/README.md. It is searched where it is, because
// a map of it would take more memory than all other tables together.
//
//go:embed lexicon/english.txt
var lexicon string

// endings of English words and what the word had in their place.
var endings = []struct{ end, instead string }{
	{"ies", "y"},
	{"es", ""},
	{"s", ""},
	{"ied", "y"},
	{"ed", ""},
	{"ed", "e"},
	{"ing", ""},
	{"ing", "e"},
	{"er", ""},
	{"er", "e"},
	{"ers", ""},
	{"ers", "e"},
	{"ly", ""},
	{"ly", "le"},
	{"ness", ""},
	{"est", ""},
	{"est", "e"},
}

// IsEnglish reports whether low, in lower case, is an ordinary English word or a form of one.
func IsEnglish(low string) bool {
	const shortestStem = 3
	if inLexicon(low) {
		return true
	}
	for _, e := range endings {
		stem, ok := strings.CutSuffix(low, e.end)
		if !ok || len(stem) < shortestStem {
			continue
		}
		if inLexicon(stem + e.instead) {
			return true
		}
		if n := len(stem); e.instead == "" && n > shortestStem && stem[n-1] == stem[n-2] && inLexicon(stem[:n-1]) {
			return true
		}
	}
	return false
}

// inLexicon reports whether a line of the lexicon is w.
func inLexicon(w string) bool {
	low, high := 0, len(lexicon)
	for low < high {
		start := strings.LastIndexByte(lexicon[:(low+high)/2], '\n') + 1
		end := start + strings.IndexByte(lexicon[start:], '\n')
		switch line := lexicon[start:end]; {
		case line == w:
			return true
		case line < w:
			low = end + 1
		default:
			high = start
		}
	}
	return false
}

// isRunTogether reports whether low is four English words or more without blanks: lookbutdonttouch.
func isRunTogether(low string) bool {
	const shortest, least = 12, 4
	return len(low) >= shortest && !IsEnglish(low) && joinedWords(low, least)
}

// joinedWords reports whether low is least English words of three letters or more, or more of them.
func joinedWords(low string, least int) bool {
	const shortest, longest = 3, 10
	if least <= 1 && (IsEnglish(low) || low == "dont" || low == "cant") {
		return true
	}
	for n := shortest; n <= longest && n <= len(low)-shortest; n++ {
		if w := low[:n]; (w == "dont" || w == "cant" || IsEnglish(w)) && joinedWords(low[n:], least-1) {
			return true
		}
	}
	return false
}

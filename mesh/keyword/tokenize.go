// Package keyword finds memories by their words. It has in-memory inverted indexes, one per compartment,
// which are built from the ledger and updated with it.
//
// Written by hand: no search library scores a document together with its neighbours in a session and its head, and
// takes the document frequencies from the caller, in one pass over the postings. That pass takes a few milliseconds
// for 100,000 memories.
//
// Invariant: an index depends only on the documents that were added to it. A caller that may see several
// compartments adds their Statistics itself, so word statistics never cross compartments by default.
package keyword

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// Terms splits text by the rules of RFC-0011 §5.1 step 2: words are runs of letters, marks and digits;
// camelCase and snake_case are split into their parts; everything is lower case; terms of fewer than
// three characters are dropped. For languages other than English it goes beyond the RFC: runs of a script
// that is written without spaces become pairs of characters, and terms outside the Latin script may have
// two characters.
func Terms(text string) []string {
	var terms []string
	eachWord(text, func(w string) {
		if n := utf8.RuneCountInString(w); n >= 3 || n == 2 && !latin(w) {
			terms = append(terms, w)
		}
	})
	return terms
}

// stem returns the stem of a lower-case word, so that "meetings" finds "meet" (English Snowball; words in
// other scripts are returned unchanged).
func stem(word string) string {
	if !latin(word) {
		return word
	}
	return english.Stem(word, true)
}

// latin reports whether every letter outside ASCII is of the Latin script.
func latin(word string) bool {
	for _, r := range word {
		if r >= utf8.RuneSelf && !unicode.Is(unicode.Latin, r) {
			return false
		}
	}
	return true
}

// function contains the English function words, which do not help to find a text. The first person is not
// in it: in "my car" it is a clue.
var function = func() map[string]bool {
	words := strings.Fields(`a about above after again all also am an and any are as at be because been before being below
		between both but by can could did do does doing down during each few for from further had has have having he her here
		hers him his how if in into is it its itself just more most no nor not now of off on once only or other out over own s
		same she should so some such t than that the their them then there these they this those through to too under until up
		very was were what when where which while who whom why will with would you your`)
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}()

// unspaced are the scripts written without spaces between words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// eachWord calls yield with each word of text, in order and in lower case: the parts of each run of
// letters, marks, digits and underscores, and each pair of adjacent characters of an unspaced script (a
// single one by itself). The 's of "Jon's" is not a word.
func eachWord(text string, yield func(string)) {
	eachWritten(text, func(w string) { yield(strings.ToLower(w)) })
}

// eachWritten is eachWord without the change to lower case.
func eachWritten(text string, yield func(string)) {
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch kind := kindOf(r); kind {
		case other:
			if n := possessive(text); n > 0 {
				size = n
			}
		default:
			size = run(text, kind)
			if kind == ideographic {
				pairs(text[:size], yield)
			} else {
				parts(text[:size], yield)
			}
		}
		text = text[size:]
	}
}

// kind is what a character contributes to words: nothing, a letter of a word, or a word of its own in a script that is
// written without spaces.
type kind int

const (
	other kind = iota
	alphabetic
	ideographic
)

// kindOf returns the kind of a character. Words are made of letters, marks and digits of any script.
func kindOf(r rune) kind {
	switch {
	case r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
		return alphabetic
	case r < utf8.RuneSelf:
		return other
	case unicode.In(r, unspaced...) || r == 'ー' || r == 'ｰ': // the length marks belong to no script
		return ideographic
	case unicode.In(r, unicode.Variation_Selector, unicode.Me): // they modify emoji, not words
		return other
	case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r):
		return alphabetic
	default:
		return other
	}
}

// run returns the length in bytes of the characters of kind k at the beginning of text.
func run(text string, k kind) int {
	for i, r := range text {
		if kindOf(r) != k {
			return i
		}
	}
	return len(text)
}

// possessive returns the length in bytes of an 's at the beginning of text, 0 if it has none.
func possessive(text string) int {
	for _, mark := range []string{"'s", "\u2019s"} {
		if rest, ok := strings.CutPrefix(text, mark); ok {
			if r, _ := utf8.DecodeRuneInString(rest); kindOf(r) == other {
				return len(mark)
			}
		}
	}
	return 0
}

// pairs yields each pair of adjacent characters, which replace words in scripts without spaces.
func pairs(text string, yield func(string)) {
	characters := []rune(text)
	if len(characters) == 1 {
		yield(text)
	}
	for i := 0; i+1 < len(characters); i++ {
		yield(string(characters[i : i+2]))
	}
}

// plain reports whether word is a single part in lower case, as most words are.
func plain(word string) bool {
	for i := range len(word) {
		if c := word[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// parts splits a word at underscores and at camelCase boundaries: userID -> user, id; HTTPServer ->
// http, server.
func parts(word string, yield func(string)) {
	if plain(word) {
		yield(word)
		return
	}
	runes := []rune(word)
	start := 0
	emit := func(end int) {
		if end > start {
			yield(string(runes[start:end]))
		}
	}
	for i, r := range runes {
		switch {
		case r == '_':
			emit(i)
			start = i + 1
		case i > start && startsPart(runes, i):
			emit(i)
			start = i
		}
	}
	emit(len(runes))
}

// startsPart reports whether a camelCase part starts at i: an upper-case letter after a lower-case one, or the last
// one of an acronym, before a lower-case letter.
func startsPart(runes []rune, i int) bool {
	if !unicode.IsUpper(runes[i]) {
		return false
	}
	return !unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])
}

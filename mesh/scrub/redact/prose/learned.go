package prose

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// People tell secrets in more ways than there are clues for, and documents have those forms without any secret. So
// a logistic regression, fitted to texts of many authors and to documents (see learned/README.md), judges the words as
// well: what points are made of, and the words around.

// weights has a weight for each bucket of features, in parts of weightUnit.
//
//go:embed learned/weights.bin
var weights string

const (
	buckets     = 1 << 14 // of features: len(weights)
	weightUnit  = 1. / 32
	placedWords = 3  // words before and after one whose places count
	nearbyWords = 12 // words before and after one that count
	// Sums of weights, which are logarithms of odds: from which on a word is a secret whatever its points, and below
	// which it is none. The second was chosen on texts of three authors, with weights fitted to the others.
	certain  = 0.
	unlikely = -6.
)

// notation is before a value in the notation of a program, which other rules judge: a key in quotes, an option of a
// command, a literal of reStructuredText, the beginning of a telephone number.
var notation = regexp.MustCompile("(?:[\"'`][\\w.@/-]*[\"'`] ?[:=]>? ?[\"'`]?|(?:^|\\s)--?[\\w-]+[ =][\"']?|``|" +
	"(?i:sha\\d+|md5):|\\+\\d[\\d -]*)$")

// date is before a year: "April 9, ", "9 April ".
var date = regexp.MustCompile(`(?i)\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.? ` +
	`(?:\d\d?(?:st|nd|rd|th)?)?,? ?$`)

// isYear reports whether a value is the year of a date.
func (p *passage) isYear(start, end int) bool {
	const longest = 20 // September 30th,
	return isYearNumber(p.text[start:end]) && date.MatchString(p.text[max(0, start-longest):start])
}

// isYearNumber reports whether v can be a year.
func isYearNumber(v string) bool {
	return len(v) == len("2026") && (v[:2] == "19" || v[:2] == "20") && strings.Trim(v, "0123456789") == ""
}

// called matches a telephone number after the word for one, up to the end of a text.
var called = regexp.MustCompile(`(?i)\b(?:call|ring|phone|tel|mobile|whatsapp|text)\b\W*(?:[\pL.]+ ){0,3}[\d ()/-]*$`)

// isPhone reports whether a value is a telephone number or a part of one: eight digits or more that somebody calls.
func (p *passage) isPhone(start int) bool {
	const least, longest = 8, 40
	before := p.text[max(0, start-longest):start]
	first := len(strings.TrimRight(before, "0123456789 ()/-"))
	number := before[first:] + p.text[start:min(len(p.text), start+longest)]
	if n := strings.IndexFunc(number, func(r rune) bool { return !strings.ContainsRune("0123456789 ()/-", r) }); n >= 0 {
		number = number[:n]
	}
	digits := 0
	for _, c := range number {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return digits >= least && called.MatchString(before)
}

// isNoted reports whether a value is in a notation: a field, an argument, a reference, a digest, code, the number of an
// issue or a telephone. It is a secret only if points and weights agree.
func (p *passage) isNoted(start, end int) bool {
	const longestName = 60
	v, text := p.text[start:end], p.text
	return strings.HasPrefix(v, "arn:") || v[0] == '+' || strings.ContainsAny(v, "()[]{}<>|\\") ||
		strings.HasPrefix(text[max(0, start-1):], "(#") || p.isPhone(start) || p.isCell(start, end) ||
		notation.MatchString(text[max(0, start-longestName):start])
}

// judged is a word that may be a secret, with what is known of it.
type judged struct {
	features
	start, end int
	word       int // the first
	sentence   int
	phrase     bool // several words
	points     int  // of the best candidate that it is in
}

// features are the buckets of what is known of a word.
type features []uint16

// add adds a feature, which is what its parts say together.
func (f *features) add(parts ...string) {
	const offset, prime = 2166136261, 16777619 // FNV-1a
	h := uint32(offset)
	for _, part := range parts {
		for i := range len(part) {
			h = (h ^ uint32(part[i])) * prime
		}
		h *= prime
	}
	*f = append(*f, uint16((h^h>>14)%buckets))
}

// learned returns the sum of the weights of features.
func (f features) learned() float64 {
	sum := 0
	for _, bucket := range f {
		sum += int(int8(weights[bucket])) //nolint:gosec // a signed byte
	}
	return float64(sum) * weightUnit
}

// judge returns the words of a passage that may be secrets, where something near them is said to have one. list are
// the candidates with their points, in order.
func (p *passage) judge(list []candidate) (words []judged) {
	const shortest = 3
	for s, part := range p.sentences {
		if part.code || !p.isPossible(s) {
			continue
		}
		var around features // computed when a word needs them
		for i := part.first; i < part.last; i++ {
			w := p.words[i]
			start, v := p.valueAt(i)
			if len(v) < shortest || w.clue.Named() || w.clue.Plain || strings.HasPrefix(v, "REDACTED:") ||
				strings.Contains(v, "://") {
				continue
			}
			j := judged{start: start, end: start + len(v), word: i, sentence: s}
			last := i + 1
			for len(list) > 0 && list[0].last <= i {
				list = list[1:]
			}
			for n := 0; n < len(list) && list[n].first <= i; n++ {
				c := list[n]
				j.points = max(j.points, c.points)
				if c.last > last && c.first == i { // several words
					j.start, j.end, j.phrase, last = c.start, c.end, true, c.last
				}
			}
			if j.points == 0 && w.quote == 0 && p.text[w.start] == w.low[0] && word.IsEnglish(w.low) {
				continue // a word like any other
			}
			if around == nil {
				around = p.describeSentence(s)
			}
			j.features = append(p.describe(i, s, v), around...)
			words = append(words, j)
			i = last - 1
		}
	}
	return words
}

// isDoubtful reports whether the word that starts at a place is hardly a secret, whatever its points. Several words
// are not judged: the first one tells too little.
func (p *passage) isDoubtful(words []judged, start int) bool {
	at, ok := slices.BinarySearchFunc(words, start, func(j judged, start int) int { return j.start - start })
	if !ok || words[at].phrase {
		return false
	}
	odds := words[at].learned()
	return odds < unlikely || odds < certain && p.isNoted(start, words[at].end)
}

// isPossible reports whether the sentence or one near it names a secret, what has one, or what is done with one.
func (p *passage) isPossible(s int) bool {
	return slices.ContainsFunc(p.sentences[max(0, s-3):min(s+2, len(p.sentences))], func(o sentence) bool {
		return len(o.names) > 0 || o.thing > 0 || o.act > 0
	})
}

// describe returns what is known of the value v of word i in sentence s.
func (p *passage) describe(i, s int, v string) features {
	f := make(features, 0, 96)
	part, w, looks := p.sentences[s], p.words[i], word.ShapeOf(v)
	is := strconv.FormatBool
	kind := kindOf(v)
	first, _ := utf8.DecodeRuneInString(v)
	inner := strings.ContainsFunc(v[1:], unicode.IsUpper)

	// The word itself.
	f.add("word")
	f.add("kind", kind)
	f.add("length", kind, level(len(v), 2, 3, 4, 5, 6, 8, 11, 15, 25))
	f.add("as word", strconv.Itoa(looks.Word))
	f.add("as number", strconv.Itoa(looks.Number))
	f.add("as key", strconv.Itoa(looks.Key))
	f.add("english", kind, is(word.IsEnglish(w.low)))
	f.add("common", is(word.IsCommon(w.low)))
	f.add("capital", kind, is(unicode.IsUpper(first)), is(i == part.first))
	f.add("capital within", kind, is(inner))
	f.add("quoted", kind, is(w.quote != 0), is(w.closed))

	// Its sentence.
	f.add("ends", strconv.Itoa(int(w.after)), is(i+1 == part.last))
	if i > 0 {
		f.add("begins", strconv.Itoa(int(p.words[i-1].after)), is(i == part.first))
		f.add("joined", kind, strconv.Itoa(p.words[i-1].clue.Join))
	}
	nearest := len(p.words)
	for _, n := range part.names {
		nearest = min(nearest, max(n-i, i-n))
	}
	f.add("distance", level(nearest, 1, 2, 3, 4, 6, 9, 14, 30))

	// What the points are made of. Their sum is left out: in the texts that the rules were made for it is always right.
	for as, points := range []int{looks.Word, looks.Number, looks.Key} {
		if points == 0 && as > 0 {
			continue
		}
		c := candidate{
			first: i, last: i + 1, start: w.start, end: w.start + len(v), sentence: s, as: aspect(as), looks: points,
		}
		shape := strconv.Itoa(as)
		f.add("name", shape, strconv.Itoa(p.bestName(&c)))
		f.add("join", shape, strconv.Itoa(p.joinBefore(&c)))
		f.add("amount", shape, is(p.isAmount(&c)))
		f.add("joined after", shape, is(p.joinsAfter(&c)))
	}

	// The words around it.
	for k := max(part.first, i-nearbyWords); k < min(part.last, i+nearbyWords); k++ {
		if k == i {
			continue
		}
		word := contextWord(p.words[k].low)
		f.add("near", word)
		f.add("near", kind, word)
		if k >= i-placedWords && k <= i+placedWords {
			f.add("at", strconv.Itoa(k-i), word)
		}
	}
	return f
}

// describeSentence returns what is known of sentence s, whatever its words.
func (p *passage) describeSentence(s int) features {
	f := make(features, 0, 2*nearbyWords+8)
	part, is := p.sentences[s], strconv.FormatBool
	f.add("sentence", level(part.last-part.first, 1, 2, 4, 8, 14, 22))
	f.add("asks", is(part.asks), is(s > 0 && p.sentences[s-1].asks))
	f.add("turn", is(part.turn))
	f.add("against", strconv.Itoa(p.againstNear(s)))
	f.add("talk", is(p.isTalk(s)))
	f.add("thing", strconv.Itoa(part.thing))
	f.add("act", strconv.Itoa(part.act))
	for _, w := range p.words[max(0, part.first-nearbyWords):part.first] {
		f.add("beside", is(false), contextWord(w.low))
	}
	for _, w := range p.words[part.last:min(len(p.words), part.last+nearbyWords)] {
		f.add("beside", is(true), contextWord(w.low))
	}
	return f
}

// kindOf returns what a value is made of: digits, letters, letters and digits, or others as well.
func kindOf(v string) string {
	switch {
	case strings.Trim(v, "0123456789-. ") == "":
		return "digits"
	case word.HasDigit(v):
		return "mixed"
	case strings.ContainsAny(v, "!#$%^&?~*_+"):
		return "signs"
	}
	return "letters"
}

// level returns the number of the first limit that n does not exceed.
func level(n int, limits ...int) string {
	at := slices.IndexFunc(limits, func(limit int) bool { return n <= limit })
	return strconv.Itoa(at)
}

// contextWord returns a word near another one as a feature: of numbers only the length counts.
func contextWord(low string) string {
	switch {
	case !word.HasDigit(low):
		return low
	case strings.Trim(low, "0123456789") == "":
		return "#" + strconv.Itoa(min(len(low), 7))
	}
	return "#"
}

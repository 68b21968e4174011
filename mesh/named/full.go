package named

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Verdict is whether a text is about who or what has a name.
type Verdict int

// Verdicts, in order of how sure they are.
const (
	Absent Verdict = iota // it does not have the name, or has it as the name of another
	Doubt                 // it may be about another: a person decides
	Sure
)

// Full is a name as a person writes it: that of a person in two parts or more, or in one part any other, such as New
// York, Bluebird or Paulo.
type Full struct {
	parts [][]string // words in lower case; of a person the given name first and the surname last, without particles
	// glued is the surname with its particles in one word, as in addresses: "delacruz".
	glued string
	// ordinary is set for a part in which each word is one of English.
	ordinary []bool
}

// ParseFull parses a name. ok is false for what is not written as one, and for a word that is an ordinary name too,
// which In judges.
func ParseFull(text string) (f Full, ok bool) {
	words := Words(text)
	for len(words) > 1 && articles[words[0].low] {
		words = words[1:]
	}
	thing := len(words) > 6
	large, small := true, len(words) > 1
	for i, w := range words {
		first, _ := utf8.DecodeRuneInString(w.Text)
		switch {
		case particles[w.low] && i > 0:
			continue
		case prepositions[w.low] || determiners[w.low] || w.low == "and", digital(w):
			thing = true
		default:
			large = large && unicode.IsUpper(first)
		}
		small = small && MayBe(w.low)
		thing = thing || i == 0 && (heads[w.low] || honorific(w.low) || titles[w.low]) || i == len(words)-1 && heads[w.low]
	}
	if len(words) == 0 || !large && (!small || thing) || len(words) == 1 && Ordinary(words[0].low) {
		return f, false
	}
	for i, w := range words {
		if particles[w.low] && i > 0 && !thing {
			continue
		}
		if n := len(f.parts); n > 0 && (thing || strings.Trim(text[words[i-1].end:w.start], "-‐'’") == "" &&
			words[i-1].end < w.start) {
			f.parts[n-1] = append(f.parts[n-1], w.low)
		} else {
			f.parts = append(f.parts, []string{w.low})
		}
	}
	if last := words[len(words)-1]; f.Person() {
		from := words[0].start + strings.LastIndex(text[words[0].start:last.start], " ") + 1
		for i := len(words) - 1; i > 0 && (words[i].start >= from || particles[words[i].low]); i-- {
			f.glued = words[i].low + f.glued
		}
	}
	for _, part := range f.parts {
		all := true
		for _, w := range part {
			all = all && isWord(w)
		}
		f.ordinary = append(f.ordinary, all)
	}
	return f, true
}

// Person reports whether the name is one of a person in two parts or more.
func (f Full) Person() bool { return len(f.parts) > 1 }

// In returns whether a line, with its words, is about who or what has the name.
func (f Full) In(line string, words []Word) (best Verdict) {
	capitals := !strings.ContainsFunc(line, unicode.IsLower)
	for i := 0; i < len(words) && best < Sure; {
		p := place{sight{line: line, words: words, at: i}, f}
		judge := func() (Verdict, int) { return p.single(capitals) }
		if f.Person() {
			judge = p.person
		}
		verdict, n := judge()
		best = max(best, verdict)
		i += max(n, 1)
	}
	return best
}

// place is one place of a line that may begin a name.
type place struct {
	sight
	name Full
}

// same reports whether a word is a word of the name. Of a single name José is not Jose, but Jose may be José.
func (p place) same(w Word, word string) bool {
	if isASCII(w.low) && isASCII(word) || w.low == word {
		return w.low == word
	}
	plain := Unaccented(w.low)
	return plain == word || norm.NFC.String(w.low) == norm.NFC.String(word) || p.name.Person() && plain == Unaccented(word)
}

// part returns the number of words of a part of the name that begins at an index, 0 if it does not.
func (p place) part(k, i int) (n int) {
	if k > 0 && k == len(p.name.parts)-1 && p.name.glued != "" && p.same(p.word(i), p.name.glued) {
		return 1
	}
	for n, word := range p.name.parts[k] {
		if i+n >= len(p.words) || !p.same(p.words[i+n], word) || n > 0 && !p.tight(i+n-1) {
			return 0
		}
	}
	return len(p.name.parts[k])
}

// tight reports whether the words at i and i+1 may be of one part: only a space or a sign is between them.
func (p place) tight(i int) bool {
	return p.beside(i) || len(strings.Trim(p.gap(i), "-‐‑.'’")) == 0
}

// gap is what is between the words at i and i+1.
func (p place) gap(i int) string {
	if i < 0 || i+1 >= len(p.words) {
		return "\n"
	}
	return p.line[p.words[i].end:p.words[i+1].start]
}

// small reports whether a word from i to end is written with a small letter, and is one of English.
func (p place) small(i, end int) bool {
	for ; i < end; i++ {
		if first, _ := utf8.DecodeRuneInString(p.words[i].Text); !unicode.IsUpper(first) && isWord(p.words[i].low) {
			return true
		}
	}
	return false
}

// single judges a name of one part, and returns the number of its words. In a line of capitals a word is none.
func (p place) single(capitals bool) (Verdict, int) {
	n := p.part(0, p.at)
	if n == 0 {
		if glued := strings.Join(p.name.parts[0], ""); len(p.name.parts[0]) > 1 && p.same(p.word(p.at), glued) {
			return Sure, 1
		}
		return Absent, 0
	}
	end := p.at + n
	left, right := p.left(p.at, true), p.right(end)
	ordinary := p.name.ordinary[0]
	switch {
	case ordinary && (p.small(p.at, end) || capitals),
		!left.alone(), !right.alone(),
		ordinary && n == 1 && begins(p.line[:p.words[p.at].start]) && p.beside(p.at) &&
			(prepositions[p.word(end).low] || removals[p.word(end).low]):
		return Doubt, n
	}
	return Sure, n
}

// person judges the name of a person, and returns the number of the words that are read.
func (p place) person() (Verdict, int) {
	family := len(p.name.parts) - 1
	if n := p.part(0, p.at); n > 0 {
		end := p.at + n
		if reached := p.reach(end); reached > 0 {
			return p.whole(end, reached), reached - p.at
		}
		// "paulo@mendes.pt", "Paulo (Mendes)"
		if m := p.part(family, end); m > 0 && separated(p.gap(end-1)) && p.left(p.at, false).alone() &&
			(strings.Contains(p.gap(end-1), "@") || p.right(end+m).alone()) {
			return Sure, n + m
		}
		return p.given(end), n
	}
	if n := p.part(family, p.at); n > 0 {
		end := p.at + n
		gap := strings.TrimSpace(p.gap(end - 1))
		if m := p.part(0, end); m > 0 && (p.tight(end-1) || gap == "," || separated(gap)) && !p.small(p.at, end+m) &&
			p.left(p.at, true).alone() && p.right(end+m).only(p.name) {
			return Sure, n + m
		}
		return p.family(end), n
	}
	return p.glued(), 0
}

// separated reports whether a gap separates two columns, or a name from what is added to it.
func separated(gap string) bool {
	return strings.Trim(gap, " ") != "" && strings.Trim(gap, " ()[]|/;:@\"*_") == ""
}

// glued judges a word that has the whole name, as addresses, tags and names of accounts do.
func (p place) glued() Verdict {
	first, last := strings.Join(p.name.parts[0], ""), strings.Join(p.name.parts[len(p.name.parts)-1], "")
	w := p.word(p.at)
	bare := w // of "olgavidal2"
	bare.low = strings.Trim(w.low, "0123456789_")
	letter, _ := utf8.DecodeRuneInString(first)
	account := p.same(bare, string(letter)+last) // "ovidal"
	switch {
	case p.same(bare, first+last), p.same(bare, last+first), account && strings.HasPrefix(p.line[w.end:], "@"):
		return Sure
	case account && !isWord(bare.low):
		return Doubt
	case p.same(w, last+"s"), p.same(w, last+"es"):
		return p.unlessOrdinary(p.at+1, len(p.name.parts)-1)
	}
	return Absent
}

// reach returns where the surname ends that follows a given name with at most two other names between them, 0 if none
// does.
func (p place) reach(i int) int {
	family := len(p.name.parts) - 1
	for others := 0; others <= 2 && i < len(p.words) && p.linked(i-1) != apart; i++ {
		if n := p.part(family, i); n > 0 {
			return i + n
		}
		known := false
		for k := 1; k < family; k++ {
			known = known || p.part(k, i) > 0
		}
		switch w := p.words[i]; {
		case w.tail != "":
			return 0
		case known, particles[w.low], initial(w):
		case p.nameLike(i):
			others++
		default:
			return 0
		}
	}
	return 0
}

// whole judges a given name, up to an index, that a surname follows.
func (p place) whole(given, end int) Verdict {
	left, right := p.left(p.at, false), p.right(end)
	if len(left.names) > 0 || !right.alone() || p.small(p.at, given) || p.small(end-1, end) && isWord(p.word(end-1).low) {
		return Doubt
	}
	return Sure
}

// given judges a given name without the surname.
func (p place) given(end int) Verdict {
	left, right := p.left(p.at, false), p.right(end)
	switch surname := p.name.parts[len(p.name.parts)-1][0]; {
	case right.only(p.name) && len(right.names) > 0: // the middle names
	case len(right.names) > 0, len(right.initials) > 0 && !startsWith(surname, right.initials[0]),
		len(left.names) > 0 && !left.begins:
		return Absent
	}
	return p.unlessOrdinary(end, 0)
}

// unlessOrdinary returns a doubt about a part of the name, unless it is surely only the word.
func (p place) unlessOrdinary(end, part int) Verdict {
	if p.small(p.at, end) {
		return Absent
	}
	if w := p.words[p.at]; len(p.name.parts[part]) == 1 && Ordinary(w.low) && !(w.Capital && p.sure()) {
		return Absent
	}
	return Doubt
}

// family judges a surname without the given name.
func (p place) family(end int) Verdict {
	left, right := p.left(p.at, true), p.right(end)
	given := p.name.parts[0][0]
	last := p.gap(end - 1)
	switch after := p.word(end); {
	case p.small(p.at, end) && len(left.initials) == 0, len(left.names) > 0:
		return Absent
	case len(left.initials) > 0:
		switch first := left.initials[len(left.initials)-1]; {
		case startsWith(given, first) && right.alone():
			return Sure
		case p.hasInitial(first), first == "m": // Monsieur
			return Doubt
		}
		return Absent
	case left.title != "" && (!right.alone() || mismatched(left.title, given)), len(left.words) > 0:
		return Doubt
	case left.title != "":
		return Sure
	case initial(after) && (strings.TrimSpace(last) == "," || strings.TrimSpace(last) == "") && p.closed(end):
		if startsWith(given, after.low) {
			return Sure
		}
		return Absent
	case !right.alone():
		return Doubt
	}
	return p.unlessOrdinary(end, len(p.name.parts)-1)
}

// closed reports whether a point, a bracket, a comma or the end is after the word at an index.
func (p place) closed(i int) bool {
	rest := p.line[p.words[i].end:]
	return strings.TrimSpace(rest) == "" || strings.ContainsAny(rest[:1], ".,;:)|")
}

func (p place) hasInitial(letter string) bool {
	for _, part := range p.name.parts {
		if startsWith(part[0], letter) {
			return true
		}
	}
	return false
}

func startsWith(name, letter string) bool {
	return strings.HasPrefix(Unaccented(name), Unaccented(letter))
}

func isASCII(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf })
}

// Unaccented returns a word without the accents of its letters. Marks of scripts in which they are vowels stay.
func Unaccented(word string) string {
	if isASCII(word) {
		return word
	}
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if r >= '\u0300' && r <= '\u036f' {
			return -1
		}
		return r
	}, norm.NFD.String(word)))
}

package prose

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// sayingAt returns the words from i on that are one secret, said in a way of its own, and whether there are any: the
// groups of a recovery code, digits as words, the turns of a dial, the answer to a security question, words with a
// remark on how they are typed.
func (p *passage) sayingAt(i, s int) (candidate, bool) {
	part := p.sentences[s]
	c := candidate{first: i, start: p.words[i].start, sentence: s}
	w := p.words[i]
	switch {
	case p.codeGroups(i, part.last) > 0:
		c.last, c.as, c.looks = i+p.codeGroups(i, part.last), asWord, 6
	case spokenDigits[w.low] > 0:
		n, digits := 0, 0
		for i+n < part.last && spokenDigits[p.words[i+n].low] > 0 && (n == 0 || p.words[i+n-1].after <= comma) {
			digits += spokenDigits[p.words[i+n].low]
			n++
		}
		c.last, c.as, c.looks = i+n, asNumber, 4
		if digits < 4 || digits > 10 || n < 3 {
			return c, false
		}
	case turns[w.low]:
		c.last, c.as, c.looks = p.dialed(i, part.last), asNumber, 5
	default:
		return p.typedAt(c)
	}
	if c.last <= i {
		return c, false
	}
	c.end = p.words[c.last-1].end
	return c, true
}

// codeGroups returns how many words from i on are the groups of a recovery code: ghpl z1b2 nqzx jvvd.
func (p *passage) codeGroups(i, last int) (n int) {
	const least, shortest, longest = 3, 4, 6
	size, odd := len(p.words[i].low), 0
	if size < shortest || size > longest {
		return 0
	}
	for i+n < last {
		w := p.words[i+n]
		if len(w.low) != size || w.signs != w.end || strings.Trim(w.low, "abcdefghijklmnopqrstuvwxyz0123456789") != "" ||
			word.IsEnglish(w.low) && n < least {
			break
		}
		if word.HasSmallAndDigits(w.low) {
			odd++
		}
		n++
		if w.after != blank {
			break
		}
	}
	if n < least || odd < 2 || odd*3 < n {
		return 0
	}
	return n
}

// spokenDigits are words for digits, and how many digits they tell.
var spokenDigits = map[string]int{
	"zero": 1, "oh": 1, "one": 1, "two": 1, "three": 1, "four": 1, "five": 1, "six": 1, "seven": 1, "eight": 1,
	"nine": 1, "double": 1, "triple": 2, "null": 1, "eins": 1, "zwei": 1, "zwo": 1, "drei": 1, "vier": 1, "fünf": 1,
	"sechs": 1, "sieben": 1, "acht": 1, "neun": 1, "zéro": 1, "deux": 1, "trois": 1, "quatre": 1, "cinq": 1, "sept": 1,
	"huit": 1, "neuf": 1, "cero": 1, "uno": 1, "dos": 1, "tres": 1, "cuatro": 1, "cinco": 1, "seis": 1, "siete": 1,
	"ocho": 1, "nueve": 1, "due": 1, "tre": 1, "quattro": 1, "cinque": 1, "sei": 1, "sette": 1, "otto": 1, "nove": 1,
	"um": 1, "dois": 1, "três": 1, "quatro": 1, "sete": 1, "oito": 1,
}

// turns are the directions in which a dial is turned.
var turns = text.Set(`left right clockwise counterclockwise anticlockwise links rechts gauche droite izquierda derecha
	sinistra destra esquerda direita`)

// dialed returns where the turns of a dial that begin at word i end, at most i for none: left to 34, right to 08, left
// to 71.
func (p *passage) dialed(i, last int) int {
	const least, reach = 3, 5
	end, found := i, 0
	for k := i; k < last && turns[p.words[k].low]; {
		k++
		for n := 0; n < reach && k < last && !p.isDialed(k); n++ {
			k++
		}
		if k >= last || !p.isDialed(k) {
			break
		}
		k++
		found, end = found+1, k
		if k < last && (p.words[k].low == "then" || p.words[k].low == "and" || p.words[k].low == "dann") {
			k++
		}
	}
	if found < least {
		return i
	}
	return end
}

// isDialed reports whether the word at i is a number on a dial.
func (p *passage) isDialed(i int) bool {
	low := p.words[i].low
	times := i+1 < len(p.words) && (p.words[i+1].low == "times" || p.words[i+1].low == "mal" || p.words[i+1].low == "x")
	return len(low) < 3 && strings.Trim(low, "0123456789") == "" && !times
}

// answers are before the answer to a security question.
var answers = []string{"answer", "answered", "answers", "was", "is", "put", "chose", "picked", "gave", "say"}

// persons are no part of words that somebody types.
var persons = []string{"you", "i", "we", "they", "use", "try", "put", "enter"}

// typedAt adds to c, which begins at a word, the words of the answer to a security question, or those before a remark
// on how they are typed: "my cat hates mondays too, all lowercase".
func (p *passage) typedAt(c candidate) (candidate, bool) {
	const most, least = 8, 3
	part := p.sentences[c.sentence]
	c.as = asPhrase
	if c.first == part.first {
		return c, false
	}
	before := p.words[c.first-1]
	answer := before.after <= colon && slices.Contains(answers, before.low) && p.asksQuestion(c.sentence) &&
		!p.words[c.first].clue.Plain && !p.words[c.first].clue.Named() && before.after != comma
	if !answer && before.after == blank && before.clue.Join < 2 || !answer && !part.typed {
		return c, false
	}
	for c.last = c.first; c.last < part.last && c.last < c.first+most; c.last++ {
		w := p.words[c.last]
		if c.last > c.first && w.clue.Plain && (answer || p.remarkAt(c.last, part.last)) ||
			!answer && (w.clue.Join >= strongJoin || slices.Contains(persons, w.low)) ||
			strings.ContainsFunc(w.low, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '\'' }) &&
				(!answer || c.last == c.first) {
			break
		}
		c.end = w.end
		if w.after != blank {
			c.last++
			break
		}
	}
	n := c.last - c.first
	if answer {
		c.looks = 2
		capital := n > 0 && p.text[c.start] != p.words[c.first].low[0]
		return c, n > 0 && n <= 5 && (capital || n == 1 && !word.IsEnglish(p.words[c.first].low)) && !part.asks
	}
	c.looks = 4
	return c, n >= least && p.remarkAt(c.last, part.last)
}

// asksQuestion reports whether the sentence or the one before it names a security question.
func (p *passage) asksQuestion(s int) bool {
	return p.sentences[s].question || s > 0 && p.sentences[s-1].question
}

// remarkAt reports whether a remark on how something is typed begins at the word at i.
func (p *passage) remarkAt(i, last int) bool {
	for ; i < last; i++ {
		if p.words[i].clue.Typed {
			return true
		}
		if !p.words[i].clue.Plain || p.words[i].after != blank {
			return false
		}
	}
	return false
}

// asking are verbs between what has a password and the password: "the tablet wants 0417".
var asking = []string{"wants", "takes", "gets", "accepts", "expects", "needs"}

// isAsked reports whether the word at i is one of them, after a word for what has a password.
func (p *passage) isAsked(i, first int, as aspect) bool {
	const reach = 8
	if !slices.Contains(asking, p.words[i].low) || as == asNumber && p.words[i].low == "gets" {
		return false
	}
	for k := i - 1; k >= max(first, i-reach); k-- {
		if c := p.words[k].clue; (c.Thing > 0 || c.Word > 3) && as.of(c) > 0 {
			return true
		}
	}
	return false
}

// turned are locks whose combinations have three digits.
var turned = text.Set(`luggage suitcase combination combo padlock wheels dials koffer kofferschloss zahlenschloss valise
	maleta mala valigia trolley fahrradschloss spind lock locker cadenas candado lucchetto hangslot`)

// isCombination reports whether v can be the combination of a lock that is named in the sentence or near it.
func (p *passage) isCombination(v string, s int) bool {
	if len(v) != 3 || strings.Trim(v, "0123456789") != "" {
		return false
	}
	for k := max(0, s-1); k <= min(s+1, len(p.sentences)-1); k++ {
		if p.sentences[k].turned {
			return true
		}
	}
	return false
}

// isAppended reports whether a candidate at the end of its sentence is in apposition to what is before the comma after
// the word at i: "the code is her wedding year, 1958", "user k771, x",
// "I always use the cat's name and a year, x, for that".
func (p *passage) isAppended(c *candidate, i int) bool {
	const reach = 8
	part := p.sentences[c.sentence]
	if p.words[c.last-1].after < comma && c.last < part.last {
		return false
	}
	if p.accountBefore(i, part.first) > 0 {
		return true
	}
	for k := i; k >= max(part.first, i-reach); k-- {
		joins := p.words[k].clue.Join >= strongJoin || p.words[k].clue.Word > 2 && p.words[k].clue.Join > 0
		if joins || p.words[k].after == colon {
			return c.as == asNumber || c.as == asWord && c.looks > 3
		}
	}
	return false
}

// accountBefore returns the points of an account at word i, 0 for none.
func (p *passage) accountBefore(i, first int) int {
	if w := p.words[i]; strings.Contains(w.low, "@") || w.low == "redacted:email" {
		return strongJoin
	}
	names := []string{"user", "username", "login"}
	if i > first && p.words[i-1].after == blank && slices.Contains(names, p.words[i-1].low) {
		return strongJoin
	}
	return 0
}

// sameStem reports whether two candidates begin with the same letters: Kastanie7 and Kastanie8.
func (p *passage) sameStem(a, b candidate) bool {
	const least = 4
	v, w := p.text[a.start:a.end], p.text[b.start:b.end]
	return len(v) > least && len(w) > least && v[:least] == w[:least]
}

// sameLength reports whether two candidates have as many characters, more than most words: those of a list of codes.
func sameLength(a, b candidate) bool {
	const least = 8
	return a.end-a.start >= least && a.end-a.start == b.end-b.start
}

// accountOf returns the points for the account before the slash in the word at i, with what has it: admin/x.
func (p *passage) accountOf(c *candidate) int {
	w := p.words[c.first]
	if n := strings.IndexByte(w.low, '/'); c.as != asWord || c.start == w.start || n <= 0 || !word.ClueOf(w.low[:n]).User {
		return 0
	}
	return min(mostOfNames, 3+p.sentences[c.sentence].thing)
}

// isSigned reports whether a word of letters and digits ends in a sign after which its sentence goes on: "try
// Spring2024! for the portal".
func (p *passage) isSigned(c *candidate) bool {
	const certain, shortest = 6, 8
	w := p.words[c.last-1]
	return c.looks >= certain && c.end-c.start >= shortest && c.end == w.signs && w.signs > w.end && w.after < stop
}

// oddEnough reports whether a word has a sign within that is in few words but passwords, so that it is one wherever
// something that has a password is named.
func oddEnough(v string, looks int) bool {
	const certain, shortest = 6, 8
	return looks >= certain && len(v) >= shortest && strings.ContainsAny(v[1:len(v)-1], "!#$%^&?~*") &&
		!strings.ContainsAny(v, "@_/.=")
}

// using are verbs before a word that is used as a password.
var using = []string{
	"use", "uses", "using", "used", "set", "put", "chose", "picked", "took", "take", "keep", "kept", "word",
}

// isUsedAs reports whether any word is a password because of what is around it: "use tombola as the Zoom passcode".
func (p *passage) isUsedAs(i, s int) bool {
	const reach = 5
	part, w := p.sentences[s], p.words[i]
	if i == part.first || i+2 >= part.last || w.after != blank || p.words[i+1].low != "as" || len(w.low) < 4 ||
		!slices.Contains(using, p.words[i-1].low) {
		return false
	}
	for k := i + 2; k < min(part.last, i+2+reach); k++ {
		c := p.words[k].clue
		if c.Word >= mostOfNames { // not "as the password manager"
			return p.words[k].after > blank || k+1 == part.last || p.words[k+1].clue.Plain
		}
		if p.words[k].after > blank {
			return false
		}
	}
	return false
}

// isAnswer reports whether the word is the whole answer to a question for a password: "What's the password?"
// "Chalkdust!"
func (p *passage) isAnswer(i, s int) bool {
	const shortest, most = 4, 6
	part, w := p.sentences[s], p.words[i]
	if s == 0 || part.last-part.first != 1 || len(w.low) < shortest || w.clue != (word.Clue{}) || word.IsCommon(w.low) {
		return false
	}
	asked := p.sentences[s-1]
	if !asked.asks || asked.against > 0 || !asks[p.words[asked.first].low] {
		return false
	}
	return slices.ContainsFunc(asked.names, func(k int) bool {
		return p.words[k].clue.Word >= mostOfNames && k-asked.first < most &&
			(k+1 == asked.last || p.words[k+1].clue.Plain || p.words[k].after > blank)
	})
}

// asks begin questions for a password.
var asks = text.Set(`what what's whats what’s which remind wie was quel quelle cuál qual`)

// isCorrected reports whether a number is told together with another one of its length that it is not: "3849, not
// 3489".
func (p *passage) isCorrected(c *candidate) bool {
	const reach = 4
	if c.as != asNumber || c.last != c.first+1 {
		return false
	}
	differs := func(k int) bool {
		w := p.words[k].low
		return len(w) == c.end-c.start && strings.Trim(w, "0123456789") == "" && w != p.text[c.start:c.end]
	}
	for k, not := c.first-1, false; k >= max(0, c.first-reach-1); k-- {
		not = not || denials[p.words[k].low]
		if differs(k) && (not || k > 0 && denials[p.words[k-1].low]) {
			return true
		}
	}
	for k, not := c.last, false; k < min(len(p.words), c.last+reach+1); k++ {
		if not && differs(k) {
			return true
		}
		not = not || denials[p.words[k].low]
	}
	return false
}

// denials say that what follows or comes before them is wrong.
var denials = text.Set(`not no sorry nicht nein pas non não niet doesn't doesnt didn't didnt otherwise else`)

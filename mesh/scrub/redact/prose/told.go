package prose

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// Find finds secrets that sentences tell. No form is fixed: what names a secret nearby, how a word is joined to the
// name, and what the word looks like each give points (see [word.Clue]), and from [enough] points on it is a secret.
func Find(text string) (found []sensitive.Finding) {
	eachPassage(text, func(p *passage, at int) {
		for _, f := range p.secrets() {
			found = append(found, f.Kind.At(at+f.Start, at+f.End))
		}
	})
	return found
}

// eachPassage calls f with the parts of a text, which overlap, and where each begins.
func eachPassage(text string, f func(p *passage, at int)) {
	const block, overlap = 32 << 10, 600
	lower := chars.LowerUnicode(text)
	for at := 0; at < len(text); {
		end := len(text)
		if end-at > block {
			end = at + block
			if n := strings.LastIndexByte(text[at:end], '\n'); n > overlap {
				end = at + n + 1
			}
			for end < len(text) && !isRuneStart(text[end]) {
				end++
			}
		}
		f(newPassage(text[at:end], lower[at:end]), at)
		if end == len(text) {
			break
		}
		at = end - overlap
		for !isRuneStart(text[at]) {
			at++
		}
	}
}

// isRuneStart reports whether b begins a character.
func isRuneStart(b byte) bool { return b&0xC0 != 0x80 }

// enough is the sum at which a word is taken for a secret. A password that is named (6) and joined by "is" (3) needs
// one more point for its looks.
const enough = 10

// Points that no clue has.
const (
	mostOfNames  = 6 // at most, of a weak name together with a thing and an act
	strongJoin   = 3 // "is", a colon, a turn that is nothing but the value
	fairJoin     = 2 // a name right before the value, quotes
	weakJoin     = 1 // "and", the beginning of a sentence
	notJoined    = -2
	otherwise    = -6 // the word before it says that it is something else
	nextSentence = -1 // for each sentence between a name and a value
	farAway      = -1 // for each dozen of words between them
	sibling      = 4  // another value of the same shape in the same passage is a secret
)

// aspect is one of the shapes of secrets.
type aspect int

// The aspects.
const (
	asWord aspect = iota
	asNumber
	asKey
	asPhrase
)

// of returns the weight of a name for secrets of the shape.
func (a aspect) of(c word.Clue) int {
	switch a {
	case asNumber:
		return c.Number
	case asKey:
		return c.Key
	case asPhrase:
		return c.Phrase
	}
	return c.Word
}

// candidate is what can be a secret: words [first,last) of a sentence.
type candidate struct {
	first, last int
	start, end  int
	sentence    int
	as          aspect
	looks       int
	points      int
	token       bool // the name is that of a token
	quoted      bool // a word in quotes
	told        bool // a word that only its place makes a secret
	surest      int  // the weight of the best name alone
}

// secrets returns the secrets of a passage.
func (p *passage) secrets() (found []sensitive.Finding) {
	list := p.scored()
	words := p.judge(list)
	for i, c := range list {
		if c.points < enough && !p.isSibling(list, i) || p.isDoubtful(words, c.start) ||
			p.isKnown(c.first, c.sentence, c.start, c.end) {
			continue
		}
		kind := sensitive.Password
		switch {
		case c.as == asKey && c.token:
			kind = sensitive.Token
		case c.as == asKey:
			kind = sensitive.APIKey
		}
		found = append(found, kind.At(c.start, c.end))
	}
	found = append(found, p.dictated()...)
	for _, j := range words {
		if j.points < enough && j.learned() >= certain && !p.isNoted(j.start, j.end) &&
			!p.isKnown(j.word, j.sentence, j.start, j.end) {
			found = append(found, sensitive.Password.At(j.start, j.end))
		}
	}
	return found
}

// scored returns what can be a secret, in order, with its points.
func (p *passage) scored() (list []candidate) {
	for s := range p.sentences {
		if !p.sentences[s].code && p.nameNear(s) {
			list = p.candidates(s, list)
		}
	}
	for i := range list {
		list[i].points = p.score(&list[i])
	}
	return list
}

// isSibling reports whether another value of the same shape nearby is a secret, and with it this one: "not 7714, it's
// 7741".
func (p *passage) isSibling(list []candidate, i int) bool {
	const near = 4 // candidates
	c := list[i]
	corrected := p.isCorrected(&c) && p.joinBefore(&c) != otherwise && !p.isAmount(&c)
	if c.points+sibling < enough && !corrected {
		return false
	}
	return slices.ContainsFunc(list[max(0, i-near):min(len(list), i+near+1)], func(o candidate) bool {
		apart, differ := o.sentence-c.sentence, o.looks-c.looks
		alike := differ*differ <= 1 || p.sameStem(o, c) || sameLength(o, c)
		return o.points >= enough && o.as == c.as && apart*apart <= 1 && alike &&
			(c.as != asNumber || o.end-o.start == c.end-c.start)
	})
}

// nameNear reports whether the sentence or one near it names a secret.
func (p *passage) nameNear(s int) bool {
	for i := max(0, s-3); i <= min(s+1, len(p.sentences)-1); i++ {
		if len(p.sentences[i].names) > 0 || i == s && p.sentences[s].odd {
			return true
		}
	}
	return false
}

// candidates adds what can be a secret in a sentence.
func (p *passage) candidates(s int, list []candidate) []candidate {
	part := p.sentences[s]
	for i := part.first; i < part.last; i++ {
		w := p.words[i]
		if n := p.digitGroups(i, part.last); n > 1 {
			end := p.words[i+n-1].end
			if looks := word.ShapeOf(p.text[w.start:end]).Number; looks > 0 {
				list = append(list, candidate{
					first: i, last: i + n, start: w.start, end: end, sentence: s, as: asNumber, looks: looks,
				})
				i += n - 1
				continue
			}
		}
		if c, ok := p.sayingAt(i, s); ok {
			list = append(list, c)
			i = c.last - 1
			continue
		}
		if c, ok := p.phraseAt(i, s); ok {
			list = append(list, c)
			i = c.last - 1
			continue
		}
		start, v := p.valueAt(i)
		if w.clue.Named() || w.clue.Plain || v == "" || p.isArgument(start, start+len(v)) {
			continue
		}
		looks := word.ShapeOf(v)
		c := candidate{first: i, last: i + 1, start: start, end: start + len(v), sentence: s}
		if w.quote == '`' && looks.Word < 5 { // a name of a program
			looks.Word -= 2
		} else if w.quote != 0 && w.closed && looks.Word < 2 && len(v) >= 4 && looks.Number == 0 && word.IsLetters(v) {
			c.quoted, looks.Word = true, max(looks.Word, 2)
		}
		if looks.Word == 0 && p.isStrange(i, s) {
			looks.Word = 1
			if p.namesWords(s) && unicode.IsUpper(rune(v[0])) {
				looks.Word = 2
			}
		}
		if p.isCombination(v, s) {
			looks.Number = 3
		}
		if looks.Word < 3 && (p.isUsedAs(i, s) || p.isAnswer(i, s)) {
			c.told, looks.Word = true, 2
		}
		for as, points := range []int{looks.Word, looks.Number, looks.Key} {
			if points > 0 {
				c.as, c.looks = aspect(as), points
				list = append(list, c)
			}
		}
	}
	return list
}

// valueAt returns the word as a value: with the signs at its end, without the account before a slash.
func (p *passage) valueAt(i int) (start int, v string) {
	w := p.words[i]
	start = w.start
	v = p.text[w.start:w.signs]
	if strings.Trim(v[:w.end-w.start], "0123456789-.") == "" { // digits
		v = v[:w.end-w.start] + strings.TrimRight(v[w.end-w.start:], "!?$%&+^~")
	}
	n := strings.IndexByte(v, '/')
	if sep := strings.IndexByte(v, ':'); n < 0 && sep > 0 && p.loginBefore(i) {
		return start + sep + 1, v[sep+1:]
	}
	if n > 0 && (word.ClueOf(w.low[:n]).User || strings.Count(v, "/") == 1 && p.loginBefore(i)) {
		return start + n + 1, v[n+1:]
	}
	return start, v
}

// loginBefore reports whether one of the three words before the word names an account.
func (p *passage) loginBefore(i int) bool {
	for k := max(0, i-3); k < i; k++ {
		if p.words[k].clue.Word >= 4 {
			return true
		}
	}
	return false
}

// digitGroups returns how many words from i on are groups of digits: 418 207.
func (p *passage) digitGroups(i, last int) (n int) {
	const most = 8
	for n < most && i+n < last {
		w := p.words[i+n]
		if strings.Trim(w.low, "0123456789") != "" || len(w.low) > 4 || len(w.low) != len(p.words[i].low) {
			return n
		}
		n++
		if w.after != blank {
			return n
		}
	}
	return n
}

// score adds up the evidence for a candidate.
func (p *passage) score(c *candidate) int {
	name := p.bestName(c)
	if name <= 0 {
		return 0
	}
	join := p.joinBefore(c)
	if c.told || join < strongJoin && join != otherwise && p.joinsAfter(c) {
		join = strongJoin
	}
	ends := p.words[c.last-1].after > blank || c.last == len(p.words)
	if join == notJoined && (c.as == asNumber || c.as == asWord && c.looks > 4) && c.surest >= mostOfNames && ends {
		join = 0 // "PIN for the locker at the pool 6627."
	}
	points := name + c.looks + join
	if c.surest > 2 && p.isCorrected(c) {
		points += 2
	}
	if c.as != asPhrase || name < 7 { // a recovery phrase can have any word
		points -= p.againstNear(c.sentence)
	}
	if c.as != asKey && p.isAmount(c) {
		points += otherwise
	}
	if c.as == asKey && join < 0 && join != otherwise {
		points -= join // a random value needs no word that joins it
	}
	if c.as == asWord && c.looks > 2 && c.looks < 5 && c.surest < mostOfNames-1 && join == fairJoin &&
		!p.words[c.first-1].clue.Named() {
		points -= 2 // "the login page uses React18"
	}
	if c.quoted && (c.surest < mostOfNames || join < fairJoin) {
		return 0
	}
	if c.as == asKey && announcesDigest(p.before(c)) {
		points += otherwise
	}
	if points == enough-1 && !p.isOrdinary(c) && p.isTalk(c.sentence) {
		points++
	}
	return points
}

// isOrdinary reports whether a candidate looks like a name, or like a number of what has hardly a code.
func (p *passage) isOrdinary(c *candidate) bool {
	if c.as != asNumber {
		return c.looks < 2
	}
	letters := strings.ContainsFunc(p.text[c.start:c.end], unicode.IsLetter)
	return c.looks < 3 || !letters && c.surest < 3
}

// againstNear returns the reasons against secrets in sentence s, and in the question that it answers.
func (p *passage) againstNear(s int) int {
	points := p.sentences[s].against
	if s > 0 && p.sentences[s-1].asks {
		points = max(points, p.sentences[s-1].against)
	}
	return points
}

// before returns the sentence before a candidate, at most 60 bytes.
func (p *passage) before(c *candidate) string {
	return p.text[max(p.words[p.sentences[c.sentence].first].start, c.start-60):c.start]
}

// bestName returns the points of the best name of a secret near a candidate, with those of things and acts.
func (p *passage) bestName(c *candidate) (best int) {
	for s := max(0, c.sentence-4); s <= min(c.sentence+1, len(p.sentences)-1); s++ {
		part := p.sentences[s]
		reach := p.reach(c.sentence, s)
		if reach < -3 {
			continue
		}
		for _, i := range part.names {
			if i >= c.first && i < c.last {
				continue
			}
			points := c.as.of(p.words[i].clue)
			if points == 0 {
				continue
			}
			thing, act := part.thing, max(part.act, p.sentences[c.sentence].act)
			if s != c.sentence {
				thing = max(thing, p.sentences[c.sentence].thing)
			}
			if s == c.sentence && s > 0 && p.sentences[s-1].thing > 0 {
				thing = max(thing, 1)
			}
			if p.words[i].clue.Thing > 0 { // it is the thing itself
				thing = 0
			}
			points = max(points, min(mostOfNames, points+thing+act)) + reach
			if s == c.sentence {
				points += farAway * (max(i-c.last, c.first-i) / 12) //nolint:mnd // a dozen
			}
			if points > best || points == best && c.as.of(p.words[i].clue) > c.surest {
				best = points
				c.surest = c.as.of(p.words[i].clue)
				c.token = p.words[i].clue.Key > 5 && strings.HasPrefix(p.words[i].low, "token")
			}
		}
	}
	best = max(best, p.accountOf(c))
	if own := p.sentences[c.sentence]; c.as == asWord && own.thing > 0 &&
		(oddEnough(p.text[c.start:c.end], c.looks) || p.isSigned(c)) {
		best = max(best, own.thing+own.act)
	}
	return best
}

// reach returns the points for names in sentence name, of a candidate in sentence own.
func (p *passage) reach(own, name int) int {
	const none = -9
	switch {
	case name == own:
		return 0
	case name > own:
		if first := p.words[p.sentences[name].first].low; slices.Contains([]string{
			"that's", "that’s", "that", "this", "those", "these", "it's", "das", "c'est",
		}, first) {
			return nextSentence
		}
		return 2 * nextSentence
	}
	turns, points := 0, 0
	for s := name + 1; s <= own; s++ {
		if p.sentences[s].turn {
			turns++
		}
		if s < own && p.sentences[s].last-p.sentences[s].first > 12 {
			return none
		}
		if own == name+1 && p.sentences[name].asks && p.sentences[name].last-p.sentences[name].first > 1 { // the answer
			break
		}
		points += nextSentence
	}
	if turns > 0 {
		return max(points, nextSentence-turns/3)
	}
	if own-name > 2 {
		return none
	}
	return points
}

// isAmount reports whether a number has a unit, or is of some things: 45 people.
func (p *passage) isAmount(c *candidate) bool {
	if c.as != asNumber && c.looks > 2 || c.last >= len(p.words) || p.words[c.last-1].after != blank {
		return false
	}
	next := p.words[c.last]
	if (next.low == "a" || next.low == "per" || next.low == "each") && c.last+1 < len(p.words) { // 5900 a month
		next = p.words[c.last+1]
	}
	return next.clue.Unit || c.as == asNumber && len(next.low) > 4 && strings.HasSuffix(next.low, "s") &&
		!next.clue.Plain && next.clue.Join == 0 && word.IsEnglish(next.low) && next.clue.Act == 0 &&
		p.text[next.start] == next.low[0]
}

// announcesDigest reports whether a sentence names something public before a value.
func announcesDigest(before string) bool {
	return word.HasAny(chars.Lower(before), []string{
		"public", "hash", "digest", "checksum", "fingerprint", "integrity", "sha", "commit ", "commit:", "version", "id ",
		"http", "file",
	}) || strings.Contains(before, "ssh-")
}

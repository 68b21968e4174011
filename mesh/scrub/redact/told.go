package redact

import (
	"slices"
	"strings"
	"unicode"
)

// findTold finds secrets that sentences tell. No form is fixed: what names a secret nearby, how a word is joined to the
// name, and what the word looks like each give points (see clueTable), and from [enough] points on it is a secret.
func findTold(text string) (found []Finding) {
	const block, overlap = 32 << 10, 600
	lower := lowerCase(text)
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
		for _, f := range newPassage(text[at:end], lower[at:end]).secrets() {
			found = append(found, Finding{f.Kind, at + f.Start, at + f.End})
		}
		if end == len(text) {
			break
		}
		at = end - overlap
		for !isRuneStart(text[at]) {
			at++
		}
	}
	return found
}

// isRuneStart reports whether b begins a character.
func isRuneStart(b byte) bool { return b&0xC0 != 0x80 }

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
func (a aspect) of(c clue) int {
	switch a {
	case asNumber:
		return c.number
	case asKey:
		return c.key
	case asPhrase:
		return c.phrase
	}
	return c.word
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
	surest      int  // the weight of the best name alone
}

// secrets returns the secrets of a passage.
func (p *passage) secrets() (found []Finding) {
	var list []candidate
	for s := range p.sentences {
		if !p.sentences[s].code && p.nameNear(s) {
			list = p.candidates(s, list)
		}
	}
	for i := range list {
		list[i].points = p.score(&list[i])
	}
	for i, c := range list {
		if c.points < enough && !p.isSibling(list, i) {
			continue
		}
		kind := Password
		switch {
		case c.as == asKey && c.token:
			kind = Token
		case c.as == asKey:
			kind = APIKey
		}
		found = append(found, Finding{kind, c.start, c.end})
	}
	return found
}

// isSibling reports whether another value of the same shape nearby is a secret, and with it this one: "not 7714, it's
// 7741".
func (p *passage) isSibling(list []candidate, i int) bool {
	const near = 4 // candidates
	c := list[i]
	if c.points+sibling < enough {
		return false
	}
	return slices.ContainsFunc(list[max(0, i-near):min(len(list), i+near+1)], func(o candidate) bool {
		apart, differ := o.sentence-c.sentence, o.looks-c.looks
		return o.points >= enough && o.as == c.as && apart*apart <= 1 && (differ*differ <= 1 || p.sameStem(o, c)) &&
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
			if looks := shapeOf(p.text[w.start:end]).number; looks > 0 {
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
		if w.clue.named() || w.clue.plain || v == "" || p.isArgument(start, start+len(v)) {
			continue
		}
		looks := shapeOf(v)
		c := candidate{first: i, last: i + 1, start: start, end: start + len(v), sentence: s}
		if w.quote == '`' && looks.word < 5 { // a name of a program
			looks.word -= 2
		} else if w.quote != 0 && w.closed && looks.word < 2 && len(v) >= 4 && looks.number == 0 && isNameOnly(v) {
			c.quoted, looks.word = true, max(looks.word, 2)
		}
		if looks.word == 0 && p.isStrange(i, s) {
			looks.word = 1
			if p.namesWords(s) && unicode.IsUpper(rune(v[0])) {
				looks.word = 2
			}
		}
		if p.isCombination(v, s) {
			looks.number = 2
		}
		for as, points := range []int{looks.word, looks.number, looks.key} {
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
	if n > 0 && (clueOf(w.low[:n]).user || strings.Count(v, "/") == 1 && p.loginBefore(i)) {
		return start + n + 1, v[n+1:]
	}
	return start, v
}

// loginBefore reports whether one of the three words before the word names an account.
func (p *passage) loginBefore(i int) bool {
	for k := max(0, i-3); k < i; k++ {
		if p.words[k].clue.word >= 4 {
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
	if join < strongJoin && join != otherwise && p.joinsAfter(c) {
		join = strongJoin
	}
	ends := p.words[c.last-1].after > blank || c.last == len(p.words)
	if join == notJoined && (c.as == asNumber || c.as == asWord && c.looks > 4) && c.surest >= mostOfNames && ends {
		join = 0 // "PIN for the locker at the pool 6627."
	}
	points := name + c.looks + join
	if c.as != asPhrase || name < 7 { // a recovery phrase can have any word
		points -= p.sentences[c.sentence].against
	}
	if c.as != asKey && p.isAmount(c) {
		points += otherwise
	}
	if c.as == asKey && join < 0 && join != otherwise {
		points -= join // a random value needs no word that joins it
	}
	if c.as == asWord && c.looks > 2 && c.looks < 5 && c.surest < mostOfNames-1 && join == fairJoin &&
		!p.words[c.first-1].clue.named() {
		points -= 2 // "the login page uses React18"
	}
	if c.quoted && (c.surest < mostOfNames || join < fairJoin) {
		return 0
	}
	if c.as == asKey && announcesDigest(p.before(c)) {
		points += otherwise
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
			if p.words[i].clue.thing > 0 { // it is the thing itself
				thing = 0
			}
			points = max(points, min(mostOfNames, points+thing+act)) + reach
			if s == c.sentence {
				points += farAway * (max(i-c.last, c.first-i) / 12) //nolint:mnd // a dozen
			}
			if points > best || points == best && c.as.of(p.words[i].clue) > c.surest {
				best = points
				c.surest = c.as.of(p.words[i].clue)
				c.token = p.words[i].clue.key > 5 && strings.HasPrefix(p.words[i].low, "token")
			}
		}
	}
	best = max(best, p.accountOf(c))
	if own := p.sentences[c.sentence]; c.as == asWord && own.thing > 0 && oddEnough(p.text[c.start:c.end], c.looks) {
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
		if own == name+1 && p.sentences[name].asks && p.sentences[name].last-p.sentences[name].first > 3 { // the answer
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

// joinBefore returns the points for what is between a candidate and what is before it.
func (p *passage) joinBefore(c *candidate) int {
	part := p.sentences[c.sentence]
	alone := c.first == part.first && c.last == part.last
	if c.start > p.words[c.first].start { // admin/x
		return strongJoin
	}
	for i, skipped := c.first-1, 0; ; i-- {
		if i < part.first {
			return p.joinOfFirst(c, alone)
		}
		w := p.words[i]
		switch {
		case w.after == colon:
			counts := w.clue.other && !w.clue.adverb && !(w.clue.speech && i == part.first) // "room: 4471"
			if i == c.first-1 && (c.as == asNumber && counts || w.clue.label && !w.clue.plain) {
				return otherwise
			}
			if i == c.first-1 && c.as == asNumber && w.clue.thing > 0 && w.clue.number > 2 { // "safe: 27-41-08"
				return strongJoin + 1
			}
			return strongJoin
		case w.after == comma && p.isAppended(c, i):
			return max(fairJoin, p.accountBefore(i, part.first))
		case w.after == slash && (w.clue.user || p.text[max(0, w.start-1)] == '('):
			return strongJoin
		case w.after == slash:
			return fairJoin
		case i == c.first-1 && w.clue.other && w.clue.adverb && c.as == asWord && c.looks < 6: // "it is in Dashlane"
			return notJoined
		case i == c.first-1 && w.clue.other && w.clue.adverb && c.looks > 4:
			return weakJoin // "the lock is on 2-5-8-0"
		case i == c.first-1 && w.clue.other && w.clue.join == 0 && (c.as == asNumber || len(w.low) > 3):
			return otherwise
		case w.clue.join > 0 && w.after == blank:
			return p.joinOf(i, part.first, c.as)
		case w.clue.adverb && w.after == blank && skipped < 4:
			if skipped++; w.clue.other && (c.as == asPhrase || c.as == asWord && c.looks < 2) { // "keys are in the little box"
				return notJoined
			}
		case w.clue.named() && w.clue.thing == 0 && w.after <= comma:
			return fairJoin
		case w.clue.speech:
			if skipped++; i == part.first {
				return p.joinOfFirst(c, true)
			}
		case w.clue.thing > 0 && i == c.first-1 && c.as == asNumber && c.looks > 5: // "keypad 9-0-2-6"
			return fairJoin
		case w.after == comma, w.clue.thing > 0 && i == c.first-1 && p.nameBefore(i, part.first):
			return weakJoin
		case w.clue.act > 0:
			return max(w.clue.join, weakJoin)
		default:
			return notJoined
		}
	}
}

// nameBefore reports whether the four words before i name a password: "mot de passe du wifi x".
func (p *passage) nameBefore(i, first int) bool {
	const reach = 4
	for k := max(first, i-reach); k < i; k++ {
		if p.words[k].clue.word >= mostOfNames {
			return true
		}
	}
	return false
}

// joinOf returns the points of the joining word at i.
func (p *passage) joinOf(i, first int, as aspect) int {
	points := p.words[i].clue.join
	if p.isAsked(i, first, as) {
		return strongJoin + 1
	}
	for k := i - 1; k >= max(first, i-2); k-- {
		c := p.words[k].clue
		switch {
		case c.adverb:
			continue
		case c.user, strings.Contains(p.words[k].low, "@"), p.words[k].low == "redacted:email": // "admin and x"
			return max(points, strongJoin)
		case c.label && p.words[k].after == blank && !strings.HasPrefix(p.words[i].low, "it"): // "the user name is x"
			return otherwise
		}
		break
	}
	return points
}

// joinOfFirst returns the points of a candidate that begins its sentence.
func (p *passage) joinOfFirst(c *candidate, alone bool) int {
	part := p.sentences[c.sentence]
	switch {
	case alone || part.turn:
		return strongJoin
	case c.sentence > 0 && p.sentences[c.sentence-1].asks:
		return strongJoin
	}
	return weakJoin
}

// afterwards are words after a secret, between which and the secret's name there can be some more.
var afterwards = []string{
	"is", "was", "as", "are", "were", "for", "works", "opens", "unlocks", "into", "at", "on", "in", "one", "ist", "als",
	"est", "es", "é", "è", "como", "comme", "come", "that's", "that", "stopped", "worked", "gets", "does", "should",
	"lets", "will",
}

// works are those that need no name after them.
var works = []string{"works", "opens", "unlocks", "gets", "stopped", "worked", "is", "does", "lets"}

// joinsAfter reports whether a candidate is joined to what follows it: "x is my password", "x is the right one".
func (p *passage) joinsAfter(c *candidate) bool {
	const reach = 9
	last := p.sentences[c.sentence].last
	if c.as == asWord && c.looks < 3 && !slices.Contains(afterwards[:3], p.words[min(c.last, last-1)].low) {
		return false
	}
	if c.last >= last || p.words[c.last-1].after >= stop || !slices.Contains(afterwards, p.words[c.last].low) {
		return false
	}
	if c.as == asWord && c.looks >= 4 && slices.Contains(works, p.words[c.last].low) {
		return true
	}
	for i := c.last; i < min(last, c.last+reach); i++ {
		if c.as.of(p.words[i].clue) >= 4 {
			return true
		}
	}
	return false
}

// isAmount reports whether a number has a unit, or is of some things: 45 people.
func (p *passage) isAmount(c *candidate) bool {
	if c.as != asNumber && c.looks > 2 || c.last >= len(p.words) || p.words[c.last-1].after != blank {
		return false
	}
	next := p.words[c.last]
	return next.clue.unit || c.as == asNumber && len(next.low) > 4 && strings.HasSuffix(next.low, "s") &&
		!next.clue.plain && next.clue.join == 0 && isEnglish(next.low) && next.clue.act == 0 &&
		p.text[next.start] == next.low[0]
}

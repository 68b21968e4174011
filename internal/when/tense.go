package when

import (
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// tense is where a sentence looks: it decides which Tuesday, or which March, is meant.
type tense int

const (
	either tense = iota // it does not tell
	past
	future
)

var (
	futureWords = text.Set("will shall ll going gonna planned planning scheduled upcoming due tomorrow remind booked " +
		"expire expires must coming next")
	// plannedNouns name what is to come, unless it was: "the appointment was on Thursday".
	plannedNouns = text.Set("plan plans schedule deadline appointment reminder agenda")
	// presentWords tell of the future where no word tells of the past: "the review is on Thursday".
	presentWords = text.Set("is are am s re do does start starts begin begins open opens end ends leave leaves fly " +
		"flies arrive arrives happen happens happening go goes comes have should need needs can could would")
	pastWords = text.Set("did was were had ago last went met said told made bought took came saw left began wrote spoke " +
		"ran ate found gave sent won lost paid sold built broke chose drove fell felt flew forgot held kept knew led " +
		"read slept spent swam taught thought wore been done gone seen")
	// notPast end in -ed, and tell nothing of the past.
	notPast = text.Set("need indeed supposed bed red speed feed seed weed shed embed")
)

// tense returns the tense of the sentence that has token i.
func (p *parser) tense(i int) tense {
	if i < p.sentence.from || i >= p.sentence.to {
		p.sentence.from, p.sentence.to = p.bounds(i)
		p.sentence.tense = tenseOf(p.tokens[p.sentence.from:p.sentence.to])
	}
	if p.sentence.tense == past && p.plans(i) {
		return future
	}
	return p.sentence.tense
}

// bounds returns the tokens of i's sentence.
func (p *parser) bounds(i int) (from, to int) {
	from, to = i, i
	for from > 0 && !p.ends(from-1) {
		from--
	}
	for to < len(p.tokens) && !p.ends(to) {
		to++
	}
	return from, max(to, i+1)
}

// tenseOf returns the tense of a sentence.
func tenseOf(sentence []token) tense {
	var isPast, isFuture, isPresent, isPlan, isOver bool
	for i, t := range sentence {
		switch {
		case t.text == "going" && i+1 < len(sentence) && sentence[i+1].text == "on": // it happens
		case futureWords[t.text]:
			isFuture = true
		case plannedNouns[t.text]:
			isPlan = true
		case pastWords[t.text], len(t.text) > 3 && strings.HasSuffix(t.text, "ed") && !notPast[t.text]:
			isPast, isOver = true, isOver || t.text == "was" || t.text == "were"
		case presentWords[t.text]:
			isPresent = true
		}
	}
	switch {
	case isFuture, isPlan && !isOver:
		return future
	case isPast:
		return past
	case isPresent:
		return future
	}
	return either
}

// ends reports whether a sentence ends at token i.
func (p *parser) ends(i int) bool {
	switch p.tokens[i].text {
	case "!", "?", ";":
		return true
	case ".":
		return i+1 == len(p.tokens) || !p.tokens[i+1].glued
	}
	return i+1 < len(p.tokens) && strings.Contains(p.text[p.tokens[i].end:p.tokens[i+1].start], "\n")
}

// choose returns those of a phrase's occurrences, the earliest first, that token i's sentence may mean, the likeliest
// first.
func (p *parser) choose(i int, occurrences []Span) []Span {
	var before, after *Span
	for k := range occurrences {
		s := &occurrences[k]
		switch {
		case s.Holds(p.now):
			return []Span{*s}
		case s.From.After(p.now):
			if after == nil {
				after = s
			}
		default:
			before = s
		}
	}
	switch lean := p.lean(i); {
	case after == nil || before != nil && lean == past:
		return []Span{*before}
	case before == nil || lean == future:
		return []Span{*after}
	}
	near, far := *before, *after
	distance, other := p.now.Sub(before.To), after.From.Sub(p.now)
	if other < distance {
		near, far, distance, other = far, near, other, distance
	}
	// An occurrence that is much nearer is meant.
	if !p.all || other > 3*(distance+24*time.Hour) {
		return []Span{near}
	}
	return []Span{near, far}
}

// InPast reports whether a text tells of the past as a whole: "Ana adopted a cat today" is true afterwards, "call Ana
// today" is over.
func InPast(text string) bool { return tenseOf(tokenize(text)) == past }

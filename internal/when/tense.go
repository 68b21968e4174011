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
		"flies arrive arrives happen happens happening go goes comes have should need needs can could would lasts " +
		"closes departs")
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

// told is what the words of a sentence tell about its time.
type told struct{ past, future, present, plan, over bool }

func toldBy(sentence []token) (w told) {
	for i, t := range sentence {
		var before, after string
		if i > 0 {
			before = sentence[i-1].text
		}
		if i+1 < len(sentence) {
			after = sentence[i+1].text
		}
		switch {
		case t.text == "going" && after == "on": // it happens
		case t.text == "last" && before == "the": // "the last week of December"
		case futureWords[t.text]:
			w.future = true
		case plannedNouns[t.text]:
			w.plan = true
		case (before == "is" || before == "are") && strings.HasSuffix(t.text, "ed"): // "the pool is closed"
		case inPast(t.text):
			w.past, w.over = true, w.over || t.text == "was" || t.text == "were"
		case presentWords[t.text], t.text == "runs" && lasting[after], t.text == "takes" && after == "place":
			w.present = true
		}
	}
	return w
}

// lasting are words after "runs" where it tells of a time.
var lasting = text.Set("from until till through between")

// inPast reports whether a word is a verb in the past tense.
func inPast(w string) bool {
	return pastWords[w] || len(w) > 3 && strings.HasSuffix(w, "ed") && !notPast[w]
}

// tenseOf returns the tense of a sentence.
func tenseOf(sentence []token) tense {
	switch w := toldBy(sentence); {
	case w.future, w.plan && !w.over:
		return future
	case w.past:
		return past
	case w.present:
		return future
	}
	return either
}

// ahead reports whether a text, if there is one, tells of what is to come, and not only in the present tense.
func ahead(text []token) bool {
	w := toldBy(text)
	return len(text) == 0 || w.future || w.plan && !w.past
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

// isVerb reports whether a word is a verb by which the tense is known.
func isVerb(w string) bool { return presentWords[w] || futureWords[w] || inPast(w) }

// leanAt returns the tense in which the phrase at token i is read. What is since some time, is so since a past one.
func (p *parser) leanAt(i int) tense {
	if p.since(i) {
		return past
	}
	return p.lean(i)
}

// since reports whether something is so since the phrase that begins at token i: "since 3 May", "since my birthday on
// 3 May". "Since Monday is a holiday" is a reason.
func (p *parser) since(i int) bool {
	k := i - 1
	for w := p.word(k); w == "the" || w == "about" || w == "around"; w = p.word(k) {
		k--
	}
	if w := p.word(k); w != "on" && w != "in" {
		next := p.word(i + 1) // the verb of "since Monday is a holiday", no part of "since the end of"
		return w == "since" && (p.word(i) == "the" || !presentWords[next] && !futureWords[next])
	}
	for j := k - 1; j >= max(0, k-5) && !p.ends(j); j-- {
		switch w := p.word(j); {
		case w == "since":
			return true
		case presentWords[w], futureWords[w]:
			return false
		}
	}
	return false
}

// choose returns those of a phrase's occurrences, the earliest first, that token i's sentence may mean, the likeliest
// first.
func (p *parser) choose(i int, occurrences []Span) []Span {
	if p.open {
		return occurrences
	}
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
	switch lean := p.leanAt(i); {
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

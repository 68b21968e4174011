package when

import (
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// phrase is what is said of time in one go: the tokens from i up to end, and what it may mean. If every is set, it
// means all of that: "the spring and autumn of 2025".
type phrase struct {
	i, end int
	spans  []Span
	every  bool
	list   bool // "October and November"
}

// each calls f with each phrase. f returns false to end.
func (p *parser) each(f func(phrase) bool) {
	for i := 0; i < len(p.tokens); {
		found, ok := p.phrase(i)
		if !ok {
			i++
			continue
		}
		if !f(found) {
			return
		}
		i = found.end
	}
}

var (
	// connectors join the ends of a range, of which "and" does so only after "between".
	connectors = text.Set("to until till through and - – —")
	// listing join times that are all meant.
	listing = text.Set("and or & /")
)

// phrase returns the phrase that begins at token i: one time, "from March to May", or "October and November 2025".
func (p *parser) phrase(i int) (phrase, bool) {
	if days, ok := p.severalDays(i); ok {
		return days, true
	}
	spans, n := p.match(i)
	if n > 0 && spans[0].Unit == Year {
		if within, ok := p.inYear(i, n, spans[0]); ok {
			return within, true
		}
	}
	first := side{i, n, n == 0}
	if n == 0 {
		first.n = p.bare(i)
	}
	if first.n == 0 {
		return phrase{}, false
	}
	if joined, ok := p.join(first); ok {
		return joined, true
	}
	return phrase{i: i, end: i + n, spans: spans}, n > 0
}

// inYear returns what comes after "in" or "on" after a year, as in "last year in March".
func (p *parser) inYear(i, n int, year Span) (phrase, bool) {
	at := i + n
	if w := p.word(at); w != "in" && w != "on" {
		return phrase{}, false
	}
	spans, m := p.unnamed(p.match, at+1)
	month := false
	for k := range m {
		month = month || months[p.word(at+1+k)] > 0
	}
	if m == 0 || len(spans) == 1 || spans[0].Unit == Day && !month { // not "last year on Monday"
		return phrase{}, false
	}
	spans = p.asOf(at+1, year.From, future)
	return phrase{i: i, end: at + 1 + m, spans: spans}, len(spans) > 0
}

// side is one end of a range: the n tokens from i. It is bare if it is a name that is certain to be a month or a season
// only because of the other end: "March to May 2025".
type side struct {
	i, n int
	bare bool
}

// bare returns how many tokens from i on are the name of a month or a season, with what follows it.
func (p *parser) bare(i int) int {
	at := i
	if p.word(at) == "the" {
		at++
	}
	if _, season := seasons[p.word(at)]; !season && (months[p.word(at)] == 0 || !p.all && !p.tokens[at].capital) {
		return 0
	}
	_, n := p.unnamed(p.match, i)
	return n
}

// unnamed applies a rule to names that no preposition makes certain.
func (p *parser) unnamed(rule func(int) ([]Span, int), i int) ([]Span, int) {
	defer func(named bool) { p.named = named }(p.named)
	p.named = true
	return p.occurrences(rule, i)
}

// join returns the phrase of a range or a list that begins with first, false if it does not go on.
func (p *parser) join(first side) (phrase, bool) {
	defer func(onward int) { p.onward = onward }(p.onward)
	at := first.i + first.n
	if next := p.word(at + 1); p.word(at) == "," && (next == "and" || next == "or") {
		at++
	}
	w := p.word(at)
	ranged := connectors[w] && (w != "and" || p.word(first.i-1) == "between")
	switch {
	case w == ",":
		return p.prepend(first)
	case !ranged && !listing[w] || p.moved(at+1): // "Moved from Tuesday to Thursday" is no range.
		return phrase{}, false
	}
	last := side{i: at + 1}
	if !ranged && p.isYear(at+1) && p.isYear(at-1) && first.n > 1 {
		return p.eachYear(first)
	}
	if !ranged && p.word(last.i) == "in" {
		last.i++
	}
	p.goOn(first, last.i)
	if _, last.n = p.match(last.i); last.n == 0 {
		last.n, last.bare = p.bare(last.i), true
	}
	if last.n == 0 || !p.certain(first, last, ranged) {
		return phrase{}, false
	}
	begin, _ := p.unnamed(p.match, first.i)
	finish, _ := p.unnamed(p.match, last.i)
	if len(begin) == 0 || len(finish) == 0 || !ranged && !p.listed(last, begin, finish) {
		return phrase{}, false
	}
	pairs := p.pairs(first, last, begin, finish)
	joined := phrase{i: first.i, end: last.i + last.n, spans: p.hulls(pairs, first.i), list: !ranged}
	for _, pair := range pairs {
		if ranged || len(joined.spans) == 0 || pair[0].From != joined.spans[0].From {
			continue
		}
		if w == "or" || !adjacent(pair[0], pair[1]) {
			joined.spans, joined.every = pair[:], true
		}
		break
	}
	return joined, len(joined.spans) > 0
}

// goOn notes that a range or a list that began with a year or a decade goes on at token i.
func (p *parser) goOn(first side, i int) {
	if p.onward == 0 && p.dated(first) {
		p.onward = i
	}
}

// goesOn reports whether token i is in the rest of a range or a list, where a number is what the first one was.
func (p *parser) goesOn(i int) bool { return p.onward > 0 && i >= p.onward }

// sent are words before "from" and a person's name: "a letter from April to June".
var sent = text.Set("letter letters message messages present presents gift gifts card cards call calls email emails " +
	"mail note notes text texts parcel package")

// certain reports whether two ends are times, of which some are names without a preposition: the last one has a year,
// or one of them is a month whose name is nothing else, or "from" is before them.
func (p *parser) certain(first, last side, ranged bool) bool {
	if p.exact || !first.bare && !last.bare || p.dated(last) {
		return true
	}
	month := func(e side) bool { return months[p.word(e.i)] > 0 }
	known := func(e side) bool {
		return e.n == 1 && (personless[p.word(e.i)] || p.word(e.i) == "march" && p.tokens[e.i].capital)
	}
	if !first.bare { // "in March or April", "from last March to June"
		after := p.word(last.i + last.n)
		return (month(last) || !month(first)) && (known(last) || after == "" || !isLetter(after[0]) || prepositions[after])
	}
	from := ranged && p.word(first.i-1) == "from" && !sent[p.word(first.i-2)]
	return month(first) && month(last) && (known(first) || known(last) || from)
}

// dated reports whether an end has a year or a week, or is a decade.
func (p *parser) dated(e side) bool {
	end := e.i + e.n
	_, short := p.shortYear(end - 2)
	decade := decadeNames[p.word(end-1)] > 0 || p.word(end-1) == "s"
	return p.isYear(end-1) || short > 0 || decade || e.n > 1 && (p.word(end-1) == "year" || p.word(end-1) == "week")
}

// pairs returns the spans that two ends may mean together. An end without a year or a week of its own is the one that
// is nearest to the other: of "March to May 2025" and of "Tuesday to Thursday last week".
func (p *parser) pairs(first, last side, begin, finish []Span) (list [][2]Span) {
	if len(finish) == 1 {
		if len(begin) > 1 {
			begin = p.asOf(first.i, finish[0].From, past)
		}
		if len(begin) == 0 {
			return nil
		}
		return [][2]Span{{begin[0], finish[0]}}
	}
	for _, from := range begin {
		if to := p.asOf(last.i, from.From, future); len(to) > 0 {
			list = append(list, [2]Span{from, to[0]})
		}
	}
	return list
}

// asOf returns what the phrase at token i means at another time than now.
func (p *parser) asOf(i int, now time.Time, lean tense) []Span {
	other := *p
	other.now, other.today, other.lean, other.all = now, midnight(now), func(int) tense { return lean }, false
	other.open, other.named = false, true
	spans, _ := other.match(i)
	return spans
}

// hulls returns the spans from the first to the last of pairs that the sentence of token i may mean.
func (p *parser) hulls(pairs [][2]Span, i int) (list []Span) {
	lean := p.leanAt(i)
	for _, pair := range pairs {
		first, last := pair[0], pair[1]
		ahead := len(pairs) > 1 && lean == past && last.From.After(p.now) // it was over
		if first.From.Before(last.To) && first.To.Before(last.To) && !ahead {
			list = append(list, Span{first.From, last.To, Days})
		}
	}
	if len(list) > 1 {
		return p.choose(i, list)
	}
	return list
}

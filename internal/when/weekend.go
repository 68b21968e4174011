package when

import "github.com/yamo-protocol/yamo-mcp/internal/text"

// endsLast are words that can follow "the week before last" and "the week after next". Another word makes "last" its
// own: in "the week before last Christmas" it is not the end of the phrase.
var endsLast = text.Set("i we you he she they it and or in on at with for of to from the a an my our his her their " +
	"did was were had what where who when which why how")

// beforeLast matches "the week before last", "Tuesday before last" and "the weekend after next".
func (p *parser) beforeLast(i int) ([]Span, int) {
	at := i
	if p.word(at) == "the" {
		at++
	}
	direction := 0
	switch before, last := p.word(at+1), p.word(at+2); {
	case before == "before" && last == "last":
		direction = -1
	case before == "after" && last == "next":
		direction = 1
	}
	if next := p.word(at + 3); direction == 0 || next != "" && isLetter(next[0]) && !endsLast[next] {
		return nil, 0
	}
	n := at + 3 - i
	if day, ok := weekdays[p.word(at)]; ok {
		return p.day(addDays(p.modifiedWeekday(at, day, direction)[0].From, 7*direction)), n
	}
	s, ok := p.calendar(p.word(at), 2*direction, at)
	if !ok {
		return nil, 0
	}
	return []Span{s}, n
}

// weekendBefore are words that make "the weekend" a date in a question; "over" does so in every text. "At the weekend"
// is often a habit.
var weekendBefore = text.Set("for during this since after from")

// theWeekend matches "the weekend": the last one, or the coming one where the sentence looks ahead.
func (p *parser) theWeekend(i int) ([]Span, int) {
	if p.word(i) != "the" || p.word(i+1) != "weekend" {
		return nil, 0
	}
	switch before := p.word(i - 1); {
	case p.exact, before == "over", p.since(i):
	case p.all && (weekendBefore[before] || (before == "at" || before == "on") && p.leanAt(i) == past):
	default:
		return nil, 0
	}
	var list []Span
	for direction := -1; direction <= 0; direction++ {
		s, _ := p.calendar("weekend", direction, i)
		list = append(list, s)
	}
	return p.choose(i, list), 2
}

package when

import (
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// run is one day of a month, or several that follow each other.
type run struct{ first, last int }

// runAt reads "17", "17-19", "17 to the 19th", and "17 and 19" after "between". "Moved from 17 to 19 May" is no range.
func (p *parser) runAt(i int) (r run, n int) {
	if !p.isDayNumber(i) {
		return run{}, 0
	}
	r = run{p.number(i), p.number(i)}
	w, before, last := p.word(i+1), p.beforeThe(i), p.afterThe(i+2)
	ranged := connectors[w] && (w != "and" || before == "between") && (before != "from" || !p.moved(i+2))
	if !ranged || !p.isDayNumber(last) || p.number(last) <= r.first {
		return r, 1
	}
	r.last = p.number(last)
	return r, last + 1 - i
}

// afterThe returns i, or the next token if the article of "the 5th" is at i.
func (p *parser) afterThe(i int) int {
	if p.word(i) == "the" && p.isDayNumber(i+1) && p.tokens[i+1].ordinal {
		return i + 1
	}
	return i
}

// afterWeekday returns i, or the next token if the weekday of "Monday 7" is at i.
func (p *parser) afterWeekday(i int) int {
	if _, ok := weekdays[p.word(i)]; !ok {
		return i
	}
	if k := p.afterThe(i + 1); p.isDayNumber(k) {
		return k
	}
	return i
}

// beforeThe returns the word before token i, or before an article that is there.
func (p *parser) beforeThe(i int) string {
	if p.word(i-1) == "the" {
		i--
	}
	return p.word(i - 1)
}

// joining are words between days that are all meant, or that something was moved from and to.
var joining = text.Set("and or & to")

// dayList has days in ascending order.
type dayList struct {
	runs    []run
	n       int  // tokens
	either  bool // "3rd or 4th"
	planned int  // the token of a day that something was moved to from another one, or 0
}

// runs reads one run, or a list if several is set: "2, 9 and 16", "3-5 and the 9th", "3rd, 4th or 5th". Commas
// alone make a list of three or more.
func (p *parser) runs(i int, several bool) (complete dayList) {
	r, n := p.runAt(i)
	if n == 0 {
		return dayList{}
	}
	list := dayList{runs: []run{r}, n: n}
	complete = list
	for several {
		k := i + list.n
		comma := p.word(k) == ","
		if comma {
			k++
		}
		w := p.word(k)
		if joining[w] {
			if k++; prepositions[p.word(k)] && p.word(k) == p.beforeThe(i) { // "on 2 and on 9 December"
				k++
			}
			k = p.afterThe(k)
		} else if !comma {
			break
		}
		k = p.afterWeekday(k)
		if r, n = p.runAt(k); n == 0 || r.first <= list.runs[len(list.runs)-1].last {
			break
		}
		list.runs, list.n, list.either = append(list.runs, r), k+n-i, list.either || w == "or"
		if w == "to" {
			list.planned = k
		}
		if joining[w] || len(list.runs) > 2 {
			complete = list
		}
	}
	return complete
}

// merged returns the runs, of which those that follow each other are one.
func (l dayList) merged() (list []run) {
	for _, r := range l.runs {
		if k := len(list) - 1; k >= 0 && !l.either && r.first == list[k].last+1 {
			list[k].last = r.last
		} else {
			list = append(list, r)
		}
	}
	return list
}

// severalDays reads more than one day of a month, with their weekdays or without: "7 and 9 December", "Monday 7 and
// Tuesday 8 December".
func (p *parser) severalDays(i int) (phrase, bool) {
	k := p.afterWeekday(i)
	found, ok := p.daysAt(k)
	found.i = i
	return found, ok && (found.every || k > i && found.spans[0].Unit == Days)
}

// daysAt reads days of a month, and the year that may follow: "17 November", "the 17th of November 2026", "2, 9 and 16
// December", "June 3-5, 2025".
func (p *parser) daysAt(i int) (phrase, bool) {
	if i >= len(p.tokens) || p.number(i) < 0 && months[p.word(i)] == 0 || p.inNumber(i) {
		return phrase{}, false
	}
	read := p.daysAfter
	if p.number(i) >= 0 {
		read = p.daysBefore
	}
	for _, several := range []bool{true, false} {
		month, days, n := read(i, several)
		if n == 0 && len(days.runs) > 1 {
			continue
		} else if n == 0 {
			break
		}
		year, more := p.yearAt(i + n)
		runs := days.merged()
		found := phrase{i: i, end: i + n + more, every: len(runs) > 1, list: len(runs) > 1}
		whole := p.dates(max(i, days.planned), month, runs[0].first, runs[len(runs)-1].last, year)
		if !found.every {
			found.spans, whole = whole, nil
		}
		for _, s := range whole {
			for _, r := range runs {
				found.spans = append(found.spans, p.dates(i, month, r.first, r.last, s.From.Year())...)
			}
		}
		if len(found.spans) > 0 {
			return found, true
		}
	}
	return phrase{}, false
}

// daysBefore reads days before the name of their month.
func (p *parser) daysBefore(i int, several bool) (month time.Month, days dayList, n int) {
	days = p.runs(i, several)
	k := i + days.n
	if w := p.word(k); w == "of" || w == "-" && p.gluedTo(k-1, k+1) { // "17-Nov-2026"
		k++
	}
	month, n = p.monthAt(k)
	told := prepositions[p.beforeThe(i)] && p.number(i-2) < 0 // not "steps 3 to 5 may fail"
	if days.n == 0 || n == 0 || !told && p.verbAfter(k) {
		return 0, days, 0
	}
	return month, days, k + n - i
}

// verbAfter reports whether the month's name at token k is a verb after numbers: "options 2 and 3 may be wrong".
func (p *parser) verbAfter(k int) bool {
	next := p.word(k + 1)
	return !p.exact && !p.tokens[k].capital && p.verbAt(k) && !prepositions[next] && !endsLast[next]
}

// daysAfter reads days after the name of their month: not in "on March 3 and 5 people came".
func (p *parser) daysAfter(i int, several bool) (month time.Month, days dayList, n int) {
	month, n = p.monthAt(i)
	// "We may 3 times", "they march 3 miles".
	verb := (p.word(i) == "may" || p.word(i) == "march") && !p.tokens[i].capital
	if n == 0 || verb && !p.exact && i > 0 && !prepositions[p.word(i-1)] && !p.ends(i-1) && p.word(i-1) != "," {
		return 0, dayList{}, 0
	}
	days = p.runs(i+n, several)
	k := i + n + days.n
	counted := (len(days.runs) > 1 || p.word(i-1) == "in") && p.adjective(k)
	if days.n == 0 || counted || p.word(k) == ":" || p.word(k) == "%" {
		return 0, days, 0
	}
	return month, days, n + days.n
}

// dayMonth matches days of a month that are one span.
func (p *parser) dayMonth(i int) ([]Span, int) {
	found, ok := p.daysAt(i)
	if !ok || found.every {
		return nil, 0
	}
	return found.spans, found.end - i
}

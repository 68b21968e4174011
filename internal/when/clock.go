package when

import (
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// dayParts are the names of parts of a day.
var dayParts = text.Set("morning afternoon evening night")

// minutesSpoken are the words before "past" and "to" in a time of day.
var minutesSpoken = map[string]int{"five": 5, "ten": 10, "quarter": 15, "twenty": 20, "half": 30}

// partOfDay returns the part of a day that token i names, "" for none.
func (p *parser) partOfDay(i int) string {
	switch w := p.word(i); {
	case w == "tonight":
		return "night"
	case dayParts[w]:
		return w
	}
	return ""
}

// inPart returns a moment on the right half of its day: "yesterday evening at 8", "tomorrow morning at 6".
func inPart(part string, t Span) Span {
	switch hour := t.From.Hour(); {
	case part == "morning" && hour > 12:
		return momentOf(t, hour-12, t.From.Minute())
	case part != "morning" && hour >= 6 && hour < 12:
		return momentOf(t, hour+12, t.From.Minute())
	}
	return t
}

// momentOf returns a minute of the day on which a span begins.
func momentOf(s Span, hour, minute int) Span {
	year, month, day := s.From.Date()
	t := time.Date(year, month, day, hour, minute, 0, 0, s.From.Location())
	return Span{t, t.Add(time.Minute), Minute}
}

// timeOfDay reads a time after a day: "at 9", "at 9:30 am", "at half past nine", "morning". Part of a day leaves the
// span as it is.
func (p *parser) timeOfDay(i int, s Span) (Span, int) {
	k := i
	if p.word(k) == "," {
		k++
	}
	at := p.word(k) == "at" || p.word(k) == "around" || p.word(k) == "@"
	if at {
		k++
	}
	if dayParts[p.word(k)] {
		if t, n := p.timeOfDay(k+1, s); t.Unit == Minute && s.Unit == Day {
			return inPart(p.word(k), t), k + 1 + n - i
		}
		return s, k + 1 - i
	}
	hour, minute, n := p.clock(k, at)
	if n == 0 {
		return s, 0
	}
	k += n
	moment := momentOf(s, hour, minute)
	switch part := p.word(k + 2); {
	case p.word(k) == "in" && p.word(k+1) == "the" && dayParts[part] && part != "night":
		return inPart(part, moment), k + 3 - i
	case p.word(k) == "at" && p.word(k+1) == "night":
		return inPart("night", moment), k + 2 - i
	}
	return moment, k - i
}

// clock reads "noon", "9:30", "3 pm", "half past nine" and "nine o'clock", after "at" also "9" and "nine".
func (p *parser) clock(i int, at bool) (hour, minute, n int) {
	if w := p.word(i); w == "noon" || w == "midday" {
		return 12, 0, 1
	}
	k, spoken := i, false
	if shift, m := p.spokenMinutes(i); m > 0 {
		k, minute, spoken = i+m, shift, true
	}
	hour = p.hour(k)
	if hour < 0 || spoken && hour > 12 {
		return 0, 0, 0
	}
	k++
	separator := p.word(k) == ":" || at && p.word(k) == "." && p.gluedTo(k-1, k+1)
	digits := !spoken && separator && p.number(k+1) >= 0 && p.number(k+1) < 60 && len(p.word(k+1)) == 2
	if digits {
		minute, k = p.number(k+1), k+2
		if p.word(k) == ":" && p.number(k+1) >= 0 {
			k += 2
		}
	}
	if p.word(k) == "o" && (p.word(k+1) == "'" || p.word(k+1) == "’") && p.word(k+2) == "clock" {
		k, spoken = k+3, true
	}
	switch half := p.word(k); {
	case (half == "am" || half == "pm") && hour >= 1 && hour <= 12:
		hour %= 12
		if half == "pm" {
			hour += 12
		}
		k++
	case digits:
	case !at && !spoken:
		return 0, 0, 0
	case hour >= 1 && hour <= 6: // "at 3" is in the afternoon
		hour += 12
	}
	if minute < 0 {
		hour, minute = (hour+23)%24, minute+60
	}
	return hour, minute, k - i
}

// hour reads the number of an hour in digits or as a word, -1 if token i is none.
func (p *parser) hour(i int) int {
	if h := p.number(i); h >= 0 {
		if h > 23 || len(p.word(i)) > 2 || p.tokens[i].ordinal {
			return -1
		}
		return h
	}
	if h, ok := quantities[p.word(i)]; ok && !vague[p.word(i)] {
		return h
	}
	return -1
}

// spokenMinutes reads "half past" and "a quarter to", which are minutes to add to the hour.
func (p *parser) spokenMinutes(i int) (shift, n int) {
	k := i
	if p.word(k) == "a" {
		k++
	}
	shift, ok := minutesSpoken[p.word(k)]
	if m := p.number(k); m > 0 && m < 30 && !p.tokens[k].ordinal {
		shift, ok = m, true
	}
	switch direction := p.word(k + 1); {
	case ok && direction == "past":
		return shift, k + 2 - i
	case ok && direction == "to" && shift != 30:
		return -shift, k + 2 - i
	}
	return 0, 0
}

// timeFirst matches "noon yesterday", "3 pm on Tuesday", "at 9 yesterday" and "half past nine on Friday".
func (p *parser) timeFirst(i int) ([]Span, int) {
	hour, minute, n := p.clock(i, p.word(i-1) == "at")
	if n == 0 {
		return nil, 0
	}
	k := i + n
	if p.word(k) == "on" || p.word(k) == "of" {
		k++
	}
	// Another time is no day, and in a timetable each one would look at all that follow.
	if _, _, again := p.clock(k, false); again > 0 {
		return nil, 0
	}
	days, m := p.match(k)
	if m == 0 {
		return nil, 0
	}
	part := p.partOfDay(k + m - 1)
	var list []Span
	for _, day := range days {
		if day.Unit != Day {
			return nil, 0
		}
		moment := momentOf(day, hour, minute)
		if part != "" {
			moment = inPart(part, moment)
		}
		list = append(list, moment)
	}
	return list, k + m - i
}

package when

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// token is a word, a number, or one other character that is not a space.
type token struct {
	text       string // in lower case
	start, end int    // in bytes
	num        int    // -1 if it is no number
	ordinal    bool   // the number is one like 17th
	capital    bool   // the word begins with a capital letter
	glued      bool   // no space comes before it
}

// tokenize splits text.
func tokenize(text string) []token {
	var list []token
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) {
			i += size
			continue
		}
		t := token{start: i, num: -1, glued: len(list) > 0 && list[len(list)-1].end == i}
		switch {
		case isDigit(r):
			i = span(text, i, isDigit)
			t.text = text[t.start:i]
			if n, err := strconv.Atoi(t.text); err == nil && len(t.text) <= 4 {
				t.num = n
			}
			if end := span(text, i, unicode.IsLetter); end == i+2 {
				switch strings.ToLower(text[i:end]) {
				case "st", "nd", "rd", "th":
					t.ordinal, i = true, end
				}
			}
		case unicode.IsLetter(r):
			i = span(text, i, unicode.IsLetter)
			t.text, t.capital = strings.ToLower(text[t.start:i]), unicode.IsUpper(r)
		default:
			i += size
			t.text = text[t.start:i]
		}
		t.end = i
		list = append(list, t)
	}
	return list
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// span returns where the characters from i on that are of a class end.
func span(text string, i int, class func(rune) bool) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !class(r) {
			break
		}
		i += size
	}
	return i
}

// midnight returns the first moment of t's day.
func midnight(t time.Time) time.Time {
	year, month, day := t.Date()
	return startOf(year, month, day, t.Location())
}

// startOf returns the first moment of a day, which is not midnight where the clock skips it. The day may be out of the
// month's range.
func startOf(year int, month time.Month, day int, zone *time.Location) time.Time {
	_, _, want := time.Date(year, month, day, 12, 0, 0, 0, time.UTC).Date()
	t := time.Date(year, month, day, 0, 0, 0, 0, zone)
	for range 4 { // no clock skips more than two hours; Samoa once skipped a day
		if t.Day() != want {
			t = t.Add(30 * time.Minute)
		}
	}
	return t
}

// addDays returns the first moment of the day that is n days after t's.
func addDays(t time.Time, n int) time.Time {
	year, month, day := t.Date()
	return startOf(year, month, day+n, t.Location())
}

var months = map[string]time.Month{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8,
	"september": 9, "october": 10, "november": 11, "december": 12,
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11,
	"dec": 12,
}

var weekdays = map[string]time.Weekday{
	"sunday": 0, "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6,
	"sun": 0, "mon": 1, "tue": 2, "tues": 2, "wed": 3, "thu": 4, "thur": 4, "thurs": 4, "fri": 5, "sat": 6,
}

var quantities = map[string]int{
	"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
	"nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "couple": 2, "few": 3, "several": 3,
}

// vague are the quantities that no hour is named by.
var vague = text.Set("a an couple few several")

// units are the names of what can be counted, in the plural.
var units = map[string]string{
	"minute": "minutes", "min": "minutes", "mins": "minutes", "hour": "hours", "day": "days", "week": "weeks",
	"fortnight": "fortnights", "month": "months", "year": "years", "weekend": "weekends", "quarter": "quarters",
}

// init completes the tables of words from one another.
func init() {
	for _, plural := range []string{"minutes", "hours", "days", "weeks", "fortnights", "months", "years"} {
		units[plural] = plural
	}
	for word := range quantities {
		starters[word] = true
	}
	for word := range ordinals {
		starters[word] = true
	}
	for word := range months {
		starters[word] = true
	}
	for word := range decadeNames {
		starters[word] = true
	}
	for word := range seasons {
		starters[word] = true
	}
	for word := range thirds {
		starters[word] = true
	}
	for word := range weekdays {
		starters[word] = true
	}
}

// prepositions come before the name of a time.
var prepositions = text.Set("in on since until till during by before after from through around at for of to " +
	"between over throughout")

// monthPrepositions come before the name of a month without a day or year; after the others it may be a person's.
var monthPrepositions = text.Set("in since until till during before after early mid late through between " +
	"throughout")

// personless are months whose names no person has, and which are no other words.
var personless = text.Set("january february july september october november december")

// yearPrepositions come before a number that is a year.
var yearPrepositions = text.Set("in since until during before after by from through between throughout")

// numberedThings are what has numbers: "ports 2000-2010".
var numberedThings = text.Set("page pages pp port ports line lines row rows room rooms item items article articles " +
	"number numbers id ids issue issues")

// extents come before "of" and a time: "all of 2022".
var extents = text.Set("all whole most much")

// afterVerb follow "march" where it is a verb, afterOrdinal "the 17th" where it is a day, and pronouns "last may" where
// it is a month.
var (
	afterVerb    = text.Set("on to for with through past be")
	afterOrdinal = text.Set("at in we i and with by he she they")
	pronouns     = text.Set("i we you he she they and")
)

// starters are the words that a phrase can begin with.
var starters = text.Set("q h in the day today tonight yesterday tomorrow now last past next previous this current " +
	"coming upcoming following week weeks weekend month quarter year calendar cw kw noon midday half twenty rest ' ’")

// Package named decides whether a word that is a name and an ordinary word too, such as Rose, Bill or May, is surely
// the name of a person where a line has it.
//
// The invariant: it is sure only with evidence, a capital letter that no sentence and no title asks for, or what the
// words around it say. What has none is in doubt, and the caller leaves it to a person.
package named

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ordinary reports whether a name, in lower case, is a word of English too.
func Ordinary(name string) bool { return people[name] || things[name] || times[name] }

// MayBe reports whether a word in lower case may be a name: it is no word of English, or a name too.
func MayBe(low string) bool { return Ordinary(low) || !isWord(low) }

// Modal reports whether a name is a word that nearly every text has. Written small it is never taken for the name.
func Modal(name string) bool { return name == "will" || name == "may" }

// Word is a word of a line as it is written.
type Word struct {
	Text    string
	Capital bool   // it begins with a capital letter and is not all in capitals
	low     string // Text in lower case
	tail    string // what follows an apostrophe, in lower case: "s" of "Ana's"
	start   int    // bytes of the line, with the tail
	end     int
}

// Words returns the words of a line, in order.
func Words(line string) (list []Word) {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }
	run := func(from int) int {
		if n := strings.IndexFunc(line[from:], func(r rune) bool { return !inWord(r) }); n >= 0 {
			return from + n
		}
		return len(line)
	}
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		if !inWord(r) {
			i += size
			continue
		}
		w := Word{start: i, end: run(i)}
		w.Text = line[i:w.end]
		w.low = strings.ToLower(w.Text)
		w.Capital = unicode.IsUpper(r) && (utf8.RuneCountInString(w.Text) == 1 || strings.ToUpper(w.Text) != w.Text)
		for _, mark := range []string{"'", "’"} {
			if from := w.end + len(mark); strings.HasPrefix(line[w.end:], mark) {
				if end := run(from); end > from && end <= from+2 {
					w.tail, w.end = strings.ToLower(line[from:end]), end
				}
				break
			}
		}
		list, i = append(list, w), w.end
	}
	return list
}

// In reports whether a line has a name, which is in lower case, where surely a person is meant. The other words of the
// full name are in the set full.
func In(line string, words []Word, name string, full map[string]bool) bool {
	for i, w := range words {
		if w.Capital && w.low == name {
			if s := (sight{line, words, i, full}); s.sure() {
				return true
			}
		}
	}
	return false
}

// sight is one place of a line that has the word of a name.
type sight struct {
	line  string
	words []Word
	at    int
	full  map[string]bool
}

// strength is how much a capital letter at a place says.
type strength int

const (
	barred strength = iota // it is the word: "the Bill", "in May"
	weak                   // a sentence, a title or a calendar asks for it
	strong
)

func (s sight) sure() bool {
	switch s.before() {
	case strong:
		return !s.compound()
	case weak:
		return s.person()
	default:
		return false
	}
}

// word returns the word at an index, the zero Word outside of the line.
func (s sight) word(i int) Word {
	if i < 0 || i >= len(s.words) {
		return Word{}
	}
	return s.words[i]
}

// beside reports whether only space is between the words at i and i+1.
func (s sight) beside(i int) bool {
	return i >= 0 && i+1 < len(s.words) && strings.Trim(s.line[s.words[i].end:s.words[i+1].start], " \t*_`") == ""
}

// rest returns what follows the word at an index.
func (s sight) rest(i int) string {
	return strings.TrimSpace(strings.TrimLeft(s.line[s.words[i].end:], "*_`\"”’)"))
}

func (s sight) is(set map[string]bool) bool { return set[s.words[s.at].low] }

// before judges a place by what is before it.
func (s sight) before() strength {
	w, last := s.words[s.at], s.word(s.at-1)
	prefix := s.line[:w.start]
	beside, next := s.beside(s.at-1), s.word(s.at+1)
	abbreviated := s.at > 0 && strings.TrimSpace(s.line[last.end:w.start]) == "."
	switch {
	case beside && s.full[last.low] && last.Capital, s.beside(s.at) && s.full[next.low] && next.Capital:
		return strong
	case titles[last.low] && (beside || abbreviated) && (last.Capital || !s.is(times)):
		return strong
	case begins(prefix):
		return weak
	case s.is(times) && (monthly[last.low] || digital(last) || digital(next)), beside && articles[last.low]:
		return barred
	case beside && addressed[last.low], beside && last.low == "and" && s.named(s.at-2):
		return strong
	case s.is(times), quoted(prefix, s.line[w.end:]):
		return weak
	case beside && (places[last.low] || possessors[last.low] || last.tail == "s"):
		return weak
	case beside && last.Capital && !calendar[last.low] && !s.starts(last):
		return weak
	case strings.HasPrefix(s.line, "#") && s.titled():
		return weak
	default:
		return strong
	}
}

// starts reports whether a capital word is one that a sentence may begin with before a name: it is not of the name of
// a thing, as in "Amazing Grace".
func (s sight) starts(w Word) bool {
	return begins(s.line[:w.start]) &&
		(starters[w.low] || w.tail != "" || strings.HasSuffix(w.low, "ly") || does(w, true) != nothing)
}

// titled reports whether all long words of the line are written large, as those of titles are.
func (s sight) titled() bool {
	for i, w := range s.words {
		if i != s.at && !w.Capital && utf8.RuneCountInString(w.Text) > 4 {
			return false
		}
	}
	return len(s.words) > 2
}

// compound reports whether the word is of the name of a thing: "Rose Street", "Bill 42", "Art of War", "Mark-up".
func (s sight) compound() bool {
	after := s.line[s.words[s.at].end:]
	next := s.word(s.at + 1)
	if joined, ok := strings.CutPrefix(after, "-"); ok {
		r, _ := utf8.DecodeRuneInString(joined)
		return unicode.IsLower(r)
	}
	return s.beside(s.at) && (digital(next) || roman(next.Text) || next.low == "of" || next.Capital && !surname(next.low))
}

// surname reports whether a word that is written large may be a surname.
func surname(low string) bool { return low != "i" && !calendar[low] && MayBe(low) }

func digital(w Word) bool { return w.Text != "" && unicode.IsDigit(rune(w.Text[0])) }

// roman reports whether a word is a Roman number of more than one sign.
func roman(text string) bool { return len(text) > 1 && strings.Trim(text, "IVX") == "" }

// named reports whether the word at an index is a name and before "and": "Ana and April".
func (s sight) named(i int) bool {
	w := s.word(i)
	return w.Capital && s.beside(i) && surname(w.low)
}

// quoted reports whether a word is all that quotation marks have, as the title of a song is.
func quoted(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return strings.ContainsRune("\"“‘'", last) && strings.ContainsRune("\"”’'", first)
}

// begins reports whether a sentence, an item or a cell begins after a text, which may end in the item's mark, box,
// number, date or time: "- [x] 09:30 ".
func begins(before string) bool {
	for {
		rest := strings.TrimRight(before, " \t\"'“‘()*_`[#>-+")
		for _, box := range []string{"[ ]", "[x]", "[X]"} {
			rest = strings.TrimSuffix(rest, box)
		}
		if number := rest[len(strings.TrimRight(rest, "0123456789:./-")):]; strings.TrimRight(number, ":./-") == number {
			rest = rest[:len(rest)-len(strings.TrimLeft(number, ":./-"))]
		}
		if rest == before {
			break
		}
		before = rest
	}
	r, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || strings.ContainsRune(".!?:;|”’", r)
}

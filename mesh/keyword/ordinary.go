package keyword

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// "Prices rose" does not mention Rose, but "rose called" may. Where a subject is written as a name and is an ordinary
// word too, Surely tells the two apart, and what is left is in doubt: a person decides.

// ordinary are the names of people that are words of English too, in lower case.
var ordinary = text.Set(`
	amber angel april archer art ash aspen august aurora autumn baker barber basil bay bear berry bill birch bishop
	black blaze bliss booker booth bow brand brandy brook brooks brown buck bud bush butler candy carol carter cash
	cedar chance chandler charity chase chip christian clay cliff close clover coal colt constance cook coral cotton
	crystal daisy dale dawn day dean destiny dick dill dolly drew duke earl ebony eve faith fern field finch fisher
	flora ford forest fox frank franks gale garland gay gene ginger glen glory gold grace grant gray green grey guy
	hall harmony harper haven hawk hazel heath heather heaven hill holly honey hood hope house hunt hunter ink iris
	iron ivory ivy jack jade jet jewel jolly josh joy june justice kid king kit kitty knight lake lance lane lark
	laurel lavender liberty lily little long love luck lucky magnolia major maple marina mark marks marsh marshal
	mason mat matt max may melody mercy merry miles mill miller misty moody moon nick noble norm north novel nun oak
	ocean olive opal page palmer park parker pat patience pearl peg penny pepper petal peter piper poppy porter
	price prince prudence queen rain randy ray read reed reef rice rich river rob robin rock rod rose rosemary ruby
	rusty sage sandy scout serenity shepherd short skip sky small smith snow sonny south spring star stark stone
	storm strong sue summer sunny swan swift thorn tiger trip trust turner victor viola violet walker wall ward
	warren waters wave west wheat white wilder will willow wills winter wise wolf wood woods wren young`)

// modal reports whether a name is a word that nearly every text has. Written small it is never taken for the name.
func modal(name string) bool { return function[name] || name == "may" }

var (
	// months are names that are months too. monthly come before those.
	months  = text.Set("april august june may")
	monthly = text.Set("in since until till by of on early late mid last next this during before after from to " +
		"through every")
	// notPast end in "ed" as a past tense does, besides those in "eed": need, proceed, seed.
	notPast = text.Set("bed embed hundred naked red sacred shed shred sled wed wicked")
	// deeds come after the name of a person, besides past tenses in "ed".
	deeds = text.Set(`became becomes bought brings brought calls came can comes could did does drinks drives eats feels
		felt
		finds found gave gets gives goes got had has hates helps hopes is joins keeps kept knows left likes lives loses lost
		loves made makes met meets moves needs owns pays plans plays prefers reads runs said saw says sees sells sends sent
		should sings sleeps slept sold speaks spoke starts studies takes teaches tells thinks told took turns visits wants was
		went who whose will wins won works would writes wrote`)
)

// Doubtful returns the words of the subject that a text may have without meaning the name, "" for none.
func (s Subject) Doubtful() string { return strings.Join(s.names, " ") }

// Unsure returns the subject as one that means every form of its words, "" where nearly every text has one of them.
func (s Subject) Unsure() string {
	if slices.ContainsFunc(s.names, modal) {
		return ""
	}
	return strings.ToLower(s.Text)
}

// Surely reports whether a line of text mentions the subject and no word of it is only an ordinary one there: written
// small, or large only because a sentence begins with it.
func (s Subject) Surely(text string) bool {
	if len(s.names) == 0 {
		return s.In(text)
	}
	for line := range strings.Lines(text) {
		if !s.inLine(line) {
			continue
		}
		words := spell(line)
		if !slices.ContainsFunc(s.names, func(name string) bool { return !named(line, words, name) }) {
			return true
		}
	}
	return false
}

// spelled is a word as it is written.
type spelled struct {
	text       string
	start, end int  // bytes of the line
	capital    bool // it begins with a capital letter and is not all in capitals
}

// mayBe reports whether a word with the stem of a name, which is in lower case, may be that name. A modal name must
// begin with a capital letter for that.
func mayBe(name, word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	if modal(name) && !unicode.IsUpper(first) {
		return false
	}
	low := withoutAccents(strings.ToLower(word))
	return low == name || !strings.HasSuffix(low, "ed") && !strings.HasSuffix(low, "ing")
}

// spell returns the words of a line, in order.
func spell(line string) (list []spelled) {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		if !inWord(r) {
			i += size
			continue
		}
		end := len(line)
		if n := strings.IndexFunc(line[i:], func(r rune) bool { return !inWord(r) }); n >= 0 {
			end = i + n
		}
		w := spelled{text: line[i:end], start: i, end: end}
		w.capital = unicode.IsUpper(r) && (utf8.RuneCountInString(w.text) == 1 || strings.ToUpper(w.text) != w.text)
		list, i = append(list, w), end
	}
	return list
}

// named reports whether a line of words has a name, which is in lower case, where nothing but a name can be meant.
func named(line string, words []spelled, name string) bool {
	for i, w := range words {
		if !w.capital || !strings.EqualFold(w.text, name) {
			continue
		}
		before, after := spelled{}, spelled{}
		if i > 0 {
			before = words[i-1]
		}
		if i+1 < len(words) {
			after = words[i+1]
		}
		digits := func(w spelled) bool { return w.text != "" && unicode.IsDigit(rune(w.text[0])) }
		dated := monthly[strings.ToLower(before.text)] || digits(before) || digits(after)
		month := months[name] && (dated || after.text == "is" || after.text == "was")
		if !month && (!begins(line[:w.start]) || isPerson(line, words[i:])) {
			return true
		}
	}
	return false
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

// isPerson reports whether the first of the words of a line, which begins a sentence, is a person's name there: it is
// all of it, owns something, has a surname, or does something.
func isPerson(line string, words []spelled) bool {
	rest := strings.TrimLeft(line[words[0].end:], "*_`\"”)")
	if rest = strings.TrimSpace(rest); rest == "" || strings.ContainsAny(rest[:1], ",.:;|&)]") || possessive(rest) > 0 {
		return true
	}
	if len(words) < 2 {
		return false
	}
	next := strings.ToLower(words[1].text)
	if (next == "and" || next == "or") && len(words) > 2 {
		return words[2].capital
	}
	past := strings.HasSuffix(next, "ed") && !strings.HasSuffix(next, "eed") && !notPast[next]
	return words[1].capital && next != "i" || deeds[next] || past
}

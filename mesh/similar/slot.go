package similar

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/text"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// difference is what two texts have in the same place: "Luis works at" and then "Acme" or "Borealis".
type difference struct {
	head string   // the words before it, in lower case, without articles, each form of "to be" as "is"
	a, b []string // the words there, with their capitals
	tail string   // the words after it
}

// left are words that a difference ignores.
var left = text.Set("a an the now currently also still nowadays meanwhile dr mr mrs ms")

// copulas are forms of "to be"; two in a row are one.
var copulas = text.Set("is are was were be been has been's being")

// differ returns the one place in which the texts differ.
func (a Aspects) differ(b Aspects) difference {
	x, y := slotWords(a.content), slotWords(b.content)
	n := 0
	for n < len(x) && n < len(y) && strings.EqualFold(x[n], y[n]) {
		n++
	}
	head := strings.ToLower(strings.Join(x[:n], " "))
	x, y = x[n:], y[n:]
	m := 0
	for m < len(x) && m < len(y) && strings.EqualFold(x[len(x)-1-m], y[len(y)-1-m]) {
		m++
	}
	return difference{head, x[:len(x)-m], y[:len(y)-m], strings.ToLower(strings.Join(x[len(x)-m:], " "))}
}

// slotWords are the words of a text as a difference compares them, without what tells since when it holds.
func slotWords(text string) (words []string) {
	for field := range strings.FieldsSeq(text) {
		word := record.TrimWord(field)
		low := strings.ToLower(word)
		switch {
		case low == "since" && len(words) > 2:
			return words
		case word == "" || left[low]:
		case copulas[low]:
			if len(words) == 0 || words[len(words)-1] != "is" {
				words = append(words, "is")
			}
		default:
			words = append(words, word)
		}
	}
	return words
}

// both reports whether each of the texts has content words of its own there: what one adds to the other is no
// difference of this kind. word reports whether it is one such word in each.
func (d difference) both() bool { return stemsIn(d.a) > 0 && stemsIn(d.b) > 0 }
func (d difference) word() bool { return stemsIn(d.a) == 1 && stemsIn(d.b) == 1 }

func stemsIn(words []string) int { return len(keyword.Stems(strings.Join(words, " "))) }

var (
	// single ends the head before what someone has only one of.
	single = regexp.MustCompile(`\b(works?|working|employed) (at|for|in|as)$|` +
		`\b(lives?|living|based|resides?) (in|at|near)$|\b(studies|studying|enrolled) (at|in)$|` +
		`\b(banks|insured) (at|with)$|\b(married|engaged) to$`)
	// role ends the head before who or what has a role: "the user's dentist is", "her favourite color is".
	role = regexp.MustCompile(`(?:['’]s?|^my|\bhis|\bher|\btheir|\bour|^the|^user|^)\s*(.*?)(\pL+) is( called)?$`)
	// only are words for what someone has one of, and superlatives.
	only = text.Set("dentist doctor gp physician therapist landlord boss manager supervisor employer job profession " +
		"bank phone smartphone laptop car address timezone zone email birthday name surname wife husband spouse fiancé " +
		"employer favourite favorite preferred main primary current default password nationality citizenship")
	// several are words for what there may be several of, so that two names do not contradict each other.
	several = text.Set("brother sister sibling friend colleague cousin aunt uncle child son daughter kid neighbor " +
		"neighbour cat dog pet grandchild grandson granddaughter nephew niece teacher student member client customer " +
		"parent hobby language allergy rule goal")
	// possession tells what someone has, or uses.
	possession = regexp.MustCompile(`(?i)\b(is|has|have|uses?|drives?|owns?|rides?)\b`)
	// exchange tells that something was exchanged.
	exchange = regexp.MustCompile(`(?i)\b(replaced|replaces|switched (from|to)|swapped|exchanged|traded|instead of|` +
		`changed (from|to)|upgraded)\b`)
	weekday = regexp.MustCompile(`(?i)\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b`)
	isTime  = regexp.MustCompile(`(?i)^(on )?((mon|tues|wednes|thurs|fri|satur|sun)days?|(at )?[0-9]|mornings?|` +
		`afternoons?|evenings?|noon|january|february|march|april|may|june|july|august|september|october|november|` +
		`december|spring|summer|autumn|winter)\b`)
	sinceWhen = regexp.MustCompile(`(?i)\b(since|from now on|as of)\b`)
)

// alternatives reports whether both texts give a value of what has only one, so that they cannot both hold.
func (d difference) alternatives(a, b Aspects) bool {
	if d.tail != "" || !d.both() {
		return false
	}
	x, y := strings.Join(d.a, " "), strings.Join(d.b, " ")
	if single.MatchString(d.head) {
		return !weekday.MatchString(x) || !weekday.MatchString(y)
	}
	// Two times are two appointments, unless one text tells that it holds since a while.
	if isTime.MatchString(x) && isTime.MatchString(y) && len(keyword.Stems(d.head)) > 1 {
		return (a.turned() || sinceWhen.MatchString(a.content)) != (b.turned() || sinceWhen.MatchString(b.content))
	}
	m := role.FindStringSubmatch(d.head)
	if m == nil {
		return false
	}
	noun := strings.TrimSuffix(m[2], "s")
	for word := range strings.FieldsSeq(m[1]) {
		if several[strings.TrimSuffix(word, "s")] {
			return false
		}
		if only[word] {
			return true
		}
	}
	named := func(text string) bool { return unicode.IsUpper([]rune(text)[0]) }
	possessed := strings.ContainsAny(d.head, "'’") || strings.HasPrefix(d.head, "my ")
	return only[noun] || possessed && named(x) && named(y) && !several[noun]
}

// exchanges reports whether one of the texts tells that what the other tells of was exchanged.
func (a Aspects) exchanges(b Aspects) bool {
	if exchange.MatchString(a.content) == exchange.MatchString(b.content) {
		return false
	}
	old := a
	if exchange.MatchString(a.content) {
		old = b
	}
	if !possession.MatchString(old.content) {
		return false
	}
	others := a.names()
	shared := slices.ContainsFunc(b.names(), func(name string) bool { return slices.Contains(others, name) })
	for word := range only {
		for _, stem := range keyword.Stems(word) {
			shared = shared || a.stems[stem] && b.stems[stem]
		}
	}
	return shared
}

// subjects reports whether the texts are about the same person or thing, as far as their beginnings tell: Luis's mother
// is not Luis's father.
func (a Aspects) subjects(b Aspects) bool {
	x, y := a.possessed(), b.possessed()
	return a.subject() == b.subject() && (x == y || x == "" || y == "")
}

// possessed returns the stem of what the text begins with as someone's: "mother" of "Luis's mother", "" if it does not
// begin so.
func (a Aspects) possessed() string {
	words := strings.Fields(a.content)
	for i, word := range words[:max(0, min(3, len(words)-1))] {
		if bare := strings.TrimRight(word, ".,:;"); strings.HasSuffix(bare, "'s") || strings.HasSuffix(bare, "’s") ||
			strings.HasSuffix(bare, "s'") || strings.HasSuffix(bare, "s’") {
			if stems := keyword.Stems(words[i+1]); len(stems) > 0 {
				return stems[0]
			}
		}
	}
	return ""
}

// diverge returns whether each of the texts has content stems that the other lacks, apart from numbers and from words
// that tell of a change: then a number that differs is of another thing.
func (a Aspects) diverge(b Aspects) bool {
	lacks := func(x, y Aspects) bool {
		for stem := range x.stems {
			if !y.stems[stem] && !turns[stem] && !strings.ContainsFunc(stem, unicode.IsDigit) {
				return true
			}
		}
		return false
	}
	return lacks(a, b) && lacks(b, a)
}

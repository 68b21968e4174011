package named

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

var (
	// particles are between the parts of names.
	particles = text.Set(`
		da de do das dos del della dello di du des la le las los van von der den ter ten het op zu zur y e bin ibn binti al
		el af av`)
	masculine = text.Set(`mr sir lord sr senhor dom señor don monsieur herr signor sig meneer dhr pan`)
	feminine  = text.Set(`mrs ms miss lady sra senhora dona dra señora doña profa profª madame mme mlle frau signora
		mevrouw mw pani`)
	neuter = text.Set(`mx dr doctor prof professor rev judge capt captain coach officer engineer eng dott ing`)
	// heads are words of the names of things, groups and places.
	heads = text.Set(`
		project operation team group company client customer user codename campaign product app release version repo
		new north south east west saint st fort mount lake cape great grand central royal national international
		marathon times post street st road avenue square park bridge hotel bank club inc ltd llc gmbh lda university
		college school church museum airport station conference festival cup league card plan trip party hospital
		library theater theatre restaurant café cafe bar foundation institute island islands beach river city museum
		magazine journal news radio são san santa santo`)
	// designators are the heads that may be next to a name that they do not change: "Project Bluebird".
	designators = text.Set(`
		project operation team client customer user codename campaign product app release version repo engineer manager
		director professor doctor colleague friend neighbor neighbour tenant landlord plumber`)
	// removals follow verbs: "Slack off".
	removals = text.Set(`off out up down away back`)
	// foreign begin sentences in other languages than English.
	foreign = text.Set(`
		ontem hoje amanhã agora depois com para quando segundo ligar ayer hoy mañana ahora con cuando según hier
		aujourd demain avec pour quand selon gestern heute morgen jetzt mit für wenn laut ieri oggi domani adesso per
		quando secondo gisteren vandaag morgen nu met voor toen volgens igår idag imorgon i går i dag`)
)

// names are in the lexicon of English, or have the form of a word in it, and hardly ever mean that word.
var names = text.Set(`
	barnes bob carter frances harry james ken lee maria martin martins nils reis rita sanders wright`)

// isWord reports whether a word in lower case is one of English. The lexicon knows its forms by their endings, and
// takes Mendes for one of "mend".
func isWord(low string) bool {
	if names[low] {
		return false
	}
	if stem, ok := strings.CutSuffix(low, "es"); ok && !word.IsEnglish(stem+"e") {
		sibilant := strings.HasSuffix(stem, "ch") || strings.HasSuffix(stem, "sh") ||
			strings.ContainsAny(stem[max(0, len(stem)-1):], "sxzoi")
		return sibilant && word.IsEnglish(low)
	}
	return word.IsEnglish(low)
}

// honorific reports whether a word is a title before a surname.
func honorific(low string) bool { return masculine[low] || feminine[low] || neuter[low] }

// mismatched reports whether a title is hardly of somebody with a given name, as far as the name's ending tells.
func mismatched(title, given string) bool {
	return feminine[title] && strings.HasSuffix(given, "o") || masculine[title] && strings.HasSuffix(given, "a")
}

// link is how a word is connected with the next one.
type link int

const (
	apart  link = iota
	spaced      // by space only
	hyphen
	dotted // in an address: "paulo.mendes@example.com"
	abbreviated
)

// linked returns how the word at an index is connected with the next one.
func (p place) linked(i int) link {
	gap := p.gap(i)
	switch {
	case gap == "-" || gap == "‐" || gap == "‑":
		if p.addressed(i) {
			return dotted
		}
		return hyphen
	case (gap == "." || gap == "_") && p.addressed(i):
		return dotted
	case p.beside(i):
		return spaced
	case (strings.TrimSpace(gap) == "." || gap == ".-") && (initial(p.words[i]) || honorific(p.words[i].low)):
		return abbreviated
	}
	return apart
}

// addressed reports whether the word at an index is before the "@" of an address.
func (p place) addressed(i int) bool {
	rest := p.line[p.words[i].end:]
	if n := strings.IndexAny(rest, " \t\r\n@"); n >= 0 {
		return rest[n] == '@'
	}
	return false
}

// initial reports whether a word is one letter of a script with capital letters.
func initial(w Word) bool {
	r, size := utf8.DecodeRuneInString(w.Text)
	return size == len(w.Text) && size > 0 && w.tail == "" && unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek)
}

// nameLike reports whether the word at an index may be of a name, by its capital letter or as part of an address.
func (p place) nameLike(i int) bool {
	w := p.words[i]
	first, _ := utf8.DecodeRuneInString(w.Text)
	switch {
	case digital(w) || calendar[w.low] || w.low == "i" || designators[w.low]:
		return false
	case p.linked(i) == dotted, i > 0 && p.linked(i-1) == dotted:
		return !isWord(w.low) || Ordinary(w.low)
	}
	return w.Capital || unicode.IsUpper(first) && (MayBe(w.low) && !isWord(w.low) || Ordinary(w.low))
}

// around is what of a longer name is on one side of a part.
type around struct {
	title    string
	initials []string // from the part on
	names    []string
	words    []string // that are ordinary ones, written with a capital letter
	begins   bool     // they begin a sentence
}

// alone reports whether there is nothing of a longer name.
func (a around) alone() bool { return len(a.names)+len(a.words) == 0 }

// only reports whether there is nothing but middle names of a full name.
func (a around) only(name Full) bool {
	for _, x := range a.names {
		known := false
		for _, part := range name.parts[1 : len(name.parts)-1] {
			known = known || part[0] == x
		}
		if !known {
			return false
		}
	}
	return len(a.words) == 0
}

// reachable is the maximum number of words of a longer name on one side.
const reachable = 4

// left returns what is before a part of the name, that begins at an index, over particles if it is a surname.
func (p place) left(at int, surname bool) (a around) {
	for i := at - 1; i >= 0 && i >= at-reachable; i-- {
		w := p.words[i]
		by := p.linked(i)
		start := begins(p.line[:w.start])
		switch {
		case by == apart || w.tail != "":
			return a
		case honorific(w.low) && (by == abbreviated || by == spaced):
			a.title = w.low
			return a
		case designators[w.low]:
			return a
		case initial(w):
			if by == abbreviated || by == dotted || by == spaced && unicode.IsUpper(rune(w.Text[0])) &&
				!strings.Contains("aoieuy", w.low) {
				a.initials = append(a.initials, w.low)
				continue
			}
			return a
		case particles[w.low]:
			if !surname {
				return a
			}
			continue
		case !p.nameLike(i):
			return a
		}
		if by != hyphen && (p.starts(w) || start && foreign[w.low] || start && p.name.Person() && titles[w.low]) {
			return a
		}
		a.begins = start
		if isWord(w.low) && !Ordinary(w.low) {
			a.words = append(a.words, w.low)
		} else {
			a.names = append(a.names, w.low)
		}
	}
	return a
}

// right returns what is after a part of the name, that ends before an index.
func (p place) right(end int) (a around) {
	for i := end; i < len(p.words) && i < end+reachable; i++ {
		w := p.words[i]
		by := p.linked(i - 1)
		switch {
		case by == apart || by == abbreviated || p.words[i-1].tail != "":
			return a
		case initial(w) && unicode.IsUpper(rune(w.Text[0])) && len(a.names)+len(a.words) == 0 && w.Text != "I":
			a.initials = append(a.initials, w.low)
			return a
		case particles[w.low] && !w.Capital:
			continue
		case !p.nameLike(i):
			return a
		}
		if isWord(w.low) && !Ordinary(w.low) {
			a.words = append(a.words, w.low)
		} else {
			a.names = append(a.names, w.low)
		}
	}
	return a
}

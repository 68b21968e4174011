package prose

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// gap is what there is between a word and the next.
type gap byte

// The gaps, by how much they part.
const (
	blank gap = iota
	slash     // "admin / x"
	comma
	colon // a colon, a dash, an arrow
	stop  // the end of a sentence
	line  // the end of a line
)

// term is a word of a passage, with what the text around it says.
type term struct {
	start, end int // without the marks around it
	signs      int // where the signs at its end end, such as "!", which can be a part of a password
	low        string
	after      gap
	quote      byte // the quote that opens before it, 0 for none
	closed     bool // a quote ends after it
	clue       word.Clue
}

// sentence is a part of a passage, without the name of who says it.
type sentence struct {
	first, last int  // its words: [first,last)
	turn        bool // somebody else begins to speak
	asks        bool
	code        bool // a line of a program or of settings
	question    bool // it names a security question
	typed       bool // it has a remark on how something is typed
	odd         bool // it has an account with a slash, or signs within a word near what has a password
	turned      bool // it names a lock that is turned
	against     int
	thing, act  int
	names       []int // the words that name a secret
}

// passage is a text cut into words and sentences.
type passage struct {
	text, lower string
	words       []term
	sentences   []sentence
	turns       []int // the words that begin a line of a chat with times, in order
}

const (
	openings = "\"'`([{*_„“”‘«»¿¡<"
	closings = "\"'`)]}*_“”’«».,:;…>。，；、"
)

// newPassage cuts text, whose lower case is lower.
func newPassage(text, lower string) *passage {
	p := &passage{text: text, lower: lower, words: make([]term, 0, len(text)/6)} //nolint:mnd // as long as English words
	for at := 0; at < len(text); {
		if at == 0 || text[at-1] == '\n' {
			if n := word.TurnLength(lineAt(text, at)); n > 0 {
				p.turns = append(p.turns, len(p.words))
				at += n
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(text[at:])
		if unicode.IsSpace(r) || r == '—' || r == '→' || r == '⇒' || r == '➜' {
			p.part(r)
			at += n
			continue
		}
		end := at
		for end < len(text) {
			r, n := utf8.DecodeRuneInString(text[end:])
			if unicode.IsSpace(r) || r == '—' || r == '→' || r == '⇒' || r == '➜' {
				break
			}
			end += n
		}
		p.add(at, end)
		at = end
	}
	p.findPhrases()
	p.findSentences()
	return p
}

// lineAt returns the line of text that begins at i.
func lineAt(text string, i int) string {
	line, _, _ := strings.Cut(text[i:], "\n")
	return line
}

// part notes a separator after the last word.
func (p *passage) part(r rune) {
	if n := len(p.words); n > 0 {
		switch {
		case r == '\n':
			p.words[n-1].after = max(p.words[n-1].after, line)
		case !unicode.IsSpace(r) && p.words[n-1].after < stop:
			p.words[n-1].after = colon
		}
	}
}

// logins are names before "=" and an account with its password: login=ana:x.
var logins = []string{"login", "creds", "credentials"}

// add adds the word in text[start:end], which has no blanks.
func (p *passage) add(start, end int) {
	field := p.text[start:end]
	switch field {
	case "":
		return
	case "-", "–", "=", ":", "->", "=>", "--":
		p.part('—')
		return
	case "/", "|":
		if n := len(p.words); n > 0 && p.words[n-1].after < comma {
			p.words[n-1].after = slash
		}
		return
	}
	if n := strings.IndexByte(field, '='); n > 0 && slices.Contains(logins, p.lower[start:start+n]) {
		p.add(start, start+n)
		p.part('—')
		p.add(start+n+1, end)
		return
	}
	w := term{start: start, end: end}
	if trimmed := strings.TrimLeft(field, openings); trimmed != "" {
		w.start = end - len(trimmed)
		if lead := field[:len(field)-len(trimmed)]; strings.ContainsAny(lead, "\"'„“«`") {
			w.quote = lead[len(lead)-1]
		}
	}
	w.signs = w.start + len(strings.TrimRight(p.text[w.start:end], closings))
	if rest := p.text[w.signs:end]; strings.HasPrefix(rest, "*") { // a sign, unless it is Markdown's
		if field[0] != '*' {
			w.signs++
		}
	}
	w.end = w.start + len(strings.TrimRight(p.text[w.start:w.signs], word.EndSigns))
	rest := p.text[w.signs:end]
	w.closed = strings.ContainsAny(rest, "\"'”“»`")
	switch {
	case strings.ContainsAny(rest, ":") || strings.HasSuffix(rest, "="):
		w.after = colon
	case strings.ContainsAny(rest, ",;，；、"):
		w.after = comma
	case strings.ContainsAny(rest, ".…。") || w.end < w.signs && strings.ContainsAny(p.text[w.end:w.signs], "!?"):
		w.after = stop
	}
	if w.start >= w.end {
		if w.after > blank {
			p.after(w.after)
		}
		return
	}
	w.low = p.lower[w.start:w.end]
	if w.after == stop && (w.low == "i.e" || w.low == "e.g" || w.low == "no" || w.low == "nr" || w.low == "z.b") {
		w.after = blank
	}
	p.words = append(p.words, w)
}

// after notes what follows the last word.
func (p *passage) after(g gap) {
	if n := len(p.words); n > 0 {
		p.words[n-1].after = max(p.words[n-1].after, g)
	}
}

// findPhrases looks up the clues of all words. The clue of a phrase is at its last word.
func (p *passage) findPhrases() {
	const longest = 4
	for i := range p.words {
		p.words[i].clue = word.ClueOf(p.words[i].low)
	}
	for i := 0; i < len(p.words); i++ {
		if !word.BeginsPhrase(p.words[i].low) {
			continue
		}
		for n := longest; n > 1; n-- {
			last := i + n - 1
			if last >= len(p.words) || p.words[last].end-p.words[i].start > 40 || p.words[last-1].after >= stop {
				continue
			}
			c, ok := word.PhraseClue(p.lower[p.words[i].start:p.words[last].end])
			if !ok {
				continue
			}
			for k := i; k < last; k++ {
				p.words[k].clue = word.Clue{Plain: true, Adverb: c.Adverb}
			}
			own := p.words[last].clue
			p.words[last].clue = c
			if c.Against == 0 {
				p.words[last].clue = c.And(word.Clue{Join: own.Join, Plain: own.Plain})
			}
			i = last
			break
		}
	}
}

// findSentences cuts the words into sentences.
func (p *passage) findSentences() {
	first := 0
	begin := true // of a line
	for i := range p.words {
		w := &p.words[i]
		if _, timed := slices.BinarySearch(p.turns, i); timed {
			first = i
			p.sentences = append(p.sentences, sentence{first: first, last: first, turn: true})
			begin = false
		}
		if begin && p.isSpeaker(i) {
			first = i + 1
			p.sentences = append(p.sentences, sentence{first: first, last: first, turn: true})
			begin = false
			continue
		}
		begin = w.after == line
		if w.after < stop {
			continue
		}
		if p.goesOn(i, first) {
			w.after = blank
			continue
		}
		p.end(&first, i+1)
	}
	p.end(&first, len(p.words))
}

// goesOn reports whether the sentence from first on goes on after the word at i, behind which there is an end: after
// "Summer2024! just so", and where a line is wrapped.
func (p *passage) goesOn(i, first int) bool {
	const long = 8 // words before a line is wrapped
	w := p.words[i]
	if i+1 == len(p.words) {
		return false
	}
	if next := p.text[p.words[i+1].start]; next < 'a' || next > 'z' {
		return false
	}
	if w.after == stop {
		return w.signs > w.end && (p.text[w.end] != '?' || word.HasDigit(w.low))
	}
	return i-first > long && len(w.low) > 2 && w.signs == w.end && strings.IndexByte(".:;)", p.text[w.signs]) < 0
}

// isSpeaker reports whether the word begins a turn of a dialogue: "B: sure".
func (p *passage) isSpeaker(i int) bool {
	w := p.words[i]
	return w.after == colon && !w.clue.Named() && w.clue.Thing == 0 && !isOneOf(opened, w.low) && len(w.low) < 20 &&
		(p.text[w.start] != w.low[0] || p.turnsOf(w.low)) && i+1 < len(p.words) && strings.HasPrefix(p.text[w.end:], ":")
}

// turnsOf reports whether a name in small letters has turns of a dialogue: the name is before two lines or more, and
// one of them has words of its own.
func (p *passage) turnsOf(name string) bool {
	const least, short = 2, 20
	turns, longest := 0, 0
	for line := range strings.SplitSeq(p.lower, "\n") {
		if rest, ok := strings.CutPrefix(line, name+": "); ok {
			turns++
			longest = max(longest, len(rest))
		}
	}
	return turns >= least && longest > short || turns > 0 && p.dialogue(name)
}

// dialogue reports whether the name before the first line is before a later one too, so that other names before lines
// are those of speakers.
func (p *passage) dialogue(name string) bool {
	const short = 20
	first, rest, _ := strings.Cut(strings.TrimSpace(p.lower), "\n")
	who, said, ok := strings.Cut(first, ": ")
	return ok && who != name && !strings.Contains(who, " ") && len(said) > short && !strings.Contains(said, "=") &&
		strings.Contains("\n"+rest, "\n"+who+": ")
}

// people are words of those who talk to each other or about somebody.
var people = text.Set(`i i'm i'll i've i'd i’m i’ll me my mine we we're we've us our ours you you're your yours he him
	his she her hers they them their mum mom dad grandma grandpa darling dear please pls hey ich mich mir mein meine meinen
	meiner wir uns unser unsere unseren du dein deine dir euch euer ihr mi me mis nos nuestro nuestra tu tus yo je j'ai
	moi mon ma mes nous notre nos tu toi ton ta tes vous votre minha meu meus nosso nossa eu seu sua io mio mia noi
	nostro nostra il tuo tua mijn ons onze jij jouw ik everyone everybody`)

// isTalk reports whether sentence s and those next to it are what somebody says to somebody, without the signs of
// programs and tables.
func (p *passage) isTalk(s int) bool {
	const reach = 2
	first, last := p.sentences[max(0, s-reach)].first, p.sentences[min(s+1, len(p.sentences)-1)].last
	return slices.ContainsFunc(p.words[first:last], func(w term) bool { return people[w.low] }) &&
		!strings.ContainsAny(p.text[p.words[first].start:p.words[last-1].signs], "`|{}[]=<>\t")
}

// end ends a sentence before the word at last.
func (p *passage) end(first *int, last int) {
	if *first >= last {
		return
	}
	s := sentence{first: *first, last: last}
	if n := len(p.sentences); n > 0 && p.sentences[n-1].turn && p.sentences[n-1].first == *first {
		s.turn = true
		p.sentences = p.sentences[:n-1]
	}
	signs := 0
	for i := *first; i < last; i++ {
		w := p.words[i]
		if w.clue.Named() {
			s.names = append(s.names, i)
		}
		s.question = s.question || w.clue.Question
		s.typed = s.typed || w.clue.Typed
		s.turned = s.turned || turned[w.low]
		s.thing = max(s.thing, w.clue.Thing)
		s.act = max(s.act, w.clue.Act)
		s.against = max(s.against, w.clue.Against)
		if strings.ContainsAny(w.low, "{}=<>|;()[]") || strings.Contains(w.low, "://") {
			signs++
		}
	}
	if len(s.names) == 0 && s.thing > 0 {
		s.odd = strings.ContainsAny(p.text[p.words[*first].start:p.words[last-1].end], "!#$%^&?~*/")
	}
	end := p.words[last-1]
	s.asks = end.after >= stop && strings.Contains(p.text[end.end:min(len(p.text), end.signs+2)], "?")
	s.code = signs*8 >= last-*first+4 //nolint:mnd // as isProse
	p.sentences = append(p.sentences, s)
	*first = last
}

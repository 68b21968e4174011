package rank

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Of two statements about the same thing the newer is more likely true, though the older often resembles the question
// more: "Ana lives in Lisbon" against "Ana moved to Porto", for "where does Ana live?". So among the best results a
// newer statement is placed before an older one that it may replace, see succeeds. Round numbers, chosen on the even
// half of mesh/testdata/corrections.json; see docs/ranking.md.
const (
	nearAmong  = 10 // best memories that are compared with each other
	nearWords  = 40 // maximum length of a statement; a longer text makes several statements
	turnCosine = .8 // minimum cosine of turns of a conversation, which must have the query's words and tell of a change
	nearShare  = .6 // minimum cosine of the newer turn with the query, as a share of the older one's
	nearStems  = .5 // share of words in common that replaces the cosine where there are no vectors
)

var (
	// tellsChange finds statements that something is not as it was.
	tellsChange = regexp.MustCompile(`(?i)\b(now|nowadays|these days|no longer|any ?more|instead( of)?|from now on|` +
		`as of|since|correction|corrected|actually|wrong|change[ds]?|switch(ed)?|move[ds]?|moving|relocated|` +
		`replace[ds]?|renamed|rewritten|rewrote|migrated|upgraded|updated|raised|lowered|increased|decreased|` +
		`reduced|cut|extended|renewed|` +
		`rather|prefers?|postponed|rescheduled|slipped|delayed|cancell?ed|stopped|quit|dropped|left|sold|gave|given|` +
		`swapped|handed|transferred|promoted|started|became|becomes|turned|gone|got|fixed|closed|reopened|again|` +
		`took over|taken over|ported|retired|went to|signed up|joined|hired|` +
		`is (down|up) to)\b`)
	// asksBefore finds questions about what was true before.
	asksBefore = regexp.MustCompile(`(?i)\b(before|previous(ly)?|former(ly)?|used to|original(ly)?|at first|back then|` +
		`earlier|histor(y|ies)|old|first|initial(ly)?)\b`)
)

// statement is one of the best memories in a form that can be compared with others.
type statement struct {
	leader
	record     *record.Record
	moment     record.Moment
	foreign    bool
	assistant  bool    // an assistant said it
	turn       bool    // it is within a session, where what comes before and after it tells when it holds
	time       float32 // what it gains by the time that the query names
	cosine     float32 // with the query
	comparable bool    // the fields below are set
	vector     []float32
	stems      []string
	asked      []string // stems of the query that it or its labels have
	changes    bool     // it tells of a change
	successor  bool     // it was not among the best, see successors
	moved      bool     // it was moved before an older one
}

// preferNewer moves statements before older ones of the list that they may replace, also some that are not in it, and
// returns the list. The scores keep their places, so that they still descend.
func (r *Candidates) preferNewer(list []leader) []leader {
	if len(list) == 0 || asksBefore.MatchString(r.text) {
		return list
	}
	near := list[:min(nearAmong, len(list))]
	order := make([]*statement, len(near))
	for i, l := range near {
		order[i] = r.statement(l)
	}
	asked := names(r.text)
	for _, older := range slices.Clone(order[:min(goneAmong, len(order))]) {
		if older.comparable {
			order = append(order, r.successors(older, order)...)
		}
	}
	for i := range order {
		for j := i + 1; j < len(order); j++ {
			if newer := order[j]; r.replaces(newer, order[i], asked) {
				newer.moved = true
				order = slices.Insert(slices.Delete(order, j, j+1), i, newer)
			}
		}
	}
	order = slices.DeleteFunc(order, func(s *statement) bool { return s.successor && !s.moved })
	ranked := make([]leader, 0, len(order)+len(list)-len(near))
	for i, s := range order {
		s.score = near[min(i, len(near)-1)].score
		ranked = append(ranked, s.leader)
	}
	return append(ranked, list[len(near):]...)
}

// statement returns a memory in a form that can be compared. A long text, a question, a passage of a file, and what was
// derived from memories neither replace nor are replaced.
func (r *Candidates) statement(l leader) *statement {
	p := r.parts[l.part]
	rec := p.Record(l.doc)
	before, after := p.Keywords.Neighbours(l.doc)
	s := &statement{
		leader: l, record: rec, moment: p.Hit(rec).Stored(), foreign: p.foreign(l.doc),
		assistant: p.Docs[l.doc].Assistant, turn: before >= 0 || after >= 0,
		time: p.time(l.doc), cosine: p.raw[l.doc],
	}
	s.comparable = p.Keywords.Words(l.doc) <= nearWords && rec.IsMemory() && rec.Lesson == nil &&
		rec.Reflection == nil && !strings.HasSuffix(strings.TrimSpace(rec.Content), "?")
	if s.comparable {
		s.vector, s.stems = p.source.Vectors.Vector(l.doc), keyword.Stems(rec.Content)
		s.asked = r.query.In(strings.Join(append(rec.Labels(), rec.Content), "\n"))
		s.changes = tellsChange.MatchString(rec.Content)
	}
	return s
}

// replaces reports whether newer may have taken the place of older. asked are the names in the query.
func (r *Candidates) replaces(newer, older *statement, asked []name) bool {
	// SECURITY: what another group said does not displace what was said here.
	if !newer.comparable || !older.comparable || newer.foreign && !older.foreign ||
		newer.time < older.time || newer.moment.Compare(older.moment) <= 0 || newer.aboutOther(older) {
		return false
	}
	// A suggestion ("You could keep bees in the garden") does not take the place of what the person said, nor what the
	// person said that of a suggestion that is asked for.
	if asks := r.question.assistant; newer.assistant != older.assistant && older.assistant == asks &&
		!r.question.summary && (asks || !newer.changes) {
		return false
	}
	shared := 0
	for _, stem := range newer.stems {
		if slices.Contains(older.stems, stem) {
			shared++
		}
	}
	lacks := func(stem string) bool { return !slices.Contains(newer.stems, stem) }
	aboutOther := func(n name) bool { return slices.Contains(older.stems, n.stem) && lacks(n.stem) }
	aboutSomeone := func(n name) bool { return !n.acronym && aboutOther(n) }
	switch {
	case shared == 0 || slices.ContainsFunc(asked, aboutSomeone):
		return false
	case !newer.turn && !older.turn && r.gone(newer, older):
		if r.corrects == nil {
			r.corrects = map[place]string{}
		}
		r.corrects[place{newer.part, newer.doc}] = older.record.Content
		return true
	case slices.ContainsFunc(asked, aboutOther) || r.keepsValues(newer, older):
		return false
	}
	changes := newer.changes || renews(newer, older)
	onTopic := !slices.ContainsFunc(older.asked, func(stem string) bool {
		return !firstPerson[stem] && !slices.Contains(newer.asked, stem)
	})
	if newer.vector == nil || older.vector == nil {
		overlap := float64(shared) / float64(min(len(newer.stems), len(older.stems)))
		return overlap >= nearStems && onTopic || changes && onTopic
	}
	if !newer.turn && !older.turn {
		return r.succeeds(newer, older, shared, changes)
	}
	return changes && onTopic && cosine(newer.vector, older.vector) >= turnCosine &&
		newer.cosine >= nearShare*max(older.cosine, MinCosine)
}

// cosine returns that of two vectors of unit length.
func cosine(a, b []float32) float32 {
	return blas32.Dot(blas32.Vector{N: len(a), Inc: 1, Data: a}, blas32.Vector{N: len(b), Inc: 1, Data: b})
}

// firstPerson are the stems by which a text may speak of the same person in other words.
var firstPerson = map[string]bool{"i": true, "my": true, "me": true, "we": true, "our": true, "us": true}

// name is the stem of a name or number in a question.
type name struct {
	stem    string
	acronym bool // such as CI, which names a thing
}

// names returns the names and numbers of a question.
func names(question string) []name {
	var list []name
	for i, word := range strings.Fields(question) {
		if word != "I" && isNamed(i, word) {
			for _, stem := range keyword.Stems(word) {
				list = append(list, name{stem, word == strings.ToUpper(word)})
			}
		}
	}
	return list
}

// isNamed reports whether the ith word of a text is a name or a number.
func isNamed(i int, word string) bool {
	return i > 0 && strings.ContainsFunc(word, unicode.IsUpper) || strings.ContainsFunc(word, unicode.IsDigit)
}

// newThing finds what a statement calls new, and not what that is for: "the new printer paper".
var newThing = regexp.MustCompile(`(?i)\bnew (\p{L}+)` +
	`(?:(?:['’]s \p{L}+)? (?:is|are|was|were|has|will|called|named|of|at|from)\b|\W*$|[,.:])`)

// renews reports whether newer calls something new that older is about: "our new dentist" is another one.
func renews(newer, older *statement) bool {
	for _, m := range newThing.FindAllStringSubmatch(newer.record.Content, -1) {
		if stems := keyword.Stems(m[1]); len(stems) > 0 && slices.Contains(older.stems, stems[0]) {
			return true
		}
	}
	return false
}

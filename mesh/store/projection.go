package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

// Projection is what a process holds in memory of one compartment, or of other records that are searched like memories.
// It changes only by the entries of a ledger, or by Add and Remove, and is read through Snapshot. It is safe for
// concurrent use.
type Projection struct {
	// The fields with upper-case names are set before the first use, and never changed.
	Visibility record.Visibility
	Vectors    *vector.Set   // its documents have the numbers of Snapshot.Docs
	Retention  time.Duration // how long a lesson is active
	Changed    func()        // called, under the lock, when the tables and vectors on disk are behind; must not block

	mu       sync.RWMutex // guards what follows
	entries  int64        // of the ledger, of any kind
	live     int          // memories that are not deleted
	docs     []Document
	held     []held  // by document, zero if it was deleted
	long     []int32 // the documents with Parts, ascending
	standing []int32 // the documents that are Standing, ascending
	byID     ids
	words    words                      // what finds memories with the same words
	revised  map[string]struct{}        // see TakeRevised
	accesses map[string]record.Accesses // by id, of memories of any compartment
	erased   map[string]record.Moment   // when what had an id was deleted last
	texts    map[string]time.Time       // when what had been read from a file was deleted last, by Erasure.File
	patterns map[string]int             // lesson pattern -> its best lesson
	derived  map[string]int             // reflection key -> its best reflection
	sessions map[string]*session
	keywords *keyword.Index
	bm25     bm25 // has a lock of its own
	skills   *skill.Set
	passages sync.Map // id -> *Passages of a long memory that a search has looked into

	syntheses map[string]*record.Synthesis // by key, the latest
	questions []Question                   // in the ledger's order, the latest maxQuestions

	revisions revisions
	sightings map[string][]*record.Record // by the id of the memory that they repeat
	separated map[string]struct{}         // the ids of memories that were sightings
}

// Document is what the ranking would otherwise compute of a memory for each search. Its number is its index in
// Snapshot.Docs, which deletions leave as it is: vectors and keyword index use it as well. Snapshot.Record has the
// memory itself.
type Document struct {
	Session int32   // its session's number, -1 for none
	Long    float32 // subtracted from its score for its length in the default ranking, see rank.Context
	Deleted bool

	Parts    bool // it is long: parts of it are compared with queries too, see Snapshot.Passages
	Standing bool // a standing instruction or preference, see record.IsStanding, or what replaced one
	// These save a search that looks at all documents a look at each record, which takes longer than all else.
	Ordinary  bool // neither a lesson nor bound to its session
	Assistant bool // an assistant said it, see record.FromAssistant
	Past      bool // not current: a revision replaced or retired it, or it is not the best lesson of its pattern
}

// describe sets what follows from the record's own fields.
func (d *Document) describe(r *record.Record) {
	d.Ordinary = r.Lesson == nil && !r.IsEphemeral()
	d.Assistant = record.FromAssistant(r.Source)
}

// session is a session's number in the index, and the document to which its next one is linked.
type session struct {
	number int32
	last   int // its latest document, -1 if all are deleted
}

// The penalty for length, Document.Long: see docs/ranking.md.
const (
	longWeight   = .1 // for each doubling of the length
	longWords    = 60 // up to which a text is not long
	maxDoublings = 3. // doublings that count
)

// NewProjection returns an empty projection of the compartment called name, whose vectors are, or will be, in vectors.
func NewProjection(name record.Visibility, vectors *vector.Set) *Projection {
	return &Projection{
		Visibility: name,
		Vectors:    vectors,
		Changed:    func() {},
		byID:       newIDs(0),
		revised:    map[string]struct{}{},
		accesses:   map[string]record.Accesses{},
		erased:     map[string]record.Moment{},
		texts:      map[string]time.Time{},
		patterns:   map[string]int{},
		derived:    map[string]int{},
		sessions:   map[string]*session{},
		keywords:   keyword.New(),
		skills:     skill.NewSet(),
		syntheses:  map[string]*record.Synthesis{},
		revisions:  newRevisions(),
		sightings:  map[string][]*record.Record{},
		separated:  map[string]struct{}{},
	}
}

// Add adds records that no ledger has, in order. The caller must not change them any more.
func (p *Projection) Add(records ...*record.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range records {
		p.add(r)
	}
}

// Remove removes the records with these ids from memory. The caller removes their vectors from disk.
func (p *Projection) Remove(ids ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		p.remove(id)
	}
}

// TakeRevised returns the ids of the memories of which more than the text has changed since the last call: their rows
// in the tables may be behind. A caller that fails to update them hands the ids back with ReturnRevised.
func (p *Projection) TakeRevised() map[string]struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	revised := p.revised
	p.revised = map[string]struct{}{}
	return revised
}

// ReturnRevised adds ids to those that TakeRevised returns next.
func (p *Projection) ReturnRevised(ids map[string]struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.Copy(p.revised, ids)
}

// Erasure is what a projection reads of the data of an entry that erases a memory.
type Erasure struct {
	File string `json:"file,omitempty"` // digest of the text that was read from a file, "" for any other memory
}

// Recall is the data of a recall entry (RFC-0011 §3.3), from which accesses are counted.
type Recall struct {
	AgentID string   `json:"agent_id"`
	Found   []string `json:"found,omitempty"` // ids of the memories, of any compartment, best first
	// Scores are Found's in the same order, in a DM only. The query is in the entry's block and not here.
	Scores []float64 `json:"scores,omitempty"`
}

// Decode unmarshals the data of a ledger entry into to. The error names the entry.
//
// SECURITY: earlier versions kept invisible characters in fields. They end here, before anything is shown.
func Decode(e ledger.Entry, to any) error {
	if err := json.Unmarshal(e.Data, to); err != nil {
		return fmt.Errorf("ledger entry %d: %w", e.Seq, err)
	}
	if c, ok := to.(interface{ Clean() }); ok {
		c.Clean()
	}
	return nil
}

// apply applies one ledger entry.
func (p *Projection) apply(e ledger.Entry) error {
	change, err := p.change(e)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entries = e.Seq
	if change != nil {
		change()
	}
	return nil
}

// change decodes an entry and returns what it does to the projection, nil for nothing, so that JSON is decoded without
// the lock. An erased entry does nothing, and neither does an operation that a later version may have added.
func (p *Projection) change(e ledger.Entry) (func(), error) {
	at := record.Moment{Time: e.Time, Compartment: p.Visibility, Seq: e.Seq}
	switch {
	case e.Op == ledger.OpDelete:
		var erasure Erasure
		if len(e.Data) > 0 {
			if err := Decode(e, &erasure); err != nil {
				return nil, err
			}
		}
		return func() {
			p.remove(e.ID)
			p.unrevise(e.ID)
			p.unask(e.ID)
			p.erased[e.ID] = at
			if erasure.File != "" {
				p.texts[erasure.File] = at.Time
			}
			p.skills.Remove(e.ID)
			p.Changed()
		}, nil
	case e.Erased:
		return nil, nil
	}
	switch e.Op {
	case OpRetain, OpLesson, OpReflect:
		r := new(record.Record)
		return func() { r.Seq = e.Seq; p.add(r) }, Decode(e, r)
	case OpHeritage:
		h := new(record.Heritage)
		return func() { p.inherit(e.ID, h) }, Decode(e, h)
	case OpRevise:
		r := new(record.Revision)
		return func() { p.revise(r) }, Decode(e, r)
	case OpUpdate:
		var m record.Memory
		err := Decode(e, &m)
		return func() { p.update(e.ID, m, e.Time) }, err
	case OpSighting:
		r := new(record.Record)
		return func() { p.sightings[e.ID] = append(p.sightings[e.ID], r); p.revisions.changes++ }, Decode(e, r)
	case OpSeparate:
		var made record.Separation
		err := Decode(e, &made)
		return func() { p.separate(e.ID, made) }, err
	case OpSynthesize:
		made := new(record.Synthesis)
		return func() { p.syntheses[made.Key] = made; p.Changed() }, Decode(e, made)
	case OpAccesses:
		var counted map[string]record.Accesses
		err := Decode(e, &counted)
		return func() { p.addAccesses(counted) }, err
	case OpRecall:
		var r Recall
		err := Decode(e, &r)
		q := questionOf(e, r)
		return func() { p.access(r, e.Time); p.ask(q, at) }, err
	case OpSkill:
		s := new(record.Skill)
		return func() { p.skills.Put(s, at); p.Changed() }, Decode(e, s)
	case OpSkillFeedback:
		u := skill.Use{At: at}
		err := Decode(e, &u)
		return func() { p.skills.AddUse(e.ID, u); p.Changed() }, err
	}
	return nil, nil
}

// add makes r the next document. p.mu is held.
func (p *Projection) add(r *record.Record) { p.addDerived(r, derive(r)) }

// addDerived is add for a record of which it is known what derive returns.
func (p *Projection) addDerived(r *record.Record, known derived) {
	doc := p.addDocument(hold(r), known)
	p.byID.put(doc, p.held)
	p.addContender(doc)
	if r.Lesson == nil && r.IsMemory() {
		p.words.add(doc, known.Words)
	}
	p.Vectors.Track(r.VectorID())
	if known.Parts {
		p.Vectors.WantParts(r.VectorID())
	}
	if r.Redacted != 0 {
		p.revised[r.ID] = struct{}{} // the tables may have it with its earlier text
		delete(p.erased, r.ID)       // it was never gone
	}
	p.Changed()
}

// addDocument makes h the next document, which p.held and the keyword index may have already. p.mu is held.
func (p *Projection) addDocument(h held, known derived) (doc int) {
	doc = len(p.docs)
	d := Document{Session: -1, Standing: known.Standing, Parts: known.Parts}
	var r record.Record
	h.record(&r)
	d.describe(&r)
	predecessor := -1
	if known.Session != "" {
		s, ok := p.sessions[known.Session]
		if !ok {
			s = &session{number: int32(len(p.sessions)), last: -1} //nolint:gosec // fewer than 2^31 sessions
			p.sessions[known.Session] = s
		}
		d.Session, predecessor, s.last = s.number, s.last, doc
	}
	if doc == p.keywords.Len() {
		p.keywords.Add(r.Content, predecessor)
	}
	p.keywords.SetLabels(doc, nil, r.Labels())
	if words := p.keywords.Words(doc); words > longWords {
		d.Long = longWeight * float32(min(maxDoublings, math.Log2(float64(words)/longWords)))
	}
	p.docs = append(p.docs, d)
	if doc == len(p.held) {
		p.held = append(p.held, h)
	}
	if d.Parts {
		p.long = append(p.long, int32(doc)) //nolint:gosec // fewer than 2^31 memories
	}
	p.noteStanding(doc)
	p.live++
	return doc
}

// noteStanding adds a document to those that are Standing, or removes it. p.mu is held.
func (p *Projection) noteStanding(doc int) {
	number := int32(doc) //nolint:gosec // fewer than 2^31 memories
	switch at, known := slices.BinarySearch(p.standing, number); {
	case p.docs[doc].Standing && !known:
		p.standing = slices.Insert(p.standing, at, number)
	case !p.docs[doc].Standing && known:
		p.standing = slices.Delete(p.standing, at, at+1)
	}
}

// maxRule is the maximum number of bytes of what is taken for a standing instruction because it replaced one: a longer
// text may merge it with much else.
const maxRule = 400

// setStanding sets Document.Standing of the memory called id. What replaced a standing instruction is one, whatever its
// words: "Calls may be scheduled from 9 on." p.mu is held.
func (p *Projection) setStanding(id string) {
	doc, ok := p.doc(id)
	if !ok {
		return
	}
	r := p.record(doc)
	standing := r.IsStanding()
	if len(r.Content) <= maxRule && r.MayStand() {
		for _, revision := range p.revisions.by[id] {
			old, ok := p.doc(revision.Old)
			standing = standing || ok && p.docs[old].Standing
		}
	}
	p.docs[doc].Standing = standing
	p.noteStanding(doc)
}

// addContender lets a lesson or reflection compete with others of its pattern or key. p.mu is held.
func (p *Projection) addContender(doc int) {
	r := p.record(doc)
	if r.Reflection != nil {
		p.prefer(doc)
	}
	if r.Lesson != nil {
		p.contend(doc)
	}
}

// contend makes doc the best lesson of its pattern if no lesson with an equal or higher confidence is. One that had
// expired when doc was stored does not count (RFC-0011 §8.2): Distill let doc supersede it. p.mu is held.
func (p *Projection) contend(doc int) {
	r := p.record(doc)
	best, ok := p.patterns[r.Lesson.PatternID]
	if !ok {
		p.patterns[r.Lesson.PatternID] = doc
		p.setPast(doc)
		return
	}
	known := p.record(best)
	if known.Lesson.RuleConfidence < r.Lesson.RuleConfidence || known.Expired(r.CreatedAt, p.Retention) {
		p.patterns[r.Lesson.PatternID] = doc
	}
	p.setPast(best)
	p.setPast(doc)
}

// prefer makes doc the reflection of its key if it is the first, or the first by a model. p.mu is held.
func (p *Projection) prefer(doc int) {
	r := p.record(doc).Reflection
	known, ok := p.derived[r.Key]
	if !ok || r.Method == record.ByModel && p.record(known).Reflection.Method != record.ByModel {
		p.derived[r.Key] = doc
	}
}

// remove removes the memory called id from everything in memory. Its document stays, without a record, so that the
// numbers of the others do not change. p.mu is held.
func (p *Projection) remove(id string) {
	doc, ok := p.doc(id)
	if !ok {
		return
	}
	r := p.record(doc)
	before, _ := p.keywords.Neighbours(doc)
	if s := p.sessions[r.SessionID]; s != nil && s.last == doc {
		s.last = before
	}
	p.keywords.SetLabels(doc, r.Labels(), nil)
	p.keywords.Remove(doc, r.Content)
	p.passages.Delete(id)
	p.byID.remove(id, p.held)
	p.docs[doc].Deleted, p.docs[doc].Past, p.held[doc] = true, false, held{}
	p.live--
	delete(p.revised, id)
	delete(p.accesses, id)
	delete(p.sightings, id)
	delete(p.separated, id)
	if r.Lesson == nil && r.IsMemory() {
		p.words.remove(doc, r.Words())
	}
	if r.Lesson != nil && p.patterns[r.Lesson.PatternID] == doc {
		// The next best takes its place: a superseded lesson is active again when its successor is deleted.
		delete(p.patterns, r.Lesson.PatternID)
		for other := range p.held {
			if l := p.held[other].lesson(); l != nil && l.PatternID == r.Lesson.PatternID {
				p.contend(other)
			}
		}
	}
	if r.Reflection != nil && p.derived[r.Reflection.Key] == doc {
		delete(p.derived, r.Reflection.Key)
		for other := range p.held {
			if x := p.held[other].reflection(); x != nil && x.Key == r.Reflection.Key {
				p.prefer(other)
			}
		}
	}
	p.Vectors.Untrack(doc, r.VectorID())
	p.revived(id)
	p.Changed()
}

// inherit applies a heritage entry. p.mu is held.
func (p *Projection) inherit(id string, h *record.Heritage) {
	doc, ok := p.doc(id)
	if !ok {
		return
	}
	r := p.record(doc)
	r.Heritage = h
	p.held[doc] = hold(r)
	p.revised[id] = struct{}{}
	p.Changed()
}

// addAccesses adds what was counted elsewhere. p.mu is held.
func (p *Projection) addAccesses(counted map[string]record.Accesses) {
	for id, more := range counted {
		if _, ok := p.doc(id); !ok {
			continue
		}
		a := p.accesses[id]
		a.Count += max(0, more.Count)
		if more.Last.After(a.Last) {
			a.Last = more.Last.UTC().Truncate(time.Millisecond)
		}
		p.accesses[id] = a
		p.revised[id] = struct{}{}
	}
}

// access counts a recall. p.mu is held.
func (p *Projection) access(r Recall, at time.Time) {
	for _, id := range r.Found {
		a := p.accesses[id]
		a.Count, a.Last = a.Count+1, at.UTC().Truncate(time.Millisecond) // as the table has it
		p.accesses[id] = a
		// Not Changed: every search would have the tables written. The row is updated with the next write.
		if _, ok := p.doc(id); ok {
			p.revised[id] = struct{}{}
		}
	}
}

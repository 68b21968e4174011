package mesh

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
)

// Operations of the ledger's entries (RFC-0011 §2.3's operation types), beside ledger.OpDelete.
const (
	opRetain = "retain"
	opRecall = "recall"
	opLesson = "lesson"

	opReflect    = "reflect"
	opSynthesize = "synthesize"

	opHeritage = "heritage" // no operation type of the RFC: it has no block
)

// compartment is one physically separate store: its ledger, the projection of it that this process
// holds in memory, and its index of vectors. The ledger is the truth; the rest is derived from it.
type compartment struct {
	visibility record.Visibility
	ledger     *ledger.Ledger
	retention  time.Duration // how long a lesson is in force
	index      *index
	damaged    atomic.Bool // the ledger is, and it has been logged

	mu       sync.RWMutex // guards what follows; only apply writes
	entries  int64        // of the ledger, of any kind
	live     int          // memories that are not deleted
	docs     []document   // every memory in ledger order, by document number
	byID     map[string]int
	byText   map[[sha256.Size]byte]int
	revised  map[string]struct{}        // memories whose rows may be behind, see revise
	accesses map[string]record.Accesses // by id, of memories of any compartment
	erased   map[string]record.Moment   // when what had an id was deleted last
	patterns map[string]int             // lesson pattern -> its best lesson
	derived  map[string]int             // reflection key -> its best reflection
	sessions map[string]*session
	keywords *keyword.Index
	ranking  Ranking    // set once
	plain    plainIndex // of RFC0011
	skills   *skill.Set

	syntheses map[string]*record.Synthesis // by key, the latest
}

// document is a memory and what the ranking needs of it at hand.
type document struct {
	record  *record.Record // nil if it was deleted
	session int32          // its session's number, -1 for none
	long    float32        // what it loses for its length, see Context
}

type session struct {
	number int32
	last   int // its latest document, -1 if all are deleted
}

func newCompartment(v record.Visibility, l *ledger.Ledger, ix *index) *compartment {
	return &compartment{
		visibility: v,
		ledger:     l,
		index:      ix,
		byID:       map[string]int{},
		byText:     map[[sha256.Size]byte]int{},
		revised:    map[string]struct{}{},
		accesses:   map[string]record.Accesses{},
		erased:     map[string]record.Moment{},
		patterns:   map[string]int{},
		derived:    map[string]int{},
		sessions:   map[string]*session{},
		keywords:   keyword.New(),
		skills:     skill.NewSet(),
		syntheses:  map[string]*record.Synthesis{},
	}
}

// sync takes in what any process has appended since the last call.
func (c *compartment) sync(ctx context.Context) error {
	if err := c.ledger.Sync(ctx, c.apply); err != nil {
		return fmt.Errorf("read the %s ledger: %w", c.visibility, err)
	}
	return nil
}

// apply takes one ledger entry into the projection.
func (c *compartment) apply(e ledger.Entry) error {
	if e.Op == opSkill || e.Op == opSkillFeedback {
		return c.applySkill(e)
	}
	var r *record.Record
	if !e.Erased && (e.Op == opRetain || e.Op == opLesson || e.Op == opReflect) {
		r = new(record.Record)
		if err := decodeEntry(e, r); err != nil {
			return err
		}
	}
	var h *record.Heritage
	if !e.Erased && e.Op == opHeritage {
		h = new(record.Heritage)
		if err := decodeEntry(e, h); err != nil {
			return err
		}
	}
	var made *record.Synthesis
	if !e.Erased && e.Op == opSynthesize {
		made = new(record.Synthesis)
		if err := decodeEntry(e, made); err != nil {
			return err
		}
	}
	var found recalled
	if !e.Erased && e.Op == opRecall {
		if err := decodeEntry(e, &found); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = e.Seq
	switch {
	case made != nil:
		c.syntheses[made.Key] = made
		c.index.stale()
	case found.Found != nil:
		c.access(found, e.Time)
	case h != nil:
		c.inherit(e.ID, h)
	case r != nil:
		r.Seq = e.Seq
		c.add(r)
	case e.Op == ledger.OpDelete:
		c.remove(e.ID)
		c.erased[e.ID] = c.moment(e)
		c.skills.Remove(e.ID)
		c.index.stale()
	}
	return nil
}

// moment is the place of an entry of c.
func (c *compartment) moment(e ledger.Entry) record.Moment {
	return record.Moment{Time: e.Time, Compartment: c.visibility, Seq: e.Seq}
}

// decodeEntry reads the operation's own record.
func decodeEntry(e ledger.Entry, to any) error {
	if err := json.Unmarshal(e.Data, to); err != nil {
		return fmt.Errorf("ledger entry %d: %w", e.Seq, err)
	}
	return nil
}

// add makes r the next document. c.mu is held.
func (c *compartment) add(r *record.Record) {
	doc := len(c.docs)
	d := document{record: r, session: -1}
	predecessor := -1
	if r.SessionID != "" {
		s, ok := c.sessions[r.SessionID]
		if !ok {
			s = &session{number: int32(len(c.sessions)), last: -1} //nolint:gosec // fewer than 2^31 sessions
			c.sessions[r.SessionID] = s
		}
		d.session, predecessor, s.last = s.number, s.last, doc
	}
	c.keywords.Add(r.Content, predecessor)
	if words := c.keywords.Words(doc); words > longWords {
		d.long = longWeight * float32(min(longest, math.Log2(float64(words)/longWords)))
	}
	c.docs = append(c.docs, d)
	c.live++
	c.byID[r.ID] = doc
	if r.Reflection != nil {
		c.prefer(doc)
	}
	if r.Lesson != nil {
		c.contend(doc)
	} else if _, twin := c.byText[r.Scope()]; !twin {
		c.byText[r.Scope()] = doc
	}
	c.index.vectors.Track(r.ID)
	if r.Type != record.FileType && long(r.Content) {
		c.index.vectors.WantParts(r.ID)
	}
	c.index.stale()
}

// contend makes the lesson doc the best of its pattern if it is. c.mu is held.
func (c *compartment) contend(doc int) {
	l := c.docs[doc].record.Lesson
	best, ok := c.patterns[l.PatternID]
	if !ok || c.docs[best].record.Lesson.RuleConfidence < l.RuleConfidence || c.docs[best].record.Expired(c.docs[doc].record.CreatedAt, c.retention) {
		c.patterns[l.PatternID] = doc
	}
}

// prefer makes the reflection doc the one of its key: the first, or the first by a model. c.mu is held.
func (c *compartment) prefer(doc int) {
	r := c.docs[doc].record.Reflection
	known, ok := c.derived[r.Key]
	if !ok || r.Method == record.ByModel && c.docs[known].record.Reflection.Method != record.ByModel {
		c.derived[r.Key] = doc
	}
}

// remove takes the memory called id out of everything in memory. Its traces on disk go with the index's
// next purge. c.mu is held.
func (c *compartment) remove(id string) {
	doc, ok := c.byID[id]
	if !ok {
		return
	}
	r := c.docs[doc].record
	before, _ := c.keywords.Neighbours(doc)
	if s := c.sessions[r.SessionID]; s != nil && s.last == doc {
		s.last = before
	}
	c.keywords.Remove(doc, r.Content)
	c.docs[doc].record = nil
	c.live--
	delete(c.byID, id)
	delete(c.revised, id)
	delete(c.accesses, id)
	if key := r.Scope(); r.Lesson == nil && c.byText[key] == doc {
		delete(c.byText, key)
	}
	if r.Lesson != nil && c.patterns[r.Lesson.PatternID] == doc {
		delete(c.patterns, r.Lesson.PatternID)
		for other, d := range c.docs {
			if d.record != nil && d.record.Lesson != nil && d.record.Lesson.PatternID == r.Lesson.PatternID {
				c.contend(other)
			}
		}
	}
	if r.Reflection != nil && c.derived[r.Reflection.Key] == doc {
		delete(c.derived, r.Reflection.Key)
		for other, d := range c.docs {
			if d.record != nil && d.record.Reflection != nil && d.record.Reflection.Key == r.Reflection.Key {
				c.prefer(other)
			}
		}
	}
	c.index.vectors.Untrack(doc, id)
	c.index.stale()
}

// twin is the memory with the same text in the same scope as r, nil if there is none.
func (c *compartment) twin(r *record.Record) *record.Record {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if doc, ok := c.byText[r.Scope()]; ok {
		return c.docs[doc].record
	}
	return nil
}

// find is the memory called id, nil if there is none.
func (c *compartment) find(id string) *record.Record {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if doc, ok := c.byID[id]; ok {
		return c.docs[doc].record
	}
	return nil
}

// erasedSince reports whether what had an id was deleted after a moment.
func (c *compartment) erasedSince(id string, at record.Moment) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	deleted, ok := c.erased[id]
	return ok && deleted.Compare(at) > 0
}

// contents are the texts of all memories.
func (c *compartment) contents() iter.Seq[string] {
	c.mu.RLock()
	docs := slices.Clone(c.docs)
	c.mu.RUnlock()
	return func(yield func(string) bool) {
		for _, d := range docs {
			if d.record != nil && !yield(d.record.Content) {
				return
			}
		}
	}
}

// lesson is the best lesson of a pattern, nil if there is none.
func (c *compartment) lesson(pattern string) *record.Record {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if doc, ok := c.patterns[pattern]; ok {
		return c.docs[doc].record
	}
	return nil
}

// reflection is the memory of the reflection with that key, nil if there is none.
func (c *compartment) reflection(key string) *record.Record {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if doc, ok := c.derived[key]; ok {
		return c.docs[doc].record
	}
	return nil
}

// count is how many memories there are.
func (c *compartment) count() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.live
}

// untouched reports whether nothing was ever written here. Then nothing is created here by a read.
func (c *compartment) untouched() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.entries == 0
}

// append writes what prepare drafts, and returns after the fsync. prepare runs under the ledger's lock, when everything
// that any process has written was read: what it decides holds. It may be called again.
func (c *compartment) append(ctx context.Context, prepare func(now time.Time) ([]ledger.Draft, error)) error {
	_, err := c.ledger.Append(ctx, c.apply, prepare)
	return c.explain("write to", err)
}

// appendRelaxed is append without the fsync.
func (c *compartment) appendRelaxed(ctx context.Context, prepare func(now time.Time) ([]ledger.Draft, error)) error {
	_, err := c.ledger.AppendRelaxed(ctx, c.apply, prepare)
	return c.explain("write to", err)
}

// erase takes out of the ledger the content of what prepare drafts deletions of. prepare is as in append.
func (c *compartment) erase(ctx context.Context, prepare func(now time.Time) ([]ledger.Draft, error)) error {
	_, err := c.ledger.Erase(ctx, c.apply, prepare)
	return c.explain("erase from", err)
}

func (c *compartment) explain(doing string, err error) error {
	if err != nil {
		return fmt.Errorf("%s the %s ledger: %w", doing, c.visibility, err)
	}
	return nil
}

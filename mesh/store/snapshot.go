package store

import (
	"io"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
)

// Snapshot is a projection under its read lock: nothing in it changes until Release, after which nothing of it may be
// used but the records, which never change. Nothing is copied to make one.
//
// A goroutine that holds a Snapshot must not take another one of the same projection. A sync.RWMutex lets no new reader
// in once a writer waits, so the second call would wait for the writer, and the writer for the first snapshot.
type Snapshot struct {
	Visibility record.Visibility
	Docs       []Document     // every memory in the ledger's order, deleted ones too
	Long       []int32        // the numbers of the documents with Parts, ascending
	Standing   []int32        // the numbers of the documents that are Standing, ascending
	Live       int            // documents that are not deleted
	Sessions   int            // number of sessions; Document.Session is below it
	Keywords   *keyword.Index // by document
	Skills     *skill.Set
	Retention  time.Duration // how long a lesson is active

	p *Projection
}

// Snapshot takes the read lock. The caller calls Release, and must not hold it while it waits for anything slow:
// writers wait for it.
func (p *Projection) Snapshot() *Snapshot {
	p.mu.RLock()
	return &Snapshot{
		Visibility: p.Visibility, Docs: p.docs, Long: p.long, Standing: p.standing, Live: p.live, Sessions: len(p.sessions),
		Keywords: p.keywords, Skills: p.skills, Retention: p.Retention, p: p,
	}
}

// Release releases the read lock.
func (s *Snapshot) Release() { s.p.mu.RUnlock() }

// Untouched reports whether nothing was ever written to the ledger. Then reads must not create files either.
func (s *Snapshot) Untouched() bool { return s.p.entries == 0 }

// Entries returns the number of entries of the ledger that were applied.
func (s *Snapshot) Entries() int64 { return s.p.entries }

// Memories yields the memories that are not deleted, in the ledger's order.
func (s *Snapshot) Memories() iter.Seq[*record.Record] {
	return func(yield func(*record.Record) bool) {
		for doc := range s.Docs {
			if !s.Docs[doc].Deleted && !yield(s.Record(doc)) {
				return
			}
		}
	}
}

// Scan is Memories for a caller that keeps none of the records: each is written over the one before, which takes a
// third of the time where there are many.
func (s *Snapshot) Scan() iter.Seq2[int, *record.Record] {
	return func(yield func(doc int, r *record.Record) bool) {
		r := new(record.Record)
		for doc := range s.Docs {
			if s.Read(doc, r) && !yield(doc, r) {
				return
			}
		}
	}
}

// Record returns the memory of a document, nil if it was deleted. The record is the caller's, what it points to is not.
func (s *Snapshot) Record(doc int) *record.Record { return s.p.record(doc) }

// Read is Record for a caller that has a record to write it to. It returns false if the memory was deleted.
func (s *Snapshot) Read(doc int, to *record.Record) bool {
	if s.Docs[doc].Deleted {
		return false
	}
	s.p.held[doc].record(to)
	return true
}

// Content returns the text of a document, "" if it was deleted.
func (s *Snapshot) Content(doc int) string { return s.p.held[doc].content }

// ID returns the id of a document, "" if it was deleted.
func (s *Snapshot) ID(doc int) string { return s.p.held[doc].id }

// Project returns the project of a document that was not deleted, "" for none.
func (s *Snapshot) Project(doc int) string { return s.p.held[doc].origin.Value().project }

// Hit returns r, which must be one of the snapshot's memories, as a hit without a score.
func (s *Snapshot) Hit(r *record.Record) record.Hit {
	hit := record.Hit{Record: r, Visibility: s.Visibility, Past: s.p.past(r.ID)}
	if doc, ok := s.Doc(r.ID); ok {
		hit.Standing = s.Docs[doc].Standing
	}
	for _, revision := range s.p.revisions.by[r.ID] {
		if old := s.Find(revision.Old); old != nil {
			hit.Replaced = append(hit.Replaced, record.Past{Record: old, Until: revision.At, Why: revision.Why})
		}
	}
	if n := len(s.p.sightings[r.ID]); n > 0 {
		hit.Sightings = n + 1
	}
	return hit
}

// Doc is Snapshot.Doc, without a snapshot.
func (p *Projection) Doc(id string) (doc int, ok bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.doc(id)
}

// Doc returns the number of the document of the memory called id.
func (s *Snapshot) Doc(id string) (doc int, ok bool) {
	return s.p.doc(id)
}

// Find returns the memory called id, nil if it does not exist.
func (s *Snapshot) Find(id string) *record.Record {
	doc, ok := s.p.doc(id)
	return s.at(doc, ok)
}

// Lesson returns the best lesson of a pattern, active or not, nil if the pattern is unknown.
func (s *Snapshot) Lesson(pattern string) *record.Record {
	doc, ok := s.p.patterns[pattern]
	return s.at(doc, ok)
}

// Lessons returns the best lesson of each pattern, active or not, the one stored last first. Retired ones are left out.
func (s *Snapshot) Lessons() []*record.Record {
	docs := slices.Sorted(maps.Values(s.p.patterns))
	lessons := make([]*record.Record, 0, len(docs))
	for _, doc := range slices.Backward(docs) {
		if !s.Docs[doc].Past {
			lessons = append(lessons, s.Record(doc))
		}
	}
	return lessons
}

// Reflection returns the memory of the reflection with that key, one by a model if there are several, nil if no
// reflection has the key.
func (s *Snapshot) Reflection(key string) *record.Record {
	doc, ok := s.p.derived[key]
	return s.at(doc, ok)
}

// at returns the record of a document, nil if ok is false or it was deleted.
func (s *Snapshot) at(doc int, ok bool) *record.Record {
	if !ok {
		return nil
	}
	return s.Record(doc)
}

// Syntheses yields the latest synthesis of each key whose skill was not deleted, and that skill, in no particular
// order.
func (s *Snapshot) Syntheses() iter.Seq2[*record.Synthesis, *skill.State] {
	return func(yield func(*record.Synthesis, *skill.State) bool) {
		for _, made := range s.p.syntheses {
			if state := s.Skills.Find(made.SkillID); state != nil && !yield(made, state) {
				return
			}
		}
	}
}

// Synthesis returns what was synthesized with that key, and its skill; nil if nothing was, or the skill was deleted.
func (s *Snapshot) Synthesis(key string) (*record.Synthesis, *skill.State) {
	if made := s.p.syntheses[key]; made != nil {
		if state := s.Skills.Find(made.SkillID); state != nil {
			return made, state
		}
	}
	return nil, nil
}

// Accesses returns how often the compartment's audience has found the memory called id, which may be in another
// compartment.
func (s *Snapshot) Accesses(id string) record.Accesses { return s.p.accesses[id] }

// AllAccesses returns a copy of all Accesses, by id.
func (s *Snapshot) AllAccesses() map[string]record.Accesses { return maps.Clone(s.p.accesses) }

// ErasedSince reports whether the memory or skill that had an id was deleted at a moment or later. An import may have
// given the id to another memory since.
func (s *Snapshot) ErasedSince(id string, at record.Moment) bool {
	deleted, ok := s.p.erased[id]
	return ok && deleted.Compare(at) >= 0
}

// NewMemoryID returns an id that no memory of the compartment has. Called from a Prepare, under the ledger's lock, no
// other process can take it meanwhile. The error is that of random.
func (s *Snapshot) NewMemoryID(now time.Time, random io.Reader) (string, error) {
	for {
		if id, err := record.NewID("mem", now, random); err != nil || s.Find(id) == nil {
			return id, err
		}
	}
}

// NewSkillID is like NewMemoryID, for a skill.
func (s *Snapshot) NewSkillID(now time.Time, random io.Reader) (string, error) {
	for {
		if id, err := record.NewID(skill.Prefix, now, random); err != nil || s.Skills.Find(id) == nil {
			return id, err
		}
	}
}

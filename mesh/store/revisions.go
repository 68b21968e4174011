package store

import (
	"iter"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/when"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// revisions are who replaced whom. Only memories that have revisions are in it.
type revisions struct {
	byID    map[string]*record.Revision
	naming  map[string][]string           // the ids of all revisions that name a memory, by its id
	of      map[string]*record.Revision   // by the old memory's id: the last one written
	by      map[string][]*record.Revision // by the new memory's id
	changes int                           // how often anything changed that a memory's text and existence do not show
}

// newRevisions returns no revisions.
func newRevisions() revisions {
	return revisions{
		byID: map[string]*record.Revision{}, naming: map[string][]string{},
		of: map[string]*record.Revision{}, by: map[string][]*record.Revision{},
	}
}

// revise applies a revision. One that would close a cycle, or whose memory does not exist, does nothing: no memory may
// be replaced by itself. A later revision of a memory takes the place of the one before. p.mu is held.
func (p *Projection) revise(r *record.Revision) {
	p.revisions.byID[r.ID] = r
	p.revisions.naming[r.Old] = append(p.revisions.naming[r.Old], r.ID)
	if r.New != "" {
		p.revisions.naming[r.New] = append(p.revisions.naming[r.New], r.ID)
	}
	if _, ok := p.doc(r.Old); !ok || r.New != "" && p.replacedBy(r.New, r.Old) {
		return
	}
	if before := p.revisions.of[r.Old]; before != nil {
		p.drop(before)
	}
	p.revisions.of[r.Old] = r
	if r.New != "" {
		p.revisions.by[r.New] = append(p.revisions.by[r.New], r)
		p.setStanding(r.New)
	}
	p.refresh(r.Old)
}

// replacedBy reports whether id is other, or was replaced by it, in however many steps. There are no cycles, so it
// ends.
func (p *Projection) replacedBy(id, other string) bool {
	for ; id != ""; id = p.successor(id) {
		if id == other {
			return true
		}
	}
	return false
}

// successor returns the id of the memory that replaced the one called id, "" for none.
func (p *Projection) successor(id string) string {
	if r := p.revisions.of[id]; r != nil {
		return r.New
	}
	return ""
}

// unrevise removes the revision called id. p.mu is held.
func (p *Projection) unrevise(id string) {
	r := p.revisions.byID[id]
	if r == nil {
		return
	}
	delete(p.revisions.byID, id)
	for _, memory := range []string{r.Old, r.New} {
		list := slices.DeleteFunc(p.revisions.naming[memory], func(other string) bool { return other == id })
		if p.revisions.naming[memory] = list; len(list) == 0 {
			delete(p.revisions.naming, memory)
		}
	}
	p.drop(r)
	p.refresh(r.Old)
}

// drop ends the effect of r.
func (p *Projection) drop(r *record.Revision) {
	if p.revisions.of[r.Old] == r {
		delete(p.revisions.of, r.Old)
	}
	list := slices.DeleteFunc(p.revisions.by[r.New], func(other *record.Revision) bool { return other == r })
	if p.revisions.by[r.New] = list; len(list) == 0 {
		delete(p.revisions.by, r.New)
	}
	p.setStanding(r.New)
}

// refresh updates what follows from the revisions of the memory called id. p.mu is held.
func (p *Projection) refresh(id string) {
	p.revisions.changes++
	doc, ok := p.doc(id)
	if !ok {
		return
	}
	p.setPast(doc)
	p.revised[id] = struct{}{}
	p.Changed()
}

// setPast sets Document.Past. p.mu is held.
func (p *Projection) setPast(doc int) {
	r := p.record(doc)
	past := p.past(r.ID) != nil || r.Lesson != nil && p.patterns[r.Lesson.PatternID] != doc
	if past != p.docs[doc].Past {
		p.docs[doc].Past = past
		p.revisions.changes++
	}
}

// past returns the revision that makes the memory called id a past one, nil if it is current. A revision whose new
// memory was deleted has no effect.
func (p *Projection) past(id string) *record.Revision {
	r := p.revisions.of[id]
	if r == nil {
		return nil
	}
	if _, ok := p.doc(r.New); r.New != "" && !ok {
		return nil
	}
	return r
}

// revived updates the memories that the one called id had replaced, which was deleted. p.mu is held.
func (p *Projection) revived(id string) {
	for _, r := range p.revisions.by[id] {
		p.refresh(r.Old)
	}
}

// update replaces the fields of the memory called id except its content. The memory keeps its place in its session's
// order. p.mu is held.
func (p *Projection) update(id string, m record.Memory, at time.Time) {
	doc, ok := p.doc(id)
	if !ok {
		return
	}
	r := p.record(doc)
	labels := r.Labels()
	m.Content = r.Content
	r.Memory, r.UpdatedAt = m, at
	p.held[doc] = hold(r)
	p.keywords.SetLabels(doc, labels, r.Labels())
	p.docs[doc].describe(r)
	p.setStanding(id)
	p.refresh(id)
}

// separate applies a separation: the sightings of the memory called id are memories now. p.mu is held.
func (p *Projection) separate(id string, made record.Separation) {
	delete(p.sightings, id)
	for _, into := range made.Into {
		p.separated[into] = struct{}{}
	}
	p.revisions.changes++
}

// Twin returns the current memory with exactly the content of r in the same scope, see record.Record.InScope, nil if no
// memory has. Lessons are not twins of anything: their pattern identifies them.
func (s *Snapshot) Twin(r *record.Record) *record.Record {
	for doc := range s.p.words.find(r.Words()) {
		if s.Docs[doc].Past || s.p.held[doc].content != r.Content {
			continue
		}
		if known := s.Record(doc); known.InScope(r) {
			return known
		}
	}
	return nil
}

// PastTwins yields the memories with the words of r that are not current, in whatever scope.
func (s *Snapshot) PastTwins(r *record.Record) iter.Seq[*record.Record] {
	return func(yield func(*record.Record) bool) {
		for doc := range s.p.words.find(r.Words()) {
			if s.p.past(s.p.held[doc].id) != nil && !yield(s.Record(doc)) {
				return
			}
		}
	}
}

// ErasedText returns when a memory whose entry of erasure has that digest was erased last.
func (s *Snapshot) ErasedText(digest string) (at time.Time, ok bool) {
	at, ok = s.p.texts[digest]
	return at, ok
}

// Repeated returns the current memory that r repeats, for the caller who may have left fields out: one with its
// content, else one with its words. nil if r is new, also if the others tell of another time.
func (s *Snapshot) Repeated(r *record.Record) *record.Record {
	var alike *record.Record
	for doc := range s.p.words.find(r.Words()) {
		known := s.Record(doc)
		switch {
		case s.Docs[doc].Past || known.Reflection != nil || !known.Fits(r) || known.OtherEvent(r):
		case known.Content == r.Content:
			return known
		case alike == nil:
			alike = known
		}
	}
	return alike
}

// Successions yields the documents of memories that were replaced without having replaced any, each with those of what
// replaced it, the current one last. What was retired without a successor, or whose successor was deleted, ends it.
func (s *Snapshot) Successions() iter.Seq2[int, []int] {
	return func(yield func(int, []int) bool) {
		var successors []int
		for id := range s.p.revisions.of {
			first, ok := s.Doc(id)
			if !ok || len(s.p.revisions.by[id]) > 0 {
				continue
			}
			successors = successors[:0]
			for r := s.p.past(id); r != nil && r.New != ""; r = s.p.past(r.New) {
				successor, _ := s.Doc(r.New) // a revision without it has no effect
				successors = append(successors, successor)
			}
			if len(successors) > 0 && !yield(first, successors) {
				return
			}
		}
	}
}

// Past returns the revision that makes the memory called id a past one, nil if it is current.
func (s *Snapshot) Past(id string) *record.Revision { return s.p.past(id) }

// Current yields the memories that are not past, in the ledger's order.
func (s *Snapshot) Current() iter.Seq[*record.Record] {
	return func(yield func(*record.Record) bool) {
		for doc := range s.Docs {
			if d := &s.Docs[doc]; !d.Deleted && !d.Past && !yield(s.Record(doc)) {
				return
			}
		}
	}
}

// Replaced returns the revisions by which the memory called id replaced others, the latest last.
func (s *Snapshot) Replaced(id string) []*record.Revision { return s.p.revisions.by[id] }

// ReplacedBy reports whether the memory called id is other, or was replaced by it, in however many steps.
func (s *Snapshot) ReplacedBy(id, other string) bool { return s.p.replacedBy(id, other) }

// Revisions returns the revisions that name the memory called id and have an effect.
func (s *Snapshot) Revisions(id string) []*record.Revision {
	list := slices.Clone(s.p.revisions.by[id])
	if r := s.p.revisions.of[id]; r != nil {
		list = append(list, r)
	}
	return list
}

// RevisionIDs returns the ids of all revisions that name the memory called id, also of those that a later one replaced.
func (s *Snapshot) RevisionIDs(id string) []string { return s.p.revisions.naming[id] }

// Changes returns a number that grows whenever a revision, an update or a sighting changes what a search returns.
func (s *Snapshot) Changes() int { return s.p.revisions.changes }

// Separated reports whether the memory called id was a sighting of another one, which a person took for a mistake.
func (s *Snapshot) Separated(id string) bool {
	_, ok := s.p.separated[id]
	return ok
}

// Sightings returns the texts that were counted for the memory called id instead of becoming memories, oldest first.
func (s *Snapshot) Sightings(id string) []*record.Record { return s.p.sightings[id] }

// TrueAt reports whether the memory of document doc held at a time: it was known by then, or tells of what had happened
// by then, and neither what replaced it nor what replaced that had taken effect: of a chain whose middle has no date,
// the last one may be older. What replaced others holds from its first revision on, whatever dates it names. Dates are
// those of the time's location.
func (s *Snapshot) TrueAt(doc int, at time.Time) bool {
	if s.Docs[doc].Deleted {
		return false
	}
	h := &s.p.held[doc]
	for revision := s.p.past(h.id); revision != nil; revision = s.p.past(revision.New) {
		if !revision.At.After(at) {
			return false
		}
	}
	if s.Docs[doc].Past && h.lesson() != nil {
		return false
	}
	replaced := s.p.revisions.by[h.id]
	yet := func(by *record.Revision) bool { return by.At.After(at) } // to take effect
	if !h.createdAt().After(at) {                                    // unless something that it replaced held still
		return !slices.ContainsFunc(replaced, yet)
	}
	if len(replaced) == 0 && h.rest != nil && h.rest.occurredAt != "" {
		if over := when.Over(h.rest.occurredAt, at.Location()); !over.IsZero() && !over.After(at) {
			return true
		}
	}
	return slices.ContainsFunc(replaced, func(by *record.Revision) bool { return !yet(by) })
}

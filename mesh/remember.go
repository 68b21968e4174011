package mesh

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/period"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// MaxSupersedes is the maximum number of memories that one replaces at a time.
const MaxSupersedes = 20

// Intent is what the caller wants besides storing a memory.
type Intent struct {
	To         record.Visibility // "": the audience's own compartment
	Supersedes []string          // ids of memories of that compartment, which are not current any more
	Consent    string            // of a memory that is to be shared, see record.Record
	AgentID    string            // the agent whose memory it is; "": the view's
	Compare    bool              // look for memories that say almost the same or may be contradicted
}

// Remembered is the result of Remember.
type Remembered struct {
	Stored
	Updated    []string  // names of the fields that the existing memory has now
	Sightings  int       // texts that were counted for the memory because they have its words
	Superseded []string  // ids that are past now, or were already, because of this memory
	Similar    []Similar // the most similar first; only with Intent.Compare
	Notes      []string  // sentences: what the existing memory lost of its fields, or did not get
}

// Keep is Remember without an intent but the compartment.
func (v *View) Keep(ctx context.Context, s Scrubbed, to record.Visibility) (Stored, error) {
	kept, err := v.Remember(ctx, s, Intent{To: to})
	return kept.Stored, err
}

// Remember appends a scrubbed memory to the ledger of a compartment. It returns after the fsync.
//
// Text that is there already is not stored twice: the existing memory gets the fields that the call gives and that it
// has otherwise, and keeps the rest. Text with the words of a memory is counted as a sighting of it. What the memory
// supersedes stays in the ledger and its history, and is not found by ordinary searches any more. A compartment that
// the audience must not write to, and a superseded memory of another compartment, are faults.
func (v *View) Remember(ctx context.Context, s Scrubbed, how Intent) (Remembered, error) {
	to, err := v.destination(how.To)
	if err != nil {
		return Remembered{}, err
	}
	// SECURITY: a private memory may have contact details that no other one keeps.
	if s.to == record.Private && to != record.Private {
		return Remembered{}, fmt.Errorf("a memory that was scrubbed for %s cannot be kept in %s", s.to, to)
	}
	if err := v.checkSuperseded(ctx, to, how.Supersedes, s.record.IsEphemeral()); err != nil {
		return Remembered{}, err
	}
	r := *s.record
	r.Project, r.AgentID = v.projectIn(ctx, to), cmp.Or(how.AgentID, r.AgentID)
	if to == record.Shared {
		r.Consent = how.Consent
	}
	k := &keeping{view: v, zone: v.zone(), record: &r, supersedes: how.Supersedes}
	if how.Compare {
		if k.similar, k.merge, err = v.compareStored(ctx, to, &r, how.Supersedes); err != nil {
			return Remembered{}, err
		}
	}
	if err := v.write(ctx, to, k.draft); err != nil {
		return Remembered{}, err
	}
	k.done.Redactions = s.redactions
	k.done.Similar = slices.DeleteFunc(k.similar, func(other Similar) bool { return other.ID == k.done.ID })
	k.done.Similar = k.done.Similar[:min(maxSimilar, len(k.done.Similar))]
	return k.done, nil
}

// checkSuperseded returns a fault for ids that cannot be superseded by a memory of the compartment to. An ephemeral one
// belongs to its session.
//
// SECURITY: a revision names both memories, so both must be of one compartment: that of a shared memory would show
// groups the id of a private one. What is shared is not one group's to replace.
func (v *View) checkSuperseded(ctx context.Context, to record.Visibility, ids []string, ephemeral bool) error {
	if len(ids) > MaxSupersedes {
		return fault.New("supersedes: %d memories are too many; use at most %d", len(ids), MaxSupersedes)
	}
	for _, id := range ids {
		_, hit, err := v.locate(ctx, id)
		switch {
		case err != nil:
			if _, unknown := fault.As(err); unknown {
				return fault.New("supersedes: no memory %q; use IDs from search results", id)
			}
			return err
		case hit.Visibility == to && ephemeral && !hit.IsEphemeral():
			return fault.New("supersedes: %s is to last, and a memory of type session is not; "+
				"store what replaces it with another type", id)
		case hit.Visibility == to:
		case hit.Visibility == record.Shared && v.Audience.IsDM():
			return fault.New("supersedes: %s is shared; store the correction with visibility shared, "+
				"so that groups have it too", id)
		case hit.Visibility == record.Private:
			return fault.New("supersedes: %s is private and the correction would be shared; "+
				"store the correction as private, then share it", id)
		default:
			return fault.New("supersedes: %s belongs to the %s memory, which only its own sessions can correct",
				id, hit.Visibility)
		}
	}
	return nil
}

// keeping is one memory on its way into a compartment.
type keeping struct {
	view       *View
	zone       *time.Location // the audience's
	record     *record.Record // as scrubbed
	supersedes []string
	similar    []Similar
	merge      string // id of the memory with the same meaning in nearly the same words, "" for none
	done       Remembered
}

// draft is a store.Prepare. It may be called a second time.
func (k *keeping) draft(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
	k.done = Remembered{}
	r := *k.record
	r.CreatedAt = now
	dated := r.OccurredAt != ""
	if err := period.Date(&r, s.Visibility, k.zone); err != nil {
		return nil, err
	}
	kept := k.repeated(s, &r)
	var drafts []ledger.Draft
	switch {
	case kept == nil:
		k.done.Created = true
		var err error
		if r.ID, err = s.NewMemoryID(now, k.view.Random); err != nil {
			return nil, err
		}
		kept = &r
		draft, err := draftOf(&r)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, draft)
	case kept.Content == r.Content:
		if !dated { // what its text names was understood when it was stored
			r.OccurredAt = ""
		}
		m, changed := overlay(kept.Memory, r.Memory)
		if k.compare(kept.Memory, m, r.Source); len(changed) > 0 {
			k.done.Updated = changed
			m.Content = ""
			drafts = append(drafts, ledger.Draft{Op: store.OpUpdate, ID: kept.ID, Data: m})
		}
	default:
		drafts = k.describe(kept, r, dated, drafts)
		known := func(seen *record.Record) bool { return seen.Content == r.Content }
		k.done.Sightings = len(s.Sightings(kept.ID)) + 1
		if !slices.ContainsFunc(s.Sightings(kept.ID), known) {
			k.done.Sightings++
			drafts = append(drafts, ledger.Draft{Op: store.OpSighting, ID: kept.ID, Data: &r})
		}
	}
	if n := len(s.Sightings(kept.ID)); k.done.Sightings == 0 && n > 0 {
		k.done.Sightings = n + 1
	}
	k.view.note(kept)
	k.done.ID, k.done.CreatedAt, k.done.Visibility = kept.ID, kept.CreatedAt, s.Visibility
	k.done.OccurredAt = cmp.Or(r.OccurredAt, kept.OccurredAt)
	revisions, err := k.revise(s, kept, now)
	return append(drafts, revisions...), err
}

// describe drafts the update of kept, whose words r repeats in another form, by what r says of it. Its source, type and
// session stay what they were.
func (k *keeping) describe(kept *record.Record, r record.Record, dated bool, drafts []ledger.Draft) []ledger.Draft {
	r.Type, r.Source, r.SessionID = record.DefaultType, "", ""
	if !dated {
		r.OccurredAt = ""
	}
	m, changed := overlay(kept.Memory, r.Memory)
	k.compare(kept.Memory, m, k.record.Source)
	if len(changed) == 0 {
		return drafts
	}
	k.done.Updated, m.Content = changed, ""
	return append(drafts, ledger.Draft{Op: store.OpUpdate, ID: kept.ID, Data: m})
}

// compare notes what the memory before had and after has no more, and that it does not get the source that was given.
func (k *keeping) compare(before, after record.Memory, source string) {
	note := func(format string, args ...any) { k.done.Notes = append(k.done.Notes, fmt.Sprintf(format, args...)) }
	if len(before.Tags) > 0 && !slices.Equal(before.Tags, after.Tags) {
		note("The tags were %s.", strings.Join(before.Tags, ", "))
	}
	if b, a := before.Importance, after.Importance; b != nil && a != nil && *b != *a {
		note("The importance was %g.", *b)
	}
	if before.Rationale != "" && before.Rationale != after.Rationale {
		note("The rationale was %q.", before.Rationale)
	}
	switch {
	case source == "" || source == after.Source:
	case after.Source == "":
		note("The source %q was not added.", source)
	default:
		note("The source stays %q: %q was not added.", after.Source, source)
	}
}

// repeated returns the current memory that r repeats, nil if r is new or supersedes what it repeats.
func (k *keeping) repeated(s *store.Snapshot, r *record.Record) *record.Record {
	kept := s.Repeated(r)
	if kept == nil && k.merge != "" {
		if doc, ok := s.Doc(k.merge); ok && !s.Docs[doc].Past {
			if known := s.Record(doc); !known.OtherEvent(r) {
				kept = known
			}
		}
	}
	if kept != nil && kept.Content != r.Content && slices.Contains(k.supersedes, kept.ID) {
		return nil // its wording is corrected
	}
	return kept
}

// AddAccesses adds to the accesses of memories in the audience's own compartment, by id, what was counted elsewhere: an
// import brings it along. Unknown ids are left out.
func (v *View) AddAccesses(ctx context.Context, counted map[string]record.Accesses) error {
	if len(counted) == 0 {
		return nil
	}
	return v.write(ctx, v.home(), func(s *store.Snapshot, _ time.Time) ([]ledger.Draft, error) {
		known := maps.Clone(counted)
		maps.DeleteFunc(known, func(id string, _ record.Accesses) bool { return s.Find(id) == nil })
		if len(known) == 0 {
			return nil, nil
		}
		return []ledger.Draft{{Op: store.OpAccesses, Data: known}}, nil
	})
}

// overlay returns have with the fields that given has and that differ, and their names. Fields that given leaves out
// stay.
func overlay(have, given record.Memory) (m record.Memory, changed []string) {
	m = have
	set := func(name string, differs bool, assign func()) {
		if differs {
			assign()
			changed = append(changed, name)
		}
	}
	differs := func(have, given, unset string) bool { return given != unset && given != have }
	set("type", differs(have.Type, given.Type, record.DefaultType), func() { m.Type = given.Type })
	set("tags", len(given.Tags) > 0 && !slices.Equal(have.Tags, given.Tags), func() { m.Tags = given.Tags })
	set("importance", given.Importance != nil && (have.Importance == nil || *have.Importance != *given.Importance),
		func() { m.Importance = given.Importance })
	set("session_id", differs(have.SessionID, given.SessionID, ""), func() { m.SessionID = given.SessionID })
	// What a person said stays theirs when somebody repeats it, and an assistant's repetition names no author.
	repeated := record.FromPerson(have.Source) || have.Source != "" && record.FromAssistant(given.Source)
	set("source", differs(have.Source, given.Source, "") && !repeated, func() { m.Source = given.Source })
	set("rationale", differs(have.Rationale, given.Rationale, ""), func() { m.Rationale = given.Rationale })
	set("hypothesis", differs(have.Hypothesis, given.Hypothesis, ""), func() { m.Hypothesis = given.Hypothesis })
	set("occurred_at", differs(have.OccurredAt, given.OccurredAt, ""), func() { m.OccurredAt = given.OccurredAt })
	set("skill_name", differs(have.Skill, given.Skill, ""), func() { m.Skill = given.Skill })
	metadata := given.Metadata
	if len(given.Metadata) > 0 {
		metadata = maps.Clone(have.Metadata)
		if metadata == nil {
			metadata = map[string]any{}
		}
		maps.Copy(metadata, given.Metadata)
	}
	set("metadata", len(given.Metadata) > 0 && !sameJSON(metadata, have.Metadata),
		func() { m.Metadata = metadata })
	return m, changed
}

// sameJSON reports whether two values are written in the same way: a number that was read from JSON has another type.
func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// SetTag adds a tag to the memory called id, or removes it in any letter case, and reports whether that changed the
// memory. An unknown id, and a memory that the audience may not write to, are faults.
func (v *View) SetTag(ctx context.Context, id, tag string, on bool) (changed bool, err error) {
	c, _, err := v.locate(ctx, id)
	if err != nil {
		return false, err
	}
	if err := v.checkChangeable(c.Visibility, id); err != nil {
		return false, err
	}
	err = v.write(ctx, c.Visibility, func(s *store.Snapshot, _ time.Time) ([]ledger.Draft, error) {
		r := s.Find(id)
		if r == nil {
			return nil, noMemory(id)
		}
		if changed = r.HasTag(tag) != on; !changed {
			return nil, nil
		}
		m := r.Memory
		m.Content = ""
		m.Tags = slices.DeleteFunc(slices.Clone(m.Tags), func(other string) bool { return strings.EqualFold(other, tag) })
		if on {
			m.Tags = append(m.Tags, tag)
		}
		if len(m.Tags) > record.MaxTags {
			return nil, fault.New("tags: %s has %d tags already, which is the maximum", id, record.MaxTags)
		}
		return []ledger.Draft{{Op: store.OpUpdate, ID: id, Data: m}}, nil
	})
	return changed, err
}

// checkChangeable returns a fault for a memory of a compartment whose memories the audience may not change: it is
// neither its own nor, for a DM, what is shared.
func (v *View) checkChangeable(name record.Visibility, id string) error {
	if name != v.home() && !(v.Audience.IsDM() && name == record.Shared) {
		return fault.New("id: %s belongs to the %s memory, which this session cannot change", id, name)
	}
	return nil
}

// Separate makes the sightings of the memory called id memories of their own again, and returns their ids, oldest
// first. A memory without sightings, and one that the audience may not write to, are faults.
func (v *View) Separate(ctx context.Context, id string) (ids []string, err error) {
	c, _, err := v.locate(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := v.checkChangeable(c.Visibility, id); err != nil {
		return nil, err
	}
	err = v.write(ctx, c.Visibility, func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
		ids = nil
		seen := s.Sightings(id)
		if len(seen) == 0 {
			return nil, fault.New("id: nothing is counted as a sighting of %s", id)
		}
		var drafts []ledger.Draft
		for _, sighting := range seen {
			r := *sighting
			for r.ID == "" || slices.Contains(ids, r.ID) {
				if r.ID, err = s.NewMemoryID(now, v.Random); err != nil {
					return nil, err
				}
			}
			draft, err := draftOf(&r)
			if err != nil {
				return nil, err
			}
			ids, drafts = append(ids, r.ID), append(drafts, draft)
		}
		return append(drafts, ledger.Draft{
			Op: store.OpSeparate, ID: id, Data: record.Separation{Into: ids, AgentID: v.AgentID},
		}), nil
	})
	return ids, err
}

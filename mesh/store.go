package mesh

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/internal/when"
	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Stored is the result of storing a memory.
type Stored struct {
	ID         string
	CreatedAt  time.Time
	Visibility record.Visibility
	OccurredAt string            // see record.Memory
	Redactions []scrub.Redaction // by kind and count, never the value
	Created    bool              // false: the same text was stored before, and ID is that memory's
}

// Outcome is the result for one memory of a batch.
type Outcome struct {
	Stored
	Left     string   // why the text of a file was not stored although no current memory has it, "" if it was
	Amended  string   // what became of the file's earlier text, where a person corrected or retired it, "" if nobody did
	Replaced string   // id of the earlier version that it superseded, "" for none
	Notes    []string // what was changed or left out of an imported memory
	Err      error    // why it was refused, nil if it was stored
}

// Scrubbed is a memory that was checked and scrubbed, and is not stored yet. It exists so that a caller can scrub
// once and then look for the memory, ask for approval, or store it.
type Scrubbed struct {
	record     *record.Record // without an id and a time
	redactions []scrub.Redaction
	to         record.Visibility // the compartment that it was scrubbed for
}

// Scrub checks and scrubs a memory (RFC-0011 §6) that is to be kept in a compartment, "" for the audience's own. What
// cannot be kept is a fault.
func (v *View) Scrub(m record.Memory, to record.Visibility) (Scrubbed, error) {
	if len(m.Content) > record.MaxContent {
		return Scrubbed{}, fault.New("content: %d bytes are too many; store at most %d bytes a memory, in several if need be",
			len(m.Content), record.MaxContent)
	}
	if err := v.Quota.checkContent("content", m.Content); err != nil {
		return Scrubbed{}, err
	}
	m.Type = cmp.Or(m.Type, "global")
	if !slices.Contains(record.Types, m.Type) {
		return Scrubbed{}, fault.New("type: use one of %s", strings.Join(record.Types, ", "))
	}
	if m.Importance != nil && !(*m.Importance >= 0 && *m.Importance <= 1) {
		return Scrubbed{}, fault.New("importance: must be between 0 and 1")
	}
	to = cmp.Or(to, v.home())
	s := intake.New(v.scrubberOf(to))
	m.Content = s.Content(m.Content)
	m.Content = s.Remove(m.Content, v.Suspects(m.Content))
	m.Source = s.Field("source", m.Source)
	m.Tags = s.Tags(m.Tags)
	m.SessionID = s.Field("session_id", m.SessionID)
	m.Skill = s.Field("skill_name", m.Skill)
	m.Rationale = s.Field("rationale", m.Rationale)
	m.Hypothesis = s.Field("hypothesis", m.Hypothesis)
	if m.OccurredAt = s.Field("occurred_at", m.OccurredAt); m.OccurredAt != "" {
		if _, err := when.ParseEvent(m.OccurredAt, m.Content, v.Now()); err != nil {
			s.Fail(fault.New("occurred_at: %v", err))
		}
	}
	m.Metadata = s.Metadata(m.Metadata)
	return Scrubbed{&record.Record{Memory: m, AgentID: v.AgentID}, s.Redactions(), to}, s.Err()
}

// scrubberOf returns the scrubber of memories in a compartment.
//
// SECURITY: what groups can read keeps no contact details, whatever the operator allowed for private memories.
func (v *View) scrubberOf(to record.Visibility) *scrub.Scrubber {
	if to == record.Private {
		return v.personal
	}
	return v.scrubber
}

// Store keeps a memory (RFC-0011 §4.1 add): [View.Scrub], then [View.Keep].
func (v *View) Store(ctx context.Context, m record.Memory, to record.Visibility) (Stored, error) {
	s, err := v.Scrub(m, to)
	if err != nil {
		return Stored{}, err
	}
	return v.Keep(ctx, s, to)
}

// StoreFiles keeps memories in the audience's own compartment, in order, with one fsync for all of them, and returns an
// outcome for each. Those with FolderKey and PathKey in their metadata are the contents of files: one that has changed
// supersedes the memory of its earlier content. A refused memory does not keep the others out; with an error none is
// promised to be stored, and calling again is safe.
func (v *View) StoreFiles(ctx context.Context, memories []record.Memory) ([]Outcome, error) {
	b := newBatch(v, len(memories))
	b.versions = true
	for i, m := range memories {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, err := v.Scrub(m, "")
		b.add(i, s, err)
	}
	if err := v.write(ctx, v.home(), b.draft); err != nil {
		return nil, err
	}
	return b.outcomes, nil
}

// Holds returns the id of the memory in the audience's own compartment that has exactly the content of s, whatever else
// is known of it, "" if none has.
func (v *View) Holds(ctx context.Context, s Scrubbed) (string, error) {
	id := ""
	err := v.withCompartment(ctx, v.home(), func(c *compartment) error {
		if err := c.Sync(ctx); err != nil {
			return err
		}
		snapshot := c.Snapshot()
		defer snapshot.Release()
		for _, r := range snapshot.Scan() {
			if r.Content == s.record.Content {
				id = r.ID
				break
			}
		}
		return nil
	})
	return id, err
}

// destination returns the compartment that a memory is written to.
//
// SECURITY: only a DM chooses, and only between private and shared: the one declared flow from private
// to others.
func (v *View) destination(asked record.Visibility) (record.Visibility, error) {
	switch {
	case asked == "" || asked == v.home():
		return v.home(), nil
	case v.Audience.IsDM() && asked == record.Shared:
		return record.Shared, nil
	case v.Audience.IsDM():
		return "", fault.New("visibility: %q is not allowed; use private (the default) or shared", asked)
	default:
		return "", fault.New("visibility: a group's memories are its own; leave the field out")
	}
}

// Quota limits what a session may keep in its own compartment. The zero value is no limit.
type Quota struct {
	Memories int // memories and skills
	Bytes    int // of their text
	Content  int // bytes of one memory's content or skill's definition
}

// GroupQuota is that of a group's session: strangers write there, and a DM reads, embeds and ranks all of it.
var GroupQuota = Quota{Memories: 20_000, Bytes: 32 << 20, Content: 64 << 10}

// limited returns prepare with the quota checked under the ledger's lock. What is there already counts, and stays.
//
// SECURITY: without it, a group could fill the disk and slow down the searches of every DM.
func (q Quota) limited(prepare store.Prepare) store.Prepare {
	if q == (Quota{}) {
		return prepare
	}
	return func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
		drafts, err := prepare(s, now)
		added, size := 0, 0
		for _, d := range drafts {
			switch data := d.Data.(type) {
			case *record.Record:
				added, size = added+1, size+len(data.Whole())
			case *record.Skill:
				added, size = added+1, size+len(data.Whole())
			}
		}
		if err != nil || added == 0 {
			return drafts, err
		}
		count, used := added, size
		for _, r := range s.Scan() {
			count, used = count+1+len(s.Sightings(r.ID)), used+len(r.Whole())
		}
		for _, state := range s.Skills.All() {
			count, used = count+1, used+len(state.Whole())
		}
		if count > q.Memories || used > q.Bytes {
			return nil, fault.New("the memory of this group is full: it has at most %d memories and %d MiB; "+
				"delete memories that are out of date, or ask the workspace owner to", q.Memories, q.Bytes>>20)
		}
		return drafts, nil
	}
}

// checkContent returns a fault for a text that is longer than the quota allows.
func (q Quota) checkContent(name, text string) error {
	if q.Content > 0 && len(text) > q.Content {
		return fault.New("%s: %d bytes are too many; a group stores at most %d bytes at a time, in several if need be",
			name, len(text), q.Content)
	}
	return nil
}

package mesh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Get returns the memory called id (RFC-0011 §4.1 get), with its accesses, a score of 0 and no signals. An id that no
// compartment of the audience has is a fault, whether another compartment has it or not.
func (v *View) Get(ctx context.Context, id string) (record.Hit, error) {
	_, hit, err := v.locate(ctx, id)
	if err != nil {
		return record.Hit{}, err
	}
	hit.Accesses = v.accessesOf(id)
	return hit, nil
}

// Delete permanently erases the memory called id (RFC-0011 §4.1 delete): from the ledger, whose chain keeps the
// content's hash and gets a delete block that names reason, from the vectors and from LanceDB. A DM may delete
// everything it sees; a group only its own memories. The id may be a skill's: its earlier texts and its feedback are
// erased with it. An unknown id and one that the audience may not delete are faults.
//
// What quotes the memory word for word is erased too, as far as the audience may: reflections and skills that were made
// without a language model. DerivedFrom names what else was made from it.
//
// With an error after the erasure from the ledger, no search finds the memory any more, and the next work on the index
// removes the copies from the disk.
func (v *View) Delete(ctx context.Context, id, reason string) error {
	s := intake.New(v.scrubber)
	if reason = s.Field("reason", reason); s.Err() != nil {
		return s.Err()
	}
	if strings.HasPrefix(id, skill.Prefix+"_") {
		return v.Skills().delete(ctx, id, reason)
	}
	c, _, err := v.locate(ctx, id)
	if err != nil {
		return err
	}
	if err := v.checkErasable(c.Visibility, id); err != nil {
		return err
	}
	if err := v.relink(ctx, c.Visibility, id); err != nil {
		return err
	}
	err = v.erase(ctx, c.Visibility, func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
		r := s.Find(id)
		if r == nil {
			return nil, noMemory(id) // deleted meanwhile
		}
		drafts := []ledger.Draft{v.deletion(id, v.reasonIn(c.Visibility, reason), digestOf(r), now)}
		for _, revision := range s.RevisionIDs(id) {
			drafts = append(drafts, ledger.Draft{Op: ledger.OpDelete, ID: revision, Data: deleted{AgentID: v.AgentID}})
		}
		return drafts, nil
	})
	if err != nil {
		return err
	}
	v.noteReason(ctx, c.Visibility, id, reason)
	return v.deleteExtracts(ctx, id)
}

// deletion returns the entry that erases the memory or skill called id, which was read from a file whose text has that
// digest; "" for any other.
func (v *View) deletion(id, reason, digest string, now time.Time) ledger.Draft {
	b := block.Delete{Agent: v.AgentID, MemoryID: id, Time: now, Reason: reason}.Block()
	if strings.HasPrefix(id, skill.Prefix+"_") {
		b = block.DeleteSkill{Agent: v.AgentID, SkillID: id, Time: now, Reason: reason}.Block()
	}
	return ledger.Draft{Op: ledger.OpDelete, ID: id, Block: b.String(), Data: deleted{v.AgentID, reason, digest}}
}

// reasonIn returns the reason of a deletion as the ledger of a compartment has it.
//
// SECURITY: a DM's reason may be private, and the processes of groups read the shared ledger and their own. The reason
// is in the DM's ledger instead, see noteReason.
func (v *View) reasonIn(name record.Visibility, reason string) string {
	if name != v.home() {
		return ""
	}
	return reason
}

// noteReason writes a deletion from a compartment that groups read, with its reason, to the audience's own ledger too.
// What was to be deleted is: a failure is only logged.
func (v *View) noteReason(ctx context.Context, name record.Visibility, id, reason string) {
	if name == v.home() || reason == "" {
		return
	}
	err := v.write(ctx, v.home(), func(_ *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
		return []ledger.Draft{v.deletion(id, reason, "", now)}, nil
	})
	if err != nil {
		v.Logger.WarnContext(ctx, "note the reason of a deletion in the ledger", "id", id, "error", err)
	}
}

// deleteExtracts deletes the reflections and skills that quote the memory called id.
func (v *View) deleteExtracts(ctx context.Context, id string) error {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return err
	}
	var extracts []string
	list, release := snapshots(stores)
	for _, s := range list {
		if v.checkErasable(s.Visibility, id) != nil {
			continue
		}
		for _, r := range s.Scan() {
			if x := r.Reflection; x != nil && x.Method == record.ByExtract && among(x.Sources, id) {
				extracts = append(extracts, r.ID)
			}
		}
		for made := range s.Syntheses() {
			if made.Method == record.ByExtract && among(made.Sources, id) {
				extracts = append(extracts, made.SkillID)
			}
		}
	}
	release()
	slices.Sort(extracts)
	for _, extract := range slices.Compact(extracts) {
		if err := v.Delete(ctx, extract, "quoted "+id); err != nil {
			return &damageError{
				cause: fmt.Errorf("delete %s, which quotes %s: %w", extract, id, err),
				fault: fault.New("it is deleted, but deleting %s, which quotes it, has failed: delete that too", extract),
			}
		}
	}
	return nil
}

// ImportKey is the key of a memory's metadata with the ID of the import that brought it.
const ImportKey = "import_id"

// UndoImport permanently erases, as Delete does, the memories that the import with an id has brought, and what quotes
// them word for word. It returns how many memories of the import there were: 0 for an unknown id. With an error the
// rest is still there; calling again erases it.
func (v *View) UndoImport(ctx context.Context, id string) (erased int, err error) {
	stores, err := v.erasable(ctx)
	if err != nil {
		return 0, err
	}
	for _, c := range stores {
		s := c.Snapshot()
		var hits []record.Hit
		var past []string
		gone := map[string]bool{}
		for doc, r := range s.Scan() {
			if r.Imported && r.Metadata[ImportKey] == id {
				gone[r.ID] = true
				hits = append(hits, s.Hit(s.Record(doc)))
				if s.Past(r.ID) != nil {
					past = append(past, r.ID)
				}
			}
		}
		brought := len(hits)
		for doc, r := range s.Scan() {
			if x := r.Reflection; x != nil && x.Method == record.ByExtract && quotes(x.Sources, gone) {
				hits = append(hits, s.Hit(s.Record(doc)))
			}
		}
		var skills []string
		for made := range s.Syntheses() {
			if made.Method == record.ByExtract && quotes(made.Sources, gone) {
				skills = append(skills, made.SkillID)
			}
		}
		s.Release()
		for _, id := range past {
			if err := v.relink(ctx, c.Visibility, id); err != nil {
				return erased, err
			}
		}
		if err := v.erase(ctx, c.Visibility, func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
			return v.deletions(s, hits, nil, "import undone", now), nil
		}); err != nil {
			return erased, err
		}
		erased += brought
		for _, skill := range slices.Compact(slices.Sorted(slices.Values(skills))) {
			if err := v.Delete(ctx, skill, "import undone"); err != nil {
				return erased, err
			}
		}
	}
	return erased, nil
}

// among reports whether sources contain the memory called id.
func among(sources []record.Source, id string) bool {
	return slices.ContainsFunc(sources, func(s record.Source) bool { return s.ID == id })
}

// relink makes the successor of the memory called id, which is about to be erased, that of its predecessors too:
// otherwise what they said would be current again.
func (v *View) relink(ctx context.Context, name record.Visibility, id string) error {
	return v.write(ctx, name, func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
		next := s.Past(id)
		if next == nil {
			return nil, nil
		}
		var drafts []ledger.Draft
		for _, before := range s.Replaced(id) {
			draft, err := v.revision(record.Revision{Old: before.Old, New: next.New, At: before.At}, now)
			if err != nil {
				return nil, err
			}
			drafts = append(drafts, draft)
		}
		return drafts, nil
	})
}

// checkErasable returns a fault for what the audience sees and may not delete.
//
// SECURITY: what a DM shared with every group is not one group's to take away.
func (v *View) checkErasable(name record.Visibility, id string) error {
	if !v.Audience.IsDM() && name != v.home() {
		return fault.New("id: %s belongs to the %s memory, which only a direct conversation can delete from", id, name)
	}
	return nil
}

// erase removes what prepare drafts deletions of from the ledger, and then from the disk. The ledger comes first:
// from the other end a crash would leave a memory that the index forgot and makes again.
func (v *View) erase(ctx context.Context, name record.Visibility, prepare store.Prepare) error {
	return v.withCompartment(ctx, name, func(c *compartment) error {
		drafted := 0
		err := c.Erase(ctx, func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
			drafts, err := prepare(s, now)
			drafted = len(drafts)
			return drafts, err
		})
		if errors.Is(err, ledger.ErrNotDurable) {
			c.index.Wake() // to remove the copies
			return undurable(err)
		}
		if err != nil || drafted == 0 {
			return err
		}
		if err := c.index.Purge(ctx); err != nil {
			c.index.Wake()
			return &damageError{
				cause: fmt.Errorf("it is deleted, but copies in the index are not yet: %w", err),
				fault: fault.New("it is deleted and not found any more, but its copies in the index are still on the disk: " +
					"they go with the next work on the index. Ask the workspace owner to run `yamo-mcp index compact`"),
			}
		}
		return nil
	})
}

// undurable returns the error of a deletion that was made and may not last, for the log and for the client.
func undurable(err error) error {
	return &damageError{
		cause: err,
		fault: fault.New("it is deleted and not found any more, but the disk reports an error, so that it may be back " +
			"after a power failure. Ask the workspace owner to check the disk"),
	}
}

// deleted is the data of a delete entry.
type deleted struct {
	AgentID string `json:"agent_id"`
	Reason  string `json:"reason,omitempty"`
	File    string `json:"file,omitempty"` // digestOf what was erased, see store.Erasure
}

// locate finds the memory called id, and its compartment, in what the audience may see.
func (v *View) locate(ctx context.Context, id string) (*compartment, record.Hit, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, record.Hit{}, err
	}
	list, release := snapshots(stores)
	defer release()
	hit := find(list, id)
	for _, c := range stores {
		if hit.Record != nil && c.Visibility == hit.Visibility {
			return c, hit, nil
		}
	}
	return nil, record.Hit{}, noMemory(id)
}

// find returns the memory called id, with a nil Record if no snapshot has it.
func find(list []*store.Snapshot, id string) record.Hit {
	for _, s := range list {
		if r := s.Find(id); r != nil {
			return s.Hit(r)
		}
	}
	return record.Hit{}
}

func noMemory(id string) error {
	return fault.New("id: no memory %q; use an ID from a search result", id)
}

// SameText returns the ids of the other memories with the very text of the one called id, and that the audience
// may see: of other sessions, types or compartments.
func (v *View) SameText(ctx context.Context, id string) ([]string, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	list, release := snapshots(stores)
	defer release()
	ids := []string{}
	r := find(list, id).Record
	if r == nil {
		return ids, nil
	}
	for _, s := range list {
		for _, other := range s.Scan() {
			if other.ID != id && other.Content == r.Content {
				ids = append(ids, other.ID)
			}
		}
	}
	return ids, nil
}

// DerivedFrom returns the ids of what was made from the memory called id and may repeat it: reflections and the cycle's
// lessons, oldest first in each compartment, then synthesized skills.
func (v *View) DerivedFrom(ctx context.Context, id string) ([]string, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	list, release := snapshots(stores)
	defer release()
	ids, skills := []string{}, []string{}
	for _, s := range list {
		for _, r := range s.Scan() {
			if r.Reflection != nil && among(r.Reflection.Sources, id) ||
				r.Lesson != nil && slices.Contains(r.Lesson.Sources, id) {
				ids = append(ids, r.ID)
			}
		}
		// The ledger keeps what a skill said before its present text, too.
		for made := range s.Syntheses() {
			if among(made.Sources, id) {
				skills = append(skills, made.SkillID)
			}
		}
	}
	slices.Sort(skills)
	return append(ids, slices.Compact(skills)...), nil
}

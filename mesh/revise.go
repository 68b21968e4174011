package mesh

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/internal/when"
	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// maxCurrent is the maximum number of characters of a memory in a fault that names it.
const maxCurrent = 200

// current returns the memory that is current after a revision, nil if there is none any more.
func current(s *store.Snapshot, r *record.Revision) *record.Record {
	for next := s.Past(r.New); next != nil; next = s.Past(r.New) {
		if next.New == "" {
			return nil
		}
		r = next
	}
	return s.Find(r.New)
}

// revise drafts the revisions by which kept supersedes others. A memory that another one has replaced meanwhile is a
// fault that names what is current, unless that is superseded as well: the caller has not seen it.
func (k *keeping) revise(s *store.Snapshot, kept *record.Record, now time.Time) ([]ledger.Draft, error) {
	var drafts []ledger.Draft
	replace := func(old string, at time.Time) error {
		draft, err := k.view.revision(record.Revision{Old: old, New: kept.ID, At: at, Why: k.record.Rationale}, now)
		drafts = append(drafts, draft)
		return err
	}
	for i, id := range k.supersedes {
		old := s.Find(id)
		known := s.Past(id)
		switch {
		case slices.Contains(k.supersedes[:i], id):
			continue
		case old == nil:
			return nil, fault.New("supersedes: no memory %q any more; search again", id)
		case id == kept.ID:
			return nil, fault.New("supersedes: %s has the text that you store; "+
				"store the text that is true now, with the IDs of what it replaces", id)
		case known != nil && known.New != "":
			if s.ReplacedBy(id, kept.ID) {
				k.done.Superseded = append(k.done.Superseded, id)
				continue
			}
			// Both would be current, and one of them is wrong.
			if now := current(s, known); now != nil && !slices.Contains(k.supersedes, now.ID) {
				return nil, fault.New("supersedes: %s is not current any more; %s replaced it: %q. Nothing was stored. If this "+
					"replaces that, store it again with supersedes %s; if both are true, store it without %s",
					id, now.ID, text.Shorten(text.OneLine(now.Content), maxCurrent), now.ID, id)
			}
			continue
		}
		at := k.since(s, kept, old, now)
		if at.IsZero() {
			if at = kept.CreatedAt; !at.After(old.CreatedAt) {
				at = now
			}
		}
		if err := replace(id, at); err != nil {
			return nil, err
		}
		k.done.Superseded = append(k.done.Superseded, id)
		// What a plan was to replace holds until the new plan does.
		for _, planned := range s.Replaced(id) {
			present := s.Find(planned.Old)
			if present == nil || !planned.At.After(now) || slices.Contains(k.supersedes, present.ID) {
				continue
			}
			until := k.since(s, kept, present, now)
			if until.IsZero() {
				until = now
			}
			if err := replace(present.ID, until); err != nil {
				return nil, err
			}
		}
	}
	return drafts, nil
}

var (
	// begins finds a text that is true from a date on: "from January", "starting on Monday".
	begins = regexp.MustCompile(`(?i)\b(?:from|starting|beginning|effective|as of)\b`)
	// changes finds one that tells of a change to come: "next month the pass costs 49", "Marta will take 100 mg".
	changes = regexp.MustCompile(`(?i)\b(?:will|going to|next|tomorrow|takes? over|leaves?|retires?|moves?|` +
		`this (?:mon|tues|wednes|thurs|fri|satur|sun)day|in 20\d\d|` +
		`in (?:a|an|\d+|\p{L}+) (?:days?|weeks?|months?|years?))\b`)
	// isAt finds what happens at a date, and was at another before: "the review is on Monday", "moved to next Friday".
	isAt = regexp.MustCompile(`(?i)\b(?:is|are|be|takes? place|happens?|meets?|due|scheduled|moved|postponed|` +
		`rescheduled|set)(?: now)?(?: (?:to|for|on|at))? (?:on|at|for|next|this|tomorrow|in|\d)`)
)

// isLater reports whether a text that names a date to come is true only then.
func isLater(content string) bool {
	return begins.MatchString(content) || changes.MatchString(content) && !isAt.MatchString(content)
}

// since returns when what kept tells became true, or will, if that is known; otherwise the zero time.
//
// A text may name a date before old was stored in passing: "Rui, who joined us in 2019, is the team lead". Such a date
// counts only if the caller gave it as occurred_at, and old did not happen later. A date to come counts if the caller
// gave it, or the text begins to be true then, unless old tells of something to come as well, which was moved.
func (k *keeping) since(s *store.Snapshot, kept, old *record.Record, now time.Time) time.Time {
	zone := k.zone
	if s.Visibility != record.Private { // as period.Date
		zone = time.Local
	}
	given := k.record.OccurredAt != ""
	at, before := when.Over(k.done.OccurredAt, zone), when.Over(old.OccurredAt, zone)
	switch first := when.First(k.done.OccurredAt, zone); {
	case at.IsZero():
		return at
	case first.After(now):
		if before.After(now) || !given && !isLater(kept.Content) {
			return time.Time{}
		}
		at = first
	case !at.Before(kept.CreatedAt), given && !at.After(before), !given && !at.After(old.CreatedAt):
		return time.Time{}
	}
	return at.UTC().Truncate(time.Millisecond)
}

// Retire makes memories of the audience's own compartment past ones, as another store had them: each revision's Old is
// the id of one, and New, if the compartment has it, that of what replaced it. What is past already stays as it is, so
// calling again is safe. The reasons are redacted as other fields are, and one that is too long is a fault.
func (v *View) Retire(ctx context.Context, revisions []record.Revision) error {
	if len(revisions) == 0 {
		return nil
	}
	checked := intake.New(v.scrubber)
	for i := range revisions {
		revisions[i].Why = checked.Field("why", revisions[i].Why)
	}
	if err := checked.Err(); err != nil {
		return err
	}
	return v.write(ctx, v.home(), func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
		var drafts []ledger.Draft
		for _, r := range revisions {
			if s.Find(r.Old) == nil || s.Past(r.Old) != nil {
				continue
			}
			if r.New == r.Old || s.Find(r.New) == nil {
				r.New = ""
			}
			draft, err := v.revision(r, now)
			if err != nil {
				return nil, err
			}
			drafts = append(drafts, draft)
		}
		return drafts, nil
	})
}

// revision returns the ledger entry of r.
func (v *View) revision(r record.Revision, now time.Time) (ledger.Draft, error) {
	// The old memory's id is part of it, so that no two revisions of one write have the same.
	id, err := record.NewID(record.RevisionPrefix+"_"+r.Old, now, v.Random)
	r.ID, r.AgentID = id, v.AgentID
	return ledger.Draft{Op: store.OpRevise, ID: r.ID, Data: r}, err
}

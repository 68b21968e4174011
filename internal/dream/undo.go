package dream

import (
	"context"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Undone is the result of taking a sweep back.
type Undone struct {
	Time   string   `json:"swept_at"`  // when the sweep was, ISO 8601, UTC
	Events []string `json:"event_ids"` // of the edits that were taken back, newest first
	Files  []string `json:"files"`     // that they changed
	// Kept lists the items that a person has changed or removed since, and which were left so.
	Kept []edit.Kept `json:"kept,omitempty"`
}

// Undo takes back the last sweep that was not taken back: its edits of MEMORY.md and its entry in DREAMS.md, the newest
// first, so that files which nothing else has changed since are byte for byte as they were before the sweep. In files
// that were changed, only what the sweep did is taken back, item by item: an item that a person changed stays, and
// Undone.Kept has both texts. What was taken back is not promoted and not moved to the archive again by a
// sweep. If there is no sweep, the error is a fault.
func (s *Sweeper) Undo(ctx context.Context, why string) (u Undone, err error) {
	release, err := s.lock(ctx)
	if err != nil {
		return Undone{}, err
	}
	defer func() {
		if failure := release(); err == nil {
			err = failure
		}
	}()
	edits, entries, err := s.recorded(ctx)
	if err != nil {
		return Undone{}, err
	}
	began, events := lastSweep(edits, entries)
	if len(events) == 0 {
		return Undone{}, fault.New("no sweep is left to take back; yamo-mcp history %s lists the edits", workspace.MemoryFile)
	}
	u.Time = began.Time
	err = s.Workspace.Together(ctx, func(ctx context.Context) (workspace.Note, error) {
		for _, e := range slices.Backward(events) {
			_, kept, err := s.Editor.UndoRest(ctx, e.ID, operator, why)
			if err != nil {
				return workspace.Note{}, err
			}
			u.Kept = append(u.Kept, kept...)
			u.Events = append(u.Events, e.ID)
			if !slices.Contains(u.Files, e.File) {
				u.Files = append(u.Files, e.File)
			}
		}
		return workspace.Note{
			Subject: "dream: take back the sweep of " + u.Time, Body: why, Trailers: []string{"Event: " + began.Token()},
		}, nil
	})
	return u, err
}

// lastSweep returns the first edit of the last sweep that is not undone, and those of its edits that are not: the
// diary's, then those of MEMORY.md, oldest first. The edits after the first one cite it, and so does the diary's entry.
func lastSweep(edits, entries []edit.Event) (began edit.Event, events []edit.Event) {
	taken := undoneBy(edits, entries)
	byID, root := map[string]edit.Event{}, ""
	for _, e := range edits {
		byID[e.ID] = e
		if e.MadeBy().Source == edit.FromSweep && e.IsEdit() && !taken[e.ID] {
			if root = begunBy(e); root == "" {
				root = e.ID
			}
		}
	}
	for _, e := range slices.Concat(entries, edits) {
		swept := e.MadeBy().Source == edit.FromSweep || e.MadeBy().Source == edit.FromDiary
		if root != "" && swept && e.IsEdit() && !taken[e.ID] && (e.ID == root || begunBy(e) == root) {
			events = append(events, e)
		}
	}
	return byID[root], events
}

// begunBy returns the id of the first edit of the sweep that made e, "" if e is that edit.
func begunBy(e edit.Event) string {
	for _, ref := range e.Evidence {
		if token, err := grammar.ParseToken(ref); err == nil && token.MemoryID() == "" {
			return token.ID.String()
		}
	}
	return ""
}

// undoneBy returns the ids of the events that were taken back, or were interrupted and undone. An undo that was taken
// back itself took nothing back.
func undoneBy(lists ...[]edit.Event) map[string]bool {
	taken := map[string]bool{}
	for _, e := range slices.Backward(slices.Concat(lists...)) {
		if (e.Op == edit.OpUndo || e.Op == edit.OpUndone) && !taken[e.ID] {
			taken[e.RefersTo] = true
		}
	}
	return taken
}

package dream

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/dream/trust"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// decided keeps what the record of edits tells of the user's decisions until the record changes: reading it takes 50 ms
// for a thousand edits, longer than a search.
type decided struct {
	mu   sync.Mutex
	mark edit.Mark
	past *history // nil before it was read
}

// decisions returns what the record of edits tells of the user's decisions. What was changed by hand is not recorded:
// showing a memory writes nothing.
func (s *Sweeper) decisions(ctx context.Context) (history, error) {
	s.decided.mu.Lock()
	defer s.decided.mu.Unlock()
	mark, err := s.Editor.Mark(ctx)
	if err != nil || s.decided.past != nil && mark == s.decided.mark {
		return *cmp.Or(s.decided.past, &history{}), err
	}
	edits, err := s.Editor.Recorded(ctx, workspace.MemoryFile)
	if err != nil {
		return history{}, err
	}
	past := historyOf(edits, nil)
	past.undescribed = nil // edits with their texts
	s.decided.mark, s.decided.past = mark, &past
	return past, nil
}

// Decisions tell in a DM whose word a memory is, and what the user decided about it. They are read from the record of
// edits when they are needed first, and serve one call. Only Speaker and MayReplace are safe for concurrent use.
type Decisions struct {
	sweeper *Sweeper
	names   func() trust.Names
	read    bool
	past    history
}

// Decided returns the decisions about the memories of a DM. Without an editor none are known.
func Decided(memory *mesh.View, files *workspace.View, editor *edit.Editor) *Decisions {
	s := &Sweeper{Options: Options{Memory: memory, Workspace: files, Editor: editor, AgentID: memory.AgentID}}
	return s.Decided()
}

// Decided returns the decisions about the sweeper's memories.
func (s *Sweeper) Decided() *Decisions { return &Decisions{sweeper: s, names: sync.OnceValue(s.names)} }

// history is what the record of edits tells of the user's decisions. An error is returned once; then none are known.
func (d *Decisions) history(ctx context.Context) (history, error) {
	if d.read || d.sweeper.Editor == nil {
		return d.past, nil
	}
	d.read = true
	past, err := d.sweeper.decisions(ctx)
	if err == nil {
		d.past = past
	}
	return d.past, err
}

// Speaker returns who said what a memory tells.
func (d *Decisions) Speaker(hit record.Hit) trust.Speaker { return d.names().SpeakerOf(hit) }

// MayReplace reports whether a replacement has at least the authority of what it replaces, whatever the user decided.
func (d *Decisions) MayReplace(old, replacement record.Hit) bool {
	return d.Speaker(replacement).Authority() >= d.Speaker(old).Authority()
}

// Rejected reports whether the user wants no part of a memory in MEMORY.md.
func (d *Decisions) Rejected(ctx context.Context, id string) (bool, error) {
	past, err := d.history(ctx)
	return past.rejected[id] && !past.confirmed[id], err
}

// Dispute is that a memory replaced what someone with more authority said.
type Dispute struct {
	Confirmed bool   // the user has decided for the memory, so that nothing is in dispute; the others are empty then
	Rejected  bool   // the user has decided against it
	Said      string // whose word it would replace, such as "the user said"; "" if none is in dispute
	Text      string // what they said, in one line
}

// Dispute returns whether a memory replaced what someone with more authority said. Of a chain of replacements that is
// the word that counts most, not the one in between.
func (d *Decisions) Dispute(ctx context.Context, hit record.Hit) (Dispute, error) {
	if len(hit.Replaced) == 0 || hit.Type == record.FileType || d.Speaker(hit) == trust.Person {
		return Dispute{}, nil
	}
	past, err := d.history(ctx)
	if err != nil {
		return Dispute{}, err
	}
	if past.confirmed[hit.ID] {
		return Dispute{Confirmed: true}, nil
	}
	a := authorities{d.names(), past.confirmed}
	old, found, err := d.sweeper.overruled(ctx, a, hit)
	if err != nil || !found {
		return Dispute{}, err
	}
	return Dispute{Rejected: past.rejected[hit.ID], Said: a.said(old), Text: line(old.Content)}, nil
}

// Mark returns the dispute in a few words, with up to n characters of what was said; "" without a dispute.
func (d Dispute) Mark(n int) string {
	switch {
	case d.Said == "":
		return ""
	case d.Rejected:
		return "rejected by the user; " + d.Said + ": " + strconv.Quote(text.Shorten(d.Text, n))
	}
	return "not confirmed; " + d.Said + ": " + strconv.Quote(text.Shorten(d.Text, n))
}

// Mark returns who said a memory that replaced what someone with more authority said, and what they said, in up to n
// characters; "" for any other memory.
func (d *Decisions) Mark(ctx context.Context, hit record.Hit, n int) (string, error) {
	dispute, err := d.Dispute(ctx, hit)
	if err != nil || dispute.Said == "" {
		return "", err
	}
	return "from " + string(d.Speaker(hit)) + ", " + dispute.Mark(n), nil
}

// IsOver reports whether what a memory tells was ahead when it was stored and is past now. now is in the zone that its
// dates are read in.
func IsOver(r *record.Record, now time.Time) bool { return isOver(r, now) }

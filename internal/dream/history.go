package dream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

const (
	// sectionPrefix begins the heading of a sweep in MEMORY.md; workspace.IsDreamed recognizes the whole heading.
	sectionPrefix = "Dreamed "
	// maxDiaryIDs is the maximum number of ids in a line of the diary.
	maxDiaryIDs = 20
)

// history is what earlier sweeps did.
type history struct {
	promoted    map[string]bool // ids of memories
	texts       map[string]bool // what was promoted, see normalized
	undescribed []edit.Event    // edits of MEMORY.md without an entry in the diary
}

// history reads the record of edits.
func (s *Sweeper) history(ctx context.Context) (history, error) {
	edits, err := s.Editor.History(ctx, workspace.MemoryFile, "")
	if err != nil {
		return history{}, err
	}
	entries, err := s.Editor.History(ctx, workspace.DreamsFile, "")
	if err != nil {
		return history{}, err
	}
	described, undone := map[string]bool{}, map[string]bool{}
	for _, e := range slices.Concat(edits, entries) {
		if e.Op == edit.OpUndone {
			undone[e.RefersTo] = true
		}
	}
	for _, e := range entries {
		if (e.IsEdit() || e.Op == edit.OpErase) && !undone[e.ID] {
			described[e.Key] = true
		}
	}
	h := history{promoted: map[string]bool{}, texts: map[string]bool{}}
	for _, e := range edits {
		// An erased edit still has its evidence, but no longer tells whether a sweep made it. A memory that some
		// erased edit cites counts as promoted: promoting it again would bring back what was erased.
		if e.Op == edit.OpErase {
			h.addPromoted(e)
			continue
		}
		if e.MadeBy().Sweep == nil || undone[e.ID] {
			continue
		}
		h.addPromoted(e)
		for _, c := range e.Changes {
			if c.Section == e.Section {
				maps.Copy(h.texts, textsIn(c.Insert))
			}
		}
		if !described[diaryKey(e)] {
			h.undescribed = append(h.undescribed, e)
		}
	}
	return h, nil
}

// addPromoted adds the memories that an event cites.
func (h history) addPromoted(e edit.Event) {
	for _, ref := range e.Evidence {
		if token, err := grammar.ParseToken(ref); err == nil && token.MemoryID() != "" {
			h.promoted[token.MemoryID()] = true
		}
	}
}

// writeDiary adds the entry about a sweep to DREAMS.md, once, from the event of its edit.
func (s *Sweeper) writeDiary(ctx context.Context, event edit.Event) error {
	heading, _ := strings.CutPrefix(event.Section, sectionPrefix)
	_, err := s.Editor.Edit(ctx, edit.Request{
		File: workspace.DreamsFile, Key: diaryKey(event), Actor: s.AgentID, Refs: []string{event.ID},
		Origin: edit.Origin{Source: edit.FromDiary},
		Edit: grammar.Edit{
			Op: grammar.AppendItem, Section: heading, Items: diaryEntry(*event.MadeBy().Sweep), Create: true,
			Rationale: "the diary of event " + event.ID,
		},
	})
	return err
}

// diaryKey is the idempotency key of the diary's entry about an edit.
func diaryKey(event edit.Event) string { return "dream:" + event.ID }

// diaryEntry are the lines about a sweep.
func diaryEntry(sweep edit.Sweep) []string {
	lines := []string{
		fmt.Sprintf("%d recalls of %d memories in %d days", sweep.Recalls, sweep.Memories, sweep.Days),
		"promoted " + list(sweep.Promoted),
	}
	if len(sweep.Held) > 0 {
		lines = append(lines, "held for confirmation "+list(sweep.Held))
	}
	return lines
}

// list writes ids with commas between them, the first maxDiaryIDs of them.
func list(ids []string) string {
	text := strings.Join(ids[:min(maxDiaryIDs, len(ids))], ", ")
	if more := len(ids) - maxDiaryIDs; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

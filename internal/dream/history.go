package dream

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// sectionPrefix begins the heading of a sweep in MEMORY.md; workspace.IsDreamed recognizes the whole heading.
const sectionPrefix = "Dreamed "

// sweepTime is the time of a sweep in headings, before " UTC".
const sweepTime = "2006-01-02 15:04"

// history is what earlier sweeps did.
type history struct {
	promoted    map[string]bool // ids of memories
	confirmed   map[string]bool // ids of memories that a person confirmed, and that were not taken back
	rejected    map[string]bool // ids of memories that the owner wants no part of
	told        map[string]bool // ids of memories that the diary reported as held
	items       []item          // what was promoted, oldest first
	texts       map[string]bool // what was promoted, see normalized
	undescribed []edit.Event    // edits of MEMORY.md without an entry in the diary
}

// recorded returns the events of MEMORY.md and of DREAMS.md, oldest first.
func (s *Sweeper) recorded(ctx context.Context) (edits, entries []edit.Event, err error) {
	if edits, err = s.Editor.History(ctx, workspace.MemoryFile, ""); err != nil {
		return nil, nil, err
	}
	entries, err = s.Editor.History(ctx, workspace.DreamsFile, "")
	return edits, entries, err
}

// history reads the record of edits.
func (s *Sweeper) history(ctx context.Context) (history, error) {
	edits, entries, err := s.recorded(ctx)
	if err != nil {
		return history{}, err
	}
	return historyOf(edits, entries), nil
}

// historyOf is the history that the events of MEMORY.md and of DREAMS.md tell.
func historyOf(edits, entries []edit.Event) history {
	h := history{
		promoted: map[string]bool{}, confirmed: map[string]bool{}, rejected: map[string]bool{}, told: map[string]bool{},
		texts: map[string]bool{},
	}
	described, undone, taken := map[string]bool{}, map[string]bool{}, undoneBy(edits)
	kept := map[string]bool{} // items that a person took back from the archive
	for _, e := range slices.Concat(edits, entries) {
		if e.Op == edit.OpUndone {
			undone[e.RefersTo] = true
		}
	}
	for _, e := range entries {
		if (e.IsEdit() || e.Op == edit.OpErase) && !undone[e.ID] {
			described[e.Key] = true
			if id, ok := strings.CutPrefix(e.Key, heldKey); ok {
				h.told[id] = true
			}
		}
	}
	for _, e := range edits {
		// An erased edit still has its evidence, but no longer tells whether a sweep made it. A memory that some
		// erased edit cites counts as promoted: promoting it again would bring back what was erased.
		if e.Op == edit.OpErase {
			h.addPromoted(e)
			continue
		}
		if e.Op == edit.OpDismiss {
			for _, id := range memoriesOf(e) {
				h.rejected[id] = true
			}
			continue
		}
		if e.MadeBy().Source == edit.FromSweep && taken[e.ID] && !undone[e.ID] {
			for _, text := range e.Retired {
				kept[text] = true
			}
		}
		// A person may have confirmed what they rejected before.
		if e.MadeBy().Sweep == nil || undone[e.ID] {
			continue
		}
		h.addPromoted(e)
		h.addItems(e, taken[e.ID])
		for _, id := range e.MadeBy().Sweep.Confirmed {
			h.confirmed[id] = !taken[e.ID]
		}
		for _, c := range e.Changes {
			if c.Section == e.Section {
				maps.Copy(h.texts, textsIn(c.Insert))
			}
		}
		if !described[diaryKey(e)] {
			h.undescribed = append(h.undescribed, e)
			continue
		}
		for _, id := range e.MadeBy().Sweep.Held {
			h.told[id] = true
		}
	}
	for i, it := range h.items {
		h.items[i].kept = kept[it.text]
	}
	return h
}

// addPromoted adds the memories that an event cites.
func (h history) addPromoted(e edit.Event) {
	for _, id := range memoriesOf(e) {
		h.promoted[id] = true
	}
}

// memoriesOf returns the ids of the memories that an event cites, in its order.
func memoriesOf(e edit.Event) (ids []string) {
	for _, ref := range e.Evidence {
		if token, err := grammar.ParseToken(ref); err == nil && token.MemoryID() != "" {
			ids = append(ids, token.MemoryID())
		}
	}
	return ids
}

// addItems adds what a sweep promoted, each item with its memory. taken is whether the sweep was taken back.
func (h *history) addItems(e edit.Event, taken bool) {
	ids := memoriesOf(e)
	for _, c := range e.Changes {
		if c.Section != e.Section {
			continue
		}
		// An event has an item for each memory, in the same order.
		if items := grammar.Items(c.Insert); len(items) == len(ids) {
			for i, text := range items {
				h.items = append(h.items, item{memory: ids[i], section: e.Section, text: text, taken: taken})
			}
		}
	}
}

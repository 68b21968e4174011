package edit

import (
	"context"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
	"github.com/yamo-protocol/yamo-mcp/workspace/passage"
)

// Copies are where else something is kept that a memory says.
type Copies struct {
	Places   []workspace.Place // of files that say it in the same words
	Recorded []string          // files of whose edits the record has it, or that it was their evidence, sorted
}

// Copies looks for what the memory called id says: in the workspace's files as they are, and in the record of their
// edits.
func (e *Editor) Copies(ctx context.Context, id, text string) (Copies, error) {
	found := Copies{Places: e.opt.View.Quotes(text), Recorded: []string{}}
	e.mu.Lock()
	defer e.mu.Unlock()
	events, err := e.all(ctx, nil, func(event Event) bool {
		return event.Op != OpErase && (event.cites(id) || event.says(text))
	})
	if err != nil {
		return Copies{}, err
	}
	for _, event := range events {
		if !slices.Contains(found.Recorded, event.File) {
			found.Recorded = append(found.Recorded, event.File)
		}
	}
	slices.Sort(found.Recorded)
	return found, nil
}

// cites reports whether the memory called id is evidence of the event.
func (e Event) cites(id string) bool {
	return slices.ContainsFunc(e.Evidence, func(ref string) bool {
		token, err := grammar.ParseToken(ref)
		return err == nil && token.MemoryID() == id
	})
}

// says reports whether one of the event's texts says text.
func (e Event) says(text string) bool {
	texts := append([]string{e.Rationale, e.Override}, e.Retired...)
	if e.Base != nil {
		texts = append(texts, *e.Base)
	}
	for _, c := range e.Changes {
		texts = append(texts, c.Cut, c.Insert)
	}
	if e.Asked != nil {
		texts = append(append(append(texts, e.Asked.Content), e.Asked.Items...), e.Asked.Retire...)
	}
	return slices.ContainsFunc(texts, func(body string) bool { return passage.Says(body, text) })
}

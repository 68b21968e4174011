package edit

import (
	"context"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
	"github.com/yamo-protocol/yamo-mcp/workspace/passage"
)

// Copies lists where the text of a memory is kept outside the memory. Deleting the memory does not delete them.
type Copies struct {
	Places   []workspace.Place // sections of files that contain it in the same words
	Recorded []string          // files whose recorded edits contain it or cite the memory as evidence, sorted
	Cited    []workspace.Place // sections of files that cite the memory as evidence now
}

// Copies looks for text, the content of the memory called id, in the workspace's files as they are and in the record of
// their edits.
func (e *Editor) Copies(ctx context.Context, id, text string) (Copies, error) {
	found := Copies{
		Places: e.opt.View.Quotes(text), Recorded: []string{},
		Cited: e.opt.View.Find(func(body string) bool {
			return slices.ContainsFunc(grammar.Tokens(body), func(t grammar.Token) bool { return t.MemoryID() == id })
		}),
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	events, err := e.readEvents(ctx, nil, func(event Event) bool {
		// By ID as well: the words of an edit may differ from those of the memory that it cites.
		return event.Op != OpErase && (event.cites(id) || event.quotes(text))
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

// cites reports whether the event cites the memory called id as evidence.
func (e Event) cites(id string) bool {
	return slices.ContainsFunc(e.Evidence, func(ref string) bool {
		token, err := grammar.ParseToken(ref)
		return err == nil && token.MemoryID() == id
	})
}

// quotes reports whether one of the event's texts contains text (see passage.Says).
func (e Event) quotes(text string) bool {
	return slices.ContainsFunc(e.texts(), func(body string) bool { return passage.Says(body, text) })
}

// texts are the contents and reasons in an event.
func (e Event) texts() []string {
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
	return texts
}

// Mentioning returns the files whose recorded edits have a text that about accepts, sorted.
func (e *Editor) Mentioning(ctx context.Context, about func(text string) bool) ([]string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	events, err := e.readEvents(ctx, nil, func(event Event) bool {
		return event.Op != OpErase && slices.ContainsFunc(event.texts(), about)
	})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, event := range events {
		names = append(names, event.File)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

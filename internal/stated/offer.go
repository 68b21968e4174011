package stated

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// sections are where in MEMORY.md the statements of a kind are proposed.
var sections = map[Kind]string{About: "About the user", Decision: "Decisions", Correction: "Corrections"}

// Actor is the actor of the proposals: no agent asked for them.
const Actor = "conversation"

// Offerer proposes statements to the owner of a workspace. Both fields are required.
type Offerer struct {
	View   *workspace.View // of a DM
	Editor *edit.Editor
}

// Offer proposes to add s, which was said at a time, to MEMORY.md. evidence are the references that lead to the turn:
// the first list whose references all do is cited. made is false for a statement that was offered before, in whatever
// spelling, that MEMORY.md or USER.md has already, that has a credential or that has no evidence. The error is
// edit.ErrOffered if too many offers wait; any other means that nothing can be offered at the moment.
func (o Offerer) Offer(ctx context.Context, s Statement, at time.Time, evidence ...[]string) (made bool, err error) {
	// SECURITY: nothing of a group's session, or of one whose audience is not known, is offered.
	if !o.View.Audience().IsDM() || o.Editor == nil {
		return false, nil
	}
	same := canonical(s.Text)
	known, err := o.known(ctx, same)
	if known || err != nil || o.View.CheckText(s.Text) != nil {
		return false, err
	}
	who := o.View.UserName()
	if who == "" {
		who = "The user"
	}
	if at.IsZero() {
		at = o.View.Now()
	}
	day := at.In(o.View.Now().Location()).Format(time.DateOnly)
	q := edit.Request{
		File: workspace.MemoryFile, Actor: Actor,
		Edit: grammar.Edit{
			Op: grammar.AppendItem, Section: sections[s.Kind], Create: true, Rationale: "said in a conversation",
			Items: []string{day + ": " + who + ` said: "` + s.Text + `"`},
		},
	}
	for _, q.Refs = range evidence {
		if len(q.Refs) == 0 {
			continue
		}
		made, err = o.Editor.Offer(ctx, q, same)
		if _, refused := fault.As(err); !refused {
			return made, err
		}
	}
	return false, nil
}

// canonical returns what all spellings of a statement have in common: letter case, punctuation and articles differ.
func canonical(s string) string {
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(s, "’", "'")), func(r rune) bool {
		return strings.ContainsRune(" \t\n.,;:!?()[]{}\"", r)
	})
	kept := words[:0]
	for _, w := range words {
		if w != "a" && w != "an" && w != "the" {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// known reports whether a statement was offered before, or is in MEMORY.md or USER.md. The files may have it in other
// words, which the owner sees when deciding.
func (o Offerer) known(ctx context.Context, same string) (bool, error) {
	if reason := o.View.RefusalOf(workspace.MemoryFile); reason != "" {
		return false, &workspace.RefusedError{Name: workspace.MemoryFile, Reason: reason} // offers are edits of it
	}
	for _, name := range []string{workspace.MemoryFile, workspace.UserFile} {
		data, err := o.View.Read(name)
		if name == workspace.MemoryFile && err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		if strings.Contains(canonical(string(data)), same) {
			return true, nil
		}
	}
	return o.Editor.Offered(ctx, same)
}

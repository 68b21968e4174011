package edit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/splice"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Undo takes back an edit, or an undo, that ref names by its id or token. If the file is as the edit left it, it is
// then byte for byte as before the edit, Change Log included. After later changes only the items and paragraphs that
// the edit changed are restored; if they are not as it left them, the error is a fault with both texts. The owner calls
// it, so that pins do not apply.
func (e *Editor) Undo(ctx context.Context, ref, actor, why string) (Result, Changed, error) {
	a, err := e.undoFor(ctx, ref, Request{Actor: actor, Edit: grammar.Edit{Rationale: why}})
	if err != nil {
		return Result{}, Changed{}, err
	}
	return a.result, a.change(), nil
}

// Kept is what an undo left in a file, because a person changed it since.
type Kept struct {
	File    string `json:"file"`
	Section string `json:"section"`
	Wrote   string `json:"wrote"` // what the edit wrote
	Now     string `json:"now"`   // what the file has instead, "" if it was removed
}

// UndoRest is Undo for an edit of lists, such as a sweep's: where a person changed an item that the edit wrote, that
// item stays and is returned, and the rest of the edit is taken back.
func (e *Editor) UndoRest(ctx context.Context, ref, actor, why string) (Result, []Kept, error) {
	a, err := e.undoFor(ctx, ref, Request{Actor: actor, Edit: grammar.Edit{Rationale: why}, rest: true})
	if err != nil {
		return Result{}, nil, err
	}
	return a.result, a.kept, nil
}

// undoFor takes back the edit that ref names for the owner. Of q it takes the actor, the rationale and rest.
func (e *Editor) undoFor(ctx context.Context, ref string, q Request) (*attempt, error) {
	token, err := grammar.ParseToken(ref)
	if err != nil || token.MemoryID() != "" {
		return nil, fault.New("%q: must be the ID or token of an edit; yamo-mcp history FILE lists them", ref)
	}
	if err := e.checkReason("why", q.Rationale); err != nil {
		return nil, err
	}
	id := token.ID.String()
	found, err := e.readEvents(ctx, []byte(id), func(event Event) bool { return event.ID == id })
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fault.New("%s: no such event; yamo-mcp history FILE lists the edits of a file", ref)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	q.File, q.Origin = found[0].File, Origin{Source: FromCommand}
	a, err := e.undo(ctx, id, q)
	if err == nil {
		e.rollOverview(ctx, a.result.Event)
	}
	return a, err
}

// UndoLast takes back the last edit of q.File that q.Session made through this editor, as Undo does; pins apply. Of q
// it takes File, Session, Key, Call, Actor and Rationale. A session without such an edit gets a fault.
func (e *Editor) UndoLast(ctx context.Context, q Request) (Result, error) {
	if err := e.opt.View.CheckText(q.Rationale + "\n" + q.Key); err != nil {
		return Result{}, fault.New("rationale: %v", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return Result{}, err
	}
	if first, ok := e.state.byKey[q.Key]; ok && q.Key != "" {
		if first.Op != OpUndo || first.File != q.File {
			return Result{}, fault.New("idempotency_key: already used by another edit, event %s; use a new key", first.ID)
		}
		return Result{Event: first, Repeated: true}, nil
	}
	// SECURITY: groups read the file, and what is restored is published again.
	if workspace.IsPublic(q.File) && q.Consent == "" {
		return Result{}, fault.New("file: every group reads %s; ask the workspace owner to undo the edit with yamo-mcp undo",
			q.File)
	}
	last, err := e.lastMade(q)
	if err != nil {
		return Result{}, err
	}
	q.Origin = Origin{Source: FromSession}
	a, err := e.undo(ctx, e.seen.made[last].event, q)
	if err != nil {
		return Result{}, err
	}
	e.seen.made = slices.Delete(e.seen.made, last, last+1)
	e.seen.add(q.Session, q.File, versionOf(a.after), grammar.Parse(a.after))
	e.rollOverview(ctx, a.result.Event)
	return a.result, nil
}

// WouldUndo returns how UndoLast would change the file, and writes nothing. The zero value means that an earlier call
// with the same key has done it.
func (e *Editor) WouldUndo(ctx context.Context, q Request) (Changed, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return Changed{}, err
	}
	if _, ok := e.state.byKey[q.Key]; ok && q.Key != "" {
		return Changed{}, nil
	}
	last, err := e.lastMade(q)
	if err != nil {
		return Changed{}, err
	}
	q.Origin, q.Preview = Origin{Source: FromSession}, true
	a, err := e.undo(ctx, e.seen.made[last].event, q)
	if err != nil {
		return Changed{}, err
	}
	return Changed{From: q.File, To: q.File, Before: a.before, After: a.after}, nil
}

// lastMade is the index in e.seen.made of the last edit of q.File that q.Session made. Without one it is a fault.
func (e *Editor) lastMade(q Request) (int, error) {
	last := -1
	for i, m := range e.seen.made {
		if m.session == q.Session && m.file == q.File {
			last = i
		}
	}
	if last < 0 {
		return 0, fault.New("op: this session has no edit of %s left to undo; the workspace owner can undo "+
			"others with yamo-mcp undo", q.File)
	}
	return last, nil
}

// undo takes back the edit with an id, or only plans it if q is a preview. e.mu is held.
func (e *Editor) undo(ctx context.Context, id string, q Request) (a *attempt, err error) {
	tx, err := e.begin(ctx, q.File)
	if err != nil {
		return nil, explain(q.File, err)
	}
	defer tx.close(&err)
	for {
		a, err := tx.planUndo(ctx, id, q)
		if err != nil {
			return nil, explain(q.File, err)
		}
		if q.Preview {
			return a, nil
		}
		event := a.events[0]
		ok, err := a.commit(ctx, []byte(a.after), event, a.key, event)
		if ok || err != nil {
			return a, explain(q.File, err)
		}
	}
}

// planUndo computes the text without the edit, and the event for the record.
func (tx *transaction) planUndo(ctx context.Context, id string, q Request) (*attempt, error) {
	if err := tx.catchUp(ctx); err != nil {
		return nil, err
	}
	k, err := tx.Editor.key()
	if err != nil {
		return nil, err
	}
	present := tx.present()
	if present == nil {
		return nil, fault.New("file: no such file %s; an edit of it cannot be undone", q.File)
	}
	edited, before, after, err := tx.around(ctx, q.File, id)
	if err != nil {
		return nil, err
	}
	// An editor may have changed the line ends of the whole file since.
	before, after = withLineEnds(before, string(present)), withLineEnds(after, string(present))
	now := tx.now()
	t, _ := grammar.TypeOf(q.File)
	event := tx.newEvent(now, OpUndo, q.File)
	a := &attempt{transaction: tx, q: q, key: k, before: string(present)}
	d := before
	if event.Exact = after.String() == a.before; !event.Exact {
		reverted := reverting{file: q.File, rest: q.rest}
		if d, err = reverted.without(before, after, grammar.Parse(a.before)); err != nil {
			return nil, err
		}
		a.kept = reverted.kept
		d.Record(t, "", "", fmt.Sprintf("%s: undid the change of %s (%s): %s", grammar.Stamp(now),
			sectionName(edited.Section), edited.Token(), oneLine(q.Rationale)))
		if t != nil && t.Strict {
			d.Touch(now)
		}
	}
	a.after = d.String()
	if a.after == a.before && !q.rest {
		return nil, fault.New("op: the file has nothing of %s any more; nothing was written", id)
	}
	was, will := grammar.Parse(a.before), grammar.Parse(a.after)
	if q.Origin.Source == FromSession {
		if err := tx.unpinned(q.File, was, will); err != nil {
			return nil, err
		}
	}
	event.Base, event.FileBefore, event.FileAfter = &a.after, k.File(present), k.File([]byte(a.after))
	event.RefersTo, event.Actor, event.Rationale, event.Origin = id, q.Actor, oneLine(q.Rationale), &q.Origin
	event.Section, event.Anchor, event.Key, event.Call = edited.Section, edited.Anchor, q.Key, q.Call
	event.Consent = q.Consent
	var items []string
	if i := splice.Index(was, event.Section, event.Anchor); i >= 0 {
		event.Before, items = k.Section(was.Parts[i].Body), grammar.Items(was.Parts[i].Body)
	}
	if i := splice.Index(will, event.Section, event.Anchor); i >= 0 {
		body := will.Parts[i].Body
		event.After, a.result.Snapshot = k.Section(body), Excerpt(body)
		event.Retired = grammar.Gone(items, grammar.Items(body))
	} else {
		event.Retired = items
	}
	a.events, a.result.Event = []Event{event}, event.brief()
	return a, nil
}

// withLineEnds returns d with the line ends of text, if all of text's are the same.
func withLineEnds(d *grammar.Document, text string) *grammar.Document {
	crlf, lf := strings.Count(text, "\r\n"), strings.Count(text, "\n")
	own := d.String()
	plain := strings.ReplaceAll(own, "\r\n", "\n")
	switch {
	case crlf == lf && lf > 0:
		return grammar.Parse(strings.ReplaceAll(plain, "\n", "\r\n"))
	case crlf == 0 && plain != own:
		return grammar.Parse(plain)
	}
	return d
}

func sectionName(section string) string {
	if section == "" {
		return "the introduction"
	}
	return section
}

// unpinned returns a fault if a pin or lock protects a section that an undo would change. The Change Log only follows.
func (tx *transaction) unpinned(name string, was, will *grammar.Document) error {
	for _, p := range was.Parts {
		i := splice.Index(will, p.Name, p.Anchor.ID)
		if isChangeLog(p.Name) || i >= 0 && will.Parts[i].Body == p.Body {
			continue
		}
		if err := tx.permitted(name, p.Name, anchorOf(p), grammar.ReplaceSection); err != nil {
			return err
		}
	}
	return nil
}

// around returns the edit with an id, and the file before and after it. An edit that was undone already is a fault.
func (e *Editor) around(
	ctx context.Context, name, id string,
) (edited Event, before, after *grammar.Document, err error) {
	events, err := e.events(ctx, name)
	if err != nil {
		return Event{}, nil, nil, err
	}
	undoneBy := map[string]string{}
	for _, event := range events {
		if event.Op != OpUndo {
			continue
		}
		for edit, undo := range undoneBy {
			if undo == event.RefersTo { // it takes back an undo
				delete(undoneBy, edit)
			}
		}
		undoneBy[event.RefersTo] = event.ID
	}
	if by := undoneBy[id]; by != "" {
		return Event{}, nil, nil, fault.New("%s: already undone by %s, which can be undone too", id, by)
	}
	accepted := accepted(events)
	var d *grammar.Document
	for i := 0; i < len(events); i++ {
		event := events[i]
		text := ""
		if d != nil {
			text = d.String() // a step changes d
		}
		next, err := e.step(name, d, event)
		if drift, ok := errors.AsType[*splice.DriftError](err); ok {
			if at := resume(events, i, accepted); at > i && event.ID != id {
				i = at - 1
				continue
			}
			return Event{}, nil, nil, fault.New("%s: the text before it cannot be reconstructed: %v", id, drift)
		}
		if err != nil {
			return Event{}, nil, nil, err
		}
		if d = next; event.ID != id {
			continue
		}
		if !event.IsEdit() && event.Op != OpUndo {
			return Event{}, nil, nil, fault.New("%s: not an edit; yamo-mcp history %s lists the edits", id, name)
		}
		// The file that an edit creates stays, without what the edit wrote: files are not deleted (seed 004 §4).
		if event.Base != nil && event.IsEdit() {
			text = *event.Base
		}
		return event, grammar.Parse(text), d, nil
	}
	return Event{}, nil, nil, fault.New("%s: no such edit of %s; yamo-mcp history %s lists them", id, name, name)
}

package edit

import (
	"context"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// attempt tries an edit, after settling what is pending.
func (e *Editor) attempt(ctx context.Context, q Request) (*attempt, error) {
	for {
		a := &attempt{Editor: e, ctx: ctx, q: q}
		_, err := e.opt.View.Update(ctx, q.File, a.prepare)
		if pending, ok := errors.AsType[*pendingError](err); ok {
			if err := e.settle(ctx, pending.file); err != nil {
				return nil, err
			}
			continue
		}
		return a, explain(q.File, err)
	}
}

// attempt is one try of an edit.
type attempt struct {
	*Editor
	ctx           context.Context
	q             Request
	before, after string // the file
	result        Result
}

// prepare works out what the file is to become. It runs under the lock on all files.
func (a *attempt) prepare(present []byte) (workspace.Change, error) {
	q := a.q // Apply cleans it
	if err := a.sync(a.ctx); err != nil {
		return workspace.Change{}, err
	}
	if p := a.pending(); p != nil {
		return workspace.Change{}, &pendingError{p.File}
	}
	k, err := a.key()
	if err != nil {
		return workspace.Change{}, err
	}
	request := ""
	if q.Key != "" || q.Propose {
		request = k.hash("request", q.text())
	}
	if q.Key != "" {
		if first, ok := a.state.byKey[q.Key]; ok {
			old, err := a.keys.of(first.Integrity.SaltVersion, false)
			if err != nil {
				return workspace.Change{}, err
			}
			if first.Request != old.hash("request", q.text()) {
				return workspace.Change{}, fault.New("idempotency_key: it belongs to another edit, event %s; take a new one", first.ID)
			}
			a.result = Result{Event: first, Items: q.dated(first.time()), Repeated: true}
			return workspace.Change{}, errNothing
		}
	}
	if err := a.standing(); err != nil {
		return workspace.Change{}, err
	}
	if len(present) > MaxFile || !utf8.Valid(present) {
		return workspace.Change{}, fault.New("file: %s is not UTF-8 text of at most %d KiB; a person has to look at it", q.File, MaxFile>>10)
	}
	now := a.now()
	events, text, base, err := a.base(k, now, q, present)
	if err != nil {
		return workspace.Change{}, err
	}
	event, data, err := a.edit(k, now, text)
	if err != nil {
		return workspace.Change{}, err
	}
	event.Request = request
	a.before, a.after = string(present), string(data)
	switch {
	case q.decided != nil && q.decided.preview:
		return workspace.Change{}, errNothing
	case q.Propose:
		return a.propose(k, append(events, event), data), nil
	case base != nil:
		event.Base = base
	default:
		event.FileBefore = k.file(present)
	}
	events = append(events, event)
	return workspace.Change{
		Data: data,
		Commit: func() error {
			err := a.record(a.ctx, k, events...)
			a.result.Event.Integrity = events[len(events)-1].Integrity
			return err
		},
		Done: a.replaced,
		Note: note(event),
	}, nil
}

// base is the text that the edit is made to, with the events that have to precede it: the first snapshot, or
// what was changed by hand since. A file that is made has its text as base.
func (a *attempt) base(k key, now time.Time, q Request, present []byte) (events []Event, text string, base *string, err error) {
	f := a.state.files[q.File]
	if present == nil {
		if f != nil && f.after != "" {
			seen, err := a.observe(k, now, q.File, nil)
			if err != nil {
				return nil, "", nil, err
			}
			events = append(events, seen)
		}
		if !q.Create {
			return nil, "", nil, fault.New("file: there is no %s; to make it, say create: true", q.File)
		}
		text = grammar.New(q.File, grammar.Stamp(now))
		return events, text, &text, nil
	}
	text = string(present)
	switch {
	case f == nil || !f.known || f.after == "" || len(f.tail) >= snapshotEvery:
		events = append(events, a.whole(k, now, OpSnapshot, q.File, text))
	case !a.unchanged(f, present):
		seen, err := a.observe(k, now, q.File, present)
		if err != nil {
			return nil, "", nil, err
		}
		events = append(events, seen)
	}
	return events, text, nil, nil
}

// edit performs the edit on text.
func (a *attempt) edit(k key, now time.Time, text string) (Event, []byte, error) {
	q := a.q
	t, entity := grammar.TypeOf(q.File)
	before, d := grammar.Parse(text), grammar.Parse(text)
	q.Items = q.dated(now)
	added := q.Items
	retired, err := q.retire(before, t)
	if err != nil {
		return Event{}, nil, err
	}
	done, err := q.apply(d, t, now)
	if err != nil {
		return Event{}, nil, err
	}
	if err := a.allowed(before, done); err != nil {
		return Event{}, nil, err
	}
	e := a.newEvent(now, string(q.Op), q.File)
	e.UserID, e.EntityType, e.EntityID = entity.UserID, entity.Type, entity.ID
	e.Section, e.Anchor, e.Items, e.Retired = done.Section, done.Anchor, done.Items, retired
	e.Rationale, e.Override, e.Key, e.Call, e.Actor = oneLine(q.Rationale), oneLine(q.Override), q.Key, q.Call, q.Actor
	for _, token := range q.Evidence {
		e.Evidence = append(e.Evidence, token.String())
	}
	e.Origin = q.origin()
	if q.decided != nil {
		e.RefersTo = q.decided.id
	}
	if i := index(before, done.Section, done.Anchor); i >= 0 && !done.Made {
		e.Before = k.section(before.Parts[i].Body)
		if q.Expected != "" && q.Expected != e.Before {
			return Event{}, nil, fault.New("expected_hash: the section was changed in the meantime and has the hash %s now; nothing was written. Work your change into what it says, and give that hash:\n%s",
				e.Before, Excerpt(before.Parts[i].Body))
		}
	} else if q.Expected != "" {
		return Event{}, nil, fault.New("expected_hash: there is no such section any more; leave it out to make it")
	}
	a.changeLog(d, t, q.Edit, done, now)
	if t != nil && t.Strict {
		head := d.Head
		d.Touch(e.time())
		e.Touched = d.Head != head
	}
	data := []byte(d.String())
	if len(data) > MaxFile {
		return Event{}, nil, fault.New("content: the file would have more than %d KiB; curate it", MaxFile>>10)
	}
	after := grammar.Parse(string(data))
	e.Changes, e.FileAfter = changes(k, before, after), k.file(data)
	i := index(after, done.Section, done.Anchor)
	e.After = k.section(after.Parts[i].Body)
	a.result = Result{Event: e.brief(), Snapshot: Excerpt(after.Parts[i].Body), Items: added, Match: done.Match}
	return e, data, nil
}

// changeLog writes the edit into the Change Log, unless that is what is edited, or is locked.
func (a *attempt) changeLog(d *grammar.Document, t *grammar.Type, edit grammar.Edit, done grammar.Applied, now time.Time) {
	if isChangeLog(done.Section) ||
		a.state.pins[a.q.File][grammar.Slug(grammar.ChangeLog)] == OpLock {
		return
	}
	var today []grammar.Done
	if f := a.state.files[a.q.File]; f != nil && f.day == now.UTC().Format(time.DateOnly) {
		today = f.done
	}
	was := grammar.Rollup(now, today)
	is := grammar.Rollup(now, append(slices.Clip(today), grammar.Done{Op: edit.Op, Section: done.Section, Items: done.Items}))
	d.Record(t, was, is, grammar.Material(edit, done, now), grammar.Exceeding(edit, done, now))
}

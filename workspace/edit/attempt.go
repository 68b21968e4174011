package edit

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/splice"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// attempt is an edit that is planned against the present file, and not yet written.
type attempt struct {
	*transaction
	q             Request
	key           seal.Key
	events        []Event // for the record; the last is the edit's, or the proposal's
	before, after string  // the file
	kept          []Kept  // of an undo
	result        Result  // if Repeated, there is nothing to write
}

// attempt makes an edit, or records it as a proposal. A preview only computes what the edit would do. e.mu is held.
func (e *Editor) attempt(ctx context.Context, q Request) (*attempt, error) {
	a, err := e.transact(ctx, q)
	return a, explain(q.File, err)
}

// transact plans and writes until no person changes the file in between: each plan is made for the file as it is then.
func (e *Editor) transact(ctx context.Context, q Request) (a *attempt, err error) {
	tx, err := e.begin(ctx, q.File)
	if err != nil {
		return nil, err
	}
	defer tx.close(&err)
	for {
		// Planned again for each attempt, because the file may have changed: an edit is never applied to text that it was
		// not checked against.
		a, err := tx.plan(ctx, q)
		if err != nil || a.result.Repeated || q.Preview || q.decided != nil && q.decided.preview {
			return a, err
		}
		if ok, err := a.write(ctx); ok || err != nil {
			return a, err
		}
	}
}

// plan computes the new text of the file and the events for the record. It writes nothing.
func (tx *transaction) plan(ctx context.Context, q Request) (*attempt, error) {
	if err := tx.sync(ctx); err != nil {
		return nil, err
	}
	k, err := tx.Editor.key()
	if err != nil {
		return nil, err
	}
	a := &attempt{transaction: tx, q: q, key: k}
	if q.same != "" {
		if known, err := a.wasOffered(q.same); known || err != nil { // by another process, a moment ago
			a.result = Result{Repeated: true}
			return a, err
		}
		if a.state.offers() >= MaxOffered {
			return nil, ErrOffered
		}
		a.q.Key = offerKey(k, q.same)
		q = a.q
	}
	// Before the file is looked at: a repeated request gets its first answer, whatever became of the file since.
	if repeated, err := a.repeats(); repeated || err != nil {
		return a, err
	}
	present := tx.present()
	if len(present) > MaxFile || !utf8.Valid(present) {
		return nil, fault.New("file: %s must be UTF-8 text of at most %d KiB; ask the user to check it",
			q.File, MaxFile>>10)
	}
	now := tx.now()
	text, base, err := a.base(now)
	if err != nil {
		return nil, err
	}
	event, err := a.edit(now, text)
	if err != nil {
		return nil, err
	}
	// The hash of the request tells a repeated request from another one, without keeping its text.
	if q.Key != "" || q.Propose {
		event.Request = k.Hash("request", q.text())
	}
	a.before = string(present)
	switch {
	case q.Propose:
		a.proposes(&event)
	case base != nil:
		event.Base = base
	default:
		event.FileBefore = k.File(present)
	}
	a.events = append(a.events, event)
	return a, nil
}

// repeats reports whether there is nothing to do because the edit was made or proposed before; a.result is then that
// edit. The same idempotency key with another request is a fault.
func (a *attempt) repeats() (bool, error) {
	q := a.q
	if first, ok := a.state.byKey[q.Key]; ok && q.Key != "" {
		old, err := a.keyOf(first.Integrity.SaltVersion)
		if err != nil {
			return false, err
		}
		if first.Request != old.Hash("request", q.text()) {
			return false, fault.New("idempotency_key: already used by another edit, event %s; use a new key", first.ID)
		}
		a.result = Result{Event: first, Items: q.dated(first.time()), Repeated: true}
		return true, nil
	}
	switch {
	case q.decided != nil:
		return false, a.state.undecided(q.decided.id)
	case q.Propose:
		return a.proposed()
	}
	return false, nil
}

// write writes the edit to the record and the file, or the proposal to the record. If a person changed the file
// meanwhile, ok is false and nothing is written; the caller plans again.
func (a *attempt) write(ctx context.Context) (ok bool, err error) {
	last := &a.events[len(a.events)-1]
	if !a.q.Propose {
		ok, err = a.commit(ctx, []byte(a.after), *last, a.key, a.events...)
		a.result.Event.Integrity = last.Integrity
		return ok, err
	}
	// A proposal passes every check that an edit does, up to the new text on disk: one that could not be made must be
	// refused now, and not when the owner accepts it.
	if ok, err = a.stage(ctx, []byte(a.after), a.key, a.events...); ok {
		a.applied()
		a.result = Result{Event: last.brief(), Match: a.result.Match}
	}
	return ok, err
}

// base returns the text that the edit is made to, and adds the events that must precede it: a snapshot, or what was
// changed by hand since the last event. For a file that the edit creates, whole is its initial text; otherwise nil.
func (a *attempt) base(now time.Time) (text string, whole *string, err error) {
	f, present := a.state.files[a.q.File], a.present()
	observe := func() error {
		seen, err := a.observe(a.key, now, a.q.File, present)
		a.events = append(a.events, seen)
		return err
	}
	switch {
	case present == nil && f != nil && f.after != "":
		err = observe()
	case present == nil:
	// Without a text in the record there is nothing to compare with; after many edits a new one shortens replays.
	case f == nil || !f.known || f.after == "" || len(f.tail) >= snapshotEvery:
		a.events = append(a.events, a.whole(a.key, now, OpSnapshot, a.q.File, string(present)))
	case !a.unchanged(f, present):
		err = observe()
	}
	switch {
	case err != nil:
		return "", nil, err
	case present != nil:
		return string(present), nil, nil
	case !a.q.Create:
		return "", nil, fault.New("file: no such file %s; pass create: true to create it", a.q.File)
	}
	text = grammar.New(a.q.File, grammar.Stamp(now))
	return text, &text, nil
}

// edit performs the edit on text, and returns its event. It sets a.after and a.result.
func (a *attempt) edit(now time.Time, text string) (Event, error) {
	q, k := a.q, a.key // a copy: a.q stays as it was asked for, since an attempt may be planned again
	t, entity := grammar.TypeOf(q.File)
	before, d := grammar.Parse(text), grammar.Parse(text)
	q.Items = q.dated(now)
	added, err := q.itemize(before, t, a.seen.last(q.Session, q.File))
	if err != nil {
		return Event{}, err
	}
	done, err := q.apply(d, t, now)
	if err != nil {
		return Event{}, err
	}
	// After the section was found, because a pin protects it under its anchor, whatever name the request has for it.
	if err := a.allowed(before, done); err != nil {
		return Event{}, err
	}
	e := a.newEvent(now, string(q.Op), q.File)
	e.UserID, e.EntityType, e.EntityID = entity.UserID, entity.Type, entity.ID
	e.Section, e.Anchor, e.Items, e.Retired = done.Section, done.Anchor, done.Items, done.Removed
	e.Rationale, e.Override, e.Key, e.Call, e.Actor = oneLine(q.Rationale), oneLine(q.Override), q.Key, q.Call, q.Actor
	for _, token := range q.Evidence {
		e.Evidence = append(e.Evidence, token.String())
	}
	e.Origin, e.Consent = q.origin(), q.Consent
	if q.decided != nil {
		e.RefersTo = q.decided.id
	}
	if i := splice.Index(before, done.Section, done.Anchor); i >= 0 && !done.Made {
		e.Before = k.Section(before.Parts[i].Body)
		if why := a.unexpected(q, text, before.Parts[i]); why != "" {
			return Event{}, fault.New("expected_hash: %s %s; nothing was written. "+
				"Combine both texts and pass this hash.\nThe section now:\n%s\nWith your edit:\n%s",
				why, e.Before, Excerpt(before.Parts[i].Body), Excerpt(d.Parts[splice.Index(d, done.Section, done.Anchor)].Body))
		}
	} else if q.Expected != "" {
		return Event{}, fault.New("expected_hash: the section no longer exists; omit expected_hash to create it")
	}
	a.dropEmptied(d, done.Section)
	// The Change Log and last_updated are part of the same event: a replay restores them with the section.
	a.changeLog(d, t, e.ID, q.Edit, done, now)
	if t != nil && t.Strict {
		head := d.Head
		d.Touch(e.time())
		e.Touched = d.Head != head
	}
	data := []byte(d.String())
	if len(data) > MaxFile {
		return Event{}, fault.New("content: the file would exceed %d KiB; shorten it", MaxFile>>10)
	}
	after := grammar.Parse(string(data))
	e.Changes, e.FileAfter = splice.Between(k, before, after), k.File(data)
	// Hashes are those of the text as it will be read again, not as it was put together.
	snapshot := ""
	if i := splice.Index(after, done.Section, done.Anchor); i >= 0 {
		e.After, snapshot = k.Section(after.Parts[i].Body), Excerpt(after.Parts[i].Body)
	}
	a.after = string(data)
	a.result = Result{Event: e.brief(), Snapshot: snapshot, Items: added, Match: done.Match}
	return e, nil
}

// changeLog writes the edit into the Change Log (seed 004 §6), unless the Change Log itself is edited or is locked.
// The day's rollup is replaced by one that includes this edit.
func (a *attempt) changeLog(
	d *grammar.Document, t *grammar.Type, event string, edit grammar.Edit, done grammar.Applied, now time.Time,
) {
	if isChangeLog(done.Section) || a.state.pins[a.q.File][grammar.Slug(grammar.ChangeLog)] == OpLock {
		return
	}
	today, old := a.state.today(a.q.File, now)
	rollup := grammar.Rollup(now, append(slices.Clip(today), grammar.Done{
		Op: edit.Op, Section: done.Section, Items: done.Items,
	}))
	d.Record(t, old, rollup, grammar.Material(edit, done, now), grammar.Exceeding(edit, done, now))
	if a.state.pins[a.q.File][grammar.Slug(grammar.ChangeLog)] == "" && a.state.pins[a.q.File][WholeFile] == "" {
		d.Fold(t, a.q.File, event, now)
	}
}

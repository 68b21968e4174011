package edit

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/splice"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Replayed is a file as reconstructed from its events.
type Replayed struct {
	Text   string
	Exists bool   // false before the file was created
	Events int    // number of applied events
	Last   string // id of the last applied event
	Drift  *Event // where the replay halted: a drift that the maintainer has not accepted (seed 004 §10), else nil
	Broken string // id of the event that does not reproduce its text, if the replay halted there
}

// writes reports whether the event determines the file's text.
func (e Event) writes() bool { return e.IsEdit() || e.Base != nil }

// step returns d, nil for no file, after one event. The result is checked against the event's hash of the file; if it
// differs, the error is a *splice.DriftError.
func (e *Editor) step(name string, d *grammar.Document, event Event) (*grammar.Document, error) {
	switch {
	case event.Op == OpAccept || !event.writes():
		return d, nil
	// The file was deleted by hand.
	case event.Op == OpDrift && event.FileAfter == "":
		return nil, nil
	case event.Base != nil:
		d = grammar.Parse(*event.Base)
	}
	if d == nil {
		return nil, &splice.DriftError{Event: event.ID, Section: event.Section, Reason: "there is no text before it"}
	}
	k, err := e.keyOf(event.Integrity.SaltVersion)
	if err != nil {
		return nil, err
	}
	t, _ := grammar.TypeOf(name)
	if event.IsEdit() {
		if err := reapply(d, t, event); err != nil {
			return nil, err
		}
	}
	// Checked at every step, so that the error names the first event that does not reproduce its text.
	if k.Document(d) != event.FileAfter {
		return nil, &splice.DriftError{
			Event: event.ID, Section: event.Section, Reason: "the text is another than after the event",
		}
	}
	return d, nil
}

// redo applies an edit's event to d, a file of type t. Each section must have the hash that it had before the event.
// After an error, a *splice.DriftError, d is invalid.
func redo(k seal.Key, d *grammar.Document, t *grammar.Type, e Event) error {
	return e.redo(d, t, func(body, hash string) bool { return k.Section(body) == hash })
}

// reapply is redo for the very text that the event changed. It hashes no sections, which takes most of redo's time: the
// caller compares the whole file afterwards.
func reapply(d *grammar.Document, t *grammar.Type, e Event) error {
	return e.redo(d, t, func(string, string) bool { return true })
}

func (e Event) redo(d *grammar.Document, t *grammar.Type, matches func(body, hash string) bool) error {
	if err := splice.Apply(d, t, e.ID, e.Changes, matches); err != nil {
		return err
	}
	if e.Touched {
		d.Touch(e.time())
	}
	return nil
}

// Replay reconstructs a file from its first snapshot and its events, up to and including the one that to names: an
// event's id or token, a time (RFC 3339), or a day (until its end, UTC); "" means all. It halts before a drift that was
// not accepted (seed 004 §10). A file without events is a fault.
//
// For all events it first records what was changed by hand, so that without a drift the text equals the file.
func (e *Editor) Replay(ctx context.Context, name, to string) (Replayed, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if to == "" {
		if err := e.sync(ctx); err != nil {
			return Replayed{}, err
		}
		if err := e.catchUp(ctx, name); err != nil {
			return Replayed{}, err
		}
	}
	r, err := e.replay(ctx, name, to)
	if err == nil && to == "" && r.Broken != "" {
		err = e.queue(ctx, name, r)
	}
	return r, err
}

// accepted are the ids of the drifts that the maintainer has accepted or restored.
func accepted(events []Event) map[string]bool {
	ids := map[string]bool{}
	for _, event := range events {
		if event.Op == OpAccept || event.Op == OpRestore {
			ids[event.RefersTo] = true
		}
	}
	return ids
}

// resume returns the index of the accepted drift about events[i], which does not reproduce its text: it has the whole
// text with which a replay goes on. Without one it returns -1.
func resume(events []Event, i int, accepted map[string]bool) int {
	for at := i + 1; at < len(events); at++ {
		if d := events[at]; d.Op == OpDrift && d.RefersTo == events[i].ID && accepted[d.ID] {
			return at
		}
	}
	return -1
}

// queue records that an event of a file does not reproduce its text, as a drift that the maintainer decides about: they
// can accept the file as it is. It records that once.
func (e *Editor) queue(ctx context.Context, name string, r Replayed) (err error) {
	tx, err := e.begin(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a file that cannot be edited
	}
	if err != nil {
		return err
	}
	defer tx.close(&err)
	if err := tx.catchUp(ctx); err != nil {
		return err
	}
	present := tx.present()
	about := func(d Event) bool { return d.RefersTo == r.Broken }
	if f := tx.state.files[name]; present == nil || f == nil || slices.ContainsFunc(f.drifts, about) {
		return nil
	}
	k, err := tx.key()
	if err != nil {
		return err
	}
	event := tx.whole(k, tx.now(), OpDrift, name, string(present))
	event.RefersTo, event.Actor = r.Broken, Hand
	event.Rationale = "the record cannot be replayed: " + r.Drift.Rationale
	return tx.record(ctx, k, event)
}

// replay makes the file's text from its events, up to the point to. It stops at a drift that was not accepted: what
// follows was an edit of another text.
func (e *Editor) replay(ctx context.Context, name, to string) (Replayed, error) {
	until, err := parsePoint(to)
	if err != nil {
		return Replayed{}, err
	}
	events, err := e.events(ctx, name)
	if err != nil {
		return Replayed{}, err
	}
	if !slices.ContainsFunc(events, Event.writes) { // pins and proposals do not determine its text
		return Replayed{}, fault.New("%s: no recorded edits, so nothing to replay", name)
	}
	accepted := accepted(events)
	var r Replayed
	var d *grammar.Document
	for i := 0; i < len(events); i++ {
		event := events[i]
		if until.before(event) {
			break
		}
		if event.Op == OpDrift && !accepted[event.ID] {
			r.Drift = &event
			break
		}
		next, err := e.step(name, d, event)
		if drift, ok := errors.AsType[*splice.DriftError](err); ok {
			// The maintainer may have accepted the file as it was when that was noticed.
			if at := resume(events, i, accepted); at > i && !until.within(events[i:at]) {
				i = at - 1
				continue
			}
			// Reported like a drift of the file: the record and the text disagree here, so that what follows cannot be
			// trusted.
			r.Broken = event.ID
			event.Op, event.Rationale = OpDrift, drift.Error()
			r.Drift = &event
			break
		}
		if err != nil {
			return Replayed{}, err
		}
		d = next
		r.Events++
		r.Last = event.ID
		if until.id == event.ID {
			until.found = true
			break
		}
	}
	if until.id != "" && !until.found && r.Drift == nil {
		return Replayed{}, fault.New("%s has no event %s; yamo-mcp history lists them", name, until.id)
	}
	if d != nil {
		r.Text, r.Exists = d.String(), true
	}
	return r, nil
}

// point is where a replay ends.
type point struct {
	id    string    // of the last event, "" for none
	found bool      // the event with the id was applied
	time  time.Time // the latest time of an event, zero for no limit
}

// within reports whether the replay must end among events.
func (p point) within(events []Event) bool {
	return slices.ContainsFunc(events, func(e Event) bool { return e.ID == p.id || p.before(e) })
}

func (p point) before(e Event) bool {
	return p.found || !p.time.IsZero() && e.time().After(p.time)
}

// parsePoint reads a point in a file's history: an event's ID or token, a time, or a day, which means its end. "" is
// the present.
func parsePoint(text string) (point, error) {
	if text == "" {
		return point{}, nil
	}
	if token, err := grammar.ParseToken(text); err == nil && token.MemoryID() == "" {
		return point{id: token.ID.String()}, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return point{time: t.Add(time.Second - time.Nanosecond)}, nil // events have milliseconds
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return point{time: t.AddDate(0, 0, 1).Add(-time.Nanosecond)}, nil
	}
	return point{}, fault.New("%q: must be the ID or token of an event, a time such as 2026-01-02T15:04:05Z, or a day "+
		"such as 2026-01-02", text)
}

// repeat returns the result of an edit that was made before as it was then, or of a proposal with its present state.
func (e *Editor) repeat(ctx context.Context, first Result) (Result, error) {
	if first.Event.Op == OpPropose {
		return e.proposed(first), nil
	}
	r, err := e.replay(ctx, first.Event.File, first.Event.ID)
	if err != nil {
		return Result{}, err
	}
	d := grammar.Parse(r.Text)
	if i := splice.Index(d, first.Event.Section, first.Event.Anchor); i >= 0 {
		first.Snapshot = Excerpt(d.Parts[i].Body)
	}
	return first, nil
}

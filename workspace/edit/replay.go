package edit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
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

// events returns a file's events, in order, each checked to be as it was written. Edits that never reached the file are
// left out, together with the OpUndone events about them.
func (e *Editor) events(ctx context.Context, name string) ([]Event, error) {
	all, err := e.fileEvents(ctx, name)
	if err != nil {
		return nil, err
	}
	undone := map[string]bool{}
	for _, event := range all {
		if event.Op == OpUndone {
			undone[event.RefersTo], undone[event.ID] = true, true
		}
	}
	var events []Event
	for _, event := range all {
		if !undone[event.ID] {
			events = append(events, event)
		}
	}
	return events, nil
}

// fileEvents returns all events of a file, in order, each checked to be as it was written.
func (e *Editor) fileEvents(ctx context.Context, name string) ([]Event, error) {
	var field bytes.Buffer
	field.WriteString(`"file_path":`)
	enc := json.NewEncoder(&field)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(name); err != nil {
		return nil, fmt.Errorf("encode file name: %w", err)
	}
	return e.readEvents(ctx, bytes.TrimSpace(field.Bytes()), func(event Event) bool { return event.File == name })
}

// readEvents returns the events for which want is true, in order, each checked to be as it was written. Lines without
// the bytes has are skipped without decoding them, which is what makes a replay of one file in a long record fast.
func (e *Editor) readEvents(ctx context.Context, has []byte, want func(Event) bool) (events []Event, err error) {
	err = e.newLedger().Sync(ctx, func(line ledger.Entry) error {
		if line.Erased || !bytes.Contains(line.Data, has) {
			return nil
		}
		event, err := decode(line)
		if err != nil || !want(event) {
			return err
		}
		k, err := e.keyOf(event.Integrity.SaltVersion)
		if err != nil {
			return err
		}
		if !intact(k, line.Data, event) {
			return fmt.Errorf("line %d of the record of edits (event %s) is not as it was written", line.Seq, event.ID)
		}
		events = append(events, event)
		return nil
	})
	return events, err
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

// Steps calls visit for each event that determines a file's text, oldest first, without its own texts but with the
// file's text after it. It first records what was changed by hand. A file without such events has no steps; one whose
// events do not reproduce its text is a fault.
func (e *Editor) Steps(ctx context.Context, name string, visit func(event Event, text string)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return err
	}
	if err := e.catchUp(ctx, name); err != nil {
		return err
	}
	events, err := e.events(ctx, name)
	if err != nil {
		return err
	}
	accepted := accepted(events)
	var d *grammar.Document
	for i := 0; i < len(events); i++ {
		event := events[i]
		if !event.writes() {
			continue
		}
		next, err := e.step(name, d, event)
		if drift, ok := errors.AsType[*splice.DriftError](err); ok {
			if at := resume(events, i, accepted); at > i {
				i = at - 1
				continue
			}
			return fault.New("%s: its history cannot be followed: %v", name, drift)
		}
		if err != nil {
			return err
		}
		if d = next; d == nil {
			visit(event.brief(), "") // the file was deleted by hand
			continue
		}
		visit(event.brief(), d.String())
	}
	return nil
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

// History returns the events of a file, or of one of its sections by heading or anchor, oldest first. It first records
// what was changed by hand.
func (e *Editor) History(ctx context.Context, name, section string) ([]Event, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return nil, err
	}
	if err := e.catchUp(ctx, name); err != nil {
		return nil, err
	}
	all, err := e.fileEvents(ctx, name)
	if err != nil {
		return nil, err
	}
	if section == "" {
		return all, nil
	}
	var events []Event
	for _, event := range all {
		if event.concerns(section) {
			events = append(events, event)
		}
	}
	return events, nil
}

// Events returns the events of all files that were recorded from since on and before until, oldest first; a zero time
// is no limit.
func (e *Editor) Events(ctx context.Context, since, until time.Time) ([]Event, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return nil, err
	}
	return e.readEvents(ctx, nil, func(event Event) bool {
		at, err := time.Parse(time.RFC3339, event.Time)
		return err == nil && !at.Before(since) && (until.IsZero() || at.Before(until))
	})
}

// concerns reports whether the event is about a section, by its heading or anchor.
func (e Event) concerns(section string) bool {
	same := func(name, anchor string) bool {
		return name == section || anchor == section ||
			grammar.Slug(section) != "" && grammar.Slug(name) == grammar.Slug(section)
	}
	if e.Section != "" && same(e.Section, e.Anchor) {
		return true
	}
	for _, c := range e.Changes {
		if same(c.Section, c.Anchor) && !strings.EqualFold(c.Section, grammar.ChangeLog) {
			return true
		}
	}
	return false
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

// beforeRecord is the fault for a point before the first event of a file, for which the record has no text.
func beforeRecord(name, flag string) error {
	return fault.New("%s: %s is before the first event of %s; yamo-mcp history lists them", name, flag, name)
}

// Changed is the difference of a file between two points of its history.
type Changed struct {
	From, To      string // names of the points, for a heading
	Before, After string // the texts, "" if the file did not exist
}

// Diff returns how a file changed from one point to another; both have the forms of Replay's to. If from is "", it is
// the text before the last event up to to; if to is "", it is the file as it is. A point before the first event is a
// fault.
func (e *Editor) Diff(ctx context.Context, name, from, to string) (Changed, error) {
	after, err := e.Replay(ctx, name, to)
	if err != nil {
		return Changed{}, err
	}
	if to != "" && after.Events == 0 && after.Drift == nil {
		return Changed{}, beforeRecord(name, "--to")
	}
	c := Changed{From: name + " " + from, To: name + " " + to, After: after.Text}
	if to == "" {
		c.To = name + " now"
		if after.Drift != nil { // the present text was not accepted yet
			data, err := e.opt.View.Read(name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return Changed{}, err
			}
			c.After = string(data)
		}
	}
	if from != "" {
		before, err := e.Replay(ctx, name, from)
		if err == nil && before.Events == 0 && before.Drift == nil {
			err = beforeRecord(name, "--from")
		}
		c.Before = before.Text
		return c, err
	}
	if to == "" && after.Drift != nil {
		c.From, c.Before = name+" before "+after.Drift.ID, after.Text
		return c, nil
	}
	events, err := e.events(ctx, name)
	if err != nil {
		return Changed{}, err
	}
	changed, last, previous := "", "", "" // the last event that changed the text, and the one before it
	for _, event := range events {
		// A snapshot repeats a text that was there before: it changed nothing.
		if event.writes() && event.Op != OpSnapshot {
			changed, last = event.ID, previous
		}
		previous = event.ID
		if event.ID == after.Last {
			break
		}
	}
	if changed == "" {
		c.From, c.Before = c.To, c.After
		return c, nil
	}
	c.From = name + " before " + changed
	if last != "" {
		before, err := e.Replay(ctx, name, last)
		c.Before = before.Text
		return c, err
	}
	return c, nil
}

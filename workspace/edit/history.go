package edit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/splice"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

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
			return &DamagedError{fmt.Errorf("line %d of the record of edits (event %s) is not as it was written", line.Seq,
				event.ID)}
		}
		events = append(events, event)
		return nil
	})
	return events, damage(err)
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

// Mark is how far the record was read. Marks are equal if the record is the same.
type Mark struct {
	state *state // another one after the record was replaced
	lines int64
}

// Mark returns how far the record goes. It reads only what was added since the last call of the editor.
func (e *Editor) Mark(ctx context.Context) (Mark, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := e.sync(ctx)
	return Mark{e.state, e.state.lines}, err
}

// Recorded returns the events of a file as they were recorded, oldest first. Unlike History it writes nothing.
func (e *Editor) Recorded(ctx context.Context, name string) ([]Event, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return nil, err
	}
	return e.fileEvents(ctx, name)
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

// beforeRecord is the fault for a point before the first event of a file, for which the record has no text.
func beforeRecord(name, flag string) error {
	return fault.New("%s: %s is before the first event of %s; yamo-mcp history lists them", name, flag, name)
}

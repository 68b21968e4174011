package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// unchanged reports whether data is the file as the last event left it.
func (e *Editor) unchanged(f *file, data []byte) bool {
	if f.after == "" || data == nil {
		return f.after == "" && data == nil
	}
	k, err := e.keyOf(f.version)
	return err == nil && k.file(data) == f.after
}

// observe is the event of a file that was changed by hand: observed, or drift where what the events are about
// cannot be found any more or seed 004 §4 forbids the change.
func (e *Editor) observe(k key, now time.Time, name string, present []byte) (Event, error) {
	event := e.whole(k, now, OpObserved, name, string(present))
	event.Actor, event.FileAfter, event.Rationale = Hand, k.file(present), "the file was changed by hand"
	var wrong []string
	old, err := e.state.files[name].text(name)
	switch {
	case err != nil:
		wrong = []string{err.Error()}
	case present == nil:
		wrong = []string{"the file is gone"}
	default:
		wrong = lost(name, e.state.files[name].sections, grammar.Parse(old), grammar.Parse(string(present)))
	}
	if len(wrong) > 0 {
		event.Op, event.Rationale = OpDrift, strings.Join(wrong, "; ")
	}
	return event, nil
}

var identityField = regexp.MustCompile(`(?m)^([a-z_]*id:.*?)[ \t\r]*$`)

// lost says what a change by hand took away that must stay: sections that events were about, in a profile all
// sections and their anchors, and the ids in its front matter.
func lost(name string, edited map[string]bool, old, present *grammar.Document) (wrong []string) {
	t, _ := grammar.TypeOf(name)
	strict := t != nil && t.Strict
	for _, p := range old.Parts[1:] {
		if !strict && !edited[p.Name] {
			continue
		}
		i := index(present, p.Name, p.Anchor.ID)
		if i < 0 {
			i = slices.IndexFunc(present.Parts, func(q grammar.Part) bool {
				return q.Heading != "" && (q.Name == p.Name || p.Anchor.ID != "" && q.Anchor.ID == p.Anchor.ID)
			})
		}
		if i < 0 {
			if j, ok := present.Reanchor(t, p.Name); ok {
				i = j
			}
		}
		switch {
		case i < 0:
			wrong = append(wrong, fmt.Sprintf("the section ## %s is gone", p.Name))
		case strict && p.Anchor.ID != "" && present.Parts[i].Anchor.ID != p.Anchor.ID:
			wrong = append(wrong, fmt.Sprintf("the anchor of ## %s is gone or another", p.Name))
		}
	}
	if strict {
		was, _, _ := frontmatter.Split(old.Head)
		is, _, _ := frontmatter.Split(present.Head)
		have := identityField.FindAllString(is, -1)
		for _, field := range identityField.FindAllString(was, -1) {
			if !slices.Contains(have, field) {
				wrong = append(wrong, fmt.Sprintf("the front matter's %q is gone or another", strings.TrimSpace(field)))
			}
		}
	}
	return wrong
}

// Scan looks at every file that was ever edited, records what was changed by hand, and returns the drifts
// that the maintainer has to decide about, oldest first.
func (e *Editor) Scan(ctx context.Context) ([]Event, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(e.state.files))
	for name := range e.state.files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := e.look(ctx, name); err != nil {
			return nil, err
		}
	}
	var drifts []Event
	for _, name := range names {
		drifts = append(drifts, e.state.files[name].drifts...)
	}
	slices.SortFunc(drifts, func(a, b Event) int { return e.state.inOrder(a.ID, b.ID) })
	return drifts, nil
}

// look records what was changed by hand in a file, after settling what is pending. Of a file without events there is
// nothing to record: it may be one that is not edited at all.
func (e *Editor) look(ctx context.Context, name string) error {
	if err := e.sync(ctx); err != nil {
		return err
	}
	for {
		if f := e.state.files[name]; f == nil || !f.known {
			return nil
		}
		_, err := e.opt.View.Update(ctx, name, func(present []byte) (workspace.Change, error) {
			if err := e.sync(ctx); err != nil {
				return workspace.Change{}, err
			}
			if p := e.pending(); p != nil {
				return workspace.Change{}, &pendingError{p.File}
			}
			f := e.state.files[name]
			if f == nil || !f.known || e.unchanged(f, present) { // the record may be another by now
				return workspace.Change{}, errNothing
			}
			k, err := e.key()
			if err != nil {
				return workspace.Change{}, err
			}
			seen, err := e.observe(k, e.now(), name, present)
			if err != nil {
				return workspace.Change{}, err
			}
			if err := e.record(ctx, k, seen); err != nil {
				return workspace.Change{}, err
			}
			return workspace.Change{}, errNothing
		})
		if pending, ok := errors.AsType[*pendingError](err); ok {
			if err := e.settle(ctx, pending.file); err != nil {
				return err
			}
			continue
		}
		if errors.Is(err, errNothing) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
}

// Accept takes a file's drifts off the queue: the file is right as it is. It returns how many there were.
func (e *Editor) Accept(ctx context.Context, name, actor, why string) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.look(ctx, name); err != nil {
		return 0, err
	}
	f := e.state.files[name]
	if f == nil || len(f.drifts) == 0 {
		return 0, fault.New("%s: there is no drift to decide about; yamo-mcp drift list says where there is", name)
	}
	k, err := e.key()
	if err != nil {
		return 0, err
	}
	n := len(f.drifts)
	var events []Event
	for _, d := range f.drifts {
		event := e.newEvent(e.now(), OpAccept, name)
		event.RefersTo, event.Actor, event.Rationale = d.ID, actor, oneLine(why)
		events = append(events, event)
	}
	return n, e.record(ctx, k, events...)
}

// Restore has the text from before the first drift of a file written back, with the edits that were made
// since; what was changed by hand since is left out, and stays in the record. Where one of the edits cannot
// be made to that text, the error says which, and nothing is changed.
func (e *Editor) Restore(ctx context.Context, name, actor, why string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return err
	}
	if err := e.look(ctx, name); err != nil {
		return err
	}
	events, err := e.events(ctx, name)
	if err != nil {
		return err
	}
	f := e.state.files[name]
	if f == nil || len(f.drifts) == 0 {
		return fault.New("%s: there is no drift to decide about; yamo-mcp drift list says where there is", name)
	}
	now, err := e.opt.View.Read(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := e.without(name, events, f.drifts[0].ID, now)
	if err != nil {
		return err
	}
	_, err = e.opt.View.Update(ctx, name, func(present []byte) (workspace.Change, error) {
		if err := e.sync(ctx); err != nil {
			return workspace.Change{}, err
		}
		if !e.unchanged(e.state.files[name], present) {
			return workspace.Change{}, fault.New("%s: it was changed meanwhile; look at it and try again", name)
		}
		k, err := e.key()
		if err != nil {
			return workspace.Change{}, err
		}
		var restores []Event
		for i, d := range f.drifts {
			event := e.whole(k, e.now(), OpRestore, name, text)
			event.RefersTo, event.Actor, event.Rationale = d.ID, actor, oneLine(why)
			event.FileBefore = k.file(present)
			if i < len(f.drifts)-1 {
				event = e.newEvent(e.now(), OpAccept, name)
				event.RefersTo, event.Actor, event.Rationale = d.ID, actor, oneLine(why)
			}
			restores = append(restores, event)
		}
		return workspace.Change{
			Data:   []byte(text),
			Commit: func() error { return e.record(ctx, k, restores...) },
			Done:   e.replaced,
			Note:   note(restores[len(restores)-1]),
		}, nil
	})
	return err
}

// without is the text of a file as its edits make it, had it not drifted at the event called drift. present is
// what it is now.
func (e *Editor) without(name string, events []Event, drift string, present []byte) (string, error) {
	t, _ := grammar.TypeOf(name)
	var d *grammar.Document
	drifted := false
	for _, event := range events {
		switch {
		case event.ID == drift:
			drifted = true
		case event.Op == OpSnapshot && drifted, event.Op == OpObserved && drifted, event.Op == OpDrift && drifted:
		case event.IsEdit() && drifted:
			event.Changes = slices.DeleteFunc(event.Changes, func(c Change) bool { return isChangeLog(c.Section) })
			k, err := e.keyOf(event.Integrity.SaltVersion)
			if err == nil {
				err = redo(k, d, t, event)
			}
			if err != nil {
				return "", fault.New("%s: the text before the drift cannot take the edits made since: %v. Accept the drift, or change the file by hand", name, err)
			}
		default:
			next, err := e.step(name, d, event)
			if halted, ok := errors.AsType[*DriftError](err); ok {
				return "", fault.New("%s: the text before the drift cannot be made again: %v. Accept the drift, or change the file by hand", name, halted)
			}
			if err != nil {
				return "", err
			}
			d = next
		}
	}
	if d == nil {
		return "", fault.New("%s: there was no text before the drift", name)
	}
	keepLog(d, t, grammar.Parse(string(present)))
	return d.String(), nil
}

// keepLog has the Change Log of d keep what present has of it, and of each day the one rollup that present has.
func keepLog(d *grammar.Document, t *grammar.Type, present *grammar.Document) {
	have, keep := logItems(d), logItems(present)
	var added []string
	for _, item := range keep {
		if slices.Contains(have, item) {
			continue
		}
		day := grammar.RollupDay(item)
		i := slices.IndexFunc(have, func(old string) bool {
			return day != "" && grammar.RollupDay(old) == day && !slices.Contains(keep, old)
		})
		if i < 0 {
			added = append(added, item)
			continue
		}
		d.Record(t, have[i], item)
		have[i] = item
	}
	d.Record(t, "", "", added...)
}

func isChangeLog(section string) bool {
	return grammar.Slug(section) == grammar.Slug(grammar.ChangeLog)
}

// logItems are the entries of a file's Change Log.
func logItems(d *grammar.Document) []string {
	for _, p := range d.Parts[1:] {
		if isChangeLog(p.Name) {
			return grammar.Items(p.Body)
		}
	}
	return nil
}

package edit

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/splice"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// unchanged reports whether data is the file as its last event left it.
func (e *Editor) unchanged(f *file, data []byte) bool {
	if f.after == "" || data == nil {
		return f.after == "" && data == nil
	}
	k, err := e.keyOf(f.version)
	return err == nil && k.File(data) == f.after
}

// observe returns the event of a file that was changed by hand: OpObserved, or OpDrift if a section with events cannot
// be found any more, or if the change is one that seed 004 §4 forbids.
func (e *Editor) observe(k seal.Key, now time.Time, name string, present []byte) (Event, error) {
	event := e.whole(k, now, OpObserved, name, string(present))
	event.Actor, event.FileAfter, event.Rationale = Hand, k.File(present), "the file was changed by hand"
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

// identityField matches a field of the front matter with an id, which must not be edited (seed 004 §4).
var identityField = regexp.MustCompile(`(?m)^([a-z_]*id:.*?)[ \t\r]*$`)

// identityFields returns the fields with an id in front matter, without the spaces, line ends and quotation marks that
// editors change.
func identityFields(matter string) (fields []string) {
	for _, m := range identityField.FindAllStringSubmatch(matter, -1) {
		name, value, _ := strings.Cut(m[1], ":")
		fields = append(fields, name+": "+strings.Trim(strings.TrimSpace(value), `"'`))
	}
	return fields
}

// isOwn reports whether a field with an id has that of the entity which the file is about, as its path says.
func isOwn(field string, about grammar.Entity) bool {
	name, value, _ := strings.Cut(field, ": ")
	if name == "user_id" {
		return value == about.UserID
	}
	return value == about.ID
}

// lost describes what a change by hand removed although it must stay: sections with events and, in a profile, all
// sections, their anchors, and the ids in its front matter (seed 004 §4). edited has the headings of sections with
// events.
func lost(name string, edited map[string]bool, old, present *grammar.Document) (wrong []string) {
	t, about := grammar.TypeOf(name)
	strict := t != nil && t.Strict
	for _, p := range old.Parts[1:] {
		// What a person no longer wants of a sweep, they remove with its heading.
		if !strict && !edited[p.Name] || name == workspace.MemoryFile && workspace.IsDreamed(p.Name) {
			continue
		}
		i := splice.Index(present, p.Name, p.Anchor.ID)
		if i < 0 {
			// Either the heading or the anchor may have been reworded: then the section is still there.
			i = slices.IndexFunc(present.Parts, func(q grammar.Part) bool {
				return q.Heading != "" && (q.Name == p.Name || p.Anchor.ID != "" && q.Anchor.ID == p.Anchor.ID)
			})
		}
		if i < 0 {
			// A section that was there before is no new name of the one that is gone.
			if j, ok := present.Reanchor(t, p.Name); ok {
				if q := present.Parts[j]; splice.Index(old, q.Name, q.Anchor.ID) < 0 {
					i = j
				}
			}
		}
		switch {
		case i < 0:
			wrong = append(wrong, fmt.Sprintf("the section ## %s is gone", p.Name))
		case strict && p.Anchor.ID != "" && present.Parts[i].Anchor.ID != p.Anchor.ID:
			wrong = append(wrong, fmt.Sprintf("the anchor of ## %s is missing or different", p.Name))
		}
	}
	if strict {
		before, _, _ := frontmatter.Split(old.Head)
		after, _, _ := frontmatter.Split(present.Head)
		have := identityFields(after)
		for _, field := range identityFields(before) {
			// A wrong id that is corrected is no drift.
			if !slices.Contains(have, field) && isOwn(field, about) {
				wrong = append(wrong, fmt.Sprintf("the front matter's %q is missing or different", field))
			}
		}
	}
	return wrong
}

// Scan looks at every file that was ever edited, records what was changed by hand and what cannot be replayed, and
// returns the drifts that the maintainer must decide about (seed 004 §10), in the order of the record.
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
		if err := e.catchUp(ctx, name); err != nil {
			return nil, err
		}
		if !e.state.files[name].known {
			continue
		}
		if r, err := e.replay(ctx, name, ""); err != nil {
			return nil, err
		} else if r.Broken != "" {
			if err := e.queue(ctx, name, r); err != nil {
				return nil, err
			}
		}
	}
	var drifts []Event
	for _, name := range names {
		drifts = append(drifts, e.state.files[name].drifts...)
	}
	slices.SortFunc(drifts, func(a, b Event) int { return e.state.inOrder(a.ID, b.ID) })
	return drifts, nil
}

// Drifts returns the recorded drifts that the maintainer must decide about, as Scan does, without looking at the files.
func (e *Editor) Drifts(ctx context.Context) (drifts []Event, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return nil, err
	}
	for _, f := range e.state.files {
		drifts = append(drifts, f.drifts...)
	}
	slices.SortFunc(drifts, func(a, b Event) int { return e.state.inOrder(a.ID, b.ID) })
	return drifts, nil
}

// Accept removes a file's drifts from the queue: the maintainer accepts the file as it is. It returns their number. A
// file without drift is a fault.
func (e *Editor) Accept(ctx context.Context, name, actor, why string) (int, error) {
	if err := e.checkReason("why", why); err != nil {
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.catchUp(ctx, name); err != nil {
		return 0, err
	}
	f := e.state.files[name]
	if f == nil || len(f.drifts) == 0 {
		return 0, noDrift(name)
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

// Restore writes back the text of a file before its first drift, with the edits made since. Changes by hand since then
// are left out; they remain in the record. If one of the edits cannot be applied to that text, the error names it and
// nothing is changed.
func (e *Editor) Restore(ctx context.Context, name, actor, why string) (err error) {
	if err := e.checkReason("why", why); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return err
	}
	if f := e.state.files[name]; f == nil || !f.known {
		return noDrift(name)
	}
	tx, err := e.begin(ctx, name)
	if err != nil {
		return err
	}
	defer tx.close(&err)
	for {
		if done, err := tx.restore(ctx, actor, why); done || err != nil {
			return err
		}
	}
}

// restore is one attempt of Restore. done is false if a person changed the file meanwhile.
func (tx *transaction) restore(ctx context.Context, actor, why string) (done bool, err error) {
	if err := tx.catchUp(ctx); err != nil {
		return false, err
	}
	f := tx.state.files[tx.name]
	if len(f.drifts) == 0 {
		return false, noDrift(tx.name)
	}
	events, err := tx.events(ctx, tx.name)
	if err != nil {
		return false, err
	}
	text, err := tx.textBeforeDrift(tx.name, events, f.drifts[0].ID, tx.present())
	if err != nil {
		return false, err
	}
	k, err := tx.key()
	if err != nil {
		return false, err
	}
	var decisions []Event // the last drift is restored, which also settles those before it
	for i, d := range f.drifts {
		event := tx.newEvent(tx.now(), OpAccept, tx.name)
		if i == len(f.drifts)-1 {
			event = tx.whole(k, tx.now(), OpRestore, tx.name, text)
			event.FileBefore = k.File(tx.present())
		}
		event.RefersTo, event.Actor, event.Rationale = d.ID, actor, oneLine(why)
		decisions = append(decisions, event)
	}
	return tx.commit(ctx, []byte(text), decisions[len(decisions)-1], k, decisions...)
}

func noDrift(name string) error {
	return fault.New("%s: the file has not drifted; run yamo-mcp drift list to see the drifted files", name)
}

// textBeforeDrift returns the text that a file would have without its changes by hand from the event called drift on:
// earlier events are replayed, later edits are applied to the result. present is the file's content now, whose Change
// Log is kept.
func (e *Editor) textBeforeDrift(name string, events []Event, drift string, present []byte) (string, error) {
	t, _ := grammar.TypeOf(name)
	var d *grammar.Document
	drifted := false
	for _, event := range events {
		switch {
		case event.ID == drift:
			drifted = true
		// These contain the whole text with the changes by hand, which is what is left out.
		case event.Op == OpSnapshot && drifted, event.Op == OpObserved && drifted, event.Op == OpDrift && drifted:
		case event.IsEdit() && drifted:
			// The Change Log is taken from the present file, see keepLog: entries about dropped changes stay as history.
			event.Changes = slices.DeleteFunc(event.Changes, func(c splice.Change) bool { return isChangeLog(c.Section) })
			k, err := e.keyOf(event.Integrity.SaltVersion)
			if err == nil {
				err = redo(k, d, t, event)
			}
			if err != nil {
				return "", fault.New("%s: the edits made since cannot be applied to the text before the drift: %v. Accept the "+
					"drift, or change the file by hand", name, err)
			}
		default:
			next, err := e.step(name, d, event)
			if halted, ok := errors.AsType[*splice.DriftError](err); ok {
				return "", fault.New("%s: the text before the drift cannot be reconstructed: %v. Accept the drift, or change "+
					"the file by hand", name, halted)
			}
			if err != nil {
				return "", err
			}
			d = next
		}
	}
	if d == nil {
		return "", fault.New("%s: the file had no text before the drift", name)
	}
	keepLog(d, t, grammar.Parse(string(present)))
	return d.String(), nil
}

// keepLog adds to the Change Log of d the entries that only present has. A day has one rollup, which is replaced by
// present's: the Change Log is a history, and restoring a text must not undo it.
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

// isChangeLog reports whether a heading is the Change Log's, in any letter case.
func isChangeLog(section string) bool {
	return grammar.Slug(section) == grammar.Slug(grammar.ChangeLog)
}

// logItems returns the entries of a file's Change Log.
func logItems(d *grammar.Document) []string {
	for _, p := range d.Parts[1:] {
		if isChangeLog(p.Name) {
			return grammar.Items(p.Body)
		}
	}
	return nil
}

// Dismiss records that the owner wants none of the memories called refs promoted to a file, so that no sweep offers
// them again. The file stays as it is. An id that cannot be cited is a fault, and then nothing is recorded.
func (e *Editor) Dismiss(ctx context.Context, name string, refs []string, actor string) (Event, error) {
	event := e.newEvent(e.now(), OpDismiss, name)
	event.Actor = actor
	for _, ref := range refs {
		token, err := grammar.ParseToken(ref)
		if err != nil || token.MemoryID() != ref {
			return Event{}, fault.New("reject: %q is not the id of a memory; yamo-mcp dream --review lists them", ref)
		}
		event.Evidence = append(event.Evidence, token.String())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return Event{}, err
	}
	k, err := e.key()
	if err != nil {
		return Event{}, err
	}
	if err := e.record(ctx, k, event); err != nil {
		return Event{}, fmt.Errorf("record what was rejected: %w", err)
	}
	return event, nil
}

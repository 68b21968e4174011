package edit

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/workspace/edit/splice"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// today returns what the rollup of a file counts on a day, oldest first, and was, its text as the file has it. The
// rollup of a user's overview also counts the edits of the user's parts and relationships (seed 004 §6).
func (s *state) today(name string, now time.Time) (today []grammar.Done, was string) {
	day := now.UTC().Format(time.DateOnly)
	own := s.files[name]
	if own == nil || own.day != day {
		own = newFile()
	}
	list, last := slices.Clone(own.done), int64(0) // last is the line of the event that wrote the rollup
	for _, c := range own.done {
		last = max(last, c.seq)
	}
	for _, seq := range own.rolled {
		last = max(last, seq)
	}
	var undone []counted // which the rollup still has
	if isOverview(name) {
		_, about := grammar.TypeOf(name)
		for other, f := range s.files {
			t, of := grammar.TypeOf(other)
			if other == name || f.day != day || of.UserID != about.UserID || t == nil || !t.Strict {
				continue
			}
			named := func(c counted) counted {
				c.Of = t.Title + " " + of.ID
				return c
			}
			for _, c := range f.done {
				list = append(list, named(c))
			}
			for id, c := range f.undone {
				if s.seqs[id] > last {
					undone = append(undone, named(c))
				}
			}
		}
	}
	bySeq := func(a, b counted) int { return cmp.Compare(a.seq, b.seq) }
	slices.SortFunc(list, bySeq)
	before := slices.Concat(list, undone)
	slices.SortFunc(before, bySeq)
	var written []grammar.Done
	for _, c := range before {
		if c.seq <= last {
			written = append(written, c.Done)
		}
	}
	for _, c := range list {
		today = append(today, c.Done)
	}
	return today, grammar.Rollup(now, written)
}

// isOverview reports whether a file is the overview of a user.
func isOverview(name string) bool {
	_, about := grammar.TypeOf(name)
	return about.Type == "user" && strings.HasPrefix(name, grammar.Folder+"/")
}

// overviewOf returns the overview whose rollup counts the edits of a file, "" for none.
func overviewOf(name string) string {
	t, about := grammar.TypeOf(name)
	overview := grammar.Folder + "/" + about.UserID + "/overview.md"
	if t == nil || !t.Strict || isOverview(name) || !isOverview(overview) {
		return ""
	}
	return overview
}

// rollOverview brings the day's rollup in the overview of a user up to date after an edit of one of their parts or
// relationships (seed 004 §6). The edit is made by then: what keeps the overview from being written is only logged, and
// the next edit tries again. e.mu is held.
func (e *Editor) rollOverview(ctx context.Context, made Event) {
	name := overviewOf(made.File)
	if name == "" || made.Op == OpPropose {
		return
	}
	if err := e.roll(ctx, name, made); err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.opt.Logger.Warn("bring the rollup of an overview up to date", "error", err)
	}
}

// roll writes the day's rollup of a file, in an event of its own, because of the event made.
func (e *Editor) roll(ctx context.Context, name string, made Event) (err error) {
	tx, err := e.begin(ctx, name)
	if err != nil {
		return err
	}
	defer tx.close(&err)
	for {
		if done, err := tx.roll(ctx, made); done || err != nil {
			return err
		}
	}
}

// roll is one attempt of Editor.roll. done is false if a person changed the file meanwhile.
func (tx *transaction) roll(ctx context.Context, made Event) (done bool, err error) {
	if tx.present() == nil || tx.pinned(tx.name, grammar.ChangeLog, "", grammar.AppendItem) == OpLock {
		return true, nil
	}
	if err := tx.catchUp(ctx); err != nil {
		return false, err
	}
	k, err := tx.key()
	if err != nil {
		return false, err
	}
	now := tx.now()
	today, was := tx.state.today(tx.name, now)
	rollup := grammar.Rollup(now, today)
	if rollup == was || rollup == "" {
		return true, nil
	}
	text := string(tx.present())
	var events []Event
	if f := tx.state.files[tx.name]; f == nil || !f.known || f.after == "" || len(f.tail) >= snapshotEvery {
		events = append(events, tx.whole(k, now, OpSnapshot, tx.name, text))
	}
	event := tx.newEvent(now, string(grammar.AppendItem), tx.name)
	t, _ := grammar.TypeOf(tx.name)
	before, d := grammar.Parse(text), grammar.Parse(text)
	d.Record(t, was, rollup)
	d.Touch(event.time())
	event.Touched = d.Head != before.Head
	event.Rollup, event.Actor, event.Origin = true, made.Actor, made.Origin
	event.Rationale = "the rollup of the day, with " + made.File
	data := []byte(d.String())
	event.Changes = splice.Between(k, before, grammar.Parse(string(data)))
	event.FileBefore, event.FileAfter = k.File(tx.present()), k.File(data)
	for _, c := range event.Changes {
		if isChangeLog(c.Section) {
			event.Section, event.Anchor, event.Before, event.After = c.Section, c.Anchor, c.Before, c.After
		}
	}
	return tx.commit(ctx, data, event, k, append(events, event)...)
}

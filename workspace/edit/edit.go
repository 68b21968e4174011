// Package edit changes workspace files section by section and keeps the record of it (seed 004): who changed
// what, when and why, what the agent proposes and the human decides, and how any earlier text is made again. It is
// for direct conversations alone.
//
// The record is an append-only ledger, private/edits.ndjson. Its invariant: an edit is in the record, on
// disk, before the file is replaced, and a file is at any time what replaying its events gives, or the
// difference is noticed, recorded and, where it is not an ordinary change by hand, flagged as drift.
//
// Files are changed through workspace.View.Update only, whose lock makes edits of several processes one after
// the other. An edit that was interrupted between the record and the file is finished by whoever is next.
package edit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// MaxFile is how many bytes a file may have to be edited: its whole text has to fit into a line.
const MaxFile = 1 << 20

// Options are an Editor's settings. View and Dir are required.
type Options struct {
	View *workspace.View // of a DM
	Dir  string          // the .yamo folder of its workspace
	// Memory reports whether there is a memory with that id, for evidence tokens. Nil takes every id for one.
	Memory func(ctx context.Context, id string) error
	Now    func() time.Time // nil is time.Now
	Rand   io.Reader        // of ids; nil is crypto/rand
	Logger *slog.Logger     // nil discards
}

// Editor edits the files of one workspace. It is safe for concurrent use, beside those of other processes.
type Editor struct {
	opt    Options
	keys   *keys
	ledger *ledger.Ledger

	mu    sync.Mutex
	state *state

	crash func(at string) bool // of tests: whether to stop as if killed, when it is "recorded" or "replaced"
}

// Open returns the editor of a workspace. It touches no file. A group's view is refused as a missing file is.
func Open(opt Options) (*Editor, error) {
	// SECURITY: the record of edits is private, and so is most of what is edited.
	if !opt.View.Audience().IsDM() {
		return nil, fmt.Errorf("open the record of edits: %w", fs.ErrNotExist)
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Rand == nil {
		opt.Rand = rand.Reader
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	e := &Editor{opt: opt, keys: &keys{dir: filepath.Join(opt.Dir, "private", "edits.keys")}}
	e.reset()
	return e, nil
}

// reset forgets what was read.
func (e *Editor) reset() { e.ledger, e.state = e.newLedger(), newState() }

// newLedger reads the record from its beginning.
func (e *Editor) newLedger() *ledger.Ledger {
	return ledger.New(ledger.Options{
		Path: e.path(), Lock: filepath.Join(e.opt.Dir, "locks", "edits.lock"), Now: e.opt.Now,
		Key: func() ([]byte, error) { return ledger.LoadOrCreateKey(filepath.Join(e.opt.Dir, "key")) },
	})
}

func (e *Editor) path() string { return filepath.Join(e.opt.Dir, "private", "edits.ndjson") }

// Request is an edit that is asked for.
type Request struct {
	File string // relative to the workspace
	grammar.Edit
	// Retire are items that a curate_items takes away; Items are then those that it adds, and what else the list has
	// stays, also what another process adds meanwhile.
	Retire   []string
	Dated    *time.Location // not nil: items that begin with no date get the day of the edit there, see Result.Items
	Refs     []string       // evidence: tokens, ids of events or memories; they become Edit.Evidence
	Expected string         // the section's hash as it was read; "" for whatever it is
	Key      string         // idempotency key: asked for twice with the same, an edit is made once
	Call     string         // the host's id of the tool call, "" if it has none
	Actor    string         // the agent's id
	Propose  bool           // the human is to decide about it: nothing but the record is written

	decided    *decided // it is a proposal that the human accepts
	subsection string   // of Extensions, which grammar.Promote moves
}

// text is what makes a request the same as another one with its idempotency key: also on another day, for items that
// are dated here.
func (q Request) text() string {
	parts := append([]string{q.File, string(q.Op), q.Section, q.Content, q.Rationale}, q.Items...)
	for _, item := range q.Retire {
		parts = append(parts, "\x00"+item) // two separators: no item begins with one
	}
	return strings.Join(parts, "\x00")
}

var beginsWithDate = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}\b`)

// dated are the items of an edit at a time.
func (q Request) dated(at time.Time) []string {
	if q.Dated == nil {
		return q.Items
	}
	items := slices.Clone(q.Items)
	for i, item := range items {
		if !beginsWithDate.MatchString(item) {
			items[i] = at.In(q.Dated).Format(time.DateOnly) + ": " + item
		}
	}
	return items
}

// Result is what an edit came to.
type Result struct {
	Event    Event // without its texts
	Snapshot string
	Items    []string // the request's, with the dates that they got
	Match    grammar.Match
	Repeated bool      // an earlier request with the same key was it
	Proposal *Proposal // what became of it, if it is a proposal; nil for an edit
}

// errNothing ends an Update that has nothing to write.
var errNothing = errors.New("nothing to write")

// pendingError says that an edit of a file was interrupted and has to be settled first.
type pendingError struct{ file string }

func (e *pendingError) Error() string {
	return "an interrupted edit of " + e.file + " has to be finished first"
}

// Edit performs one edit, or records it as a proposal. When it returns without an error the edit is on disk, in the
// record and in the file. What the model can correct is a fault; then nothing was written.
func (e *Editor) Edit(ctx context.Context, q Request) (Result, error) {
	if err := q.Op.Check(); err != nil {
		return Result{}, err
	}
	if path.Ext(q.File) != ".md" {
		return Result{}, fault.New("file: only Markdown files of the workspace are edited, named relative to it, such as MEMORY.md")
	}
	if q.Section == "@front-matter" || strings.HasPrefix(q.Section, "---") {
		return Result{}, fault.New("section: front matter is not edited (seed 004 §4)")
	}
	if err := e.opt.View.CheckText(strings.Join([]string{q.Rationale, q.Override, q.Key, q.Section}, "\n")); err != nil {
		return Result{}, fault.New("rationale: %v", err)
	}
	if err := e.resolveAll(ctx, &q); err != nil {
		return Result{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	a, err := e.attempt(ctx, q)
	switch {
	case errors.Is(err, errNothing):
		return e.repeat(ctx, a.result)
	case errors.Is(err, errProposed):
		return e.proposed(a.result), nil
	case err != nil:
		return Result{}, err
	}
	return a.result, nil
}

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

// index is the part of d with that heading and anchor, else the first with the heading and none, -1 for neither.
func index(d *grammar.Document, section, anchor string) int {
	if section == "" {
		return 0
	}
	found := -1
	for i, p := range d.Parts {
		switch {
		case i == 0 || p.Name != section:
		case p.Anchor.ID == anchor:
			return i
		case p.Anchor.ID == "" && found < 0:
			found = i
		}
	}
	return found
}

// maxExcerpt is how much of a section is shown, in characters.
const maxExcerpt = 4000

// Excerpt is the beginning of a text, without blank lines around it.
func Excerpt(text string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if utf8.RuneCountInString(text) <= maxExcerpt {
		return text
	}
	runes := []rune(text)
	return string(runes[:maxExcerpt]) + "\n[truncated]"
}

// oneLine is a text in one line, without what a terminal would obey instead of showing it.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, text)), " ")
}

// explain makes faults of the errors of View.Update that the model can do something about.
func explain(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission) && (name == workspace.SoulFile || name == workspace.IdentityFile):
		return fault.New("file: %s is who the agent is; a person changes it, with yamo-mcp reconfigure", name)
	case errors.Is(err, fs.ErrPermission):
		return fault.New("file: %s is not edited; what happened goes into the day's log, with log_append", name)
	case errors.Is(err, fs.ErrNotExist):
		return fault.New("file: the workspace has no file that could be called %s; name it relative to the workspace, such as MEMORY.md, notes/NAME.md or users/ID/overview.md", name)
	case errors.Is(err, workspace.ErrCredentials):
		return fault.New("content: %v. Nothing was written", workspace.ErrCredentials)
	}
	_, corrupt := errors.AsType[*ledger.CorruptError](err)
	if _, keyless := errors.AsType[noKeyError](err); corrupt || keyless {
		return fault.New("the record of edits is damaged, so nothing was written. Tell your human: yamo-mcp record verify says where, and a backup of .yamo/private has to be restored")
	}
	return err
}

// now is the time as events have it.
func (e *Editor) now() time.Time { return e.opt.Now().UTC().Truncate(time.Millisecond) }

// note is what a record of the files says of an event.
func note(e Event) workspace.Note {
	n := workspace.Note{Subject: e.File + ": " + e.Op, Body: e.Rationale}
	if e.Section != "" {
		n.Subject += " in " + e.Section
	}
	if e.Override != "" {
		n.Body += "\n\nOver the cap: " + e.Override
	}
	n.Trailers = append(n.Trailers, "Event: "+e.Token())
	for _, token := range e.Evidence {
		n.Trailers = append(n.Trailers, "Evidence: "+token)
	}
	return n
}

// newEvent is an event that says what all have to.
func (e *Editor) newEvent(now time.Time, op, name string) Event {
	_, entity := grammar.TypeOf(name)
	id := ulid.MustNew(ulid.Timestamp(now), e.opt.Rand) // fails for years beyond 10889 alone, or without randomness
	return Event{
		ID: id.String(), Time: now.Format(timeForm), Op: op, File: name,
		UserID: entity.UserID, EntityType: entity.Type, EntityID: entity.ID, Evidence: []string{},
	}
}

// whole is an event with the whole text of a file.
func (e *Editor) whole(k key, now time.Time, op, name, text string) Event {
	event := e.newEvent(now, op, name)
	event.Base, event.FileAfter = &text, k.file([]byte(text))
	return event
}

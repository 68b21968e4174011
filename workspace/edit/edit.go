// Package edit changes workspace files section by section and keeps the record of it (seed 004): who changed
// what, when and why, what the agent proposes and the human decides, and how any earlier text is made again. It is
// for direct conversations only.
//
// The record is an append-only ledger, private/edits.ndjson. Its invariant: an edit is in the record, on
// disk, before the file is replaced, and a file is at any time what replaying its events gives, or the
// difference is noticed, recorded and, where it is not an ordinary change by hand, flagged as drift.
//
// Files are changed through a workspace.Transaction only, whose lock makes edits of several processes one after
// the other. An edit that was interrupted between the record and the file is finished by the next process.
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
	Origin   Origin         // what asks; the zero value is a session
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

// Edit performs one edit, or records it as a proposal. When it returns without an error the edit is on disk, in the
// record and in the file. What the model can correct is a fault; then nothing was written.
func (e *Editor) Edit(ctx context.Context, q Request) (Result, error) {
	if err := q.Op.Check(); err != nil {
		return Result{}, err
	}
	if path.Ext(q.File) != ".md" {
		return Result{}, fault.New("file: only Markdown files of the workspace are edited, named relative to it, such as " +
			"MEMORY.md")
	}
	if strings.HasPrefix(q.Section, "---") {
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
	case err != nil:
		return Result{}, err
	case a.result.Repeated:
		return e.repeat(ctx, a.result)
	case q.Propose:
		return e.proposed(a.result), nil
	}
	return a.result, nil
}

// ReadOnlyError means that a file of the workspace is read and not edited, such as a daily log. It is a fault.
type ReadOnlyError struct{ File string }

// Error names the file, and what can be written instead.
func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("file: %s is not edited; what happened goes into the day's log", e.File)
}

// Unwrap returns the error as a fault, so that a client sees it.
func (e *ReadOnlyError) Unwrap() error { return fault.New("%s", e.Error()) }

// explain makes faults of the errors of a transaction that the model can do something about.
func explain(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission) && (name == workspace.SoulFile || name == workspace.IdentityFile):
		return fault.New("file: %s is who the agent is; a person changes it, with yamo-mcp reconfigure", name)
	case errors.Is(err, fs.ErrPermission):
		return &ReadOnlyError{File: name}
	case errors.Is(err, fs.ErrNotExist):
		return fault.New("file: the workspace has no file that could be called %s; name it relative to the workspace, "+
			"such as MEMORY.md, notes/NAME.md or users/ID/overview.md", name)
	case errors.Is(err, workspace.ErrCredentials):
		return fault.New("content: %v. Nothing was written", workspace.ErrCredentials)
	}
	_, corrupt := errors.AsType[*ledger.CorruptError](err)
	if _, keyless := errors.AsType[noKeyError](err); corrupt || keyless {
		return fault.New("the record of edits is damaged, so nothing was written. Tell your human: yamo-mcp record verify " +
			"says where, and a backup of .yamo/private has to be restored")
	}
	return err
}

// Package edit changes workspace files section by section and records every change (seed 004): who changed what, when
// and why, what the agent proposes and the owner decides, and how to restore any earlier text. It is for direct
// conversations only.
//
// The record is an append-only ledger, private/edits.ndjson. Its invariant: an edit is in the record, on disk, before
// the file is replaced. A file always equals the replay of its events, or the difference is noticed and recorded; a
// difference that is not an ordinary change by hand is flagged as drift (seed 004 §10).
//
// The order of a write, which makes any crash recoverable: the new text is staged under another name, the event is
// appended to the record and synced, the file is renamed. Before the record nothing has happened; after it, the next
// process completes the edit from its event (see Recover).
//
// Files are changed only through a workspace.Transaction, whose lock serializes the edits of all processes.
package edit

import (
	"cmp"
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
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/internal/sysclock"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/applied"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// MaxFile is the maximum size of a file that can be edited, in bytes: its whole text must fit into a line of the
// record.
const MaxFile = 1 << 20

// Options are an Editor's settings. View and Dir are required.
type Options struct {
	View *workspace.View // of a DM
	Dir  string          // the .yamo folder of its workspace
	// Heads is a folder outside of the workspace that notes the record's last entry, "" for none.
	Heads string
	// Memory returns the text of the memory with the id, and an error if there is none, to check evidence. Nil accepts
	// every id, and every quote.
	Memory func(ctx context.Context, id string) (text string, err error)
	Logs   *transcript.View // session logs whose turns are cited; nil for none
	Now    func() time.Time // nil is time.Now
	Rand   io.Reader        // for ids; nil is crypto/rand
	Logger *slog.Logger     // nil discards
}

// Editor edits the files of one workspace. It is safe for concurrent use, also with the editors of other processes.
type Editor struct {
	opt    Options
	keys   *seal.Keys
	ledger *ledger.Ledger

	mu    sync.Mutex
	state *state
	seen  readings
	done  int64 // the last line of the record that is known to be in its file, where the note cannot be written

	crash func(at string) bool // set by tests: whether to stop as if killed, at "recorded" or "replaced"
}

// Open returns the editor of a workspace. It touches no file. For a group's view the error is fs.ErrNotExist.
func Open(opt Options) (*Editor, error) {
	// SECURITY: the record of edits is private, and so is most of what is edited.
	if !opt.View.Audience().IsDM() {
		return nil, fmt.Errorf("open the record of edits: %w", fs.ErrNotExist)
	}
	if opt.Now == nil {
		opt.Now = sysclock.Now
	}
	if opt.Rand == nil {
		opt.Rand = rand.Reader
	}
	opt.Logger = cmp.Or(opt.Logger, slog.New(slog.DiscardHandler))
	e := &Editor{opt: opt, keys: seal.NewKeys(filepath.Join(opt.Dir, "private", "edits.keys"), opt.Logger)}
	e.reset()
	return e, nil
}

// reset forgets what was read from the record.
func (e *Editor) reset() { e.ledger, e.state, e.done = e.newLedger(), newState(), 0 }

// newLedger returns a ledger that reads the record from its beginning.
func (e *Editor) newLedger() *ledger.Ledger {
	return ledger.New(ledger.Options{
		Head: e.head(), Path: e.path(), Name: ledgerName, Lock: filepath.Join(e.opt.Dir, "locks", "edits.lock"),
		Now: e.opt.Now, Logger: e.opt.Logger, Key: func(create bool) ([]byte, error) {
			memory, err := filepath.Glob(filepath.Join(e.opt.Dir, "groups", "*", "ledger.ndjson"))
			for _, name := range []string{"private", "shared"} {
				memory = append(memory, filepath.Join(e.opt.Dir, name, "ledger.ndjson"))
			}
			if err != nil {
				return nil, err
			}
			return ledger.KeyOf(filepath.Join(e.opt.Dir, "key"), create, e.opt.Logger, memory...)
		},
	})
}

// ledgerName is the name of the record's ledger, which is in each of its lines.
const ledgerName = "edits"

// head returns the file that notes the record's last line, "" if none is kept.
func (e *Editor) head() string { return applied.Head(e.opt.Heads) }

func (e *Editor) path() string { return applied.Record(e.opt.Dir) }

// Request is the request for one edit.
type Request struct {
	File string // relative to the workspace
	grammar.Edit
	// Retire lists items that curate_items removes. Items are then those that it adds, and the list's other items stay,
	// including those that another process adds meanwhile.
	Retire   []string
	Unique   bool           // leave out items that the file has already
	Preview  bool           // write nothing: only find out whether the edit would be refused
	Session  string         // the client's session, whose last edit UndoLast takes back
	Dated    *time.Location // if not nil, items without a date begin with the day of the edit there, see Result.Items
	Refs     []string       // evidence: tokens, ids of events or memories; they become Edit.Evidence
	Expected string         // hash of the section as the caller read it; "" accepts any content
	Key      string         // idempotency key: requests with the same key are one edit
	Call     string         // the host's id of the tool call, "" if it has none
	Actor    string         // the agent's id
	Origin   Origin         // the zero value means a session
	Propose  bool           // only record the edit, as a proposal for the owner to decide about
	// Consent is how a person agreed to an edit of a file that groups read: "person" for a dialog of the host. Without it
	// a session's edit of such a file is a proposal.
	Consent string

	decided    *decided // the proposal that this request accepts
	subsection string   // of Extensions, which grammar.Promote moves
	same       string   // what identifies an offered statement, "" for what is no offer
	rest       bool     // of an undo, see UndoRest
	tidies     bool     // remove the section, an empty one of a sweep, see Tidy
	asked      string   // what text returns, set before evidence is added to the items
}

// text returns what must be equal in two requests with the same idempotency key. Dates that are added here are not part
// of it: a retry after midnight is still the same request.
func (q Request) text() string {
	if q.asked != "" {
		return q.asked
	}
	parts := append([]string{q.File, string(q.Op), q.Section, q.Content, q.Rationale}, q.Items...)
	for _, item := range q.Retire {
		parts = append(parts, "\x00"+item) // two separators: no item begins with one
	}
	return strings.Join(parts, "\x00")
}

var beginsWithDate = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}\b`)

// dated returns the items with the dates that they get at a time.
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

// Result describes an edit that was made or proposed.
type Result struct {
	Event    Event    // without its texts
	Snapshot string   // the section's text afterwards, cut to an excerpt
	Items    []string // the request's, with the dates that they got
	Match    grammar.Match
	Repeated bool // an earlier request with the same key made the edit
	// Paraphrased are new items of evidence that do not quote what they cite; the file has them marked so.
	Paraphrased []string
	Proposal    *Proposal // its present state, nil for an edit
}

// Edit makes one edit, or records it as a proposal. When it returns nil, the edit is on disk, in the record and in the
// file. Errors that the model can correct are faults, and then nothing was written: among them *PinnedError and
// *ReadOnlyError. The caller may repeat a request with the same Key after any error.
func (e *Editor) Edit(ctx context.Context, q Request) (Result, error) {
	if err := q.Op.Check(); err != nil {
		return Result{}, err
	}
	t, _ := grammar.TypeOf(q.File)
	q.Section = t.Canonical(q.Section)
	if path.Ext(q.File) != ".md" {
		return Result{}, fault.New("file: must be a Markdown file of the workspace, relative to it, such as MEMORY.md")
	}
	if strings.HasPrefix(q.Section, "---") {
		return Result{}, fault.New("section: front matter is not edited (seed 004 §4)")
	}
	if err := e.opt.View.CheckText(strings.Join([]string{q.Rationale, q.Override, q.Key, q.Section}, "\n")); err != nil {
		return Result{}, fault.New("rationale: %v", err)
	}
	q.asked = q.text()
	paraphrased, err := e.resolveAll(ctx, &q)
	if err != nil {
		return Result{}, err
	}
	// SECURITY: every group reads these files, and every session follows them. What a session can be talked into does not
	// get there unless a person has seen it.
	if workspace.IsPublic(q.File) && q.Consent == "" && (q.Origin.Source == "" || q.Origin.Source == FromSession) {
		q.Propose = true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	a, err := e.attempt(ctx, q)
	if err != nil || q.Preview {
		return Result{}, err
	}
	a.result.Paraphrased = paraphrased
	switch {
	case a.result.Repeated && q.same != "":
		return a.result, nil
	case a.result.Repeated:
		return e.repeat(ctx, a.result)
	case q.Propose:
		return e.proposed(a.result), nil
	}
	e.seen.edited(q, a)
	e.rollOverview(ctx, a.result.Event)
	return a.result, nil
}

// ReadOnlyError means that a file of the workspace cannot be edited, such as a daily log. It is a fault.
type ReadOnlyError struct{ File string }

// Error names the file, and where to write instead.
func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("file: %s cannot be edited; use the daily log for events", e.File)
}

// Unwrap returns the error as a fault, so that a client sees it.
func (e *ReadOnlyError) Unwrap() error { return fault.New("%s", e.Error()) }

// explain turns errors of a transaction that the model or the owner can act on into faults.
func explain(name string, err error) error {
	if refused, ok := errors.AsType[*workspace.RefusedError](err); ok {
		return fault.New("file: %v, so it cannot be edited. Ask the workspace owner to put a plain file there", refused)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return err // of the system; it is an fs.ErrPermission too, but not one of the rules for files
	case errors.Is(err, workspace.ErrTooLarge):
		return fault.New("file: %s: the %v; ask the workspace owner to split it", name, workspace.ErrTooLarge)
	case errors.Is(err, fs.ErrPermission) && (name == workspace.SoulFile || name == workspace.IdentityFile):
		return fault.New("file: %s defines the agent and cannot be edited; the user can replace it with yamo-mcp reconfigure",
			name)
	case errors.Is(err, fs.ErrPermission):
		return &ReadOnlyError{File: name}
	case errors.Is(err, fs.ErrNotExist):
		return fault.New("file: %s is not a valid file name here; use a path relative to the workspace: MEMORY.md, USER.md, "+
			"AGENTS.md, TOOLS.md, HEARTBEAT.md, notes/NAME.md, or of a person users/kate/overview.md, of a part "+
			"users/kate/parts/guard/profile.md, of a relationship users/kate/relationships/guard-child/profile.md, or the "+
			"notes.md next to one of these three", name)
	case errors.Is(err, workspace.ErrCredentials):
		return fault.New("content: %v. Nothing was written", workspace.ErrCredentials)
	}
	if errors.Is(err, ledger.ErrNoKey) {
		return fault.New("the key of the record of edits is missing, so nothing was written. Ask the workspace owner to " +
			"restore .yamo/key from a backup, or to run yamo-mcp ledger rekey")
	}
	return damage(err)
}

// maxExcerpt is the maximum length of an excerpt in characters, without its mark.
const maxExcerpt = 4000

// Excerpt returns the first 4,000 characters of a text without blank lines around it, and a mark if that is not all.
func Excerpt(text string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if utf8.RuneCountInString(text) <= maxExcerpt {
		return text
	}
	runes := []rune(text)
	return string(runes[:maxExcerpt]) + "\n[truncated]"
}

// oneLine returns s in one line, as in the file's Change Log, without characters that a terminal would obey.
func oneLine(s string) string { return text.OneLine(text.Plain(s)) }

// maxReason is the maximum number of characters of a person's reason, as of those that the tools take.
const maxReason = 500

// checkReason returns a fault that names field for a reason that is too long or has a credential: the record keeps it.
func (e *Editor) checkReason(field, reason string) error {
	if n := utf8.RuneCountInString(reason); n > maxReason {
		return fault.New("%s: a reason has at most %d characters, and this has %d; nothing was changed", field, maxReason, n)
	}
	if err := e.opt.View.CheckText(reason); err != nil {
		return fault.New("%s: %v", field, err)
	}
	return nil
}

package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/cite"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/applied"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Verified is the result of Verify.
type Verified struct {
	ledger.Report
	Events  int64
	Missing *ledger.Missing // what the record lacks of what this machine has seen; nil for nothing
}

// Verify checks every line of the record: its place in the ledger's chain, and its line hash with the key of its salt
// version. The error names the first line that is not as it was written.
func (e *Editor) Verify(ctx context.Context) (Verified, error) {
	var secret []byte
	var err error
	if secret, err = ledger.LoadKey(filepath.Join(e.opt.Dir, "key"), e.opt.Logger); err != nil {
		secret = nil // nothing was ever written, or the key is lost
	}
	// Two checks: the chain shows that no line is missing or moved, the line hashes that each was made with the key.
	report, err := ledger.Verify(ctx, e.path(), ledgerName, secret)
	if err != nil {
		return Verified{}, err
	}
	if report.Bad != nil {
		return Verified{Report: report}, fmt.Errorf("line %d of the record of edits: %w", report.Bad.Line, report.Bad.Err)
	}
	if report.Keyless {
		return Verified{Report: report}, fmt.Errorf("%w: restore .yamo/key from a backup, or run `yamo-mcp ledger rekey`",
			ledger.ErrNoKey)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	events, err := e.readEvents(ctx, nil, func(Event) bool { return true })
	if damaged, ok := errors.AsType[*DamagedError](err); ok {
		err = damaged.Cause
	}
	if err != nil {
		return Verified{Report: report}, err
	}
	// A chain that was cut at its end is a valid chain. What this machine has seen counts lines that write no file too.
	missing, err := ledger.CheckHead(e.head(), e.path())
	if err == nil && missing == nil {
		err = applied.Check(e.opt.Dir)
	}
	if err == nil && missing == nil && len(events) == 0 {
		err = Unrecorded(e.opt.View)
	}
	return Verified{report, int64(len(events)), missing}, err
}

// sweepHeading begins the headings that only a sweep writes into MEMORY.md.
const sweepHeading = "Dreamed "

// Unrecorded returns an error if MEMORY.md has what a sweep wrote, for a workspace whose record of edits is empty or
// missing: a sweep records what it writes, so that the record was deleted, or the file was copied without it.
func Unrecorded(view *workspace.View) error {
	data, err := view.Read(workspace.MemoryFile)
	if err != nil {
		return nil //nolint:nilerr // a missing file has nothing of a sweep, and lint reports one that cannot be read
	}
	for _, name := range grammar.Parse(string(data)).Sections() {
		if strings.HasPrefix(name, sweepHeading) {
			return fmt.Errorf("no edit is recorded, but a sweep wrote the section %q of %s: the record of edits was deleted, "+
				"or the file was copied without .yamo/private; restore it from a backup, or rename the section", name,
				workspace.MemoryFile)
		}
	}
	return nil
}

// CheckEvidence returns a finding for each evidence token in the workspace's files that leads nowhere, and for each
// quote that does not occur in what its item cites (seed 004 §5). The tokens of turns are checked only with
// Options.Logs: hosts delete session logs, and not each command knows their folder.
func (e *Editor) CheckEvidence(ctx context.Context) (list []workspace.Finding, err error) {
	const rule = "seed 004 §5"
	for _, name := range e.opt.View.Quotable() {
		data, err := e.opt.View.Read(name)
		if err != nil {
			continue // missing, or refused, which lint reports
		}
		checked := map[string]bool{} // items
		for _, c := range grammar.Citations(name, string(data)) {
			if _, _, isTurn := c.Token.Turn(); isTurn && e.opt.Logs == nil {
				continue
			}
			_, _, err := e.Source(ctx, c.Token)
			if gone, ok := fault.As(err); ok {
				_, _, isPassage := c.Token.Passage()
				_, _, isTurn := c.Token.Turn()
				list = append(list, workspace.Finding{
					// What was deleted or reworded since was evidence once; an event is never deleted from the record.
					File: name, Line: c.Line, Rule: rule, Error: c.Token.MemoryID() == "" && !isPassage && !isTurn,
					Message: fmt.Sprintf("the evidence leads nowhere: %s", strings.TrimPrefix(gone.Error(), "id: ")),
				})
				continue
			}
			if err != nil {
				return nil, err
			}
			if c.Item == "" || checked[c.Item] || grammar.IsParaphrase(c.Item) {
				continue
			}
			checked[c.Item] = true
			if ok, err := e.faithful(ctx, c.Item); err != nil {
				return nil, err
			} else if !ok {
				list = append(list, workspace.Finding{
					File: name, Line: c.Line, Rule: rule, Message: "the item does not prove what it says: it must be " +
						"one quote, of three words or more, from what it cites, and outside of it only who said it and when; or mark " +
						"it: (paraphrase; ev:…)",
				})
			}
		}
	}
	return list, nil
}

// faithful reports whether what an item of evidence cites proves it. It is true if that is not known.
func (e *Editor) faithful(ctx context.Context, item string) (bool, error) {
	var sources []string
	for _, token := range grammar.Tokens(item) {
		source, known, err := e.Source(ctx, token)
		switch _, gone := fault.As(err); {
		case gone, err == nil && !known:
			return true, nil
		case err != nil:
			return false, err
		}
		sources = append(sources, source)
	}
	return cite.Proves(item, sources), nil
}

// CheckDrift returns a finding for each file with a drift that the maintainer has not decided about (seed 004 §10),
// whether the record has it already or not. It writes nothing.
func (e *Editor) CheckDrift(ctx context.Context) (list []workspace.Finding, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return nil, err
	}
	add := func(name, why string) {
		list = append(list, workspace.Finding{
			File: name, Error: true, Rule: "seed 004 §10",
			Message: "the file has drifted: " + why + "; run yamo-mcp diff, then yamo-mcp drift accept or restore",
		})
	}
	for _, name := range slices.Sorted(maps.Keys(e.state.files)) {
		f := e.state.files[name]
		for _, d := range f.drifts {
			add(name, d.Rationale)
		}
		if !f.known {
			continue
		}
		data, err := e.opt.View.Read(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // refused, which lint reports
		}
		if !e.unchanged(f, data) {
			k, err := e.key()
			if err != nil {
				return nil, err
			}
			if seen, err := e.observe(k, e.now(), name, data); err != nil {
				return nil, err
			} else if seen.Op == OpDrift {
				add(name, seen.Rationale)
			}
		}
		r, err := e.replay(ctx, name, "")
		if err != nil {
			return nil, err
		}
		queued := slices.ContainsFunc(f.drifts, func(d Event) bool { return d.RefersTo == r.Broken })
		if r.Broken != "" && !queued {
			add(name, "the record cannot be replayed: "+r.Drift.Rationale)
		}
	}
	return list, nil
}

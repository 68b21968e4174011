package mesh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/cache"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/rescan"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Maintenance checks, repairs and reports on the compartments of a View, for the operator's commands.
type Maintenance struct{ view *View }

// Maintenance returns the maintenance of the compartments that the audience may see.
func (v *View) Maintenance() Maintenance { return Maintenance{v} }

// CacheStats returns the counts of the cache of search results. The vectors of queries are cached by the Embedder.
func (m Maintenance) CacheStats() cache.Stats { return m.view.answers.Stats() }

// Check compares the vectors and tables of every compartment the audience may see with the ledger, row by row,
// and changes nothing. report, which may be nil, is called with the rows read. The error is for what prevents
// reading; what is wrong with the data is in the reports, in the order private (or the group's own), shared,
// the groups by name.
func (m Maintenance) Check(
	ctx context.Context, report func(compartment string, done, total int),
) ([]index.Report, error) {
	if report == nil {
		report = func(string, int, int) {}
	}
	names, err := m.view.visible()
	if err != nil {
		return nil, err
	}
	var reports []index.Report
	for _, name := range names {
		r := index.Report{Compartment: name, Problems: []string{}}
		err := m.view.withCompartment(ctx, name, func(c *compartment) error {
			r = index.Report{Compartment: name, Problems: []string{}}
			return m.check(ctx, c, &r, func(done, total int) { report(string(name), done, total) })
		})
		if corrupt, ok := errors.AsType[*ledger.CorruptError](err); ok {
			r.Problem("the ledger is damaged at line %d (`yamo-mcp ledger verify` shows the details)", corrupt.Line)
		} else if errors.Is(err, ledger.ErrNoKey) {
			r.Problem("the ledger's key is missing (`yamo-mcp ledger verify` shows the details)")
		} else if err != nil {
			return nil, fmt.Errorf("check the %s index: %w", name, err)
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// check adds what is wrong with c's derived files to r. The vectors of workspace files are checked with the private
// compartment.
func (m Maintenance) check(ctx context.Context, c *compartment, r *index.Report, report func(done, total int)) error {
	if err := c.Sync(ctx); err != nil {
		return err
	}
	if c.Visibility == record.Private { // what a group has no part of
		if err := m.view.files.Check(ctx, r); err != nil {
			return err
		}
	}
	dir, _ := m.view.folder(c.Visibility)
	indexed := exists(filepath.Join(dir, "vectors.f32")) || exists(filepath.Join(dir, "lance"))
	if c.untouched() && !indexed {
		return nil // the check would create tables
	}
	return c.index.Check(ctx, r, report)
}

// exists reports whether path exists, as a link too. What cannot be looked at counts as existing.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// Compacted is what Compact did to one compartment.
type Compacted struct {
	Compartment record.Visibility `json:"compartment"`
	Before      TableFiles        `json:"before"`
	After       TableFiles        `json:"after"`
}

// TableFiles is how a compartment's LanceDB tables lie on the disk.
type TableFiles struct {
	Rows      int `json:"rows"`
	Deleted   int `json:"deleted"` // rows that are deleted and still there
	Fragments int `json:"fragments"`
	Versions  int `json:"versions"`
}

// Compact brings the tables of every compartment the audience may see up to date with the ledger, as far as there are
// vectors, merges their fragments, and takes what was deleted off the disk. Untouched compartments are left out.
func (m Maintenance) Compact(ctx context.Context) ([]Compacted, error) {
	names, err := m.view.visible()
	if err != nil {
		return nil, err
	}
	done := []Compacted{}
	for _, name := range names {
		err := m.view.withCompartment(ctx, name, func(c *compartment) error {
			if err := c.Sync(ctx); err != nil || c.untouched() {
				return err
			}
			before, after, err := c.index.Compact(ctx)
			if err == nil {
				done = append(done, Compacted{name, tableFiles(before), tableFiles(after)})
			}
			return err
		})
		if err != nil {
			return done, fmt.Errorf("compact the %s index: %w", name, err)
		}
	}
	return done, nil
}

func tableFiles(s lance.Stats) TableFiles {
	return TableFiles{Rows: s.Rows, Deleted: s.Deleted, Fragments: s.Fragments, Versions: s.Versions}
}

// Rebuild deletes the vectors and tables of every compartment the audience may see and makes them again
// from the ledgers, with the model of o.Embedder. report, which may be nil, is called with the number of
// memories done before the first and after each batch. A compartment that fails does not keep the others
// from being done; the error joins what went wrong. Without a working embedder nothing is deleted.
//
// Other processes may go on: they search by keywords for what has no vector yet.
func (m Maintenance) Rebuild(ctx context.Context, report func(compartment string, done, total int)) error {
	if report == nil {
		report = func(string, int, int) {}
	}
	// Before anything is deleted: without a model the memory would be left without vectors.
	if _, err := m.view.Embedder.Embed(ctx, []string{"ready"}); err != nil {
		return fmt.Errorf("rebuild the memory index: %w", err)
	}
	names, err := m.view.visible()
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		err := m.view.withCompartment(ctx, name, func(c *compartment) error {
			if err := c.Sync(ctx); err != nil || c.untouched() {
				return err
			}
			return c.index.Rebuild(ctx, func(done, total int) { report(string(name), done, total) })
		})
		if err != nil {
			// The others are rebuilt all the same: each is of use by itself.
			errs = append(errs, fmt.Errorf("rebuild the %s index: %w", name, err))
		}
	}
	if err := m.view.files.Rebuild(ctx, func(done, total int) { report("files", done, total) }); err != nil {
		errs = append(errs, fmt.Errorf("rebuild the index of files: %w", err))
	}
	return errors.Join(errs...)
}

// settlePoll is how long Settle waits between two reports.
const settlePoll = 100 * time.Millisecond

// Settle waits until every memory that the audience may see has its vector. report, which may be nil, is
// called with how many have none yet. Without a working embedder it returns the embedder's error; what
// is stored meanwhile may prolong it.
func (m Maintenance) Settle(ctx context.Context, report func(pending int)) error {
	if report == nil {
		report = func(int) {}
	}
	if _, err := m.view.Embedder.Embed(ctx, []string{"ready"}); err != nil {
		return err
	}
	stores, _, err := m.view.compartments(ctx)
	if err != nil {
		return err
	}
	for {
		pending := 0
		for _, c := range stores {
			// A short wait, so that progress is reported while a compartment is being embedded.
			n, err := c.index.Ready(ctx, settlePoll)
			if err != nil {
				return err
			}
			if n > 0 {
				if err := c.index.Trouble(); err != nil {
					return err
				}
			}
			pending += n
		}
		report(pending)
		if pending == 0 {
			return nil
		}
		select {
		case <-time.After(settlePoll): // Ready does not wait for parts
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// CompartmentReport is what Verify found in one compartment.
type CompartmentReport struct {
	Compartment record.Visibility
	ledger.Report
	Missing *ledger.Missing // what the ledger lacks of what this machine has seen; nil for nothing
}

// Verify checks every line of the ledgers of the compartments the audience may see, in the order private
// (or the group's own), shared, the groups by name. A damaged ledger is a report that is not Intact; the
// error is for what keeps Verify from reading. It creates nothing, and changes nothing but modes that are too wide.
func (m Maintenance) Verify(ctx context.Context) ([]CompartmentReport, error) {
	names, err := m.view.visible()
	if err != nil {
		return nil, err
	}
	key, err := ledger.LoadKey(filepath.Join(m.view.Dir, "key"), m.view.Logger)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("verify ledgers: %w", err)
	}
	reports := make([]CompartmentReport, 0, len(names))
	for _, name := range names {
		dir, _ := m.view.folder(name)
		if err := m.view.checkFolders(dir); err != nil {
			return nil, err
		}
		o := m.view.ledgerOptions(name)
		r, err := ledger.Verify(ctx, o.Path, o.Name, key)
		if err != nil {
			return nil, fmt.Errorf("verify the %s ledger: %w", name, err)
		}
		missing, err := ledger.CheckHead(o.Head, o.Path)
		if err != nil {
			return nil, fmt.Errorf("compare the %s ledger with its head: %w", name, err)
		}
		reports = append(reports, CompartmentReport{name, r, missing})
	}
	return reports, nil
}

// Accept makes the present ends of the ledgers those that this machine knows, after a backup was restored. A damaged
// ledger is an error.
func (m Maintenance) Accept(ctx context.Context) error {
	for _, o := range m.ledgers() {
		key, err := o.Key(false)
		if err != nil && !errors.Is(err, ledger.ErrNoKey) {
			return err
		}
		r, err := ledger.Verify(ctx, o.Path, o.Name, key)
		switch {
		case err != nil:
		case r.Bad != nil:
			err = r.Bad
		case r.Keyless:
			err = ledger.ErrNoKey
		default:
			err = ledger.AcceptHead(o.Head, r)
		}
		if err != nil {
			return fmt.Errorf("accept the ledger of %s: %w", o.Name, err)
		}
	}
	return nil
}

// ledgers returns the options of the ledgers that the audience may see; for a DM also the record of edits.
func (m Maintenance) ledgers() (list []ledger.Options) {
	names, err := m.view.visible()
	if err != nil {
		names = []record.Visibility{m.view.home()}
	}
	for _, name := range names {
		list = append(list, m.view.ledgerOptions(name))
	}
	if m.view.Audience.IsDM() {
		edits := m.view.ledgerOptions(record.Private)
		edits.Path, edits.Name = filepath.Join(filepath.Dir(edits.Path), "edits.ndjson"), "edits"
		edits.Lock, edits.Head = filepath.Join(filepath.Dir(edits.Lock), "edits.lock"), m.view.head("edits")
		list = append(list, edits)
	}
	return list
}

// RekeyPlan returns what Rekey would keep and set aside of damaged ledgers, see [ledger.PlanRekey]. The record of edits
// is not among them.
func (m Maintenance) RekeyPlan(ctx context.Context) (map[record.Visibility]ledger.Salvaged, error) {
	names, err := m.view.visible()
	if err != nil {
		return nil, err
	}
	plans := map[record.Visibility]ledger.Salvaged{}
	for _, name := range names {
		dir, _ := m.view.folder(name)
		if err := m.view.checkFolders(dir); err != nil {
			return nil, err
		}
		plan, err := ledger.PlanRekey(ctx, m.view.ledgerOptions(name))
		if err != nil {
			return nil, fmt.Errorf("the %s ledger: %w", name, err)
		}
		if plan != nil {
			plans[name] = *plan
		}
	}
	return plans, nil
}

// Rekey gives all ledgers, and the record of edits, a new key, see [ledger.Rekey]. What is not intact of the ledgers of
// damaged is set aside. It is for a DM's view, which sees all of them.
func (m Maintenance) Rekey(ctx context.Context, damaged ...record.Visibility) ([]ledger.Rekeyed, error) {
	if _, err := m.view.visible(); err != nil {
		return nil, err
	}
	if err := m.view.Prepare(); err != nil {
		return nil, err
	}
	list := m.ledgers()
	for _, o := range list {
		if err := m.view.checkFolders(filepath.Dir(o.Path)); err != nil {
			return nil, err
		}
	}
	salvage := map[string]bool{}
	for _, name := range damaged {
		salvage[string(name)] = true
	}
	done, err := ledger.Rekey(ctx, filepath.Join(m.view.Dir, "key"), list, salvage, m.view.Logger)
	if err != nil {
		return nil, err
	}
	for _, name := range damaged {
		if err := m.forgetBlocks(name); err != nil {
			return done, err
		}
	}
	return done, nil
}

// Salvage makes a valid ledger of the damaged one of a compartment, see [ledger.Salvage]. The index is brought in line
// by the next session.
func (m Maintenance) Salvage(ctx context.Context, name record.Visibility, dry bool) (ledger.Salvaged, error) {
	dir, _ := m.view.folder(name)
	if err := m.view.checkFolders(dir); err != nil {
		return ledger.Salvaged{}, err
	}
	done, err := ledger.Salvage(ctx, m.view.ledgerOptions(name), dry)
	if err != nil || done.Aside == "" {
		return done, err
	}
	return done, m.forgetBlocks(name)
}

// forgetBlocks makes the next session write the rows of yamo_blocks again: they have the numbers and hashes of entries.
func (m Maintenance) forgetBlocks(name record.Visibility) error {
	dir, _ := m.view.folder(name)
	if err := os.Remove(filepath.Join(dir, "blocks.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Rescanned is what Rescan changed in one compartment, or would.
type Rescanned struct {
	Compartment record.Visibility `json:"compartment"`
	Changes     []rescan.Change   `json:"changes"`
	Redactions  []scrub.Redaction `json:"redactions"` // in all of them, by kind
	Reasons     int               `json:"reasons"`    // reasons of deletions with a secret, which cannot be erased
}

// errWritten means that a ledger was written while a rescan of it was planned.
var errWritten = errors.New("the ledger was written meanwhile")

// rescans is the maximum number of times that a rescan is planned.
const rescans = 5

// Rescan redacts the memories, lessons, reflections, skills and logged queries of every compartment that the audience
// may erase from as new ones are redacted, and removes what was redacted from the ledger, the image, the vectors and
// LanceDB's tables. Everything keeps its id. With dryRun nothing is changed. If it is interrupted, calling it again
// completes it. A compartment that other programs write to without a pause is a fault.
func (m Maintenance) Rescan(ctx context.Context, dryRun bool) ([]Rescanned, error) {
	v := m.view
	names, err := v.visible()
	if err != nil {
		return nil, err
	}
	done := []Rescanned{}
	for _, name := range names {
		if v.checkErasable(name, "") != nil {
			continue
		}
		var plan rescan.Plan
		for attempt := 1; ; attempt++ {
			plan, err = m.rescan(ctx, name, dryRun)
			if !errors.Is(err, errWritten) {
				break
			}
			if attempt == rescans {
				return done, fault.New("the %s memory is being written by another program; end it, or try again", name)
			}
		}
		if err != nil {
			return done, err
		}
		if len(plan.Changes) > 0 || plan.Reasons > 0 {
			done = append(done, Rescanned{name, append([]rescan.Change{}, plan.Changes...), plan.Redactions(), plan.Reasons})
		}
	}
	return done, nil
}

// rescan plans the rescan of one compartment, and makes it unless dryRun is set.
func (m Maintenance) rescan(ctx context.Context, name record.Visibility, dryRun bool) (rescan.Plan, error) {
	v := m.view
	plan, err := m.plan(ctx, name)
	if err != nil || dryRun || len(plan.Changes) == 0 && !plan.Rescanned {
		return plan, explain(name, err)
	}
	written := len(plan.Changes) == 0
	return plan, v.withCompartment(ctx, name, func(c *compartment) error {
		if !written {
			made, err := c.Rewrite(ctx, func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
				if s.Entries() != plan.Entries {
					return nil, errWritten
				}
				return plan.Drafts(now, v.AgentID), nil
			})
			written = made
			return err
		}
		// The compartment was opened again, and has nothing of the earlier text. What is derived follows.
		if err := c.index.Purge(ctx); err != nil {
			c.index.Wake()
			return fmt.Errorf("the ledger is rescanned, but copies in the index are not removed yet; try again: %w", err)
		}
		_, _, err := c.index.Compact(ctx)
		return err
	})
}

// plan reads what is to be redacted in one compartment.
func (m Maintenance) plan(ctx context.Context, name record.Visibility) (rescan.Plan, error) {
	options := m.view.ledgerOptions(name)
	options.Head = "" // this one only reads, and would warn again
	return rescan.Read(ctx, func() *ledger.Ledger { return ledger.New(options) },
		rescan.Scrubbers{Memories: m.view.scrubberOf(name), Other: m.view.scrubber})
}

// Recognized returns what would be redacted in a text that is not a memory, by kind.
func (v *View) Recognized(text string) []scrub.Redaction {
	_, found := v.scrubber.Redact(text)
	return found
}

// explain turns err into a fault if the caller or the operator can do something about it.
func explain(name record.Visibility, err error) error {
	var corrupt *ledger.CorruptError
	switch {
	case errors.As(err, &corrupt):
		return &damageError{cause: err, fault: fault.New("the %s memory is damaged at line %d of its ledger, "+
			"which is left as it is; ask the workspace owner to run `yamo-mcp ledger verify`", name, corrupt.Line)}
	case errors.Is(err, ledger.ErrNoKey):
		return &damageError{cause: err, fault: fault.New("the key of the memory is missing, so that it can be neither read " +
			"nor written; ask the workspace owner to restore .yamo/key from a backup, or to run `yamo-mcp ledger rekey`")}
	case errors.Is(err, ledger.ErrBusy):
		return &damageError{cause: err, fault: fault.New("the %s memory is being written by another program; "+
			"try again in a moment", name)}
	}
	return err
}

// damageError shows the caller a fault, and the log its cause.
type damageError struct{ cause, fault error }

func (e *damageError) Error() string   { return e.cause.Error() }
func (e *damageError) Unwrap() []error { return []error{e.fault, e.cause} }

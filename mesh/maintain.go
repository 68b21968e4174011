package mesh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Maintenance checks, repairs and reports on the compartments of a View, for the operator's commands.
type Maintenance struct{ view *View }

// Maintenance returns the maintenance of the compartments that the audience may see.
func (v *View) Maintenance() Maintenance { return Maintenance{v} }

// Check compares the vectors and tables of every compartment the audience may see with the ledger, row by row,
// and changes nothing. report, which may be nil, is called with the rows read. The error is for what keeps it from
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
			r.Problem("the ledger is damaged at line %d (`yamo-mcp ledger verify` says more)", corrupt.Line)
		} else if errors.Is(err, ledger.ErrNoKey) {
			r.Problem("the ledger's key is missing (`yamo-mcp ledger verify` says more)")
		} else if err != nil {
			return nil, fmt.Errorf("check the %s index: %w", name, err)
		}
		reports = append(reports, r)
	}
	return reports, nil
}

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
	}
}

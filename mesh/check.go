package mesh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// CheckIndex compares the vectors and tables of every compartment the audience may see with the ledger, row by row,
// and changes nothing. report, which may be nil, is called with the rows read. The error is for what keeps it from
// reading; what is wrong with the data is in the reports, in the order private (or the group's own), shared,
// the groups by name.
func (v *View) CheckIndex(ctx context.Context, report func(compartment string, done, total int)) ([]index.Report, error) {
	if report == nil {
		report = func(string, int, int) {}
	}
	names, err := v.visible()
	if err != nil {
		return nil, err
	}
	var reports []index.Report
	for _, name := range names {
		r := index.Report{Compartment: name, Problems: []string{}}
		err := v.with(ctx, name, func(c *compartment) error {
			r = index.Report{Compartment: name, Problems: []string{}}
			return v.checkIndex(ctx, c, &r, func(done, total int) { report(string(name), done, total) })
		})
		if corrupt, ok := errors.AsType[*ledger.CorruptError](err); ok {
			r.Problem("the ledger is damaged at line %d (`yamo-mcp ledger verify` says more)", corrupt.Line)
		} else if err != nil {
			return nil, fmt.Errorf("check the %s index: %w", name, err)
		}
		reports = append(reports, r)
	}
	return reports, nil
}

func (v *View) checkIndex(ctx context.Context, c *compartment, r *index.Report, report func(done, total int)) error {
	if err := c.Sync(ctx); err != nil {
		return err
	}
	if c.Visibility == record.Private { // what a group has no part of
		if err := v.files.check(ctx, r); err != nil {
			return err
		}
	}
	if dir, _ := v.folder(c.Visibility); c.untouched() && !exists(filepath.Join(dir, "vectors.f32")) && !exists(filepath.Join(dir, "lance")) {
		return nil // nothing is created by looking
	}
	return c.index.Check(ctx, r, report)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

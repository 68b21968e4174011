package mesh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
)

// Rebuild deletes the vectors and tables of every compartment the audience may see and makes them again
// from the ledgers, with the model of o.Embedder. report, which may be nil, is called with the number of
// memories done before the first and after each batch. A compartment that fails does not keep the others
// from being done; the error joins what went wrong. Without a working embedder nothing is deleted.
//
// Other processes may go on: they search by keywords for what has no vector yet.
func (v *View) Rebuild(ctx context.Context, report func(compartment string, done, total int)) error {
	if report == nil {
		report = func(string, int, int) {}
	}
	if _, err := v.Embedder.Embed(ctx, []string{"ready"}); err != nil {
		return fmt.Errorf("rebuild the memory index: %w", err)
	}
	names, err := v.visible()
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		err := v.with(ctx, name, func(c *compartment) error {
			if err := c.sync(ctx); err != nil || c.untouched() {
				return err
			}
			return c.index.rebuild(ctx, c, func(done, total int) { report(string(name), done, total) })
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("rebuild the %s index: %w", name, err))
		}
	}
	if err := v.files.rebuild(ctx, func(done, total int) { report("files", done, total) }); err != nil {
		errs = append(errs, fmt.Errorf("rebuild the index of files: %w", err))
	}
	return errors.Join(errs...)
}

// CompartmentReport is what Verify found in one compartment.
type CompartmentReport struct {
	Compartment Visibility
	ledger.Report
}

// Verify checks every line of the ledgers of the compartments the audience may see, in the order private
// (or the group's own), shared, the groups by name. A damaged ledger is a report that is not Intact; the
// error is for what keeps Verify from reading. It changes and creates nothing; where the workspace has
// no key, macs are not checked.
func (v *View) Verify(ctx context.Context) ([]CompartmentReport, error) {
	names, err := v.visible()
	if err != nil {
		return nil, err
	}
	var key []byte
	// Lines need the key and exist only after it. LoadOrCreateKey would make one where there is none.
	path := filepath.Join(v.Dir, "key")
	if _, err := os.Lstat(path); err == nil {
		if key, err = ledger.LoadOrCreateKey(path); err != nil {
			return nil, fmt.Errorf("verify ledgers: %w", err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("verify ledgers: %w", err)
	}
	reports := make([]CompartmentReport, 0, len(names))
	for _, name := range names {
		dir, _ := v.folder(name)
		if err := v.checkFolders(dir); err != nil {
			return nil, err
		}
		r, err := ledger.Verify(ctx, filepath.Join(dir, "ledger.ndjson"), key)
		if err != nil {
			return nil, fmt.Errorf("verify the %s ledger: %w", name, err)
		}
		reports = append(reports, CompartmentReport{name, r})
	}
	return reports, nil
}

package mesh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// CompartmentReport is what Verify found in one compartment.
type CompartmentReport struct {
	Compartment record.Visibility
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

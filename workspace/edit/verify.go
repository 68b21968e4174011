package edit

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
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
	if err != nil {
		return Verified{Report: report}, err
	}
	// A chain that was cut at its end is a valid chain.
	if err := CheckComplete(e.opt.Dir); err != nil {
		return Verified{Report: report}, err
	}
	missing, err := ledger.CheckHead(e.head(), e.path())
	return Verified{report, int64(len(events)), missing}, err
}

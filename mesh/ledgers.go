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

// Rekey gives all ledgers, and the record of edits, a new key, see [ledger.Rekey]. It is for a DM's view, which sees
// all of them.
func (m Maintenance) Rekey(ctx context.Context) ([]ledger.Rekeyed, error) {
	if _, err := m.view.visible(); err != nil {
		return nil, err
	}
	if err := m.view.prepare(); err != nil {
		return nil, err
	}
	list := m.ledgers()
	for _, o := range list {
		if err := m.view.checkFolders(filepath.Dir(o.Path)); err != nil {
			return nil, err
		}
	}
	return ledger.Rekey(ctx, filepath.Join(m.view.Dir, "key"), list, m.view.Logger)
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
	// The rows of yamo_blocks have the numbers and hashes of entries; without this file they are written again.
	if err := os.Remove(filepath.Join(dir, "blocks.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return done, err
	}
	return done, nil
}

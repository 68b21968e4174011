package lance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/lancedb/lancedb-go/pkg/contracts"
	"github.com/lancedb/lancedb-go/pkg/lancedb"

	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
)

// slots bounds the calls into the native library, which ignores contexts and takes a thread for each call.
var slots = make(chan struct{}, 4)

// call runs f in a slot. A context that ends while f runs is reported once f has returned.
func call(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-slots }()
	if err := f(); err != nil {
		return err
	}
	return ctx.Err()
}

// handle is one open table, pinned to the version it was opened at, plus its own commits. LanceDB never shows an open
// table the commits of other processes, so current opens it again when its newest version has changed.
type handle struct {
	dir  string // the table's folder
	conn contracts.IConnection
	contracts.ITable

	mu      sync.Mutex
	version uint64
	refs    int

	// ids are those of all rows at version, nil if they are not known. The holder of DB.write owns it.
	ids map[string]struct{}
}

// at returns the version of the table that is open.
func (h *handle) at() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.version
}

// acquire adds a user; each calls release.
func (h *handle) acquire() *handle {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refs++
	return h
}

// release gives one reference back and closes the table with the last. Each connection is a table's own, so
// that its caches, which LanceDB lets grow to gigabytes, go with it.
func (h *handle) release() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refs--; h.refs > 0 {
		return nil
	}
	return errors.Join(h.Close(), h.conn.Close())
}

// committed notes the version that a write through this handle has made.
func (h *handle) committed(ctx context.Context) error {
	v, err := h.Version(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.version = uint64(v) //nolint:gosec // versions start at 1
	return nil
}

// use calls f with the table as it is now, every process's commits included. A table that does not exist
// yields f(nil). When another process's Compact takes the files away under f, f is called again with the
// new ones, so it must start afresh each time.
func (db *DB) use(ctx context.Context, name string, f func(*handle) error) error {
	const attempts = 3
	for n := 1; ; n++ {
		h, err := db.table(ctx, name)
		if err != nil {
			return err
		}
		if h == nil {
			return f(nil)
		}
		err = call(ctx, func() error { return f(h) })
		if err == nil || errors.Is(err, ErrInvalid) || ctx.Err() != nil {
			return errors.Join(err, h.release())
		}
		moved, damage := db.diagnose(h, err)
		if err := errors.Join(damage, h.release()); err != nil {
			return err
		}
		if !moved || n == attempts {
			return err
		}
	}
}

// diagnose finds out why a call on h failed: the table has moved on, or its files are damaged. Arguments
// have been checked before the call, so an engine that panics has met contents it cannot understand.
func (db *DB) diagnose(h *handle, cause error) (moved bool, damage error) {
	ix, err := db.readIndex()
	if err != nil {
		return false, err
	}
	if ix == nil || filepath.Dir(h.dir) != filepath.Join(db.dir, ix.Generation) {
		return true, nil
	}
	if _, err := readManifest(h.dir, h.at(), true); errors.Is(err, errBroken) {
		return false, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if strings.Contains(cause.Error(), "Panic in simple_lancedb") {
		return false, fmt.Errorf("%w: %w", ErrDamaged, cause)
	}
	return false, nil
}

// table returns the current version of a table, or nil if it does not exist. The caller releases it.
func (db *DB) table(ctx context.Context, name string) (*handle, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil, ErrClosed
	}
	const attempts = 3
	for n := 1; ; n++ {
		ix, err := db.readIndex()
		if err != nil {
			return nil, err
		}
		if ix == nil {
			return nil, db.forget()
		}
		h, err := db.current(ctx, tablePath(filepath.Join(db.dir, ix.Generation), name), name)
		if err == nil {
			return h, nil
		}
		now, readErr := db.readIndex()
		if readErr != nil {
			return nil, readErr
		}
		if n < attempts && (now == nil || *now != *ix) {
			continue // another process's Compact or Drop took the files away
		}
		return nil, fmt.Errorf("open table %s: %w", name, err)
	}
}

// current returns the table in dir, open at its newest version. Callers hold db.mu.
func (db *DB) current(ctx context.Context, dir, name string) (*handle, error) {
	all, err := versions(dir)
	if err != nil {
		return nil, err
	}
	old := db.open[name]
	if old != nil {
		if len(all) > 0 && old.dir == dir && old.at() == all[0] {
			return old.acquire(), nil
		}
		delete(db.open, name)
		if err := old.release(); err != nil {
			db.log.Warn("close an outdated table", "table", name, "error", err)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	// Checked before LanceDB opens it: after a power loss the newest manifest may be empty.
	if _, err := readManifest(dir, all[0], false); errors.Is(err, errBroken) {
		err = db.recoverHead(dir)
		if err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	if err := checkTable(dir); err != nil {
		return nil, err
	}
	h, err := openTable(ctx, dir)
	if err != nil {
		return nil, err
	}
	db.open[name] = h
	return h.acquire(), nil
}

// connect opens the folder dir as a database.
//
// SECURITY: LanceDB takes "db" for its cloud and "s3:…" for a store on the network. An absolute path is always a
// folder.
func connect(ctx context.Context, dir string) (contracts.IConnection, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return lancedb.Connect(ctx, path, nil)
}

// openTable opens the table in dir on a connection of its own, with one reference.
func openTable(ctx context.Context, dir string) (*handle, error) {
	conn, err := connect(ctx, filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	base := filepath.Base(dir)
	t, err := conn.OpenTable(ctx, base[:len(base)-len(".lance")])
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	h := &handle{dir: dir, conn: conn, ITable: t, refs: 1}
	if err := h.committed(ctx); err != nil {
		return nil, errors.Join(err, h.release())
	}
	return h, nil
}

// recoverHead makes the table in dir readable again after a power loss: LanceDB never fsyncs, so the head
// version's files may be empty while the version before is whole. The head manifest is then deleted, which
// takes the table one commit back. The rows of that commit are in the ledger; callers compare IDs with it.
func (db *DB) recoverHead(dir string) error {
	release, err := lockfile.Exclusive(context.Background(), filepath.Join(db.dir, "recover.lock"))
	if err != nil {
		return fmt.Errorf("lock for recovery: %w", err)
	}
	defer func() {
		if err := release(); err != nil {
			db.log.Warn("unlock after recovery", "error", err)
		}
	}()
	// Under the lock, look again: another process may have recovered the table, and committed since. While
	// the bad head is there no process can commit, because LanceDB refuses to read it.
	all, err := versions(dir)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return nil
	}
	_, bad := readManifest(dir, all[0], false)
	if !errors.Is(bad, errBroken) {
		return bad
	}
	if len(all) == 1 {
		return fmt.Errorf("%w: %w", ErrDamaged, bad)
	}
	if _, err := readManifest(dir, all[1], true); err != nil {
		return fmt.Errorf("%w: %w, and before it %w", ErrDamaged, bad, err)
	}
	if err := os.Remove(manifestPath(dir, all[0])); err != nil {
		return fmt.Errorf("remove damaged version: %w", err)
	}
	db.log.Warn("took a damaged table one commit back", "table", filepath.Base(dir), "version", all[1], "damage",
		bad.Error())
	return nil
}

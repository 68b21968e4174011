// Package lance keeps one compartment's LanceDB tables (RFC-0011 layer 2): memory_entries, yamo_blocks and
// synthesized_skills, with the fields and types of RFC-0011 §2.2 to §2.4.
//
// The invariant: everything here can be deleted and made again from the ledger. So nothing is fsynced row by
// row, a damaged table is reported (ErrDamaged) instead of repaired at any price, and no caller may
// acknowledge a write because it is in these tables.
//
// Layout of the folder:
//
//	index.json                        which model's vectors, and which generation is current (replaced atomically)
//	g123456789/memory_entries.lance   an ordinary LanceDB database; so are its two siblings
//	current                           a link to that generation, for other programs
//	recover.lock                      held while a damaged head version is removed
//
// Compact writes the next generation next to the current one and then switches index.json, so a reader sees
// the old rows or the new, never half of them.
//
// Several processes may use one folder. Reads need no lock and see every commit made before they began, by
// whichever process. Writers (AddMemories, DeleteMemories, AddBlocks, AddSkills, DeleteSkills, Compact, Drop,
// Migrate) must hold the caller's cross-process index lock: LanceDB itself would let two processes insert
// the same id.
package lance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	_ "github.com/yamo-protocol/yamo-mcp/native" // linker flags for lancedb-go
)

var (
	// ErrDamaged means that the tables cannot be read, as after a power loss. The caller drops them and
	// fills them again from the ledger.
	ErrDamaged = errors.New("the memory index is damaged (run `yamo-mcp index rebuild`)")
	// ErrStorage means that another program wrote a table with a later version of Lance's file format.
	ErrStorage = errors.New("the table's files are of a later Lance storage version")
	// ErrForeign means that the folder is a LanceDB database that this package did not write. See Inspect.
	ErrForeign = errors.New("the folder holds a LanceDB database of another program")
	// ErrClosed is returned by every method of a closed DB.
	ErrClosed = errors.New("the memory index is closed")
	// ErrInvalid marks arguments that no table could hold or that no query may contain.
	ErrInvalid = errors.New("invalid")
)

// ModelInfo names the embedding model whose vectors a DB holds, and their length.
type ModelInfo struct {
	Name      string `json:"name"`
	Dimension int    `json:"dimension"`
}

func (m ModelInfo) String() string { return fmt.Sprintf("%q (%d dimensions)", m.Name, m.Dimension) }

// ModelError is returned when the folder holds vectors of another model (RFC-0011 §7). Only Drop and Close
// work then.
type ModelError struct{ Have, Want ModelInfo }

func (e *ModelError) Error() string {
	return fmt.Sprintf("the memory index was made with model %v, but %v is configured: run `yamo-mcp index rebuild`",
		e.Have, e.Want)
}

// Options of Open. The zero value is usable.
type Options struct {
	Logger *slog.Logger // repairs and compactions, without contents or paths; nil discards
}

// DB is the tables of one compartment. Its methods may be called concurrently.
type DB struct {
	dir   string
	model ModelInfo
	log   *slog.Logger

	write sync.Mutex // one writer in this process

	mu     sync.Mutex // guards what follows; held while a table is opened, created or closed
	open   map[string]*handle
	closed bool
}

// Open returns the DB in dir without touching dir. The folder appears, with mode 0700, at the first write;
// until then reads find nothing. The model must have a name and a positive dimension.
func Open(dir string, model ModelInfo, opts Options) *DB {
	log := cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	return &DB{dir: dir, model: model, log: log, open: make(map[string]*handle)}
}

// Path returns the folder of the tables, for other LanceDB clients: a link that always leads to the current ones, or
// they themselves on a file system without links. Before the first write there are none.
func (db *DB) Path() string {
	ix, err := db.readIndex()
	if err != nil || ix == nil {
		return db.dir
	}
	link := filepath.Join(db.dir, linkName)
	if target, err := os.Readlink(link); err == nil && target == ix.Generation {
		return link
	}
	return filepath.Join(db.dir, ix.Generation)
}

// Close releases the tables. Calls under way finish first; later ones return ErrClosed.
func (db *DB) Close() error {
	db.write.Lock()
	defer db.write.Unlock()
	db.mu.Lock()
	defer db.mu.Unlock()
	db.closed = true
	return db.forget()
}

// Drop deletes the tables and the record of the model, whatever state they are in. The caller holds the index lock.
func (db *DB) Drop(ctx context.Context) error {
	db.write.Lock()
	defer db.write.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return ErrClosed
	}
	if err := db.forget(); err != nil {
		return fmt.Errorf("close memory index: %w", err)
	}
	if checkFolder(db.dir) != nil {
		// A link, or a file: only the name is removed, and nothing of what it leads to.
		if err := os.Remove(db.dir); err != nil {
			return fmt.Errorf("drop memory index: %w", err)
		}
		return nil
	}
	if err := os.Remove(filepath.Join(db.dir, indexName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("drop memory index: %w", err)
	}
	return db.sweep("")
}

// forget lets go of all open tables; those in use are closed by their last user. Callers hold db.mu.
func (db *DB) forget() error {
	var errs []error
	for name, h := range db.open {
		errs = append(errs, h.release())
		delete(db.open, name)
	}
	return errors.Join(errs...)
}

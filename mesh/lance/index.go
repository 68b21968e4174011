package lance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/yamo-protocol/yamo-mcp/internal/atomicfile"
)

const indexName = "index.json"

// index is the content of index.json.
type index struct {
	Model      ModelInfo `json:"model"`
	Generation string    `json:"generation"` // the folder; never used twice, so that an open table cannot be mistaken
}

const generationPattern = "g*"

// linkName is a link to the current generation, so that other programs can keep one path. This one never follows it.
const linkName = "current"

var generationName = regexp.MustCompile(`^g[0-9]+$`)

// readIndex returns the folder's record, or nil where nothing has been written yet. It is read before every
// access, which costs some 20 µs and is how another process's Compact, Drop or change of model is noticed.
func (db *DB) readIndex() (*index, error) {
	if err := checkFolder(db.dir); err != nil {
		return nil, err
	}
	data, err := atomicfile.Read(filepath.Join(db.dir, indexName))
	if errors.Is(err, fs.ErrNotExist) {
		// Tables without our record are another program's. Writing next to them would mix two histories in one folder.
		foreign, err := hasTables(db.dir)
		if err != nil {
			return nil, err
		}
		if foreign {
			return nil, ErrForeign
		}
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open memory index: %w", err)
	}
	var ix index
	if err := json.Unmarshal(data, &ix); err != nil || !generationName.MatchString(ix.Generation) {
		return nil, fmt.Errorf("%w: %s is unreadable", ErrDamaged, indexName)
	}
	if ix.Model != db.model {
		return nil, &ModelError{Have: ix.Model, Want: db.model}
	}
	return &ix, checkFolder(filepath.Join(db.dir, ix.Generation))
}

// checkFolder returns ErrDamaged if path exists and is not a folder.
//
// SECURITY: a link in one compartment's folder could lead to the tables of another one.
func checkFolder(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%w: %s is not a folder", ErrDamaged, filepath.Base(path))
	}
	return nil
}

// checkTable returns ErrDamaged if the table's folder has links.
func checkTable(dir string) error {
	return filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%w: %s is a link", ErrDamaged, entry.Name())
		}
		return nil // what has gone meanwhile, opening the table reports
	})
}

// ensureIndex returns the folder's record, making the folder and the first generation where there are none.
func (db *DB) ensureIndex() (*index, error) {
	ix, err := db.readIndex()
	if ix != nil || err != nil {
		return ix, err
	}
	if db.model.Name == "" || db.model.Dimension <= 0 {
		return nil, fmt.Errorf("%w model: %v", ErrInvalid, db.model)
	}
	if err := os.MkdirAll(db.dir, 0o700); err != nil {
		return nil, fmt.Errorf("create memory index: %w", err)
	}
	folder, err := os.MkdirTemp(db.dir, generationPattern) // mode 0700
	if err != nil {
		return nil, fmt.Errorf("create memory index: %w", err)
	}
	ix = &index{Model: db.model, Generation: filepath.Base(folder)}
	return ix, db.writeIndex(*ix)
}

// writeIndex replaces index.json so that a reader, or a power loss, meets the old file or the new.
func (db *DB) writeIndex(ix index) error {
	data, err := json.Marshal(ix)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(db.dir, indexName), append(data, '\n')); err != nil {
		return fmt.Errorf("write memory index record: %w", err)
	}
	db.linkCurrent(ix.Generation)
	return nil
}

// linkCurrent makes linkName lead to the generation, in one step. Where that fails, as on a file system without links,
// Path returns the generation itself.
func (db *DB) linkCurrent(generation string) {
	made := filepath.Join(db.dir, ".index-"+generation)
	if os.Symlink(generation, made) != nil {
		return
	}
	if os.Rename(made, filepath.Join(db.dir, linkName)) != nil {
		_ = os.Remove(made) // or the next sweep does
	}
}

// sweep deletes what no index.json names: all generations but keep, and files that an interrupted write left; if keep
// is "", linkName too.
func (db *DB) sweep(keep string) error {
	entries, err := os.ReadDir(db.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("clean memory index: %w", err)
	}
	var errs []error
	for _, e := range entries {
		stray, _ := filepath.Match(".index*-*", e.Name())
		stray = stray || e.Name() == linkName && keep == ""
		if stray || generationName.MatchString(e.Name()) && e.Name() != keep {
			errs = append(errs, os.RemoveAll(filepath.Join(db.dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// hasTables reports whether dir itself is a LanceDB database with the memory table in it.
func hasTables(dir string) (bool, error) {
	for _, name := range []string{memoryTable, migratingTable, backupTable} {
		_, err := os.Stat(tablePath(dir, name))
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("open memory index: %w", err)
		}
	}
	return false, nil
}

func tablePath(dir, name string) string { return filepath.Join(dir, name+".lance") }

// syncFile fsyncs the file or folder called path.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

package ledger

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/yamo-protocol/yamo-mcp/internal/atomicfile"
	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
)

// Rekeyed is what Rekey did to one ledger.
type Rekeyed struct {
	Ledger string `json:"ledger"`
	Lines  int64  `json:"lines"` // that have new macs
	// Salvaged is what was kept and set aside of a damaged ledger, nil for an intact one.
	Salvaged *Salvaged `json:"salvaged,omitempty"`
}

// newKey is the name of the new key until all ledgers have its macs.
const newKey = ".new"

// Rekey replaces the key in the file path, and the macs of all lines of the ledgers, which must be all that use the
// key. Nothing but the macs changes. It is for a key that was lost or replaced: the old macs are not checked, so that
// the caller vouches for the lines. Their hashes and chains are; a ledger where they are wrong is an error, and then
// nothing has changed. Of those that salvage names, the lines that do not follow from each other are set aside instead,
// as Salvage does and PlanRekey tells; but not while the old key still shows which lines were written with it.
//
// It holds the locks of all ledgers. Each file is replaced atomically, the key last. If it is interrupted, the ledgers
// that are done cannot be read with the old key; calling it again completes the work with the same new key.
func Rekey(
	ctx context.Context, path string, ledgers []Options, salvage map[string]bool, log *slog.Logger,
) (done []Rekeyed, err error) {
	for _, o := range ledgers {
		release, err := lockfile.Exclusive(ctx, o.Lock)
		if err != nil {
			return nil, fmt.Errorf("rekey: %w", err)
		}
		defer func() { _ = release() }() // closes the lock's descriptor in any case, which releases it
	}
	for _, o := range ledgers {
		if err := checkRekey(ctx, path, o, salvage[o.Name], log); err != nil {
			return nil, fmt.Errorf("rekey: nothing was changed: %w", err)
		}
	}
	key, err := LoadKey(path+newKey, log)
	if errors.Is(err, fs.ErrNotExist) { // otherwise an earlier call was interrupted
		key = make([]byte, KeySize)
		_, _ = rand.Read(key) // never fails
		err = atomicfile.Write(path+newKey, key)
	}
	if err != nil {
		return nil, fmt.Errorf("rekey: %w", err)
	}
	for _, o := range ledgers {
		r, err := rekeyOrSalvage(ctx, o, key, salvage[o.Name])
		if err != nil {
			return nil, fmt.Errorf("rekey %s: %w", o.Name, err)
		}
		done = append(done, r)
	}
	if err := os.Rename(path+newKey, path); err != nil {
		return nil, fmt.Errorf("rekey: %w", err)
	}
	return done, syncDir(osFS{}, filepath.Dir(path))
}

// damage returns what is wrong with a ledger apart from its macs, nil if nothing is.
func damage(ctx context.Context, o Options) (*CorruptError, error) {
	r, err := Verify(ctx, o.Path, o.Name, nil)
	if err != nil || r.Bad != nil {
		return r.Bad, err
	}
	err = checkNames(ctx, o)
	if bad, ok := errors.AsType[*CorruptError](err); ok {
		return bad, nil
	}
	return nil, err
}

// checkRekey returns an error if the ledger cannot get a new key, or, with salvage, what is intact of it.
func checkRekey(ctx context.Context, path string, o Options, salvage bool, log *slog.Logger) error {
	bad, err := damage(ctx, o)
	if err != nil || bad == nil {
		return err
	}
	if !salvage {
		return fmt.Errorf("%w; restore that ledger from a backup, or move it out of .yamo and run this again", bad)
	}
	if _, err := salvageUnkeyed(ctx, o, make([]byte, KeySize), true); err != nil {
		return err
	}
	key, err := LoadKey(path, log)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return proven(ctx, o, key)
}

// rekeyOrSalvage gives a ledger the key, with salvage also a damaged one.
func rekeyOrSalvage(ctx context.Context, o Options, key []byte, salvage bool) (Rekeyed, error) {
	if salvage {
		if bad, err := damage(ctx, o); err != nil {
			return Rekeyed{}, err
		} else if bad != nil {
			done, err := salvageUnkeyed(ctx, o, key, false)
			return Rekeyed{o.Name, done.Kept, &done}, err
		}
	}
	n, err := rekey(o, key)
	return Rekeyed{o.Name, n, nil}, err
}

// checkNames returns an error if the ledger has lines of another one, which new macs would not make right.
func checkNames(ctx context.Context, o Options) error {
	f, size, err := openRegular(osFS{}, o.Path, os.O_RDONLY)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading
	s := scanner{r: f, size: size}
	for n := int64(1); ctx.Err() == nil; n++ {
		raw, err := s.next()
		if err != nil || !raw.terminated {
			return nil
		}
		l, _, err := decodeHead(raw.text)
		if err == nil && l.version > 1 && l.ledger != o.Name {
			return &CorruptError{Path: o.Path, Line: n, Offset: raw.off, Err: &ForeignError{Ledger: l.ledger, Want: o.Name}}
		}
	}
	return ctx.Err()
}

// rekey replaces the file of one ledger, whose lines are known to be good.
func rekey(o Options, key []byte) (lines int64, err error) {
	f, size, err := openRegular(osFS{}, o.Path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // opened for reading
	m := newMACs(o.Name, func(bool) ([]byte, error) { return key, nil })
	if err := m.load(false); err != nil {
		return 0, err
	}
	return lines, replaceFile(o.Path, func(out *appender) error {
		s := scanner{r: f, size: size}
		for {
			raw, err := s.next()
			if err != nil || !raw.terminated {
				return ignoreEOF(err) // a torn end was never acknowledged
			}
			l, _, err := decodeHead(raw.text)
			if err != nil {
				return ignoreTorn(raw.text, err)
			}
			copy(l.mac, m.sum(l.version, l.hash)) // of the same length, within raw.text
			lines++
			if err := out.line(raw.text); err != nil {
				return err
			}
		}
	})
}

// replaceFile replaces the file at path durably with what write appends.
func replaceFile(path string, write func(*appender) error) error {
	temp := path + ".tmp" // as Erase has it
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := osFS{}.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	out := &appender{f: f}
	err = write(out)
	if err == nil {
		err = out.flush(nil)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncDir(osFS{}, filepath.Dir(path))
}

// ignoreEOF returns err unless it is the end of the file.
func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// ignoreTorn accepts a line of a write that was interrupted.
func ignoreTorn(text []byte, err error) error {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil
	}
	return err
}

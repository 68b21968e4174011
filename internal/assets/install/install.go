// Package install puts the files of package assets onto this machine.
//
// It is the only part of the program that downloads, and only `yamo-mcp setup` imports it: a server
// never does. The invariant: a file appears under its final name only after its sha256 has been
// compared with the manifest, complete and fsynced, in one rename; whatever is interrupted leaves at
// most a scratch folder, which the next run removes.
package install

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/assets"
	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
)

// scratchPrefix begins the names of temporary folders inside the cache folder.
const scratchPrefix = ".install-"

// Options say what to install, and where.
type Options struct {
	Dir   string            // the cache folder; made if it is not there
	Files []assets.File     // what is wanted, usually assets.Pinned().Platform(...)
	Texts map[string]string // small files to write besides, by name
	From  string            // install from this folder only, without any connection
	Out   io.Writer         // one line per source and result
	// Terminal means that Out is a terminal: downloads then draw a progress bar.
	Terminal bool
	// Command is what a person runs to try again; "" means `yamo-mcp setup`.
	Command string
	// Timeouts bound the waiting; zero fields mean the defaults.
	Timeouts Timeouts
}

// Timeouts bound how long a source may keep the installer waiting.
type Timeouts struct {
	Connect time.Duration // for each step up to the first byte of an answer (connect, TLS, header): 5 s
	Stall   time.Duration // without a byte in the middle of a download: 15 s
	Client  time.Duration // for one run of a package client: 5 min
}

// withDefaults returns the timeouts with defaults for what is not set.
func (t Timeouts) withDefaults() Timeouts {
	t.Connect = cmp.Or(t.Connect, 5*time.Second)
	t.Stall = cmp.Or(t.Stall, 15*time.Second)
	t.Client = cmp.Or(t.Client, 5*time.Minute)
	return t
}

// installer is one run.
type installer struct {
	Options
	scratch string
	fetched map[string]string // source key -> downloaded file in scratch
	dead    map[string]bool   // hosts that did not answer in this run
}

// Run installs every file that is missing or damaged and reports each step on Out. Several runs may
// share one folder: the second waits for the first. The error names what is still missing and what to
// do; it wraps ctx's error when the run was interrupted.
func Run(ctx context.Context, o Options) error { return newInstaller(o).run(ctx) }

func newInstaller(o Options) *installer {
	o.Timeouts = o.Timeouts.withDefaults()
	o.Command = cmp.Or(o.Command, "yamo-mcp setup")
	return &installer{Options: o, fetched: map[string]string{}, dead: map[string]bool{}}
}

// run is Run.
func (in *installer) run(ctx context.Context) error {
	if err := os.MkdirAll(in.Dir, 0o755); err != nil { //nolint:gosec // public files that any account may use
		return fmt.Errorf("make the cache folder: %w", err)
	}
	unlock, err := lock(ctx, in.Dir, in.Out)
	if err != nil {
		return err
	}
	defer unlock()
	removeScratch(in.Dir) // the lock is ours, so any of them is left over from an interrupted run

	in.scratch, err = os.MkdirTemp(in.Dir, scratchPrefix)
	if err != nil {
		return fmt.Errorf("make a scratch folder: %w", err)
	}
	defer os.RemoveAll(in.scratch) //nolint:errcheck // the next run removes it

	// Before the model, so that a folder with a model is complete.
	for name, text := range in.Texts {
		if err := in.write(name, text); err != nil {
			return err
		}
	}
	var missing []assets.File
	for _, f := range in.Files {
		ok, err := in.install(ctx, f)
		if err != nil {
			return err
		}
		if !ok {
			missing = append(missing, f)
		}
	}
	if len(missing) > 0 {
		return in.missingError(missing)
	}
	return nil
}

// write puts a small file into place.
func (in *installer) write(name, text string) error {
	file := filepath.Join(in.scratch, name)
	w, err := createPublic(file)
	if err != nil {
		return err
	}
	_, err = w.WriteString(text)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	want, err := digest(file)
	if err != nil {
		return err
	}
	return place(file, filepath.Join(in.Dir, name), want)
}

// Verify hashes the files in dir and returns the names of those that are absent or damaged.
func Verify(dir string, files []assets.File) ([]string, error) {
	var bad []string
	for _, f := range files {
		ok, err := intact(filepath.Join(dir, f.Name), f)
		if err != nil {
			return nil, err
		}
		if !ok {
			bad = append(bad, f.Name)
		}
	}
	return bad, nil
}

// install makes f present and reports whether it is. An error ends the whole run.
func (in *installer) install(ctx context.Context, f assets.File) (bool, error) {
	final := filepath.Join(in.Dir, f.Name)
	ok, err := intact(final, f)
	if err != nil {
		return false, err
	}
	if ok {
		in.printf("%s: present\n", f.Name)
		return true, nil
	}
	in.printf("%s (%s)\n", f.Name, megabytes(f.Size))
	if in.From != "" {
		return in.fromFolder(f, final)
	}
	for _, s := range f.Sources {
		err := in.fromSource(ctx, f, s, final)
		if ctx.Err() != nil {
			return false, fmt.Errorf("setup was interrupted; run it again to continue: %w", context.Cause(ctx))
		}
		var local *localError
		switch {
		case err == nil:
			in.printf("  %s: installed\n", describe(s))
			return true, nil
		case errors.As(err, &local):
			return false, local.err
		default:
			in.printf("  %s: %v\n", describe(s), err)
		}
	}
	return false, nil
}

// fromSource gets f from one source and puts it into place.
func (in *installer) fromSource(ctx context.Context, f assets.File, s assets.Source, final string) error {
	download, err := in.download(ctx, f, s)
	if err != nil {
		return err
	}
	file := download
	if s.Member != "" {
		file = filepath.Join(in.scratch, f.Name) // free again: a refused one is removed below
		if err := extract(download, s.Member, file, s.Digest(f).Size); err != nil {
			return err
		}
	}
	defer os.Remove(file) //nolint:errcheck // gone when it was placed
	return place(file, final, s.Digest(f))
}

// localError is a fault of this machine (a full disk, a read-only folder) that no other source mends.
type localError struct{ err error }

func (e *localError) Error() string { return e.err.Error() }
func (e *localError) Unwrap() error { return e.err }

// place verifies file, makes it durable and renames it to final. Both are on one file system.
func place(file, final string, want assets.Digest) error {
	// SECURITY: nothing gets its final name without this comparison.
	got, err := digest(file)
	if err != nil {
		return &localError{err}
	}
	if got != want {
		return fmt.Errorf("refused: sha256 %s (%d bytes) instead of %s (%d bytes)",
			got.SHA256, got.Size, want.SHA256, want.Size)
	}
	err = func() error {
		f, err := os.OpenFile(file, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // Sync reports what matters
		if err := f.Chmod(0o644); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		if err := os.Rename(file, final); err != nil {
			return err
		}
		return syncDir(filepath.Dir(final))
	}()
	if err != nil {
		return &localError{fmt.Errorf("put %s into place: %w", filepath.Base(final), err)}
	}
	return nil
}

// createPublic creates the file dst, which must not exist, for any account to read: models and libraries are public.
func createPublic(dst string) (*os.File, error) {
	return os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // see above
}

// syncDir fsyncs a folder, so that the names in it are on disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // opened for reading
	return d.Sync()
}

// intact reports whether path holds one of f's accepted contents. A file of another size is not read.
func intact(path string, f assets.File) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	accepted := f.Accepted()
	sameSize := func(d assets.Digest) bool { return d.Size == info.Size() }
	if !info.Mode().IsRegular() || !slices.ContainsFunc(accepted, sameSize) {
		return false, nil
	}
	got, err := digest(path)
	if err != nil {
		return false, err
	}
	return slices.Contains(accepted, got), nil
}

// digest returns the SHA-256 and the size in bytes of a file.
func digest(path string) (assets.Digest, error) {
	f, err := os.Open(path)
	if err != nil {
		return assets.Digest{}, err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return assets.Digest{}, fmt.Errorf("read %s: %w", path, err)
	}
	return assets.Digest{SHA256: hex.EncodeToString(h.Sum(nil)), Size: n}, nil
}

// lock takes the folder's lock, saying so when another process has it.
func lock(ctx context.Context, dir string, out io.Writer) (func(), error) {
	path := lockfile.Resolved(filepath.Join(dir, ".lock"))
	release, ok, err := lockfile.TryExclusive(path)
	if err == nil && !ok {
		fmt.Fprintln(out, "another setup is running: waiting for it")
		release, err = lockfile.Exclusive(ctx, path)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the cache folder: %w", err)
	}
	return func() { _ = release() }, nil
}

// removeScratch removes what interrupted installations left in dir.
func removeScratch(dir string) {
	old, _ := filepath.Glob(filepath.Join(dir, scratchPrefix+"*"))
	for _, path := range old {
		_ = os.RemoveAll(path)
	}
}

// missingError lists the files that are not installed, their sources and the next step.
func (in *installer) missingError(files []assets.File) error {
	var b strings.Builder
	b.WriteString("not installed:")
	for _, f := range files {
		fmt.Fprintf(&b, "\n  %s, as one of:", f.Name)
		for _, s := range f.Sources {
			fmt.Fprintf(&b, "\n    %s", describeFully(s))
		}
	}
	if in.From == "" {
		fmt.Fprintf(&b, "\nrun `%[1]s` again, or put one of each into a folder and run `%[1]s --from FOLDER`", in.Command)
	} else {
		fmt.Fprintf(&b, "\nput one of each into %s and run the command again", in.From)
	}
	return errors.New(b.String())
}

func (in *installer) printf(format string, args ...any) {
	fmt.Fprintf(in.Out, format, args...)
}

func megabytes(n int64) string {
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// Package assets finds where ONNX Runtime, the embedding model and its tokenizer are on this machine.
//
// They are too large to ship in the program. `yamo-mcp setup` installs them into the cache folder
// (package install does the work); a release archive carries them in a folder next to bin/. The
// invariant: this package only looks. It opens no connection, writes nothing and hashes nothing, so the
// server may import it; every file was verified by its sha256 when it was installed.
package assets

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// ErrMissing is in the chain of Locate's error when files are not installed.
var ErrMissing = errors.New("not installed")

// Paths are the files of a complete installation.
type Paths struct {
	Runtime   string // ONNX Runtime's shared library
	Model     string
	Tokenizer string
}

// Status is what is installed.
type Status struct {
	Dir   string       // the folder the files are in, or would be installed into
	Files []FileStatus // in the order runtime, model, tokenizer
}

// FileStatus is one file of a Status. Present means that it is there with a size that the manifest
// lists, a check that costs one stat; `yamo-mcp setup --check` hashes it too.
type FileStatus struct {
	Role    string
	Name    string
	Path    string
	Present bool
}

// Missing returns the names of the files that are not there.
func (s Status) Missing() []string {
	var names []string
	for _, f := range s.Files {
		if !f.Present {
			names = append(names, f.Name)
		}
	}
	return names
}

// Dir returns the cache folder: $YAMO_CACHE, else yamo-mcp in the platform's cache folder. It may not
// exist yet.
func Dir(getenv func(string) string) (string, error) {
	if dir := getenv("YAMO_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	base, err := userCacheDir(getenv)
	if err != nil {
		return "", fmt.Errorf("no cache folder: set YAMO_CACHE: %w", err)
	}
	return filepath.Join(base, "yamo-mcp"), nil
}

// FolderDir returns where `yamo-mcp setup --model` installs the model called name. It may not exist yet.
func FolderDir(getenv func(string) string, name string) (string, error) {
	dir, err := Dir(getenv)
	return filepath.Join(dir, "models", name), err
}

// userCacheDir is os.UserCacheDir over an injected environment.
func userCacheDir(getenv func(string) string) (string, error) {
	home := getenv("HOME")
	if runtime.GOOS == "darwin" {
		if home == "" {
			return "", errors.New("HOME is not set")
		}
		return filepath.Join(home, "Library", "Caches"), nil
	}
	if dir := getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	if home == "" {
		return "", errors.New("neither XDG_CACHE_HOME nor HOME is set")
	}
	return filepath.Join(home, ".cache"), nil
}

// Check reports what is installed for this platform: in the cache folder or, when that is incomplete,
// in the assets folder of an unpacked release.
func Check(getenv func(string) string) (Status, error) {
	files, err := Pinned().Platform(Platform())
	if err != nil {
		return Status{}, err
	}
	dir, dirErr := Dir(getenv)
	if dirErr == nil {
		if s := In(dir, files); len(s.Missing()) == 0 {
			return s, nil
		}
	}
	if bundle := bundleDir(); bundle != "" {
		if s := In(bundle, files); len(s.Missing()) == 0 {
			return s, nil
		}
	}
	if dirErr != nil {
		return Status{}, dirErr
	}
	return In(dir, files), nil
}

// Locate returns where the files are. If any is not installed the error matches ErrMissing and names
// the files and the command that installs them.
func Locate(getenv func(string) string) (Paths, error) {
	s, err := Check(getenv)
	if err != nil {
		return Paths{}, err
	}
	if missing := s.Missing(); len(missing) > 0 {
		return Paths{}, fmt.Errorf("%s %w in %s: run `yamo-mcp setup`", strings.Join(missing, ", "), ErrMissing, s.Dir)
	}
	var p Paths
	for _, f := range s.Files {
		switch f.Role {
		case RoleRuntime:
			p.Runtime = f.Path
		case RoleModel:
			p.Model = f.Path
		case RoleTokenizer:
			p.Tokenizer = f.Path
		}
	}
	return p, nil
}

// Platform is this program's platform as the manifest spells it.
func Platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

// In reports which of files are in dir, by name and size.
func In(dir string, files []File) Status {
	s := Status{Dir: dir}
	for _, f := range files {
		fs := FileStatus{Role: f.Role, Name: f.Name, Path: filepath.Join(dir, f.Name)}
		if info, err := os.Stat(fs.Path); err == nil && info.Mode().IsRegular() {
			fs.Present = slices.ContainsFunc(f.Accepted(), func(d Digest) bool { return d.Size == info.Size() })
		}
		s.Files = append(s.Files, fs)
	}
	return s
}

// bundleDir is the assets folder of an unpacked release (bin/yamo-mcp next to assets/), "" if the
// program's own place is unknown.
func bundleDir() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	if target, err := filepath.EvalSymlinks(exe); err == nil {
		exe = target
	}
	return filepath.Join(filepath.Dir(exe), "..", "assets")
}

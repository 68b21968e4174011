package project

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// repository is a git repository on this machine. Its files are read instead of asking git, which is not everywhere,
// and which takes longer than the hook that needs the answer.
type repository struct {
	root   string // of the main worktree; of a bare repository and a submodule their own folder
	common string // the folder with the configuration
}

// maxConfig is the maximum size of a configuration that is read, in bytes.
const maxConfig = 1 << 20

// find returns the repository that dir is in.
func find(dir string) (repository, bool) {
	for {
		if bare(dir) {
			return repository{dir, dir}, true
		}
		if r, ok := open(dir, filepath.Join(dir, ".git")); ok {
			return r, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return repository{}, false
		}
		dir = parent
	}
}

// open returns the repository whose .git of the worktree dir is at path: a folder, or in a linked worktree and a
// submodule a file that names one.
func open(dir, path string) (repository, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return repository{}, false
	}
	if !info.IsDir() {
		link, ok := strings.CutPrefix(strings.TrimSpace(read(path)), "gitdir:")
		if !ok {
			return repository{}, false
		}
		path = absolute(strings.TrimSpace(link), dir)
	}
	if common := strings.TrimSpace(read(filepath.Join(path, "commondir"))); common != "" {
		path = absolute(common, path)
	}
	if !exists(filepath.Join(path, "HEAD")) {
		return repository{}, false
	}
	path = resolved(path)
	if filepath.Base(path) == ".git" {
		return repository{filepath.Dir(path), path}, true
	}
	return repository{path, path}, true
}

// bare reports whether dir is itself the folder of a repository.
func bare(dir string) bool {
	return filepath.Base(dir) != ".git" && exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) &&
		exists(filepath.Join(dir, "config"))
}

// absolute returns path, relative to base if it is relative.
func absolute(path, base string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// read returns a file's text, "" if it cannot be read.
//
// SECURITY: only a regular file is opened. A client names the folder, and opening a pipe would block.
func read(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxConfig))
	if err != nil {
		return ""
	}
	return string(data)
}

// remotes returns the URLs of the repository's remotes, by name.
func (r repository) remotes() map[string]string {
	urls := map[string]string{}
	name := "" // of the remote whose section it is
	for line := range strings.Lines(read(filepath.Join(r.common, "config"))) {
		line = strings.TrimSpace(line)
		if section, ok := strings.CutPrefix(line, "["); ok {
			section, line, _ = strings.Cut(section, "]")
			kind, quoted, _ := strings.Cut(section, `"`)
			name = ""
			if strings.EqualFold(strings.TrimSpace(kind), "remote") {
				name = strings.TrimSuffix(strings.TrimSpace(quoted), `"`)
			}
			line = strings.TrimSpace(line)
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || name == "" || urls[name] != "" || !strings.EqualFold(strings.TrimSpace(key), "url") {
			continue
		}
		urls[name] = unquoted(strings.TrimSpace(value))
	}
	return urls
}

// unquoted returns a value of a configuration without its quotes and what follows it.
func unquoted(value string) string {
	if quoted, ok := strings.CutPrefix(value, `"`); ok {
		value, _, _ = strings.Cut(quoted, `"`)
		return value
	}
	if end := strings.IndexAny(value, " \t;"); end >= 0 {
		value = value[:end]
	}
	return value
}

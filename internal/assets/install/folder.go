package install

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/internal/assets"
)

// fromFolder installs f from in.From: the file itself under any of the names its sources give it, or
// one of the archives that contain it. It reports whether f is installed.
func (in *installer) fromFolder(f assets.File, final string) (bool, error) {
	tried := false
	for _, s := range f.Sources {
		names := []string{f.Name, path.Base(s.Member)}
		if s.Member == "" {
			names[1] = path.Base(s.URL)
		}
		for _, file := range in.inFolder(names...) {
			tried = true
			if ok, err := in.fromFile(f, file, "", final); ok || err != nil {
				return ok, err
			}
		}
	}
	for _, s := range f.Sources {
		if s.Member == "" {
			continue
		}
		for _, file := range in.inFolder(archiveNames(s)...) {
			tried = true
			if ok, err := in.fromFile(f, file, s.Member, final); ok || err != nil {
				return ok, err
			}
		}
	}
	if !tried {
		in.printf("  nothing for it in %s\n", in.From)
	}
	return false, nil
}

// inFolder returns the regular files of the folder that match a pattern.
func (in *installer) inFolder(patterns ...string) []string {
	entries, _ := os.ReadDir(in.From) // the command checked that it can be read
	var files []string
	for _, e := range entries {
		matches := slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, e.Name()); return ok })
		file := filepath.Join(in.From, e.Name())
		if info, err := os.Stat(file); matches && err == nil && info.Mode().IsRegular() {
			files = append(files, file)
		}
	}
	return files
}

// fromFile installs f from one file, or from the member of an archive. Any content that the manifest
// accepts will do. A file that is something else is reported and is no error.
func (in *installer) fromFile(f assets.File, file, member, final string) (bool, error) {
	err := in.copyAndPlace(f, file, member, final)
	var local *localError
	switch {
	case err == nil:
		in.printf("  installed from %s\n", file)
		return true, nil
	case errors.As(err, &local):
		return false, local.err
	}
	in.printf("  %s: %v\n", file, err)
	return false, nil
}

// copyAndPlace copies f from file, or from its member if file is an archive, checks the copy and moves it to final. The
// check is of the copy, because file may change in between.
func (in *installer) copyAndPlace(f assets.File, file, member, final string) error {
	dir, err := os.MkdirTemp(in.scratch, "source-")
	if err != nil {
		return &localError{err}
	}
	var limit int64
	accepted := f.Accepted()
	for _, d := range accepted {
		limit = max(limit, d.Size)
	}
	tmp := filepath.Join(dir, f.Name)
	if member != "" {
		err = extract(file, member, tmp, limit)
	} else {
		err = copyFile(file, tmp, limit)
	}
	if err != nil {
		return err
	}
	got, err := digest(tmp)
	if err != nil {
		return &localError{err}
	}
	if !slices.Contains(accepted, got) {
		return fmt.Errorf("refused: sha256 %s is none that the manifest lists for %s", got.SHA256, f.Name)
	}
	return place(tmp, final, got)
}

// copyFile copies up to limit bytes of src, and one more, so that a larger file is noticed.
func copyFile(src, dst string, limit int64) error {
	r, err := os.Open(src)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // opened for reading
	w, err := createPublic(dst)
	if err != nil {
		return &localError{err}
	}
	_, err = io.Copy(diskWriter{w}, io.LimitReader(r, limit+1))
	if closeErr := w.Close(); err == nil && closeErr != nil {
		err = &localError{closeErr}
	}
	return err
}

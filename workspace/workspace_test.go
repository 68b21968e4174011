package workspace

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// valentine is noon of the day the sample workspace ends at, on a machine in UTC.
var valentine = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

// kate opens a copy of the sample workspace.
func kate(t *testing.T) *Workspace {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../testdata/workspaces/kate")); err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

// folderOf opens a workspace with the given files, by name.
func folderOf(t *testing.T, files map[string]string) *Workspace {
	t.Helper()
	w := open(t, t.TempDir())
	for name, text := range files {
		write(t, w, name, text)
	}
	return w
}

func open(t *testing.T, dir string) *Workspace {
	t.Helper()
	w, err := Open(dir, WithClock(func() time.Time { return valentine }),
		WithLogger(slog.New(slog.NewTextHandler(t.Output(), nil))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func write(t *testing.T, w *Workspace, name, text string) {
	t.Helper()
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func group(t *testing.T, name string) audience.Audience {
	t.Helper()
	a, err := audience.Group(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"no folder":    "",
		"missing":      filepath.Join(dir, "missing"),
		"not a folder": file,
	} {
		if w, err := Open(path); err == nil {
			t.Errorf("%s: opened", name)
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestDirIsForDMsOnly(t *testing.T) {
	t.Parallel()
	w := folderOf(t, nil)
	if got := w.View(audience.DM()).Dir(); got != w.Dir() || !filepath.IsAbs(got) {
		t.Errorf("DM sees folder %q, want %q", got, w.Dir())
	}
	if got := w.View(audience.Audience{}).Dir(); got != "" {
		t.Errorf("group sees folder %q", got)
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files     map[string]string
		dm, group State
	}{
		"empty":     {nil, Uninitialized, Uninitialized},
		"bootstrap": {map[string]string{"BOOTSTRAP.md": "x"}, Bootstrap, Uninitialized},
		"soul":      {map[string]string{"SOUL.md": "x"}, Ready, Ready},
		"both":      {map[string]string{"SOUL.md": "x", "BOOTSTRAP.md": "x"}, Bootstrap, Ready},
		"others only": {
			map[string]string{"USER.md": "x", "AGENTS.md": "x", "MEMORY.md": "x"}, Uninitialized, Uninitialized,
		},
		"soul is folder":  {map[string]string{"SOUL.md/x": "x"}, Uninitialized, Uninitialized},
		"soul misspelled": {map[string]string{"soul.md": "x"}, Uninitialized, Uninitialized},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := folderOf(t, test.files)
			for who, want := range map[audience.Audience]State{audience.DM(): test.dm, group(t, "a"): test.group} {
				v := w.View(who)
				if got := v.State(); got != want {
					t.Errorf("%v: state %v, want %v", who, got, want)
				}
				if refuses := v.Refusal() != ""; refuses != (want == Uninitialized) {
					t.Errorf("%v: refusal %q in state %v", who, v.Refusal(), want)
				}
			}
		})
	}
}

// A SOUL.md that is there and not used is not called missing.
func TestRefusalOfALinkedSoul(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"other.md": "x"})
	if err := os.Symlink("other.md", filepath.Join(w.dir, "SOUL.md")); err != nil {
		t.Fatal(err)
	}
	for _, who := range []audience.Audience{audience.DM(), group(t, "a")} {
		if got := w.View(who).Refusal(); !strings.Contains(got, "SOUL.md is not used: it is a symbolic link") {
			t.Errorf("%v: %q", who, got)
		}
	}
}

// Two workspaces that differ only in a BOOTSTRAP.md are one to a group.
func TestGroupIsNotToldOfBootstrap(t *testing.T) {
	t.Parallel()
	with, without := folderOf(t, map[string]string{"BOOTSTRAP.md": "x"}), folderOf(t, nil)
	linked := folderOf(t, nil)
	if err := os.Symlink("other.md", filepath.Join(linked.dir, "BOOTSTRAP.md")); err != nil {
		t.Fatal(err)
	}
	a := group(t, "a")
	for _, w := range []*Workspace{with, linked} {
		if got, want := w.View(a).Refusal(), without.View(a).Refusal(); got != want || got == "" {
			t.Errorf("refusal %q with a BOOTSTRAP.md, %q without", got, want)
		}
	}
}

func TestRefusedFilesAreLoggedOnceAndWithoutName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "target"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", filepath.Join(dir, "MEMORY.md")); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	w, err := Open(dir, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	for range 3 {
		w.View(audience.DM()).Files()
		w.View(audience.Audience{}).Files()
	}
	if n := bytes.Count(log.Bytes(), []byte("symbolic link")); n != 1 || bytes.Contains(log.Bytes(), []byte("MEMORY.md")) {
		t.Errorf("log has %d reports:\n%s", n, log.Bytes())
	}
}

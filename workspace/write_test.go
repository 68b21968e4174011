package workspace

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
)

// writable are the names of everything that a DM may replace; a group may replace none.
var writable = map[string]bool{
	"AGENTS.md": true, "TOOLS.md": true, "HEARTBEAT.md": true, "memory/heartbeat-state.json": true, "USER.md": true,
	"MEMORY.md": true,
	"DREAMS.md": true, "notes/any name, 2.md": true, "notes/deep/er.md": true, "users/kate/overview.md": true,
	"users/kate/parts/p1/profile.md": true, "memory/2026-02-14-a-topic.md": true, "memory/2021-02-29.md": true,
	"memory/2026-02-30-group-a.md": true, "memory/2026-02-14-group-.md": true, "memory/sub/2026-02-14-group-a.md": true,
	"memory/SOUL.md": true,
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir+"/")] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Every audience times every file: what may not be written stays, and nothing else appears.
func TestWriteAccess(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for name := range everything {
		if name != BootstrapFile {
			files[name] = "old"
		}
	}
	for key, who := range viewers(t) {
		w, empty := folderOf(t, files), folderOf(t, nil)
		want := tree(t, w.dir)
		for name, readers := range everything {
			hash, err := w.View(who).Write(t.Context(), name, []byte("new"), Hash([]byte("old")))
			_, absent := empty.View(who).Write(t.Context(), name, []byte("new"), Hash([]byte("old")))
			reads := key != "" && strings.Contains(readers, key) || key == "" && strings.Contains(readers, "dab")
			switch {
			case key == "d" && writable[name]:
				if want[name] = "new"; err != nil || hash != Hash([]byte("new")) {
					t.Errorf("%v cannot write %s: %v", who, name, err)
				}
				var conflict *ConflictError
				if !errors.As(absent, &conflict) || conflict.Hash != "" {
					t.Errorf("%v creates %s: %v", who, name, absent)
				}
			case reads && name != BootstrapFile:
				if !errors.Is(err, fs.ErrPermission) {
					t.Errorf("%v writes %s, which it can read: %v", who, name, err)
				}
			case !reads && (!errors.Is(err, fs.ErrNotExist) || err.Error() != absent.Error()):
				t.Errorf("%v writes %s, which is not there for it: %v; where it is not: %v", who, name, err, absent)
			}
		}
		got := tree(t, w.dir)
		delete(got, filesLock)
		delete(got, ignoreFile)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", who, diff)
		}
	}
}

func TestWriteNoticesHandEdits(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"MEMORY.md": "first\r\n"})
	v := w.View(audience.DM())
	first := Hash([]byte("first\r\n"))
	write(t, w, "MEMORY.md", "by hand")
	var conflict *ConflictError
	switch _, err := v.Write(t.Context(), "MEMORY.md", []byte("second"), first); {
	case !errors.As(err, &conflict):
		t.Errorf("after a hand edit: another error: %v", err)
	case conflict.Hash != Hash([]byte("by hand")):
		t.Errorf("after a hand edit: conflict.Hash = %v, want %v", conflict.Hash, Hash([]byte("by hand")))
	case !strings.Contains(err.Error(), conflict.Hash):
		t.Errorf("after a hand edit: %q lacks %q", err.Error(), conflict.Hash)
	}
	if _, err := v.Write(t.Context(), "MEMORY.md", []byte("second"), ""); !errors.As(err, &conflict) {
		t.Errorf("as a new file: %v", err)
	}
	if got := content(t, w, "MEMORY.md"); got != "by hand" {
		t.Errorf("MEMORY.md is now %q", got)
	}
	if err := os.Chmod(filepath.Join(w.dir, "MEMORY.md"), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Write(t.Context(), "MEMORY.md", []byte("second"), conflict.Hash); err != nil {
		t.Error(err)
	}
	if _, err := v.Write(t.Context(), "notes/new/note.md", []byte("x"), ""); err != nil {
		t.Error(err)
	}
	for name, mode := range map[string]os.FileMode{
		"MEMORY.md": 0o640, "notes/new/note.md": 0o600, "notes/new": 0o700 | os.ModeDir, ".yamo": 0o700 | os.ModeDir,
		filesLock: 0o600,
	} {
		if info, err := os.Stat(filepath.Join(w.dir, name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v; want mode %v", name, info.Mode(), err, mode)
		}
	}
	if got := tree(t, w.dir); len(got) != 4 || got[ignoreFile] != "*\n" {
		t.Errorf("left behind: %q", got)
	}
}

// Many writers that each read, change and write lose nothing.
func TestWriteConcurrently(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"MEMORY.md": "0"})
	var writers sync.WaitGroup
	for range 4 {
		v := open(t, w.dir).View(audience.DM())
		writers.Go(func() {
			for done := 0; done < 25; {
				data, err := v.Read("MEMORY.md")
				if err != nil {
					t.Error(err)
					return
				}
				n, err := strconv.Atoi(string(data))
				if err != nil {
					t.Error(err)
					return
				}
				var conflict *ConflictError
				switch _, err := v.Write(t.Context(), "MEMORY.md", []byte(strconv.Itoa(n+1)), Hash(data)); {
				case err == nil:
					done++
				case !errors.As(err, &conflict):
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	if got := content(t, w, "MEMORY.md"); got != "100" {
		t.Errorf("counted to %s", got)
	}
}

func TestWriteRefusesLinks(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"SOUL.md": "soul"})
	if err := os.Symlink("SOUL.md", filepath.Join(w.dir, "MEMORY.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(w.dir, "SOUL.md"), filepath.Join(w.dir, "USER.md")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"MEMORY.md", "USER.md"} {
		for _, base := range []string{"", Hash([]byte("soul"))} {
			if _, err := w.View(audience.DM()).Write(t.Context(), name, []byte("new"), base); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if got := content(t, w, "SOUL.md"); got != "soul" {
		t.Errorf("SOUL.md is now %q", got)
	}
}

// What is wrong with a file in .yamo is told of that file, not of the one that was to be written. A person's own
// .gitignore there stays as it is.
func TestWriteNamesTheLinkedLock(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"MEMORY.md": "x", "other": "theirs"})
	link := func(name string) {
		t.Helper()
		path := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(w.dir, "other"), path); err != nil {
			t.Fatal(err)
		}
	}
	link(".yamo/.gitignore")
	v := w.View(audience.DM())
	if _, err := v.Write(t.Context(), "MEMORY.md", []byte("y"), Hash([]byte("x"))); err != nil {
		t.Errorf("with a linked .gitignore: %v", err)
	}
	if got := content(t, w, "other"); got != "theirs" {
		t.Errorf("what .gitignore leads to is now %q", got)
	}
	if err := os.Remove(filepath.Join(w.dir, filesLock)); err != nil {
		t.Fatal(err)
	}
	link(filesLock)
	_, err := v.Write(t.Context(), "MEMORY.md", []byte("z"), Hash([]byte("y")))
	unusable, ok := errors.AsType[*fault.UnusableError](err)
	if !ok || unusable.Path != filesLock || unusable.Reason != "it is a symbolic link" {
		t.Errorf("with a linked lock: %v", err)
	}
	if got := content(t, w, "MEMORY.md"); got != "y" {
		t.Errorf("MEMORY.md is %q", got)
	}
}

func TestCredentialsDoNotReachFiles(t *testing.T) {
	t.Parallel()
	w := folderOf(t, nil)
	w.scrub = func(text string) (string, int) {
		return strings.ReplaceAll(text, "hunter2", "[REDACTED]"), strings.Count(text, "hunter2")
	}
	v := w.View(audience.DM())
	if _, err := v.Write(t.Context(), "MEMORY.md", []byte("password hunter2"), ""); !errors.Is(err, ErrCredentials) {
		t.Errorf("written: %v", err)
	}
	logged, err := v.Journal().Append(t.Context(), "hunter2", "it is hunt\x00er\u202e2")
	if err != nil || logged.Redactions != 2 {
		t.Errorf("logged: %+v, %v", logged, err)
	}
	for name, text := range tree(t, w.dir) {
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s has the password", name)
		}
	}
}

// What a human wrote, or what only looks like a credential, does not keep the rest of a file from being edited; more
// of it is refused all the same.
func TestCredentialsThatAreThere(t *testing.T) {
	t.Parallel()
	const there = "# Notes\n\nhunter2 is Mira's dog\n\nend\n"
	for text, refused := range map[string]bool{
		there + "more\n":                         false,
		"hunter2 is Mira's dog\n":                false,
		"# Notes\n\n\thunter2 is Mira's dog\r\n": false,
		"nothing\n":                              false,
		there + "and hunter2\n":                  true,
		there + "hunter2 is Mira's dog\n":        true, // twice as many
		"# Notes\n\nhunter2 is the password\n":   true, // as many, but another
	} {
		w := folderOf(t, map[string]string{"notes/a.md": there})
		w.scrub = func(text string) (string, int) { return text, strings.Count(text, "hunter2") }
		_, err := w.View(audience.DM()).Write(t.Context(), "notes/a.md", []byte(text), Hash([]byte(there)))
		if errors.Is(err, ErrCredentials) != refused || !refused && err != nil {
			t.Errorf("%q: %v, want refused %t", text, err, refused)
		}
	}
}

func TestBootstrap(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"BOOTSTRAP.md": "secret"})
	dm := w.View(audience.DM())
	if _, err := w.View(group(t, "a")).FinishBootstrap(t.Context(), "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a group finished the first boot: %v", err)
	}
	for _, name := range []string{"SOUL.md", "IDENTITY.md", "USER.md", "AGENTS.md"} {
		if _, err := w.View(group(t, "a")).Write(t.Context(), name, []byte("x"), ""); !errors.Is(err, fs.ErrNotExist) &&
			!errors.Is(err, fs.ErrPermission) {
			t.Errorf("a group made %s: %v", name, err)
		}
		if _, err := dm.Write(t.Context(), name, []byte("I am "+name), ""); err != nil {
			t.Errorf("%s was not made: %v", name, err)
		}
	}
	if _, err := dm.FinishBootstrap(t.Context(), "I am here."); err != nil {
		t.Error(err)
	}
	if dm.State() != Ready || !strings.Contains(content(t, w, "memory/2026-02-14.md"), "I am here.") {
		t.Errorf("state %v, log %q", dm.State(), content(t, w, "memory/2026-02-14.md"))
	}
	for name, text := range tree(t, w.dir) {
		if strings.Contains(text, "secret") {
			t.Errorf("the instructions are still in %s", name)
		}
	}
	for _, name := range []string{"SOUL.md", "IDENTITY.md"} {
		for _, base := range []string{"", Hash([]byte("I am " + name))} {
			if _, err := dm.Write(t.Context(), name, []byte("someone else"), base); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s was written after the first boot: %v", name, err)
			}
		}
	}
	if _, err := dm.FinishBootstrap(t.Context(), "again"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a second time: %v", err)
	}
}

// A failed step does not keep BOOTSTRAP.md alive.
func TestBootstrapIsDeletedAfterAFailedStep(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{
		"BOOTSTRAP.md": "secret", "SOUL.md": "x", "memory": "a file where the folder belongs",
	})
	if _, err := w.View(audience.DM()).FinishBootstrap(t.Context(), "x"); err == nil {
		t.Error("the failed step was not told")
	}
	if _, err := os.Lstat(filepath.Join(w.dir, "BOOTSTRAP.md")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("BOOTSTRAP.md is still there: %v", err)
	}
}

// A deletion that fails is an error, and the operator reads it.
func TestBootstrapDeletionFails(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"BOOTSTRAP.md": "secret", "SOUL.md": "x"})
	var log bytes.Buffer
	w.log = slog.New(slog.NewTextHandler(&log, nil))
	if err := w.root.Close(); err != nil { // the folder is lost: nothing below it can be deleted
		t.Fatal(err)
	}
	v := w.View(audience.DM())
	if err := v.deleteBootstrap(); err == nil || !strings.Contains(err.Error(), "by hand") {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "BOOTSTRAP.md") {
		t.Errorf("log %q", log.String())
	}
}

func TestWriteInitial(t *testing.T) {
	t.Parallel()
	const own = "You are Ada."
	tests := map[string]struct {
		files      map[string]string
		name, base string
		want       error // nil: it is written
	}{
		"missing": {map[string]string{"BOOTSTRAP.md": "x"}, "SOUL.md", "", nil},
		"an untouched form": {
			map[string]string{"BOOTSTRAP.md": "x", "USER.md": string(template("USER.md"))}, "USER.md", "", nil,
		},
		"its own":    {map[string]string{"BOOTSTRAP.md": "x", "USER.md": own}, "USER.md", Hash([]byte(own)), nil},
		"the user's": {map[string]string{"BOOTSTRAP.md": "x", "SOUL.md": own}, "SOUL.md", "", &ConflictError{}},
		"a form filled in": {
			map[string]string{"BOOTSTRAP.md": "x", "USER.md": string(template("USER.md")) + "!"},
			"USER.md", "", &ConflictError{},
		},
		"after the first boot": {map[string]string{"SOUL.md": own}, "USER.md", "", fs.ErrNotExist},
		"uninitialized":        {nil, "SOUL.md", "", fs.ErrNotExist},
		"not of the boot":      {map[string]string{"BOOTSTRAP.md": "x"}, "MEMORY.md", "", fs.ErrNotExist},
	}
	for name, test := range tests {
		w := folderOf(t, test.files)
		_, err := w.View(audience.DM()).WriteInitial(t.Context(), test.name, []byte("new"), test.base)
		var conflict *ConflictError
		switch {
		case test.want == nil:
			if err != nil || content(t, w, test.name) != "new" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		case errors.As(test.want, &conflict):
			if !errors.As(err, &conflict) || conflict.Hash != Hash([]byte(test.files[test.name])) {
				t.Errorf("%s: %v", name, err)
			}
		case !errors.Is(err, test.want):
			t.Errorf("%s: %v", name, err)
		}
		if was, ok := test.files[test.name]; ok && content(t, w, test.name) != was {
			t.Errorf("%s: it was overwritten", name)
		}
		_, err = w.View(group(t, "a")).WriteInitial(t.Context(), test.name, []byte("new"), test.base)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a group: %v", name, err)
		}
	}
}

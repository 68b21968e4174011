package workspace

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// everything is one file of each kind, and who may read it: d the DM, a group a, b group b.
var everything = map[string]string{
	"SOUL.md":                          "dab",
	"IDENTITY.md":                      "dab",
	"AGENTS.md":                        "dab",
	"TOOLS.md":                         "d",
	"HEARTBEAT.md":                     "d",
	"memory/heartbeat-state.json":      "d",
	"USER.md":                          "d",
	"MEMORY.md":                        "d",
	"DREAMS.md":                        "d",
	"BOOTSTRAP.md":                     "d",
	"notes/any name, 2.md":             "d",
	"notes/deep/er.md":                 "d",
	"memory/2026-02-14.md":             "d",
	"memory/2020-02-29.md":             "d",
	"memory/2026-02-14-a-topic.md":     "d",
	"memory/2026-02-14-group-a.md":     "da",
	"memory/2020-01-01-group-a.md":     "da",
	"memory/2026-02-14-group-b.md":     "db",
	"memory/2026-02-14-group-a-b.md":   "d",
	"memory/2026-02-14-group-.md":      "d",
	"memory/2021-02-29.md":             "d", // no such day: a note
	"memory/2026-02-30-group-a.md":     "d", // no such day: not a log
	"memory/sub/2026-02-14-group-a.md": "d",
	"README.md":                        "",
	"other/SOUL.md":                    "",
	"notes/picture.png":                "",
	"notes/.hidden.md":                 "",
	".yamo/key":                        "",
	".yamo/private/ledger.ndjson":      "",
	".git/config":                      "",
	"memory/SOUL.md":                   "d",
	"users/kate/overview.md":           "d",
	"users/kate/parts/p1/profile.md":   "d",
	"users/kate/parts/p1/other.md":     "",
	"users/overview.md":                "",
	"soul.md":                          "",
	"Memory.md":                        "",
	"MEMORY.MD":                        "",
}

func viewers(t *testing.T) map[string]audience.Audience {
	return map[string]audience.Audience{"d": audience.DM(), "a": group(t, "a"), "b": group(t, "b"), "": group(t, "")}
}

// Every audience times every file: read and stat agree, and denied is told from absent by nothing.
func TestAccess(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for name := range everything {
		files[name] = "content of " + name
	}
	full, empty := folderOf(t, files), folderOf(t, nil)
	for key, who := range viewers(t) {
		for name, readers := range everything {
			data, err := full.View(who).Read(name)
			file, statErr := full.View(who).Stat(name)
			if key != "" && strings.Contains(readers, key) || key == "" && strings.Contains(readers, "dab") {
				switch {
				case err != nil:
					t.Errorf("%v cannot read %s: %v", who, name, err)
				case statErr != nil:
					t.Errorf("%v cannot read %s: %v", who, name, statErr)
				case string(data) != files[name]:
					t.Errorf("%v cannot read %s: %q, want %q", who, name, string(data), files[name])
				case file.Size != int64(len(data)):
					t.Errorf("%v cannot read %s: file.Size = %v, want %v", who, name, file.Size, int64(len(data)))
				case file.Name != name:
					t.Errorf("%v cannot read %s: file.Name = %q, want %q", who, name, file.Name, name)
				}
				continue
			}
			_, wantErr := empty.View(who).Read(name)
			_, wantStatErr := empty.View(who).Stat(name)
			switch {
			case len(data) != 0:
				t.Errorf("%v reads %s: len(data) = %v, want 0", who, name, len(data))
			case err.Error() != wantErr.Error():
				t.Errorf("%v reads %s: err.Error() = %q, want %q", who, name, err.Error(), wantErr.Error())
			case !errors.Is(err, fs.ErrNotExist):
				t.Errorf("%v reads %s: %v, want %v", who, name, err, fs.ErrNotExist)
			}
			switch {
			case file != (File{}):
				t.Errorf("%v stats %s: file = %v, want %v", who, name, file, (File{}))
			case statErr.Error() != wantStatErr.Error():
				t.Errorf("%v stats %s: statErr.Error() = %q, want %q", who, name, statErr.Error(), wantStatErr.Error())
			case !errors.Is(statErr, fs.ErrNotExist):
				t.Errorf("%v stats %s: %v, want %v", who, name, statErr, fs.ErrNotExist)
			}
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	files := map[string]string{"notes/2020-01-01.md": "", "notes/2026-02-13.md": "", "memory/2026-02-13-group-a.md": ""}
	for name := range everything {
		files[name] = ""
	}
	w := folderOf(t, files)
	want := map[string][]string{
		"d": {
			"AGENTS.md", "BOOTSTRAP.md", "DREAMS.md", "HEARTBEAT.md", "IDENTITY.md", "MEMORY.md", "SOUL.md", "TOOLS.md",
			"USER.md",
			"memory/2021-02-29.md",
			"memory/2026-02-13-group-a.md",
			"memory/2026-02-14-a-topic.md", "memory/2026-02-14-group-.md", "memory/2026-02-14-group-a-b.md",
			"memory/2026-02-14-group-a.md", "memory/2026-02-14-group-b.md", "memory/2026-02-14.md",
			"memory/2026-02-30-group-a.md",
			"memory/SOUL.md", "memory/heartbeat-state.json",
			"notes/2026-02-13.md", "notes/any name, 2.md",
			"users/kate/overview.md", "users/kate/parts/p1/profile.md",
		},
		"a": {"AGENTS.md", "IDENTITY.md", "SOUL.md", "memory/2026-02-13-group-a.md", "memory/2026-02-14-group-a.md"},
		"b": {"AGENTS.md", "IDENTITY.md", "SOUL.md", "memory/2026-02-14-group-b.md"},
		"":  {"AGENTS.md", "IDENTITY.md", "SOUL.md"},
	}
	for key, who := range viewers(t) {
		var got []string
		for _, file := range w.View(who).Files() {
			got = append(got, file.Name)
			switch {
			case file.Title == "":
				t.Errorf("%v: %s is not described: file.Title is empty", who, file.Name)
			case file.Description == "":
				t.Errorf("%v: %s is not described: file.Description is empty", who, file.Name)
			case file.MIMEType == "":
				t.Errorf("%v: %s is not described: file.MIMEType is empty", who, file.Name)
			case file.Modified.IsZero():
				t.Errorf("%v: %s is not described: file.Modified.IsZero()", who, file.Name)
			}
		}
		if diff := cmp.Diff(want[key], got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", who, diff)
		}
	}
}

// Aliases of names are not names, whatever the file system would make of them.
func TestAliases(t *testing.T) {
	t.Parallel()
	w := kate(t)
	aliases := []string{
		"", ".", "..", "/", "//", "memory", "memory/", "notes/..", "./MEMORY.md", "MEMORY.md/", "/MEMORY.md", "//MEMORY.md",
		"notes/../MEMORY.md", "../kate/MEMORY.md", "memory/../MEMORY.md", "notes/./seed-order.md", "notes//seed-order.md",
		w.dir + "/MEMORY.md", "memory.md", "MEMORY.Md", "Notes/seed-order.md", "MEMORY/2026-02-14.md",
		"notes/seed-order.MD", "MEMORY.md\x00", "notes/seed\x00-order.md", "MEMORY.md\n", " MEMORY.md", "MEMORY.md ",
		"MEMORY.md.",
		"MEMORY%2Emd", "%4dEMORY.md", "notes%2fseed-order.md", "notes/%2e%2e/MEMORY.md", `notes\seed-order.md`,
		`..\MEMORY.md`,
		"MEMORY.md:stream", "MEMORY.md::$DATA", "notes/..%2fMEMORY.md", "notes/．．/MEMORY.md", "memory/2026-02-14.md/.",
		"memory/2026-02-14-GROUP-book-club.md", "memory/2026-02-14-group-Book-Club.md",
		"memory/2026-02-14-group-book-club.ｍd",
		"memory/2026-02-14-\u212Aroup.md\u200b", "ＭEMORY.md", "MEMORY\u200b.md", "\uFEFFMEMORY.md",
		"memory/２０２６-02-14.md",
		"memory/2026-02-14-group-boo\u200dk-club.md", "memory/2026-02-14-group-book%2Dclub.md", "notes/..%252fMEMORY.md",
		"notes/%2fMEMORY.md", "notes/\u202egnp.md", "notes/a\u200db.md", "notes/~/x.md ", "notes/\xff.md",
		"notes/" + strings.Repeat("x", 253) + ".md", strings.Repeat("notes/", 90) + "x.md", "notes/1/2/3/4/5/6/7/8.md",
	}
	for key, who := range viewers(t) {
		for _, name := range aliases {
			data, err := w.View(who).Read(name)
			if !errors.Is(err, fs.ErrNotExist) || len(data) != 0 {
				t.Errorf("%s reads %q: %q, %v", key, name, data, err)
			}
			// Also on a file system that would find a file under this name.
			if class := classify(who, name); class != audience.Unknown {
				t.Errorf("for %s %q is a %v", key, name, class)
			}
		}
	}
}

// Whatever is not a plain file with one link is answered as if it were not there.
func TestIrregularFiles(t *testing.T) {
	t.Parallel()
	creators := map[string]func(path, private string) error{
		"symbolic link":          func(path, private string) error { return os.Symlink(filepath.Base(private), path) },
		"absolute symbolic link": func(path, private string) error { return os.Symlink(private, path) },
		"dangling symbolic link": func(path, _ string) error { return os.Symlink("nowhere", path) },
		"link to itself":         func(path, _ string) error { return os.Symlink(filepath.Base(path), path) },
		"hard link":              func(path, private string) error { return os.Link(private, path) },
		"fifo":                   func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
		"folder":                 func(path, _ string) error { return os.Mkdir(path, 0o700) },
	}
	for kind, create := range creators {
		t.Run(kind, func(t *testing.T) {
			w := folderOf(t, map[string]string{"MEMORY.md": "private", "memory/x": ""})
			private := filepath.Join(w.dir, "MEMORY.md")
			for _, name := range []string{"SOUL.md", "memory/2026-02-14-group-a.md"} {
				if err := create(filepath.Join(w.dir, name), private); err != nil {
					t.Fatal(err)
				}
				for _, who := range []audience.Audience{audience.DM(), group(t, "a")} {
					v := w.View(who)
					_, wantErr := v.Read("memory/2000-01-01-group-a.md")
					data, err := v.Read(name)
					want := strings.ReplaceAll(wantErr.Error(), "memory/2000-01-01-group-a.md", name)
					switch {
					case err == nil:
						t.Errorf("%v reads %s: no error", who, name)
					case err.Error() != want:
						t.Errorf("%v reads %s: %q, want %q", who, name, err, want)
					case len(data) != 0:
						t.Errorf("%v reads %s: len(data) = %v, want 0", who, name, len(data))
					}
					if slices.ContainsFunc(v.Files(), func(f File) bool { return f.Name == name }) {
						t.Errorf("%v is offered %s", who, name)
					}
				}
			}
		})
	}
}

// A linked memory folder does not lead to another folder's files.
func TestLinkedFolder(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"elsewhere/2026-02-14-group-a.md": "x", "elsewhere/2026-02-14.md": "x"})
	if err := os.Symlink("elsewhere", filepath.Join(w.dir, "memory")); err != nil {
		t.Fatal(err)
	}
	for _, who := range []audience.Audience{audience.DM(), group(t, "a")} {
		for _, name := range []string{"memory/2026-02-14-group-a.md", "memory/2026-02-14.md"} {
			if data, err := w.View(who).Read(name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v reads %s: %q, %v", who, name, data, err)
			}
		}
		if files := w.View(who).Files(); len(files) != 0 {
			t.Errorf("%v is offered %v", who, files)
		}
	}
}

func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{
		"SOUL.md": strings.Repeat("x", MaxFileSize), "AGENTS.md": strings.Repeat("x", MaxFileSize+1),
	})
	v := w.View(audience.Audience{})
	if data, err := v.Read("SOUL.md"); err != nil || len(data) != MaxFileSize {
		t.Errorf("file of the greatest size: %d bytes, %v", len(data), err)
	}
	if data, err := v.Read("AGENTS.md"); !errors.Is(err, ErrTooLarge) || data != nil {
		t.Errorf("file that is too large: %d bytes, %v", len(data), err)
	}
}

// What a group can name is the persona and its own logs, for every name there is.
func FuzzGroupNames(f *testing.F) {
	for _, name := range slices.Sorted(maps.Keys(everything)) {
		f.Add(name)
	}
	f.Add("memory/2026-02-14-group-\u212Aate.md")
	f.Add("notes/../SOUL.md")
	a, err := audience.Group("a")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		class := classify(a, name)
		odd := strings.ContainsAny(name, "\x00\\") || class != audience.Notes && strings.ContainsAny(name, "%:")
		if class != audience.Unknown && (!fs.ValidPath(name) || odd) {
			t.Fatalf("%q is a %v", name, class)
		}
		if !a.May(audience.Read, class) && !a.May(audience.Append, class) {
			return
		}
		ownLog := len(name) == len("memory/2026-02-14-group-a.md") && strings.HasPrefix(name, "memory/") &&
			strings.HasSuffix(name, "-group-a.md")
		if !ownLog && !slices.Contains([]string{"SOUL.md", "IDENTITY.md", "AGENTS.md"}, name) {
			t.Fatalf("a group may touch %q, a %v", name, class)
		}
		if folded := fold(name); folded != name && classify(a, folded) != audience.Unknown && classify(a, folded) != class {
			t.Fatalf("%q folds to another kind", name)
		}
	})
}

package mesh

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Links in a group's folder that lead to the private index are replaced, and what they lead to stays as it was.
func TestLinkedIndex(t *testing.T) {
	dir := t.TempDir()
	dm := open(t, dir, audience.DM(), new(words))
	keep(t, dm, record.Memory{Content: "Mara moved to Lisbon."})
	settle(t, dm)
	private := filepath.Join(dir, ".yamo", "private")

	derived := []string{"vectors.f32", "lance", "blocks.json"}
	read := func() map[string]string {
		files := map[string]string{}
		for _, name := range tree(t, private) {
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				raw, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				files[name] = string(raw)
			}
		}
		return files
	}
	before := read()
	if len(before) < 5 {
		t.Fatalf("the private index has %d files", len(before))
	}
	red := filepath.Join(dir, ".yamo", "groups", "red")
	if err := os.MkdirAll(red, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range derived {
		if err := os.Symlink(filepath.Join(private, name), filepath.Join(red, name)); err != nil {
			t.Fatal(err)
		}
	}
	v := open(t, dir, group(t, "red"), new(words))
	keep(t, v, record.Memory{Content: "The ferry leaves at nine."})
	settle(t, v)
	if diff := cmp.Diff(before, read()); diff != "" {
		t.Errorf("the private files have changed (-before +after):\n%s", diff)
	}
	for _, name := range derived {
		if info, err := os.Lstat(filepath.Join(red, name)); err != nil || info.Mode()&os.ModeSymlink != 0 {
			t.Errorf("%s in the group's folder: %v, %v; want one of its own", name, info, err)
		}
	}
	if found := search(t, v, SearchRequest{Query: "ferry"}); len(found.Hits) != 1 {
		t.Errorf("found %+v", found.Hits)
	}
}

// What a group's files are on disk does not keep a DM from its memory, which says that something is left out. The group
// itself hears which path it is.
func TestUnusableGroup(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(folder string) error{
		"the folder is a link": func(folder string) error {
			moved := filepath.Join(filepath.Dir(filepath.Dir(folder)), "moved")
			return errors.Join(os.Rename(filepath.Dir(folder), moved), os.Symlink(moved, filepath.Dir(folder)))
		},
		"the ledger is a link": func(folder string) error {
			path := filepath.Join(folder, "ledger.ndjson")
			return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path))
		},
		"the ledger is a folder": func(folder string) error {
			path := filepath.Join(folder, "ledger.ndjson")
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			keep(t, open(t, dir, audience.DM(), new(words)), record.Memory{Content: "Mara moved to Lisbon."})
			keep(t, open(t, dir, group(t, "red"), new(words)), record.Memory{Content: "The ferry leaves at nine."})
			if err := spoil(filepath.Join(dir, ".yamo", "groups", "red")); err != nil {
				t.Fatal(err)
			}
			dm := open(t, dir, audience.DM(), new(words))
			keep(t, dm, record.Memory{Content: "Mara has a boat."})
			found := search(t, dm, SearchRequest{Query: "Mara"})
			if len(found.Hits) != 2 || !slices.Contains(found.Damaged, record.OfGroup("red")) {
				t.Errorf("found %q, damaged %q", contents(found.Hits), found.Damaged)
			}
			_, err := open(t, dir, group(t, "red"), new(words)).Search(t.Context(), SearchRequest{Query: "ferry"})
			unusable, ok := errors.AsType[*fault.UnusableError](err)
			if !ok || !strings.Contains(unusable.Path, ".yamo/groups") {
				t.Errorf("the group is told %v", err)
			}
		})
	}
}

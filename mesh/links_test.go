package mesh

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
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

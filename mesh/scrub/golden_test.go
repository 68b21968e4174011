package scrub

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"gotest.tools/v3/golden"
)

// TestGolden scrubs the cases of testdata/markup: each archive has pairs of
// files NAME.in and NAME.out. Without a NAME.out the text is
// expected unchanged.
func TestGolden(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/markup/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	s := New(MemoryMesh(nil))
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out := make(map[string]string)
		for _, f := range a.Files {
			out[f.Name] = strings.TrimSuffix(string(f.Data), "\n")
		}
		written := txtar.Archive{Comment: a.Comment}
		for _, f := range a.Files {
			base, isIn := strings.CutSuffix(f.Name, ".in")
			if !isIn {
				continue
			}
			in := out[f.Name]
			want, differs := out[base+".out"]
			if !differs {
				want = in
			}
			r, err := s.Scrub(in)
			if err != nil {
				t.Errorf("%s: %s: %v", name, base, err)
				continue
			}
			written.Files = append(written.Files, f)
			if r.Text != in {
				written.Files = append(written.Files, txtar.File{Name: base + ".out", Data: []byte(r.Text + "\n")})
			}
			if golden.FlagUpdate() {
				continue
			}
			if diff := cmp.Diff(want, r.Text); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, base, diff)
			}
			checkScrub(t, s, in)
		}
		if golden.FlagUpdate() {
			if err := os.WriteFile(name, txtar.Format(&written), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

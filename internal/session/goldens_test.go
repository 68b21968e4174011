package session

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/tools"
)

// goldens are the definitions and results that TestGoldens in package tools writes.
const goldens = "../../tools/testdata"

// Whatever toolEntries and appEntries register has a golden of its definition, which is the one that a session offers.
func TestEveryToolHasAGolden(t *testing.T) {
	t.Parallel()
	entries := slices.Concat(toolEntries, appEntries)
	seen := make([]bool, len(entries))
	every := strings.Join(config.Toolsets, ",")
	for _, test := range []struct {
		folder, sets string
		who          audience.Audience
	}{
		{"kate", every, audience.DM()},
		{"kate", config.MemoryTools, audience.DM()},
		{"newborn", every, audience.DM()},
		{"kate", every, groupNamed(t, "hiking")},
	} {
		p, err := open(sample(t, test.folder, test.sets), test.who)
		if err != nil {
			t.Fatal(errors.Join(err, p.close()))
		}
		for i, e := range entries {
			if e.when(p) {
				seen[i] = true
				hasGolden(t, e.make(p), test.who)
			}
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
	for i, e := range entries {
		if !seen[i] {
			t.Errorf("entry %d, of the set %q, is in none of the sessions of this test: add one", i, e.set)
		}
	}
}

// hasGolden compares the definition of a tool with its golden: a group's own, if there is one, and that of a DM.
func hasGolden(t *testing.T, tool tools.Tool, who audience.Audience) {
	t.Helper()
	name := tool.Name() + ".schema.json"
	want, err := os.ReadFile(filepath.Join(goldens, name))
	if err != nil {
		t.Errorf("%s has no golden: add a call of it to TestGoldens in tools/golden_test.go: %v", tool.Name(), err)
		return
	}
	if !who.IsDM() {
		groups, err := os.ReadFile(filepath.Join(goldens, tool.Name()+".group.schema.json"))
		switch {
		case err == nil:
			name, want = tool.Name()+".group.schema.json", groups
		case !errors.Is(err, fs.ErrNotExist):
			t.Fatal(err)
		}
	}
	got, err := json.MarshalIndent(tool.Definition(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Errorf("%s (-) is not what a session offers (+); a group's other form needs a golden of its own:\n%s", name, diff)
	}
	results, err := filepath.Glob(filepath.Join(goldens, tool.Name()+".result.*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(results) == 0 {
		t.Errorf("%s has no golden of a result: add a call of it to TestGoldens in tools/golden_test.go", tool.Name())
	}
}

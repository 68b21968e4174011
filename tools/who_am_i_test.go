package tools

import (
	"slices"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/brief"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// start returns the sources of the brief of a view.
func (f *folder) start(t *testing.T, v *workspace.View) brief.Sources {
	t.Helper()
	return brief.Sources{Workspace: v, Memory: f.memoryOf(t, v)}
}

// A DM learns where the operator lets texts be sent; a group does not.
func TestWhoAmINamesDestinations(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	destinations := []string{"embedder ollama: http://localhost:1 (memories, passages of files and queries)"}
	for name, test := range map[string]struct {
		view *workspace.View
		want []string
	}{"DM": {f.dm(), destinations}, "group": {f.group(t, "hiking"), nil}} {
		got := answer[self](t, WhoAmI(f.start(t, test.view), "kate", "", destinations), `{}`)
		if !slices.Equal(got.SendsTo, test.want) {
			t.Errorf("%s: sends_to %q, want %q", name, got.SendsTo, test.want)
		}
		if !strings.Contains(got.Start, "## Now") {
			t.Errorf("%s: start lacks the time: %s", name, got.Start)
		}
	}
}

// The model gets SOUL.md once: its beginning as soul_excerpt (seed 002, phase 10.8), and the rest in the start.
func TestWhoAmIShowsSoulOnce(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	soul := f.read(t, "SOUL.md") + strings.Repeat("\n- You count the tides every morning.", 60) +
		"\n\n## Boundaries\n\nYou never name the harbour.\n"
	f.write(t, "SOUL.md", soul)
	for name, view := range map[string]*workspace.View{"DM": f.dm(), "group": f.group(t, "hiking")} {
		got := answer[self](t, WhoAmI(f.start(t, view), "kate", "", nil), `{}`)
		all := got.SoulExcerpt + got.Start
		for _, want := range []string{"You are Kate", "Say what you know", "Boundaries", "You never name the harbour."} {
			if n := strings.Count(all, want); n != 1 {
				t.Errorf("%s: %q is %d times in soul_excerpt and start, want once:\n%s", name, want, n, all)
			}
		}
		if strings.Contains(got.Start, "name=Kate") {
			t.Errorf("%s: the start repeats the field identity:\n%s", name, got.Start)
		}
	}
}

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
		for _, want := range []string{"You are Kate", "## Now"} {
			if !strings.Contains(got.Start, want) {
				t.Errorf("%s: start lacks %q: %s", name, want, got.Start)
			}
		}
	}
}

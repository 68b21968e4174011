package tools

import (
	"slices"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// A DM learns where the operator lets texts be sent; a group does not.
func TestWhoAmINamesDestinations(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	destinations := []string{"embedder ollama: http://localhost:1 (memories, passages of files and queries)"}
	for name, test := range map[string]struct {
		view *workspace.View
		want []string
	}{"DM": {f.dm(), destinations}, "group": {f.group(t, "hiking"), nil}} {
		if got := answer[self](t, WhoAmI(test.view, "kate", "", destinations), `{}`).SendsTo; !slices.Equal(got, test.want) {
			t.Errorf("%s: sends_to %q, want %q", name, got, test.want)
		}
	}
}

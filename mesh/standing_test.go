package mesh

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// What replaced a standing instruction is one, whatever its words, also after a restart, and the instruction holds
// again if that was deleted.
func TestRevisedInstructionStands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	old := revised(t, v, "Never schedule calls before 10.")
	now := revised(t, v, "You may schedule calls from 9.", old.ID)
	standing := func(v *View) (list []string) {
		for _, hit := range search(t, v, SearchRequest{Query: "Schedule calls with Rui"}).Standing {
			list = append(list, hit.Content)
		}
		return list
	}
	for _, view := range []*View{v, open(t, dir, audience.DM(), new(words))} {
		if diff := cmp.Diff([]string{"You may schedule calls from 9."}, standing(view)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if err := v.Delete(t.Context(), now.ID, ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Never schedule calls before 10."}, standing(v)); diff != "" {
		t.Errorf("after the deletion (-want +got):\n%s", diff)
	}
}

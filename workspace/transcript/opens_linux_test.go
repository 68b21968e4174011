package transcript

import (
	"slices"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/internal/opens"
)

// A group's session opens no log but its own and lists no folder but its own.
func TestGroupOpensNothingPrivate(t *testing.T) {
	f := sample(t)
	touched := opens.Watch(t, f.dir, []string{
		".", "groups", "groups/hiking", "groups/hiking/" + hiking + extension, pump + extension, dinner + extension,
	})
	use := func(v *View) {
		_, _ = v.ListSessions(t.Context(), 0)
		_, _ = v.Search(t.Context(), "e", "", 0, 0)
		_, _ = v.Recent(t.Context(), "", "", 0, 0)
		for _, id := range []string{pump, dinner, bookClub, hiking} {
			_, _ = v.ReadSession(t.Context(), id, 0, 0, 0)
			_, _ = v.Recent(t.Context(), id, "", 0, 0)
			_, _ = v.Search(t.Context(), "e", id, 0, 0)
		}
	}
	use(f.View(group(t, "book-club")))
	if names := touched(); len(names) != 0 {
		t.Errorf("a group's session touched %q", names)
	}
	use(f.View(audience.DM()))
	if names := touched(); !slices.Contains(names, pump+extension) || !slices.Contains(names, "groups") {
		t.Errorf("the watch does not work: a DM touched only %q", names)
	}
}

package transcript

import (
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

func TestCount(t *testing.T) {
	t.Parallel()
	f, err := Open("../../testdata/workspaces/kate-transcripts", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	for group, want := range map[string]int{"": 4, "hiking": 1, "book-club": 1, "nobody": 0} {
		a := audience.DM()
		if group != "" {
			if a, err = audience.Group(group); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := f.View(a).Count(t.Context()); got != want || err != nil {
			t.Errorf("%v counts %d, %v; want %d", a, got, err, want)
		}
	}
}

package conversation_test

import (
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/conversation"
)

// What contains the query as it is comes first, also where the index has no words of it: after the first 64 KiB of a
// tool's output, and in what looks like data.
func TestSearchAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("buoy 12 is green\n", 7000)
	w.said("s1", "user: where are the pelican markers of the harbour?", "tool: "+long+
		"TAILMARKER_pelican_9981 and the brown pelican colony")
	w.said("other", "user: the tail of the pelican", "tool: commit 5f2b8c1d9e0a4b7c8d fixed the keel",
		"user: run 9981 again")
	v := w.open(audience.DM())
	for range 2 { // before and after the index is ready
		for query, want := range map[string]string{
			"TAILMARKER_pelican_9981":       "TAILMARKER_pelican_9981",
			"tailmarker_Pelican":            "TAILMARKER_pelican_9981",
			"brown pelican colony":          "brown pelican colony",
			`"brown pelican colony"`:        "brown pelican colony",
			"5f2b8c1d9e0a4b7c8d":            "commit 5f2b8c1d9e0a4b7c8d fixed",
			"commit 5f2b8c1d9e0a4b7c8d fix": "commit 5f2b8c1d9e0a4b7c8d fixed",
			"_pelican_99":                   "TAILMARKER_pelican_9981",
		} {
			r, err := v.Search(t.Context(), conversation.Query{Text: query})
			if err != nil || r.Incomplete {
				t.Fatalf("%s: incomplete %v, %v", query, r.Incomplete, err)
			}
			if r.Count == 0 || !strings.Contains(r.Hits[0].Preview, want) || r.Hits[0].Role != "tool" {
				t.Errorf("%s: %+v", query, r.Hits)
			}
		}
	}
	in := conversation.Query{Text: "TAILMARKER_pelican_9981", SessionID: "s1", Role: "tool"}
	if hits := w.hits(v, in); len(hits) == 0 || hits[0].Offset == nil || *hits[0].Offset != 1 {
		t.Errorf("with conditions: %+v", hits)
	}
	in.Role = "user"
	for _, h := range w.hits(v, in) {
		if strings.Contains(h.Preview, "TAILMARKER") {
			t.Errorf("with another role: %+v", h)
		}
	}
}

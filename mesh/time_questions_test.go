package mesh

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// timeQuestion asks at some time for any of the memories with these names.
type timeQuestion struct {
	at     time.Time
	text   string
	wanted []string
}

// TestTimeQuestions asks questions that name a time of a diary, through the whole search with the real model. Weights
// were tuned with the questions of even number only.
func TestTimeQuestions(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/time_questions.txt")
	if err != nil {
		t.Fatal(err)
	}
	var now time.Time
	v := Open(Options{
		Dir: t.TempDir() + "/.yamo", Audience: audience.DM(), AgentID: "tester", Embedder: model(t),
		Now: func() time.Time { return now },
	})
	t.Cleanup(func() { _ = v.Close(t.Context()) })
	zone, err := time.LoadLocation("Europe/Lisbon")
	if err != nil {
		t.Fatal(err)
	}
	v.Zone = func() *time.Location { return zone }
	names := map[string]string{}
	var questions []timeQuestion
	for line := range strings.Lines(string(raw)) {
		line, asked := strings.CutPrefix(strings.TrimSpace(line), "? ")
		fields := strings.SplitN(line, " | ", 3)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if now, err = time.ParseInLocation("2006-01-02 15:04", fields[0], zone); err != nil || len(fields) != 3 {
			t.Fatalf("%q: %v", line, err)
		}
		if asked {
			questions = append(questions, timeQuestion{now, fields[2], strings.Fields(fields[1])})
			continue
		}
		names[keep(t, v, record.Memory{Content: fields[2]}).ID] = fields[1]
	}
	settle(t, v)
	var asked, right, first [2]int
	for i, q := range questions {
		now = q.at
		found := search(t, v, SearchRequest{Query: q.text, Limit: 3})
		half := i % 2
		asked[half]++
		var got []string
		for _, hit := range found.Hits {
			got = append(got, names[hit.ID])
		}
		rank := slices.IndexFunc(got, func(name string) bool { return slices.Contains(q.wanted, name) })
		switch {
		case rank == 0:
			first[half]++
			right[half]++
		case rank > 0:
			right[half]++
		default:
			t.Logf("question %d, %q, means %q and found %v, not %v", i, q.text, found.Asked, got, q.wanted)
		}
	}
	for half, name := range []string{"tuned", "held back"} {
		t.Logf("%s: %d of %d right in the first three, %d first", name, right[half], asked[half], first[half])
		if 10*right[half] < 9*asked[half] {
			t.Errorf("%s: %d of %d questions find the right day in the first three, want 9 of 10",
				name, right[half], asked[half])
		}
	}
}

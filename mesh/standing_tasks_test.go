package mesh

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// TestStandingTasks asks for help in words that hardly any standing instruction has, through the whole search with the
// real model. Some instructions hold for all there is ("Use metric units only"), so that no request resembles them.
// These are in the brief.
func TestStandingTasks(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/standing_tasks.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range strings.Split(string(raw), "\n## ")[1:] {
		name, lines, _ := strings.Cut(memory, "\n")
		v := Open(Options{Dir: t.TempDir() + "/.yamo", Audience: audience.DM(), AgentID: "tester", Embedder: model(t)})
		t.Cleanup(func() { _ = v.Close(t.Context()) })
		var requests [][2]string // a request and its instruction, "" for none
		instruction := ""
		for line := range strings.Lines(lines) {
			sign, text, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch sign {
			case "=":
				instruction = text
				keep(t, v, record.Memory{Content: text})
			case "+":
				requests = append(requests, [2]string{text, instruction})
			case "-":
				requests = append(requests, [2]string{text, ""})
			}
		}
		settle(t, v)
		asked, right, others, wrong := 0, 0, 0, 0
		for _, r := range requests {
			var got []string
			for _, hit := range search(t, v, SearchRequest{Query: r[0]}).Standing {
				got = append(got, hit.Content)
			}
			switch {
			case r[1] == "":
				wrong += len(got)
			case slices.Contains(got, r[1]):
				asked, right, others = asked+1, right+1, others+len(got)-1
			default:
				asked, others = asked+1, others+len(got)
				t.Logf("%s: %q has %q, not %q", name, r[0], got, r[1])
			}
		}
		t.Logf("%s: %d of %d requests have their instruction, and %d others", name, right, asked, others)
		if 2*right < asked || 4*others > 5*asked || wrong > 0 {
			t.Errorf("%s: %d of %d requests have their instruction and %d others, want at least half, and at most five "+
				"others for four requests; questions that none is for have %d", name, right, asked, others, wrong)
		}
	}
}

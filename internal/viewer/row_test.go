package viewer

import (
	"testing"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestEventDate(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]string{
		"2026-11-25": "25 November 2026", "2026-11-25T11:00": "25 November 2026, 11:00", "2026-11": "November 2026",
		"2026": "2026", "": "", "2026-11-25T11:00:05Z": "2026-11-25T11:00:05Z",
		"in the spring of 2026": "in the spring of 2026",
	} {
		if got := eventDate(at); got != want {
			t.Errorf("%q is shown as %q, want %q", at, got, want)
		}
	}
}

// What is in no conversation has no bar for one.
func TestExplainedWithoutConversation(t *testing.T) {
	t.Parallel()
	for session, want := range map[string]int{"": 1, "s1": 2} {
		r := row{}.explained(record.Hit{
			Record:  &record.Record{Memory: record.Memory{SessionID: session}},
			Signals: []record.Signal{{Name: "cosine", Value: .5}, {Name: "session", Value: 1.22}, {Name: "time"}},
		})
		if len(r.Bars) != want {
			t.Errorf("in the conversation %q there are the bars %v, want %d", session, r.Bars, want)
		}
	}
}

func TestWithArticle(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{"event": "An event", "agent": "An agent", "memory": "A memory", "": "A "} {
		if got := withArticle(kind); got != want {
			t.Errorf("withArticle(%q) = %q, want %q", kind, got, want)
		}
	}
}

package tools

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/yamo-protocol/yamo-mcp/workspace"
)

func TestRotateLogs(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	tool := RotateLogs(f.dm())
	if got := answer[rotated](t, tool, `{"action":"list"}`); len(got.Logs) != 0 || got.Hint != "" {
		t.Errorf("in a young workspace: %+v", got)
	}
	f.now = f.now.AddDate(0, 0, 31)
	names := func() (names []string) {
		for _, log := range answer[rotated](t, tool, `{"action":"list"}`).Logs {
			names = append(names, log.File)
		}
		return names
	}
	all := []string{
		"memory/2026-02-05-irrigation-pump.md", "memory/2026-02-13-group-hiking.md", "memory/2026-02-13.md",
		"memory/2026-02-14-group-book-club.md",
		"memory/2026-02-14.md",
	}
	if diff := cmp.Diff(all, names()); diff != "" {
		t.Error(diff)
	}
	text := f.read(t, all[2])
	answer[rotated](t, tool, `{"action":"archive","files":["memory/2026-02-13.md","memory/2026-02-14.md"]}`)
	if diff := cmp.Diff([]string{all[0], all[1], all[3]}, names()); diff != "" {
		t.Error(diff)
	}
	if data, err := f.dm().Read(all[2]); err != nil || string(data) != text {
		t.Errorf("archived: %q, %v", data, err)
	}
	got := answer[rotated](t, tool, `{"action":"delete","files":["memory/2026-02-13.md"],"consent":true}`)
	if diff := cmp.Diff(rotated{Logs: []rotatedLog{{File: "memory/2026-02-13.md", Deleted: true}}}, got); diff != "" {
		t.Error(diff)
	}
	if data, err := f.dm().Read(all[2]); err == nil {
		t.Errorf("deleted: %q", data)
	}
}

func TestRotateLogsRefuses(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	f.now = f.now.AddDate(0, 0, 5)
	tool := RotateLogs(f.dm())
	for _, test := range []struct{ arguments, want string }{
		{`{"action":"archive"}`, "files: required by archive"},
		{`{"action":"delete"}`, "files: required by delete"},
		{
			`{"action":"delete","files":["memory/2026-02-13.md"]}`,
			"consent: deletion is permanent; ask the user about these logs",
		},
		{`{"action":"delete","files":["memory/2026-02-13.md","memory/x.md"]}`, `no daily log "memory/x.md"`},
		{
			`{"action":"archive","files":["memory/2026-02-13.md"]}`,
			"files: memory/2026-02-13.md: " + workspace.ErrProtected.Error(),
		},
		{`{"action":"delete","files":["MEMORY.md"],"consent":true}`, `no daily log "MEMORY.md"`},
		{`{"action":"delete","files":["../x","memory/x.md"],"consent":true}`, `no daily log "../x"`},
		{`{"action":"list","older_than_days":-1}`, "older_than_days must be an integer"},
	} {
		if got := refusal(t, tool, test.arguments); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.arguments, got, test.want)
		}
	}
	if f.read(t, "memory/2026-02-13.md") == "" || f.read(t, "MEMORY.md") == "" {
		t.Error("something is gone")
	}
	answer[rotated](t, tool, `{"action":"delete","files":["memory/2026-02-13.md"],"consent":true}`)
	// A group is never offered the tool; the view below it refuses all the same.
	group := RotateLogs(f.group(t, "hiking"))
	if got := answer[rotated](t, group, `{"action":"list","older_than_days":0}`); len(got.Logs) > 0 {
		t.Errorf("a group lists %+v", got)
	}
	if got := refusal(t, group,
		`{"action":"delete","files":["memory/2026-02-14.md"],"consent":true}`); !strings.Contains(got,
		"no daily log") {
		t.Errorf("a group is told %q", got)
	}
}

// A person who can be asked is asked before a log is deleted, whatever the model passed and however old the log is; the
// answer is for these logs.
func TestDeletingLogsAsks(t *testing.T) {
	t.Parallel()
	const log = "memory/2026-02-13.md"
	for _, era := range eras {
		for name, test := range map[string]struct {
			person func(string) (*mcp.ElicitationResult, error)
			want   string
		}{
			"agreed":   {agrees, ""},
			"declined": {refuses, "the user declined"},
		} {
			t.Run(name+" "+era, func(t *testing.T) {
				f := sampleFolder(t, "kate")
				f.now = f.now.AddDate(0, 0, 31)
				h := (&host{person: test.person}).connected(t, era, RotateLogs(f.dm()))
				got, failed := h.use(t, "rotate_logs",
					map[string]any{"action": "delete", "files": []string{log}, "consent": test.want != ""})
				if failed != (test.want != "") || !strings.Contains(got, test.want) {
					t.Errorf("got %q, want %q", got, test.want)
				}
				if _, err := f.dm().Read(log); (err == nil) != (test.want != "") {
					t.Errorf("afterwards: %v", err)
				}
				if len(h.asked) != 1 || !strings.Contains(h.asked[0], log) {
					t.Errorf("asked %q", h.asked)
				}
				if got, failed := h.use(t, "rotate_logs",
					map[string]any{"action": "delete", "files": []string{"memory/2020-01-01.md"}}); !failed || len(h.asked) != 1 {
					t.Errorf("a log that is not there: %q, asked %q", got, h.asked)
				}
			})
		}
	}
}

package transcript

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// sidechain is a row of a subagent as Claude Code writes it.
func sidechain(id, role, session, content string) string {
	return strings.Replace(claudeTurn(id, role, "/src/mare", content), `"cwd"`,
		`"isSidechain":true,"sessionId":"`+session+`","cwd"`, 1)
}

// subagentLogs has each place in which a host keeps what subagents said.
var subagentLogs = map[string]string{
	"p/main.jsonl": claudeTurn("1", "user", "/src/mare", "survey the reef") + "\n" +
		sidechain("2", "user", "main", "count the limpets in this row") + "\n" +
		claudeTurn("3", "assistant", "/src/mare", "done"),
	"p/main/subagents/agent-a1.jsonl": sidechain("1", "user", "main", "chart the northern reef") + "\n" +
		sidechain("2", "assistant", "main", "charted the anemones"),
	"p/agent-b2.jsonl": sidechain("1", "user", "main", "chart the southern reef") + "\n" +
		sidechain("2", "assistant", "main", "charted the urchins"),
	"claw/sessions.json": `{"agent:kate:main":{"sessionId":"c1"},"agent:kate:telegram:group:-1":{"sessionId":"c2"},` +
		`"agent:kate:subagent:x":{"sessionId":"c3","spawnedBy":"agent:kate:main"},` +
		`"agent:kate:subagent:y":{"sessionId":"c4","spawnedBy":"agent:kate:telegram:group:-1"},` +
		`"agent:kate:subagent:z":{"sessionId":"c5"}}`,
	"claw/c1.jsonl": clawTurn("a person's words"),
	"claw/c2.jsonl": clawTurn("a group's words"),
	"claw/c3.jsonl": clawTurn("a task"),
	"claw/c4.jsonl": clawTurn("a task of the group"),
	"claw/c5.jsonl": clawTurn("a task of no known session"),
}

func clawTurn(text string) string {
	return `{"type":"message","id":"m1","timestamp":"2026-03-01T10:00:00Z",` +
		`"message":{"role":"user","content":"` + text + `"}}`
}

// A subagent's log is not a session but listed with the one that it worked for, wherever the host keeps it. It is
// listed as a session if that is not known.
func TestSubagentsAreListedWithTheirSession(t *testing.T) {
	t.Parallel()
	v := folderWith(t, Options{}, subagentLogs)
	got, err := v.ListSessions(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]Subagent{}
	for _, s := range got.Sessions {
		found[s.SessionID] = s.Subagents
		if s.Subagent != (s.SessionID == "c5") || s.Parent != "" {
			t.Errorf("session %s is a subagent's: %v, of %q", s.SessionID, s.Subagent, s.Parent)
		}
	}
	want := map[string][]Subagent{
		"main": {{"agent-a1", "chart the northern reef"}, {"agent-b2", "chart the southern reef"}},
		"c1":   {{"c3", "a task"}}, "c2": {{"c4", "a task of the group"}}, "c5": nil,
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A subagent's turns are read by its id, with the session that it worked for, and found in that session.
func TestSubagentsAreReadAndFound(t *testing.T) {
	t.Parallel()
	v := folderWith(t, Options{}, subagentLogs)
	for id, want := range map[string]string{
		"agent-a1": "main", "agent-b2": "main", "c3": "c1", "c4": "c2", "c5": "", "main": "", "c1": "",
	} {
		got, err := v.ReadSession(t.Context(), id, 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		first := got.Entries[0].Role
		if isAgent := id != "main" && id != "c1"; got.Header.Parent != want || got.Header.Subagent != isAgent ||
			(first == "agent") != isAgent {
			t.Errorf("session %s: %+v, first turn of role %s", id, got.Header, first)
		}
	}
	read, err := v.ReadSession(t.Context(), "main", 0, 0, 0)
	if err != nil || len(read.Header.Subagents) != 2 || read.Header.Title != "survey the reef" ||
		read.Entries[1].Role != "agent" {
		t.Errorf("the session itself: %+v, %v", read, err)
	}
	for query, want := range map[string]string{"anemones": "main", "urchins": "main", "limpets": "", "a task of no": ""} {
		got, err := v.Search(t.Context(), query, "", 0, 0)
		if err != nil || len(got.Hits) != 1 || got.Hits[0].Parent != want {
			t.Errorf("%s: %+v, %v, want one of a subagent of %q", query, got.Hits, err, want)
		}
	}
	recent, err := v.Recent(t.Context(), "", "", 0, 0)
	if err != nil || recent.Header.Subagent || recent.Header.Group != "" {
		t.Errorf("the current session is %+v, %v", recent.Header, err)
	}
}

// What a subagent of a group's session was told counts as the group's.
func TestSubagentOfAGroup(t *testing.T) {
	t.Parallel()
	v := folderWith(t, Options{}, subagentLogs)
	logs, err := v.Logs()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range logs {
		if want := l.SessionID == "c2" || l.SessionID == "c4"; (l.Group != "") != want {
			t.Errorf("%s is of the group %q", l.SessionID, l.Group)
		}
	}
}

// A group has no folders of subagents: it finds what is in its own folder only.
func TestGroupsHaveNoSubagentFolders(t *testing.T) {
	t.Parallel()
	header := `{"type":"session","version":1,"id":"x","connection":"group","group":"reef"}` + "\n"
	dm := folderWith(t, Options{}, map[string]string{
		"groups/reef/s1.jsonl":                   header + clawTurn("ours"),
		"groups/reef/s1/subagents/agent-9.jsonl": header + clawTurn("below"),
		"p/s1/subagents/agent-8.jsonl":           clawTurn("private"),
	})
	group, err := audience.Group("reef")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(filepath.Clean(dm.folder.dir), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	ids, err := f.View(group).IDs()
	if diff := cmp.Diff([]string{"s1"}, ids); diff != "" || err != nil {
		t.Errorf("%v, -want +got\n%s", err, diff)
	}
	if _, err := f.View(group).ReadSession(t.Context(), "agent-8", 0, 0, 0); err == nil {
		t.Error("a group reads a private subagent's log")
	}
}

package transcript

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// openclaw is a log as OpenClaw writes it, in which one says text.
func openclaw(text string) string {
	return `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T10:00:00Z","cwd":"/x"}` + "\n" +
		`{"type":"message","id":"b","timestamp":"2026-01-01T10:00:01Z","message":{"role":"user","content":"` + text +
		`"}}` + "\n"
}

// A DM is told which of OpenClaw's sessions were a group's; to a group they stay private, and its sessions.json is not
// opened.
func TestOriginsOfOpenClaw(t *testing.T) {
	t.Parallel()
	f := folderOf(t, map[string]string{
		"main.jsonl": openclaw("the word"), "dm.jsonl": openclaw("the word"), "disc.jsonl": openclaw("the word"),
		"tele.jsonl": openclaw("the word"), "tele-topic-7.jsonl": openclaw("the word"),
		"typed.jsonl": openclaw("the word"), "origin.jsonl": openclaw("the word"), "unknown.jsonl": openclaw("the word"),
		"mis.jsonl": `{"type":"session","version":1,"id":"x","connection":"group","group":"hiking"}` + "\n" +
			openclaw("the word"),
		"sessions.json": `{
			"agent:clawd:main": {"sessionId": "main", "updatedAt": 1, "chatType": "direct"},
			"agent:clawd:telegram:direct:12": {"sessionId": "dm", "chatType": "direct"},
			"agent:clawd:telegram:group:-100": {"sessionId": "tele", "chatType": "group"},
			"agent:clawd:discord:channel:5": {"sessionId": "disc"},
			"agent:clawd:other:77": {"sessionId": "typed", "chatType": "channel"},
			"agent:clawd:other:78": {"sessionId": "origin", "origin": {"chatType": "group"}},
			"agent:clawd:odd": 7, "agent:clawd:odder": {"sessionId": 7}, "agent:clawd:room:1": {}
		}`,
	})
	want := map[string]string{
		"main": "", "dm": "", "unknown": "", "tele": "telegram:group:-100", "tele-topic-7": "telegram:group:-100",
		"disc": "discord:channel:5", "typed": "other:77",
		"origin": "other:78", "mis": "hiking",
	}
	v := f.View(audience.DM())
	listed, err := v.ListSessions(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, session := range listed.Sessions {
		got[session.SessionID] = session.Group
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	hits, err := v.Search(t.Context(), "the word", "", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	clear(got)
	for _, hit := range hits.Hits {
		got[hit.SessionID] = hit.Group
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	for id, group := range want {
		if session, err := v.ReadSession(t.Context(), id, 0, 0, 0); err != nil || session.Header.Group != group {
			t.Errorf("%s is read as %q's, %v", id, session.Header.Group, err)
		}
	}
	for _, name := range []string{"a", "hiking", "default"} {
		v := f.View(group(t, name))
		if listed, err := v.ListSessions(t.Context(), 0); err != nil || listed.Count != 0 {
			t.Errorf("group %s lists %+v, %v", name, listed, err)
		}
		if _, err := v.ReadSession(t.Context(), "tele", 0, 0, 0); !errors.Is(err, ErrNotFound) {
			t.Errorf("group %s reads: %v", name, err)
		}
	}
}

// An index that is damaged, huge or no file is ignored.
func TestDamagedOrigins(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"torn": `{"agent:a:x:group:1": {"sessionId": "s"`, "list": `[]`, "null": `null`,
		"huge": "{" + strings.Repeat(" ", maxOrigins) + "}",
	} {
		f := folderOf(t, map[string]string{"s.jsonl": openclaw("x"), "sessions.json": text})
		if got := f.View(audience.DM()).origins(f.roots[0].root, "."); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	f := folderOf(t, map[string]string{"s.jsonl": openclaw("x"), "sessions.json/x": "x"})
	if got := f.View(audience.DM()).origins(f.roots[0].root, "."); len(got) != 0 {
		t.Errorf("a folder: %v", got)
	}
}

// The last turns are cut and marked alike, however long they are.
func TestRecentOfLongTurns(t *testing.T) {
	t.Parallel()
	log := openclaw(strings.Repeat("é", lineChunk)) + `{"type":"entry","role":"user","content":"` +
		strings.Repeat("é", 300) + `"}` + "\n" +
		`{"type":"entry","role":"user","content":"short"}` + "\n"
	got, err := folderOf(t, map[string]string{"s.jsonl": log}).View(audience.DM()).Recent(t.Context(), "", "", 0, 100)
	if err != nil || len(got.Entries) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	cut := strings.Repeat("é", 99) + "…"
	for i, want := range []Entry{{Content: cut, Truncated: true}, {Content: cut, Truncated: true}, {Content: "short"}} {
		switch e := got.Entries[i]; {
		case e.Content != want.Content:
			t.Errorf("%d: e.Content = %q, want %q", i, e.Content, want.Content)
		case e.Truncated != want.Truncated:
			t.Errorf("%d: e.Truncated = %v, want %v", i, e.Truncated, want.Truncated)
		case e.Role != "user":
			t.Errorf("%d: e.Role = %q, want %q", i, e.Role, "user")
		}
	}
}

// A DM's current session is its own, though a group's log was written later.
func TestRecentIsNoGroups(t *testing.T) {
	t.Parallel()
	f := folderOf(t, map[string]string{
		"mine.jsonl": openclaw("mine"), "theirs.jsonl": openclaw("theirs"),
		"groups/a/other.jsonl": `{"type":"session","version":1,"id":"x","connection":"group","group":"a"}` + "\n" +
			`{"type":"entry","role":"user","content":"other"}` + "\n",
		"sessions.json": `{"agent:c:x:group:1": {"sessionId": "theirs"}}`,
	})
	for i, name := range []string{"mine.jsonl", "theirs.jsonl", "groups/a/other.jsonl"} {
		at := time.Unix(int64(1_700_000_000+i), 0)
		if err := os.Chtimes(filepath.Join(f.dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for text, who := range map[string]audience.Audience{"mine": audience.DM(), "other": group(t, "a")} {
		switch got, err := f.View(who).Recent(t.Context(), "", "", 0, 0); {
		case err != nil:
			t.Errorf("%v: %v", who, err)
		case len(got.Entries) != 1:
			t.Errorf("%v: len(got.Entries) = %v, want 1", who, len(got.Entries))
		case got.Entries[0].Content != text:
			t.Errorf("%v: got.Entries[0].Content = %q, want %q", who, got.Entries[0].Content, text)
		}
	}
	if got, err := f.View(audience.DM()).Recent(t.Context(), "theirs", "", 0, 0); err != nil ||
		got.Header.Group != "x:group:1" {
		t.Errorf("by id: %+v, %v", got, err)
	}
}

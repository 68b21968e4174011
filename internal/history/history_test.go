package history_test

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/history"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// files writes files, by their names below a new folder, and returns the folder.
func files(t *testing.T, list map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range list {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fixture returns a file of testdata, which is written by hand.
func fixture(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t
}

// Each format has what was said, with the roles of who said it, and things that no one said.
func TestRead(t *testing.T) {
	t.Parallel()
	noon := at("2026-03-01T12:00:00Z")
	for source, test := range map[string]struct {
		files map[string]string
		path  string
		want  []history.Session
	}{
		"codex": {map[string]string{
			"2026/03/01/rollout-a.jsonl": fixture(t, "rollout.jsonl"),
			"2026/03/01/rollout-b.jsonl": fixture(t, "rollout-subagent.jsonl"),
		}, "", []history.Session{{
			ID: "c1", Folder: "/home/kate/coast", Unknown: 2, Turns: []history.Turn{
				{Role: "user", Text: "list the buoys", Time: noon},
				{Role: "assistant", Text: `[tool call: shell] {"command":["ls"]}`, Time: noon},
				{Role: "tool", Text: "buoy.txt", Time: noon},
				{Role: "assistant", Text: "one buoy", Time: noon},
			},
		}, {
			ID: "c2", Parent: "c1", Folder: "/home/kate/coast",
			Turns: []history.Turn{{Role: "agent", Text: "count them", Time: noon}},
		}}},
		"gemini": {map[string]string{
			"hash/chats/session-1.json": `{"sessionId":"g1","projectHash":"hash","summary":"Buoys","messages":[
				{"id":"1","timestamp":"2026-03-01T12:00:00Z","type":"user","content":"list the buoys"},
				{"id":"2","timestamp":"2026-03-01T12:00:00Z","type":"info","content":"a notice"},
				{"id":"3","timestamp":"2026-03-01T12:00:00Z","type":"gemini","content":[{"text":"one buoy"}],
				 "toolCalls":[{"name":"ls","args":{"path":"."},"result":[],"resultDisplay":"buoy.txt"}]}]}`,
			"hash/.project_root":        "/home/kate/coast\n",
			"hash/chats/session-2.json": `torn`,
		}, "", []history.Session{{
			ID: "g1", Title: "Buoys", Folder: "/home/kate/coast", Turns: []history.Turn{
				{Role: "user", Text: "list the buoys", Time: noon},
				{Role: "assistant", Text: "one buoy\n[tool call: ls] {\"path\":\".\"}", Time: noon},
				{Role: "tool", Text: "buoy.txt", Time: noon},
			},
		}, {Unknown: 1}}},
		"opencode": {map[string]string{
			"session/p/ses_1.json":     `{"id":"ses_1","title":"Buoys","directory":"/home/kate/coast","time":{"created":1}}`,
			"session/p/ses_2.json":     `{"id":"ses_2","parentID":"ses_1","title":"a subagent's"}`,
			"message/ses_2/msg_c.json": `{"id":"msg_c","role":"user","time":{"created":1772366400000}}`,
			"part/msg_c/prt_1.json":    `{"type":"text","text":"count them"}`,
			"message/ses_1/msg_b.json": `{"id":"msg_b","role":"assistant","time":{"created":1772366400000}}`,
			"message/ses_1/msg_a.json": `{"id":"msg_a","role":"user","time":{"created":1772366400000}}`,
			"part/msg_a/prt_1.json":    `{"type":"text","text":"list the buoys"}`,
			"part/msg_a/prt_2.json":    `{"type":"text","text":"a file","synthetic":true}`,
			"part/msg_b/prt_1.json":    `{"type":"step-start"}`,
			"part/msg_b/prt_2.json":    `{"type":"tool","tool":"bash","state":{"input":{"command":"ls"},"output":"buoy.txt"}}`,
			"part/msg_b/prt_3.json":    `{"type":"text","text":"one buoy"}`,
			"part/msg_b/prt_4.json":    `{"type":"brand-new"}`,
		}, "", []history.Session{{
			ID: "ses_1", Title: "Buoys", Folder: "/home/kate/coast", Unknown: 1, Turns: []history.Turn{
				{Role: "user", Text: "list the buoys", Time: noon},
				{Role: "assistant", Text: "[tool call: bash] {\"command\":\"ls\"}\none buoy", Time: noon},
				{Role: "tool", Text: "buoy.txt", Time: noon},
			},
		}, {
			ID: "ses_2", Parent: "ses_1", Title: "a subagent's",
			Turns: []history.Turn{{Role: "agent", Text: "count them", Time: noon}},
		}}},
		"chatgpt": {map[string]string{
			"conversations.json": fixture(t, "chatgpt.json"),
		}, "conversations.json", []history.Session{{
			ID: "x1", Title: "Buoys", Turns: []history.Turn{
				{Role: "user", Text: "list the buoys", Time: noon}, {Role: "assistant", Text: "[image]\none buoy", Time: noon},
			},
		}, {Title: "empty", Unknown: 1}}},
		"claude": {map[string]string{
			"conversations.json": `[{"uuid":"u1","name":"Buoys","chat_messages":[
				{"sender":"human","text":"list the buoys","created_at":"2026-03-01T12:00:00Z","content":[],
				 "attachments":[{"file_name":"map.txt","extracted_content":"buoy at 1,2"}]},
				{"sender":"assistant","text":"ignored","created_at":"2026-03-01T12:00:00Z","content":[
				 {"type":"thinking","thinking":"…"},{"type":"text","text":"one buoy"},{"type":"brand_new"}]}]}]`,
		}, "", []history.Session{{
			ID: "u1", Title: "Buoys", Unknown: 1, Turns: []history.Turn{
				{Role: "user", Text: "list the buoys", Time: noon},
				{Role: "tool", Text: "[file: map.txt]\nbuoy at 1,2", Time: noon},
				{Role: "assistant", Text: "one buoy", Time: noon},
			},
		}}},
	} {
		dir := files(t, test.files)
		var got []history.Session
		err := history.Readers[source].Read(t.Context(), filepath.Join(dir, test.path), func(s history.Session) error {
			got = append(got, s)
			return nil
		})
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v, -want +got\n%s", source, err, diff)
		}
	}
}

// An archive as it is downloaded, and files that are none.
func TestArchives(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "export.zip")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	archive := zip.NewWriter(file)
	part, err := archive.Create("export/conversations.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write([]byte(`[{"uuid":"u1","chat_messages":[{"sender":"human","text":"ahoy"}]}]`)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := history.Readers["claude"].Read(t.Context(), path, func(s history.Session) error {
		n += len(s.Turns)
		return nil
	}); err != nil || n != 1 {
		t.Errorf("an archive: %d turns, %v", n, err)
	}
	for name, text := range map[string]string{
		"a.zip": "no zip", "a.json": `{"not":"a list"}`, "b.json": "", "c.json": "[{",
	} {
		path := filepath.Join(files(t, map[string]string{name: text}), name)
		if err := history.Readers["claude"].Read(t.Context(), path, func(history.Session) error { return nil }); err == nil {
			t.Errorf("no error for %q", text)
		}
	}
}

// A copy is a session log: a DM reads it, a group does not, and it is written once.
func TestCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := history.Session{
		ID: "../x y", Title: "Buoys", Folder: "/home/kate/coast",
		Turns: []history.Turn{{Role: "user", Text: "list <the> buoys", Time: at("2026-03-01T12:00:00Z")}},
	}
	for i, want := range []bool{true, false} {
		if _, changed, err := history.Copy(filepath.Join(dir, "codex"), "codex", "x-y", s); err != nil || changed != want {
			t.Errorf("copy %d: changed %v, %v", i+1, changed, err)
		}
	}
	folder, err := transcript.Open("", transcript.Options{Imported: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = folder.Close() }()
	read, err := folder.View(audience.DM()).ReadSession(t.Context(), "x-y", 0, 10, 100)
	if err != nil || len(read.Entries) != 1 || read.Entries[0].Content != "list <the> buoys" ||
		read.Header.Title != "Buoys" || read.Header.Project != "coast" || read.Entries[0].SourcePlugin != "codex" {
		t.Errorf("read %+v, %v", read, err)
	}
	agent := history.Session{
		ID: "a", Parent: "../x y", Turns: []history.Turn{{Role: "agent", Text: "count them"}},
	}
	if _, _, err := history.Copy(filepath.Join(dir, "codex"), "codex", "a", agent); err != nil {
		t.Fatal(err)
	}
	listed, err := folder.View(audience.DM()).ListSessions(t.Context(), 0)
	if err != nil || len(listed.Sessions) != 1 || len(listed.Sessions[0].Subagents) != 1 ||
		listed.Sessions[0].Subagents[0].SessionID != "a" {
		t.Errorf("a copied subagent: %+v, %v", listed, err)
	}
	group, err := audience.Group("sailors")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := folder.View(group).ListSessions(t.Context(), 10); err != nil || len(r.Sessions) != 0 {
		t.Errorf("a group lists %+v, %v", r.Sessions, err)
	}
	for _, id := range []string{"x-y", "imported:codex/x-y"} {
		if _, err := folder.View(group).ReadSession(t.Context(), id, 0, 10, 100); err == nil {
			t.Errorf("a group reads %s", id)
		}
	}
}

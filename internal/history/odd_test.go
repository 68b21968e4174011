package history_test

import (
	"archive/zip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/history"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// said reads what source has at path, as a line for each turn: the session, the role and the text.
func said(ctx context.Context, source, path string) (lines []string, unknown int, err error) {
	err = history.Readers[source].Read(ctx, path, func(s history.Session) error {
		unknown += s.Unknown
		for _, turn := range s.Turns {
			lines = append(lines, fmt.Sprintf("%s %s: %s", s.ID, turn.Role, turn.Text))
		}
		return nil
	})
	return lines, unknown, err
}

// Forms of files that programs write besides their usual one.
func TestOtherForms(t *testing.T) {
	t.Parallel()
	const message = `{"timestamp":"2026-03-01T12:00:00Z","type":"response_item","payload":{"type":"message",` +
		`"role":"user","content":[{"type":"input_text","text":"ahoy"}]}}` + "\n"
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		source string
		files  map[string]string
		want   []string
		lost   int // entries of unknown form
	}{
		"codex: compressed and archived": {"codex", map[string]string{
			"archived_sessions/rollout-a.jsonl.zst": string(encoder.EncodeAll([]byte(message), nil)),
			"archived_sessions/notes.jsonl":         message,
		}, []string{"rollout-a user: ahoy"}, 0},
		"codex: compressed and cut off": {"codex", map[string]string{
			"rollout-a.jsonl.zst": string(encoder.EncodeAll([]byte(message), nil)[:20]),
		}, nil, 1},
		"codex: forked from another session": {"codex", map[string]string{
			"rollout-a.jsonl": `{"type":"session_meta","payload":{"id":"own","cwd":"/b"}}` + "\n" +
				`{"type":"session_meta","payload":{"id":"other","cwd":"/a","source":{"subagent":"review"}}}` + "\n" + message,
		}, []string{"own user: ahoy"}, 0},
		"codex: agents to each other, odd lines": {"codex", map[string]string{
			"rollout-a.jsonl": `{"type":"inter_agent_communication","payload":{"content":"rerun it"}}` + "\n" +
				"\x00\x00\x00" + message + `{"type":"response_item","payload":{"type":5,"role":"user"}}` + "\n" + `{"type":"resp`,
		}, []string{"rollout-a agent: rerun it", "rollout-a user: ahoy"}, 2},
		"gemini: lines": {"gemini", map[string]string{
			"coast/chats/session-1.jsonl": `{"sessionId":"g1","projectHash":"h","kind":"main"}
{"id":"0","type":"user","content":[{"text":"<session_context>files</session_context>"}]}
{"id":"1","type":"user","content":[{"text":"read @map: contents"}],"displayContent":"read @map"}
{"$set":{"lastUpdated":"2026-03-01T12:00:00Z"}}
{"id":"2","type":"gemini","content":"one"}
{"id":"2","type":"gemini","content":"one buoy","tokens":{"total":4}}
{"id":"3","type":"user","content":"not this"}
{"id":"4","type":"gemini","content":"nor this"}
{"$rewindTo":"3"}
{"$set":{"messages":[{"id":"5","type":"user","content":[{"text":"more"}]}],"summary":"Buoys"}}
{"brand":"new"}
torn`,
			"coast/chats/g1/agent.jsonl": `{"sessionId":"g2","kind":"subagent"}` + "\n" +
				`{"id":"1","type":"user","content":"count them"}`,
		}, []string{"g1 user: read @map", "g1 assistant: one buoy", "g1 user: more", "g2 agent: count them"}, 2},
		"chatgpt: several files": {"chatgpt", map[string]string{
			"conversations-000.json": "\xef\xbb\xbf" + `[{"id":"a","current_node":"1","mapping":{"1":{"message":` +
				`{"author":{"role":"user"},"content":{"parts":["first"]}}}}}]`,
			"conversations-001.json": `[{"id":"b","mapping":{"1":{"message":{"author":{"role":"user"},"create_time":"odd",` +
				`"content":{"parts":["second"]}}},"2":{"parent":"1","message":{"author":{"role":"assistant"},` +
				`"create_time":1772366400000,"content":{"parts":["third"]}}}}}, 7]`,
			"conversations.json.index": "an index",
		}, []string{"a user: first", "b user: second", "b assistant: third"}, 1},
		"claude: fields of other types": {"claude", map[string]string{
			"conversations.json": `[{"uuid":"u1","name":null,"chat_messages":[{"sender":"human","text":"ahoy","created_at":5},
				{"sender":"assistant","text":"hello","created_at":"never","content":"none"}]},"text",{"uuid":"u2"}]`,
		}, []string{"u1 user: ahoy", "u1 assistant: hello"}, 1},
		"opencode: a time as text": {"opencode", map[string]string{
			"session/p/s.json": `{"id":"s"}`,
			"message/s/m.json": `{"id":"m","role":"user","time":{"created":"2026-03-01T12:00:00Z"}}`,
			"part/m/p.json":    `{"type":"text","text":"ahoy"}`,
		}, []string{"s user: ahoy"}, 0},
	} {
		lines, unknown, err := said(t.Context(), test.source, files(t, test.files))
		if diff := cmp.Diff(test.want, lines); err != nil || diff != "" || unknown != test.lost {
			t.Errorf("%s: %d unknown, want %d; %v, -want +got\n%s", name, unknown, test.lost, err, diff)
		}
	}
}

// Times are read in each form that programs write.
func TestTimes(t *testing.T) {
	t.Parallel()
	noon := at("2026-03-01T12:00:00Z")
	for _, value := range []string{
		`"2026-03-01T12:00:00Z"`, `"2026-03-01T13:00:00+01:00"`, `"2026-03-01 12:00:00+00:00"`, `"2026-03-01T12:00:00"`,
		`1772366400`, `1772366400.0`, `1772366400000`, `1772366400000000`, `"1772366400000"`,
	} {
		dir := files(t, map[string]string{"conversations.json": `[{"uuid":"u","chat_messages":[{"sender":"human",
			"text":"ahoy","created_at":` + value + `}]}]`})
		err := history.Readers["claude"].Read(t.Context(), dir, func(s history.Session) error {
			if len(s.Turns) != 1 || !s.Turns[0].Time.Equal(noon) {
				t.Errorf("%s is read as %+v, want %v", value, s.Turns, noon)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// What is cut off, or damaged, is an error that tells so, wherever it is cut; what is before it is read.
func TestDamagedArchives(t *testing.T) {
	t.Parallel()
	const whole = `[{"uuid":"u1","chat_messages":[{"sender":"human","text":"ahoy"}]},{"uuid":"u2"}]`
	second := strings.Index(whole, `{"uuid":"u2"`)
	for length := 1; length < len(whole); length++ {
		dir := files(t, map[string]string{"conversations.json": whole[:length]})
		lines, _, err := said(t.Context(), "claude", dir)
		if err == nil || !strings.Contains(err.Error(), "damaged or cut off after") {
			t.Errorf("the first %d bytes: the error is %v", length, err)
		}
		if length >= second && len(lines) != 1 {
			t.Errorf("the first %d bytes: read %v", length, lines)
		}
	}
	path := filepath.Join(t.TempDir(), "export") // without a suffix
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	archive := zip.NewWriter(file)
	for i := range 3 {
		part, err := archive.Create(fmt.Sprintf("conversations-00%d.json", 2-i))
		if err != nil {
			t.Fatal(err)
		}
		one := fmt.Sprintf(`[{"uuid":"u%d","chat_messages":[{"sender":"human","text":"ahoy"}]}]`, 2-i)
		if _, err := part.Write([]byte(one)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	lines, _, err := said(t.Context(), "claude", path)
	if diff := cmp.Diff([]string{"u0 user: ahoy", "u1 user: ahoy", "u2 user: ahoy"}, lines); err != nil || diff != "" {
		t.Errorf("an archive with several files: %v, -want +got\n%s", err, diff)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := said(t.Context(), "claude", path); err == nil || !strings.Contains(err.Error(), "download it again") {
		t.Errorf("half an archive: the error is %v", err)
	}
}

// Sessions with one ID do not replace each other. One that has nothing new is not copied.
func TestNames(t *testing.T) {
	t.Parallel()
	turns := func(list ...string) (s history.Session) {
		for _, text := range list {
			s.Turns = append(s.Turns, history.Turn{Role: "user", Text: text})
		}
		s.ID = "a/b"
		return s
	}
	unnamed := turns("x")
	unnamed.ID = ""
	var names history.Names
	var got []string
	for _, s := range []history.Session{
		turns("1", "2"), turns("1"), turns("3"), turns("1", "2", "4"), turns("3"), turns("5"), unnamed,
	} {
		name, again := names.Of(s)
		got = append(got, fmt.Sprint(name, " ", again))
	}
	want := []string{"a-b false", "a-b true", "a-b-2 false", "a-b-3 false", "a-b-2 true", "a-b-4 false"}
	if diff := cmp.Diff(want, got[:6]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	var others history.Names
	if name, _ := others.Of(unnamed); name+" false" != got[6] || name == "session" {
		t.Errorf("a session without an ID is %q, then %q", got[6], name)
	}
}

// A text that is longer than a line of a session log may be is copied as several turns, without a loss.
func TestLongTurn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := strings.Repeat("\x01é", 3<<20/2) // six bytes and two in JSON
	s := history.Session{ID: "long", Branch: "main", Turns: []history.Turn{{Role: "tool", Text: long}}}
	if _, _, err := history.Copy(filepath.Join(dir, "codex"), "codex", "long", s); err != nil {
		t.Fatal(err)
	}
	folder, err := transcript.Open("", transcript.Options{Imported: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = folder.Close() }()
	view := folder.View(audience.DM())
	log, err := view.Find("long")
	if err != nil {
		t.Fatal(err)
	}
	letters := 0
	if _, _, err := view.Follow(t.Context(), log, 0, func(turn transcript.Turn) bool {
		letters += strings.Count(turn.Content, "é")
		return turn.Role == "tool"
	}); err != nil {
		t.Fatal(err)
	}
	about, err := view.Tell(t.Context(), log, func(transcript.Turn) {})
	if err != nil || about.SkippedLines != 0 || about.Branch != "main" || letters != 3<<20/2 {
		t.Errorf("%d letters of %d are read; %+v, %v", letters, 3<<20/2, about, err)
	}
}

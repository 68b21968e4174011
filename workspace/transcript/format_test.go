package transcript

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// Logs of other hosts are read leniently, and are always private.
func TestForeignFormats(t *testing.T) {
	t.Parallel()
	claude := strings.Join([]string{
		`{"type":"summary","summary":"x","leafUuid":"u9"}`,
		`{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T10:00:00.000Z",` +
			`"message":{"role":"user","content":"hello"}}`,
		`{"type":"user","uuid":"u2","isMeta":true,"timestamp":"2026-01-01T10:00:01.000Z","message":{"role":"user",` +
			`"content":"hidden"}}`,
		`{"type":"assistant","uuid":"u3","timestamp":"2026-01-01T10:00:02.000Z","message":{"role":"assistant",` +
			`"content":[{"type":"thinking","thinking":"hm"}]}}`,
		`{"type":"assistant","uuid":"u4","timestamp":"2026-01-01T10:00:03.000Z","message":{"role":"assistant",` +
			`"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"let me look"},{"type":"tool_use",` +
			`"id":"t","name":"Read","input":{"path":"a.go","limit":5}}]}}`,
		`{"type":"user","uuid":"u5","timestamp":"2026-01-01T10:00:04.000Z","message":{"role":"user",` +
			`"content":[{"type":"tool_result","tool_use_id":"t",` +
			`"content":[{"type":"text","text":"the file"},{"type":"image","source":{}}]}]}}`,
		`{"type":"user","uuid":"u1","timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"user","content":"hello"}}`,
		`{"type":"system","content":"x"}`,
	}, "\n")
	openclaw := strings.Join([]string{
		`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T10:00:00Z","cwd":"/x"}`,
		`{"type":"model_change","id":"a"}`,
		`{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T10:00:01Z","message":{"role":"user",` +
			`"content":[{"type":"text","text":"hi"}]}}`,
		`{"type":"message","id":"c","timestamp":"2026-01-01T10:00:02Z","message":{"role":"toolResult","content":"42"}}`,
	}, "\n")
	tests := map[string]struct {
		log  string
		want []Entry
	}{
		"claude": {claude, []Entry{
			{Timestamp: "2026-01-01T10:00:00.000Z", Role: "user", Content: "hello", MessageID: "u1"},
			{
				Timestamp: "2026-01-01T10:00:03.000Z", Role: "assistant",
				Content:   "let me look\n[tool call: Read] path: a.go\nlimit: 5",
				MessageID: "u4",
			},
			{Timestamp: "2026-01-01T10:00:04.000Z", Role: "tool", Content: "the file\n[image]", MessageID: "u5"},
		}},
		"openclaw": {openclaw, []Entry{
			{Timestamp: "2026-01-01T10:00:01Z", Role: "user", Content: "hi", MessageID: "b"},
			{Timestamp: "2026-01-01T10:00:02Z", Role: "tool", Content: "42", MessageID: "c"},
		}},
	}
	for name, test := range tests {
		f := folderOf(t, map[string]string{"project-a/s.jsonl": test.log, "groups/a/s2.jsonl": test.log})
		got, err := f.View(audience.DM()).ReadSession(t.Context(), "s", 0, 0, 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(test.want, got.Entries); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if sessions, err := f.View(group(t, "a")).ListSessions(t.Context(), 0); err != nil || sessions.Count != 0 {
			t.Errorf("%s: a group lists %+v, %v", name, sessions, err)
		}
	}
}

// A session of each OpenClaw version, as its folder holds it: header version 2 to 4, a topic in the
// name, programs' messages, and fields of other types than this package knows.
func TestOpenClawFolder(t *testing.T) {
	t.Parallel()
	const session = "0d9b2c1e-6c1f-4a52-9a53-2f1f2f5f1a10-topic-7.jsonl"
	log, err := os.ReadFile("../../testdata/workspaces/openclaw-sessions/" + session)
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{Timestamp: "2026-02-14T19:00:00.000Z", Role: "user", Content: "did the tide table job run?", MessageID: "a0000003"},
		{
			Timestamp: "2026-02-14T19:00:05.000Z", Role: "assistant", Content: "[tool call: exec] command: tail tide.log",
			MessageID: "a0000004",
		},
		{
			Timestamp: "2026-02-14T19:00:06.000Z", Role: "tool", Content: "almanac: connection refused",
			MessageID: "a0000005",
		},
		{
			Timestamp: "2026-02-14T19:00:07.000Z", Role: "custom_message", Content: "the almanac is up again",
			MessageID: "a0000006",
		},
		{
			Timestamp: "2026-02-14T19:10:00.000Z", Role: "assistant", Content: "It failed at 04:30. I ran it by hand just now.",
			MessageID: "a0000008",
		},
		{
			Timestamp: "2026-02-14T19:20:00.000Z", Role: "system", Content: "about the tide table job",
			MessageID: "a0000009",
		},
	}
	for _, version := range []string{"2", "3", "4", `"five"`} {
		text := strings.Replace(string(log), `"version":3`, `"version":`+version, 1)
		text = strings.Replace(text, `"role":"toolResult"`, `"role":"toolResult","group":5`, 1)
		text = strings.Replace(text, `"parentId":"a0000002"`, `"parentId":"a0000002","group":{"id":7},"sender_id":12`, 1)
		f := folderOf(t, map[string]string{"sessions/x-topic-7.jsonl": text})
		got, err := f.View(audience.DM()).ReadSession(t.Context(), "x-topic-7", 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Entries); diff != "" {
			t.Errorf("version %s (-want +got):\n%s", version, diff)
		}
	}
	if hits, err := folderOf(t, map[string]string{"x.jsonl": string(log)}).View(audience.DM()).Search(t.Context(),
		"for people", "", 0, 0); err != nil || hits.Count != 0 {
		t.Errorf("what is hidden is found: %+v, %v", hits, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"type":"session","version":1,"id":"x","connection":"group","group":"a"}`))
	f.Add([]byte(`{"type":"entry","role":"user","content":"hello","content":["x"]}`))
	f.Add([]byte(`{"type":"user","uuid":"u","message":{"role":"user","content":[{"type":"tool_result",` +
		`"content":[{"type":"tool_result","content":"x"}]}]}}`))
	f.Add([]byte(`{"type":"entry","role":"user","content":{"a":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := parse(data)
		nothing := r.kind == otherLine || r.kind == brokenLine
		if nothing && !cmp.Equal(r, line{kind: r.kind}, cmp.AllowUnexported(line{}, turn{}, about{})) {
			t.Fatalf("a line of no interest has content: %+v", r)
		}
		if r.kind == headerLine && (r.content != nil || r.key != "") {
			t.Fatalf("a header with an entry's fields: %+v", r)
		}
		if r.kind == entryLine && r.group+r.connection != "" {
			t.Fatalf("an entry with a header's fields: %+v", r)
		}
		said := r.whole().Content
		if r.blank() != (said == "") {
			t.Fatalf("blank is %t of %q", r.blank(), said)
		}
		for _, n := range []int{1, 20, 200} {
			if short, cut := text.Fit(said, n); len([]rune(short)) > n || cut == (short == said) {
				t.Fatalf("clip to %d: %q", n, said)
			}
			if window := around(said, len(said)/2, 3, n); len([]rune(window)) > n {
				t.Fatalf("window of %d: %q", n, window)
			}
		}
	})
}

// A time is read as text and as a number; zeros that a crash of the machine has left hide no line.
func TestOddLines(t *testing.T) {
	t.Parallel()
	for time, want := range map[string]string{
		`"2026-03-01T12:00:00Z"`: "2026-03-01T12:00:00Z",
		`1772366400`:             "2026-03-01T12:00:00Z",
		`1772366400500`:          "2026-03-01T12:00:00.5Z",
		`-5`:                     "",
		`{}`:                     "",
		`"soon"`:                 "soon",
	} {
		data := "\x00\x00" + `{"type":"entry","role":"user","content":"ahoy","timestamp":` + time + "}\x00\r\n"
		r := parse([]byte(data))
		if r.kind != entryLine || r.whole().Content != "ahoy" || r.entry.Timestamp != want {
			t.Errorf("%q: kind %d, %+v; want the time %q", data, r.kind, r.whole(), want)
		}
	}
}

package transcript

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/workspace/audience"
)

// Logs of other hosts are read leniently, and are always private.
func TestForeignFormats(t *testing.T) {
	claude := strings.Join([]string{
		`{"type":"summary","summary":"x","leafUuid":"u9"}`,
		`{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"user","content":"hello"}}`,
		`{"type":"user","uuid":"u2","isMeta":true,"timestamp":"2026-01-01T10:00:01.000Z","message":{"role":"user","content":"hidden"}}`,
		`{"type":"assistant","uuid":"u3","timestamp":"2026-01-01T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}}`,
		`{"type":"assistant","uuid":"u4","timestamp":"2026-01-01T10:00:03.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"let me look"},{"type":"tool_use","id":"t","name":"Read","input":{}}]}}`,
		`{"type":"user","uuid":"u5","timestamp":"2026-01-01T10:00:04.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"the file"},{"type":"image","source":{}}]}]}}`,
		`{"type":"user","uuid":"u1","timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"user","content":"hello"}}`,
		`{"type":"system","content":"x"}`,
	}, "\n")
	openclaw := strings.Join([]string{
		`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T10:00:00Z","cwd":"/x"}`,
		`{"type":"model_change","id":"a"}`,
		`{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T10:00:01Z","message":{"role":"user","content":[{"type":"text","text":"hi"}]}}`,
		`{"type":"message","id":"c","timestamp":"2026-01-01T10:00:02Z","message":{"role":"toolResult","content":"42"}}`,
	}, "\n")
	tests := map[string]struct {
		log  string
		want []Entry
	}{
		"claude": {claude, []Entry{
			{Timestamp: "2026-01-01T10:00:00.000Z", Role: "user", Content: "hello", MessageID: "u1"},
			{Timestamp: "2026-01-01T10:00:03.000Z", Role: "assistant", Content: "let me look\n[tool call: Read]", MessageID: "u4"},
			{Timestamp: "2026-01-01T10:00:04.000Z", Role: "user", Content: "the file\n[image]", MessageID: "u5"},
		}},
		"openclaw": {openclaw, []Entry{
			{Timestamp: "2026-01-01T10:00:01Z", Role: "user", Content: "hi", MessageID: "b"},
			{Timestamp: "2026-01-01T10:00:02Z", Role: "toolResult", Content: "42", MessageID: "c"},
		}},
	}
	for name, test := range tests {
		f := folderOf(t, map[string]string{"project-a/s.jsonl": test.log, "groups/a/s2.jsonl": test.log})
		got, err := f.View(audience.DM()).ReadSession(t.Context(), "s", 0, 0)
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

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"type":"session","version":1,"id":"x","connection":"group","group":"a"}`))
	f.Add([]byte(`{"type":"entry","role":"user","content":"hello","content":["x"]}`))
	f.Add([]byte(`{"type":"user","uuid":"u","message":{"role":"user","content":[{"type":"tool_result","content":[{"type":"tool_result","content":"x"}]}]}}`))
	f.Add([]byte(`{"type":"entry","role":"user","content":{"a":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := parse(data)
		if r.kind == otherLine && r != (line{}) {
			t.Fatalf("a line of no interest has content: %+v", r)
		}
		if r.kind == headerLine && (r.entry.Content != "" || r.key != "") || r.kind == entryLine && r.group+r.connection != "" {
			t.Fatalf("header and entry are mixed: %+v", r)
		}
		for _, n := range []int{1, 20, 200} {
			if text, cut := clip(r.entry.Content, n); len([]rune(text)) > n || cut == (text == r.entry.Content) && r.entry.Content != text {
				t.Fatalf("clip to %d: %q", n, text)
			}
			if text := around(r.entry.Content, len(r.entry.Content)/2, 3, n); len([]rune(text)) > n {
				t.Fatalf("window of %d: %q", n, text)
			}
		}
	})
}

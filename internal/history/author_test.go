package history_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/history"
)

// Only what a person typed has the role user, and nothing that a tool returned is lost, in no program's format.
func TestAuthors(t *testing.T) {
	t.Parallel()
	codex := func(payloads ...string) string {
		var lines strings.Builder
		for _, p := range payloads {
			kind := "response_item"
			if strings.HasPrefix(p, `{"message":`) {
				kind = "compacted"
			}
			fmt.Fprintf(&lines, `{"timestamp":"2026-03-01T12:00:00Z","type":%q,"payload":%s}`+"\n", kind, p)
		}
		return lines.String()
	}
	const user = `{"type":"message","role":"user","content":[{"type":"input_text","text":`
	for name, test := range map[string]struct {
		source, file, text string
		want               []string
	}{
		"Codex": {
			"codex", "2026/rollout-a.jsonl", codex(
				user+`"<turn_aborted>stop</turn_aborted>"}]}`,
				user+`"<environment_context>x</environment_context>"},{"type":"input_text","text":"list"},`+
					`{"type":"input_text","text":"the buoys"},{"type":"input_text","text":"<skill>fish</skill>"}]}`,
				user+`"<subagent_notification>{}</subagent_notification>"}]}`,
				`{"type":"web_search_call","action":{"type":"search","query":"buoys"}}`,
				`{"message":"They spoke of buoys."}`),
			[]string{
				"system: <turn_aborted>stop</turn_aborted>", "system: <skill>fish</skill>", "user: list\nthe buoys",
				"tool: <subagent_notification>{}</subagent_notification>",
				`assistant: [tool call: web_search] {"type":"search","query":"buoys"}`, "system: They spoke of buoys.",
			},
		},
		"Claude's archive": {
			"claude", "conversations.json", `[{"uuid":"u","chat_messages":[{"sender":"human","text":"list"},
				{"sender":"assistant","content":[{"type":"tool_use","name":"ls","input":{}},{"type":"tool_result",
				"content":[{"type":"text","text":"buoy.txt"}]},{"type":"text","text":"one"}]}]}]`,
			[]string{"user: list", "assistant: [tool call: ls] {}\none", "tool: buoy.txt"},
		},
		"Gemini": {
			"gemini", "p/chats/session-1.json", `{"sessionId":"g","messages":[
				{"type":"user","content":"<state_snapshot>old</state_snapshot>"},{"type":"user","content":"list"},
				{"type":"gemini","content":"ok","toolCalls":[
				{"name":"a","result":[{"functionResponse":{"response":{"output":"buoy.txt"}}}],"resultDisplay":""},
				{"name":"b","result":[{"functionResponse":{"response":{"output":"map.txt"}}}],"resultDisplay":"Read 1"},
				{"name":"c","result":[{"functionResponse":{"response":{"output":"a\nb"}}}],"resultDisplay":"a"},
				{"name":"d","result":null,"resultDisplay":{"fileDiff":"x"}}]}]}`,
			[]string{
				"system: <state_snapshot>old</state_snapshot>", "user: list",
				"assistant: ok\n[tool call: a] \n[tool call: b] \n[tool call: c] \n[tool call: d]",
				"tool: buoy.txt\nRead 1\nmap.txt\na\nb",
			},
		},
		"Claude Code": {
			"claude-code", "p/s.jsonl", `{"type":"user","isCompactSummary":true,"message":{"role":"user",
				"content":"I decided to use Oracle."}}`,
			[]string{"system: I decided to use Oracle."},
		},
	} {
		dir := files(t, map[string]string{test.file: strings.ReplaceAll(test.text, "\n\t", " ")})
		var got, typed []string
		path := dir
		if test.source == "claude" {
			path = filepath.Join(dir, test.file)
		}
		if err := history.Readers[test.source].Read(t.Context(), path, func(s history.Session) error {
			for _, turn := range s.Turns {
				got = append(got, turn.Role+": "+turn.Text)
				if said := turn.Said(); said != "" {
					typed = append(typed, "user: "+said)
				}
			}
			return nil
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for _, said := range typed {
			if !strings.Contains(strings.Join(test.want, "|"), said) {
				t.Errorf("%s: %q counts as typed", name, said)
			}
		}
	}
}

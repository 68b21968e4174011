package history_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/history"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// A copy has the last model that answered, which session_logs shows.
func TestModelIsCopied(t *testing.T) {
	t.Parallel()
	for source, files := range map[string]map[string]string{
		"codex": {"rollout-a.jsonl": `{"type":"turn_context","payload":{"model":"old"}}` + "\n" +
			`{"type":"response_item","payload":{"type":"message","role":"user","content":"ahoy"}}` + "\n" +
			`{"type":"turn_context","payload":{"model":"new"}}` + "\n"},
		"gemini": {"hash/chats/session-a.json": `{"sessionId":"a","messages":[` +
			`{"id":"1","type":"user","content":"ahoy"},{"id":"2","type":"gemini","model":"old","content":"hi"},` +
			`{"id":"3","type":"gemini","model":"new","content":"hi"}]}`},
		"opencode": {
			"session/p/a.json": `{"id":"a"}`, "message/a/1.json": `{"id":"1","role":"assistant","modelID":"old"}`,
			"message/a/2.json": `{"id":"2","role":"assistant","modelID":"new"}`,
			"part/1/1.json":    `{"type":"text","text":"hi"}`,
		},
		"chatgpt": {"conversations.json": `[{"conversation_id":"a","current_node":"2","mapping":{` +
			`"1":{"message":{"author":{"role":"assistant"},"content":{"parts":["hi"]},"metadata":{"model_slug":"old"}}},` +
			`"2":{"parent":"1","message":{"author":{"role":"assistant"},"content":{"parts":["hi"]},` +
			`"metadata":{"model_slug":"new"}}}}}]`},
	} {
		dir, copies := t.TempDir(), t.TempDir()
		path := dir
		for name, content := range files {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(name, "conversations") {
				path = file
			}
		}
		err := history.Readers[source].Read(t.Context(), path, func(s history.Session) error {
			_, _, err := history.Copy(filepath.Join(copies, source), source, "copy", s)
			return err
		})
		if err != nil {
			t.Fatal(source, err)
		}
		folder, err := transcript.Open(copies, transcript.Options{})
		if err != nil {
			t.Fatal(err)
		}
		list, err := folder.View(audience.DM()).ListSessions(t.Context(), 0)
		if err != nil || len(list.Sessions) != 1 || list.Sessions[0].Model != "new" {
			t.Errorf("%s: the copy is listed as %+v, %v; want the model \"new\"", source, list.Sessions, err)
		}
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
	}
}

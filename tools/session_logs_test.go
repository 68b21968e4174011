package tools

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/conversation"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// callAgain is how a hint says where a turn goes on.
var callAgain = regexp.MustCompile(`offset (\d+), limit 1, max_chars (\d+) and query "(from:\d+)"`)

// The whole of a long turn can be read, in the pieces that the hints name, also from a list of recent turns.
func TestWholeTurn(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := range 900 {
		fmt.Fprintf(&long, "step %d: wörtlich\n", i)
	}
	dir := t.TempDir()
	var lines strings.Builder
	for i, content := range []string{"short", long.String(), "the end"} {
		data, err := json.Marshal(map[string]any{"type": "assistant", "uuid": fmt.Sprint(i), "message": map[string]any{
			"role": "assistant", "content": content,
		}})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(data, '\n'))
	}
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := transcript.Open(dir, transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
	})
	tool := SessionLogs(&conversation.View{View: folder.View(audience.DM())}, noProject)
	for _, first := range []string{
		`{"action":"read_session","session_id":"s","max_chars":1000}`, `{"action":"recent","limit":2}`,
	} {
		got := answer[logAnswer](t, tool, first)
		whole := strings.TrimSuffix(got.Entries[len(got.Entries)-2].Content, "…")
		for pieces := 0; ; pieces++ {
			again := callAgain.FindStringSubmatch(got.Hint)
			if again == nil {
				break
			}
			if again[1] != "1" || pieces > 9 {
				t.Fatalf("%s: after %d pieces: %s", first, pieces, got.Hint)
			}
			got = answer[logAnswer](t, tool, fmt.Sprintf(
				`{"action":"read_session","session_id":"s","offset":%s,"limit":1,"max_chars":%s,"query":%q}`,
				again[1], again[2], again[3]))
			piece := got.Entries[0]
			if piece.Truncated {
				piece.Content = strings.TrimSuffix(piece.Content, "…")
			}
			whole += piece.Content
		}
		if whole != long.String() {
			t.Errorf("%s: the pieces are %d bytes, the turn has %d", first, len(whole), long.Len())
		}
	}
	if got := refusal(t, tool, `{"action":"read_session","session_id":"s","query":"from:x"}`); !strings.Contains(got,
		"from: takes a number of characters") {
		t.Error(got)
	}
}

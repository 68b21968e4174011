package tools

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// A search says that nobody confirmed what replaced the user's word, who said it, and what the user said: in the text
// and in the structure, and not what was said in between. What the user said or confirmed has no mark.
func TestDisputedReplacement(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v, memory := sampleFolder(t, "kate").dm(), memoryView(t, dir, audience.DM())
	stores := filepath.Join(v.Dir(), ".yamo")
	editor, err := edit.Open(edit.Options{View: v, Dir: stores})
	if err != nil {
		t.Fatal(err)
	}
	dreams, err := dream.Open(dream.Options{
		Memory: memory, Workspace: v, Editor: editor, Dir: stores, AgentID: "kate",
		Thresholds: dream.Thresholds{Score: 1, Hits: 100, Days: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	keep := func(content, source, supersedes string) string {
		t.Helper()
		arguments := `{"content":"` + content + `","source":"` + source + `"`
		if supersedes != "" {
			arguments += `,"supersedes":["` + supersedes + `"]`
		}
		return answer[stored](t, MemoryStore(memory), arguments+"}").ID
	}
	tool, get := MemorySearch(memory, dreams), MemoryGet(memory, dreams)
	own := keep("The spare key is with Ana.", "user", "")
	found := func() (disputed, line string) {
		t.Helper()
		const query = `{"query":"spare key","limit":1}`
		one := answer[memoryAnswer](t, tool, query).Results[0]
		if whole := answer[memoryWhole](t, get, `{"id":"`+one.ID+`"}`); whole.Disputed != one.Disputed {
			t.Errorf("memory_get has %q, memory_search %q", whole.Disputed, one.Disputed)
		}
		if listed := answer[memoryAnswer](t, tool, `{"limit":1}`).Results[0]; listed.Disputed != one.Disputed {
			t.Errorf("a list has %q, a search %q", listed.Disputed, one.Disputed)
		}
		line, _, _ = strings.Cut(resultText(t, call(t, tool, quiet(), query)), "\n")
		return one.Disputed, line
	}
	if disputed, line := found(); disputed != "" || strings.Contains(line, "[") {
		t.Errorf("what the user said is in dispute: %q, %q", disputed, line)
	}
	between := keep("The spare key is with Berta.", "", own)
	page := keep("The spare key is with Carla.", "https://evil.example/key", between)
	want := `from a page, document or tool, not confirmed; the user said: "The spare key is with Ana."`
	if disputed, line := found(); disputed != want || !strings.HasSuffix(line, "with Carla. ["+want+"]") {
		t.Errorf("a chain: %q, %q", disputed, line)
	}
	if err := dreams.Reject(t.Context(), []string{page}); err != nil {
		t.Fatal(err)
	}
	want = `from a page, document or tool, rejected by the user; the user said: "The spare key is with Ana."`
	if disputed, line := found(); disputed != want || !strings.Contains(line, want) {
		t.Errorf("rejected: %q, %q", disputed, line)
	}
	if _, err := dreams.Sweep(t.Context(), []string{page}); err != nil {
		t.Fatal(err)
	}
	if disputed, line := found(); disputed != "" || strings.Contains(line, "user") {
		t.Errorf("confirmed: %q, %q", disputed, line)
	}
	// Where no source is known, a replacement is what it claims to be.
	old := keep("The boat lies in Faro.", "", "")
	keep("The boat lies in Porto.", "", old)
	text := resultText(t, call(t, tool, quiet(), `{"query":"boat","limit":1}`))
	if !strings.Contains(text, "[replaces before ") || strings.Contains(text, "confirmed") {
		t.Errorf("of unknown sources: %s", text)
	}
}

package transcript

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// A session that the host still has is not listed and counted a second time because it was copied too.
func TestCopiesOfSessions(t *testing.T) {
	t.Parallel()
	line := `{"type":"user","uuid":"u","message":{"role":"user","content":"hello"}}` + "\n"
	host := folderOf(t, map[string]string{"p/one.jsonl": line, "groups/g/three.jsonl": line})
	copies := folderOf(t, map[string]string{
		"claude-code/one.jsonl": line, "claude-code/two.jsonl": line, "codex/three.jsonl": line,
	})
	folder, err := Open(host.dir, Options{Imported: copies.dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	view := folder.View(audience.DM())
	list, err := view.ListSessions(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range list.Sessions {
		ids = append(ids, s.SessionID+s.Group)
	}
	if diff := cmp.Diff("one three threeg two", strings.Join(ids, " ")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if n, err := view.Count(t.Context()); n != 4 || err != nil {
		t.Errorf("%d sessions, %v", n, err)
	}
}

// What is JSON and no object is counted as a line that could not be read.
func TestLinesOfOtherJSON(t *testing.T) {
	t.Parallel()
	log := `{"type":"user","uuid":"u","message":{"role":"user","content":"hello"}}` +
		"\n[1]\n\"x\"\nnull\n{\"type\":\"mode\"}\n"
	read, err := folderOf(t, map[string]string{"s.jsonl": log}).View(audience.DM()).ReadSession(t.Context(), "s", 0, 0, 0)
	if err != nil || read.Header.SkippedLines != 3 {
		t.Errorf("%d lines skipped, %v", read.Header.SkippedLines, err)
	}
}

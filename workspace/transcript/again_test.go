package transcript

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// A folder that was deleted and made again is read as one that did not exist at first.
func TestFolderMadeAgain(t *testing.T) {
	t.Parallel()
	line := `{"type":"user","uuid":"u","message":{"role":"user","content":"hello"}}`
	f := folderOf(t, map[string]string{"p/one.jsonl": line})
	view := f.View(audience.DM())
	for _, id := range []string{"two", "three"} {
		if err := os.RemoveAll(f.dir); err != nil {
			t.Fatal(err)
		}
		if list, err := view.ListSessions(t.Context(), 0); err != nil || list.Count != 0 {
			t.Fatalf("without the folder: %d sessions, %v", list.Count, err)
		}
		if err := os.MkdirAll(filepath.Join(f.dir, "p"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(f.dir, "p", id+".jsonl"), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := view.ListSessions(t.Context(), 0)
		if err != nil || list.Count != 1 || list.Sessions[0].SessionID != id {
			t.Fatalf("%s: %+v, %v", id, list.Sessions, err)
		}
	}
}

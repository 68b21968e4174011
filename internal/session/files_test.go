package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// A MEMORY.md that has grown too large to be read as a resource is still searched, from its beginning.
func TestLargeFilesAreSearched(t *testing.T) {
	dir := t.TempDir()
	text := "# Memory\n\nThe first fact.\n\n## Much\n\n" + strings.Repeat("- é\n", workspace.MaxFileSize/4) +
		"\n## Late\n\nThe last fact.\n"
	if err := os.WriteFile(filepath.Join(dir, workspace.MemoryFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close() //nolint:errcheck // it was only read
	passages, err := searchedFiles{folder.View(audience.DM())}.Read(t.Context(), workspace.MemoryFile)
	if err != nil || len(passages) < 1000 {
		t.Fatalf("%d passages, %v", len(passages), err)
	}
	if first := passages[0]; !strings.Contains(first.Text, "The first fact.") {
		t.Errorf("the first passage is %.200q", first.Text)
	}
	if last := passages[len(passages)-1]; last.Heading != "Much" {
		t.Errorf("the last passage is of %q", last.Heading)
	}
}

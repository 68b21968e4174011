package prompts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// What is curated: old and undated entries, this week's logs cut to size, and the logs of groups by name only.
func TestCurate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(kate)); err != nil {
		t.Fatal(err)
	}
	var memory strings.Builder
	memory.WriteString(
		"# Memory\n\n## Old\n\n- 2025-11-15: Old by a day.\n- 2025-11-16: Not old yet.\n- 2024-01-01: Old, but confirmed " +
			"on 2026-01-01.\n\n## Undated\n\n",
	)
	for i := range 40 {
		fmt.Fprintf(&memory, "- Entry %d.\n", i)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("MEMORY.md", memory.String())
	write("memory/2026-02-14.md", "# Today\n\n"+strings.Repeat("long ", 2000))
	write("memory/2026-02-08.md", "# The first day\n")
	write("memory/2026-02-07.md", "# The day before\n")
	stores := filepath.Join(dir, ".yamo")
	s := begin(t, dir, stores, audience.DM())
	s.learn("own", "An own rule", "low")
	begin(t, dir, stores, bookClub(t)).learn("planted", "A planted rule", "critical")

	got := s.get("curate", nil)
	for _, want := range []string{
		"Old by a day.", "Entry 29.\n(and 10 more)", "An own rule",
		"## memory/2026-02-08.md\n# The first day", "[cut; the whole log is yamo://workspace/memory/2026-02-14.md]",
		"- yamo://workspace/memory/2026-02-14-group-book-club.md\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("without %q", want)
		}
	}
	for _, unwanted := range []string{"Not old yet", "but confirmed", "Entry 30.", "A planted rule", "The day before"} {
		if strings.Contains(got, unwanted) {
			t.Errorf("with %q", unwanted)
		}
	}
	if !strings.Contains(s.get("curate", map[string]string{"days": "8"}), "The day before") {
		t.Error("a day more is not looked at")
	}
	if n := len([]rune(got)); n > 40_000 {
		t.Errorf("%d characters", n)
	}
}

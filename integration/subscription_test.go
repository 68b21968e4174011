package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A group may ask to be told of changes to any URI; of what it may not see, it is told nothing. What a DM
// is told of the same changes shows that there was something to tell.
func TestGroupIsNotToldOfPrivateChanges(t *testing.T) {
	t.Parallel()
	workspace := sample(t)
	private := []string{
		"MEMORY.md",
		"USER.md",
		"TOOLS.md",
		"HEARTBEAT.md",
		"notes/seed-order.md",
		"memory/2026-02-14.md",
		"memory/2026-02-13-group-hiking.md",
	}
	dm, group := connect(t, launch{workspace: workspace}), connect(t, launch{workspace: workspace, group: club})
	for _, s := range []*session{dm, group} {
		for _, name := range append(private, "SOUL.md") {
			s.request("resources/subscribe", map[string]any{"uri": "yamo://workspace/" + name})
		}
	}
	for _, name := range private {
		path := filepath.Join(workspace, filepath.FromSlash(name))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, string(data)+"\nChanged.\n")
	}
	write(t, filepath.Join(workspace, "DREAMS.md"), "# Dreams\n")
	dm.store("Only the DM knows this.", nil)
	told := func(s *session, name string) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return strings.Contains(s.stdout.String(), `"notifications/resources/updated"`) &&
			strings.Contains(s.stdout.String(), name)
	}
	for deadline := time.Now().Add(patience); !told(dm, "MEMORY.md"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the DM is not told that MEMORY.md has changed")
		}
	}
	// The group is told of a file of its own, after which everything before it has been told too.
	write(t, filepath.Join(workspace, "SOUL.md"), "# Soul\n\nChanged.\n")
	for deadline := time.Now().Add(patience); !told(group, "SOUL.md"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the group is not told that SOUL.md has changed")
		}
	}
	dm.end()
	stdout, _ := group.end()
	for line := range strings.Lines(stdout) {
		for _, name := range append(private, "DREAMS.md", "list_changed") {
			if strings.Contains(line, `"method"`) && strings.Contains(line, name) {
				t.Errorf("the group is told %s", line)
			}
		}
	}
}

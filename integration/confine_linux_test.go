package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The kernel confines every thread of a group's process, also those of the native libraries, and its tools work. A DM
// is not confined.
func TestGroupProcessIsConfined(t *testing.T) {
	t.Parallel()
	workspace := sample(t)
	for group, want := range map[string]string{"": "", club: "NoNewPrivs:\t1 Seccomp:\t2"} {
		s := connect(t, launch{workspace: workspace, group: group})
		id := s.store("The reading lamp is in the attic.", nil).ID
		// With the model, and so with all threads.
		found := call[answer](s, "memory_search", map[string]any{"query": "Where is the light?"})
		if len(found.Results) == 0 {
			t.Errorf("%q finds nothing after storing %s", group, id)
		}
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", s.cmd.Process.Pid))
		if err != nil || len(threads) < 2 {
			t.Fatalf("threads %q, %v", threads, err)
		}
		if want == "" {
			want = confinement(t, "/proc/self/status") // a test may be confined itself, in a container
		}
		for _, thread := range threads {
			if got := confinement(t, thread); got != want && got != "" {
				t.Errorf("%q: thread %s has %q, want %q", group, filepath.Base(filepath.Dir(thread)), got, want)
			}
		}
		if _, stderr := s.end(); strings.Contains(stderr, "does not confine") {
			t.Errorf("%q: %s", group, stderr)
		}
	}
}

var confined = regexp.MustCompile(`(?m)^(NoNewPrivs|Seccomp):\t\d+$`)

// confinement is what a status file of the kernel shows, "" for a thread that has ended.
func confinement(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Logf("%s: %v", path, err)
		return ""
	}
	return strings.Join(confined.FindAllString(string(data), -1), " ")
}

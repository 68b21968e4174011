package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// A group's process isolates itself before it reads anything, and starts again, so that all of its threads are
// isolated. A DM's does not. The kernel shows the isolation of no process, so the system calls are looked at.
func TestGroupProcessIsIsolated(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not there: it is Linux's, and CI has it")
	}
	workspace := sample(t)
	for group, want := range map[string][]string{"": {"execve"}, club: {"execve", "landlock_restrict_self", "execve"}} {
		trace := filepath.Join(t.TempDir(), "trace")
		s := connect(t, launch{workspace: workspace, group: group, wrapper: []string{
			strace, "-f", "-e", "trace=landlock_restrict_self,execve", "-e", "signal=none", "-o", trace,
		}})
		_, stderr := s.end()
		if strings.Contains(stderr, "does not keep this process from the memory of others") {
			t.Logf("this kernel cannot isolate: %s", stderr)
			continue
		}
		data, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, call := range succeeded.FindAllStringSubmatch(string(data), -1) {
			got = append(got, call[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q\n%s", group, got, want, data)
		}
	}
}

// succeeded finds the calls in a trace that returned 0.
var succeeded = regexp.MustCompile(`(?m)^\d+ +(?:<\.\.\. )?(execve|landlock_restrict_self)\b.*= 0$`)

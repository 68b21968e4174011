package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
)

// A server that has had many clients, in a DM and in groups, over both transports, has no more files open, and no more
// threads, than after the first of them.
func TestClientsLeaveNothingOpen(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the files that a process has open are read from /proc")
	}
	visits := testsize.Pick(10, 100)
	workspace := sample(t)
	server := startHTTP(t, launch{workspace: workspace})
	tokens := map[string]string{
		"":   server.NewToken("--connection", "dm"),
		club: server.NewToken("--connection", "group", "--group", club),
	}
	visit := func(n int) {
		for group, token := range tokens {
			for _, over := range []string{overHTTP, overSSE} {
				s := connect(t, launch{workspace: workspace, group: group, over: over, at: server, token: token})
				s.store(fmt.Sprintf("Visitor %d of %q came over %s.", n, group, over), nil)
				call[answer](s, "memory_search", map[string]any{"query": "who came"})
				readEverything(s)
				s.end()
			}
		}
	}
	count := func(of string) int {
		t.Helper()
		list, err := os.ReadDir(filepath.Join("/proc", fmt.Sprint(server.PID()), of))
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	for n := range 3 {
		visit(n)
	}
	files, threads := count("fd"), count("task")
	for n := range visits {
		visit(3 + n)
	}
	// The connections of the last clients, and LanceDB's files, close in the background. Each visit has four clients: a
	// leak of one of them would be more than these.
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		moreFiles, moreThreads := count("fd")-files, count("task")-threads
		if moreFiles < visits && moreThreads < visits {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after %d visits %d more files are open, and there are %d more threads", visits, moreFiles, moreThreads)
		}
	}
}

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
)

// A failure is what a system call of a process returns. strace counts the calls of each thread for itself, so that the
// nth fails once in each thread that makes so many.
type failure struct {
	calls string // strace's names
	errno string
	most  int // of n, with YAMO_PROVE
	quick bool
}

var failures = []failure{
	{"fsync,fdatasync", "EIO", 6, false}, // takes up to two minutes
	{"pwrite64", "ENOSPC", 20, true},
	{"pwrite64", "EIO", 10, false},
	{"rename,renameat,renameat2", "EIO", 10, true},
	{"ftruncate", "EIO", 6, false},
	{"unlink,unlinkat", "EROFS", 10, false},
	{"mkdir,mkdirat", "EROFS", 10, false},
}

// A few file operations of the program fail, whichever they are: what was acknowledged is there, once for each
// request; a request that fails says why without ending the session, and later ones work. With YAMO_PROVE many are
// tried, otherwise two. That a call failed is read from strace, and trials without a failure are not counted.
func TestFailingOperations(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not there: it is Linux's, and CI has it")
	}
	if testing.Short() {
		t.Skip("takes a process for each failure")
	}
	var hits, refused int
	for _, f := range failures {
		if !testsize.Full() && !f.quick {
			continue
		}
		for i := range f.most {
			n := i + 1
			if !testsize.Full() {
				// The fourth of a thread, or an earlier one if the work was spread over so many threads that none had four.
				if n = 4 - i; n == 0 {
					break
				}
			}
			trial := failing{failure: f, strace: strace, nth: n}
			t.Run(fmt.Sprintf("%s %s %d", f.errno, f.calls, n), trial.run)
			hits += trial.hits
			refused += trial.refused
			if (trial.hits > 0) != testsize.Full() {
				break // in full size: there are no more such operations
			}
		}
	}
	t.Logf("%d operations failed, and %d requests because of it", hits, refused)
	if hits < 2 {
		t.Errorf("only %d operations failed", hits)
	}
}

// attempts is more than the number of threads that make so many file operations.
const attempts = 12

// failing is a session of which one operation fails.
type failing struct {
	failure
	strace  string
	nth     int
	hits    int
	refused int // requests
}

// run makes the session and looks at what it left.
func (f *failing) run(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace")
	inject := fmt.Sprintf("inject=%s:error=%s:when=%d", f.calls, f.errno, f.nth)
	workspace, cache := sample(t), t.TempDir() // without the model, which takes a second
	s := connect(t, launch{workspace: workspace, cache: cache, wrapper: []string{
		f.strace, "-f", "--seccomp-bpf", "-o", trace, "-e", "trace=" + f.calls, "-e", inject, "-e", "signal=none",
	}})
	done, asked := map[string]int{}, map[string]int{}
	var last stored
	removed := false
	ask := func(word, tool string, args map[string]any) {
		// Again, if it fails: few operations do.
		for range attempts {
			asked[word]++
			answer, ok := s.try("tools/call", map[string]any{"name": tool, "arguments": args})
			if !ok {
				t.Fatalf("%s: the session has ended: %s", tool, s.stderr.String())
			}
			var result toolResult
			answer.decode(t, &result)
			if !result.IsError {
				done[word]++
				if tool == "memory_store" {
					last = decodeResult[stored](t, tool, result)
				}
				return
			}
			f.refused++
			t.Logf("%s: %s", tool, result.text())
			text := result.text()
			if tool == "memory_delete" && (removed || strings.HasPrefix(text, "it is deleted")) {
				// It is gone from the ledger, and the answer says so.
				if removed = true; strings.Contains(text, "no memory") {
					done[word]++
					return
				}
				continue
			}
			if tool == "workspace_edit" && asked[word] > 1 && strings.Contains(text, "already") {
				// The failed call made the edit, and the answer says so.
				done[word]++
				return
			}
			if text == "" || text == "internal error" || strings.Contains(text, "no memory") ||
				strings.Contains(text, "nothing was") { // the guard of all tools cannot know that
				t.Errorf("%s failed with %q", tool, text)
			}
		}
		t.Errorf("%s fails although nothing is wrong any more", tool)
	}
	ask("heron", "memory_store", map[string]any{"content": "A heron nests at the mill pond."})
	ask("Ottilie", "workspace_edit", map[string]any{
		"file": "MEMORY.md", "section": "People", "op": "append_item", "items": []string{"Ottilie plays the cello."},
		"rationale": "She said so.",
	})
	ask("walnut", "memory_store", map[string]any{"content": "The key is under the walnut tree."})
	ask("orchard", "log_append", map[string]any{"text": "We picked apples in the orchard."})
	ask("gone", "memory_delete", map[string]any{"id": last.ID, "confirm": true})
	ask("quarry", "memory_file", map[string]any{
		"action": "save", "type": "daily-log", "topic": "walks",
		"sections": []map[string]any{{"heading": "Summary", "text": "The quarry is closed in winter."}},
	})
	ask("lantern", "memory_store", map[string]any{"content": "The lantern needs a new wick."})
	if err := s.stdin.Close(); err != nil {
		t.Error(err)
	}
	_ = s.wait() // an index that could not be written at the end is made by the next process
	lines, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	f.hits = strings.Count(string(lines), "(INJECTED)")

	verifyLedgers(t, workspace)
	text := everything(t, workspace)
	for word, n := range done {
		switch found := strings.Count(text, word); {
		case word == "gone":
			if found := strings.Count(text, "walnut"); found != 0 {
				t.Errorf("what was deleted is there %d times", found)
			}
		case word == "walnut":
		case found < n || found > asked[word]:
			t.Errorf("%s was acknowledged %d times, asked for %d times, and is there %d times", word, n, asked[word], found)
		}
	}
	cmd := exec.Command(serverBinary(t), "record", "verify", "--workspace", workspace)
	cmd.Env = launch{workspace: workspace}.environment()
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("record verify: %v\n%s", err, output)
	}
}

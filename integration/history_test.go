package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
)

// Limits of a long history: `import` makes 1 GB of it searchable by words in two minutes on an idle machine, of which
// the test takes the processor's time, and no process that reads it has more than 500 MB in memory.
const (
	mostImportTime = 2 * time.Minute
	mostHistoryMB  = 500
)

// A history as Claude Code keeps it, 1 GB in full size, is found by its words after `import`: what was said, called and
// returned, by a subagent too, in the oldest and in the newest session. A turn that is written later is found by the
// next search.
func TestLongHistory(t *testing.T) {
	t.Parallel()
	workspace, logs := sample(t), filepath.Join(t.TempDir(), "projects")
	h := newHistory(t, logs)
	h.fill(int64(testsize.Pick(12, 1000)) * 1e6)

	cmd := exec.Command(serverBinary(t), "import", "claude-code", logs, "--workspace", workspace, "--transcripts", logs)
	cmd.Env = launch{workspace: workspace}.environment()
	start := time.Now()
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("import: %v\n%s", err, output)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t.Logf("import of %d MB in %d logs: %.0f s, %.0f s of processor time, %.0f MB\n%s", h.size/1e6, h.logs,
		time.Since(start).Seconds(), used.Seconds(), peakOf(cmd.ProcessState), output)
	if used > mostImportTime {
		t.Errorf("import took %s of processor time, want up to %s", used, mostImportTime)
	}
	if most := peakOf(cmd.ProcessState); most > mostHistoryMB {
		t.Errorf("import had %.0f MB in memory, want up to %d", most, mostHistoryMB)
	}

	s := connect(t, launch{workspace: workspace, transcripts: logs})
	for _, needle := range historyNeedles {
		s.findsTurn(needle)
	}
	h.says("live", "puffins Trondheim")
	s.findsTurn("puffins Trondheim")
	most := residentPeak(t, s.cmd.Process.Pid)
	t.Logf("the server had %.0f MB in memory", most)
	if most > mostHistoryMB {
		t.Errorf("the server had %.0f MB in memory, want up to %d", most, mostHistoryMB)
	}
	s.end()
}

// findsTurn asks session_logs for a turn by words, which must be among the first results as soon as all logs were read.
func (s *session) findsTurn(query string) {
	s.tb.Helper()
	words := strings.Fields(query)
	start := time.Now()
	for {
		found := call[struct {
			Pending int `json:"pending"`
			Hits    []struct {
				Preview string `json:"preview"`
			} `json:"hits"`
		}](s, "session_logs", map[string]any{"action": "search", "query": query, "limit": 5, "max_chars": 400})
		for _, hit := range found.Hits {
			if strings.Contains(hit.Preview, words[0]) && strings.Contains(hit.Preview, words[1]) {
				s.tb.Logf("%q was found after %.1f s", query, time.Since(start).Seconds())
				return
			}
		}
		if found.Pending == 0 {
			s.tb.Errorf("%q is not found: %+v", query, found.Hits)
			return
		}
	}
}

// peakOf is the most memory that a process that ended had in use, in 10^6 bytes.
func peakOf(state *os.ProcessState) float64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	unit := 1024. // of Linux
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return float64(usage.Maxrss) * unit / 1e6
}

// residentPeak is the most memory that a running process has had in use, in 10^6 bytes; 0 where the system does not
// tell.
func residentPeak(tb testing.TB, pid int) float64 {
	tb.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		tb.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kib float64
	if _, err := fmt.Sscan(after, &kib); err != nil {
		tb.Fatalf("no VmHWM in %s", status)
	}
	return kib * 1024 / 1e6
}

package integration

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	output, most := runMeasured(t, cmd)
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t.Logf("import of %d MB in %d logs: %.0f s, %.0f s of processor time, %.0f MB\n%s", h.size/1e6, h.logs,
		time.Since(start).Seconds(), used.Seconds(), most, output)
	if used > mostImportTime {
		t.Errorf("import took %s of processor time, want up to %s", used, mostImportTime)
	}
	if most > mostHistoryMB {
		t.Errorf("import had %.0f MB in memory, want up to %d", most, mostHistoryMB)
	}

	s := connect(t, launch{workspace: workspace, transcripts: logs})
	for _, needle := range historyNeedles {
		s.findsTurn(needle)
	}
	h.says("live", "puffins Trondheim")
	s.findsTurn("puffins Trondheim")
	most, _ = residentPeak(s.cmd.Process.Pid)
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

// runMeasured runs a command, and returns its output and the most memory that it had in use, in 10^6 bytes; 0 where the
// system does not tell. What the system tells of a process that has ended is no measure: it includes the memory of the
// one that started it, which both share for a moment.
func runMeasured(tb testing.TB, cmd *exec.Cmd) (output string, peak float64) {
	tb.Helper()
	var written bytes.Buffer
	cmd.Stdout, cmd.Stderr = &written, &written
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				tb.Fatalf("%s: %v\n%s", strings.Join(cmd.Args[1:], " "), err, &written)
			}
			return written.String(), peak
		case <-time.After(5 * time.Millisecond):
			if now, ok := residentPeak(cmd.Process.Pid); ok {
				peak = now
			}
		}
	}
}

// residentPeak is the most memory that a running process has had in use, in 10^6 bytes. It is not ok where the system
// does not tell, or if the process has ended.
func residentPeak(pid int) (peak float64, ok bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kib float64
	_, err = fmt.Sscan(after, &kib)
	return kib * 1024 / 1e6, err == nil
}

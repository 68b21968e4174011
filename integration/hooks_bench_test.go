package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What a person waits for at the events of a session, at 10,000 memories and with nothing loaded: the whole process,
// from its start to its end. The aim is 300 ms on two idle cores.
//
// It is one benchmark whose iterations are its own: a round is 20 runs of each hook. The parts are the start of the
// process, and reading the ledger, which the lessons of PreToolUse need as well; the model is loaded at the same time.
func BenchmarkHooks(b *testing.B) {
	const memories = 10_000
	workspace := sample(b)
	export := filepath.Join(b.TempDir(), "memories.jsonl")
	var lines strings.Builder
	for i := range memories {
		line, err := json.Marshal(map[string]string{"content": chore(i)})
		if err != nil {
			b.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	write(b, export, lines.String())
	for _, args := range [][]string{
		{"mesh", "import", export}, {"index", "rebuild"},
	} {
		cmd := exec.Command(serverBinary(b), append(args, "--workspace", workspace)...)
		if output, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", args, err, output)
		}
	}
	for b.Loop() {
		rows := [][]string{{"", "p50", "p95", "aim"}}
		var starts []float64
		for range 20 {
			start := time.Now()
			if err := exec.Command(serverBinary(b), "version").Run(); err != nil {
				b.Fatal(err)
			}
			starts = append(starts, milliseconds(time.Since(start)))
		}
		rows = append(rows, []string{"start and end of the process", ms(starts, 50), ms(starts, 95), ""})
		for _, hook := range []struct {
			event  string
			fields string
			spoken int // exchanges in the host's log that no hook has recorded
		}{
			{"SessionStart", `"source":"startup"`, 0},
			{"UserPromptSubmit", `"prompt":"Who worked in the cellar with the ladder, and what was repaired?"`, 0},
			{"PreToolUse", `"tool_name":"Bash","tool_input":{"command":"terraform apply"}`, 0},
			{"Stop", `"last_assistant_message":"The cellar is done."`, 0},
			{"Stop", `"last_assistant_message":"The cellar is done."`, 6500},
			{"PreCompact", `"trigger":"auto"`, 0},
			{"SessionEnd", `"reason":"exit"`, 0},
		} {
			name := hook.event
			if hook.spoken > 0 {
				name += "-after-2-MiB"
			}
			var times []float64
			for i := range 20 {
				input := fmt.Sprintf(`{"session_id":"%d","cwd":"/home/ana/cellar",`, i)
				if hook.spoken > 0 {
					log := longSession(b, workspace, i, hook.spoken)
					input = fmt.Sprintf(`{"session_id":"long-%d","transcript_path":%q,`, i, log)
				}
				cmd := exec.Command(serverBinary(b), "hook", hook.event, "--workspace", workspace, "--connection", "dm")
				cmd.Stdin = strings.NewReader(input + hook.fields + "}")
				start := time.Now()
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				times = append(times, milliseconds(time.Since(start)))
			}
			rows = append(rows, []string{name, ms(times, 50), ms(times, 95), "300 ms"})
			b.ReportMetric(percentile(times, 50), name+"-ms")
		}
		log, err := os.ReadFile(filepath.Join(workspace, ".yamo", "private", "hooks", "hooks.ndjson"))
		if err != nil {
			b.Fatal(err)
		}
		rows = append(rows, []string{
			fmt.Sprintf("prompts that words decided: %d of 20", strings.Count(string(log), `"search":"words"`)), "", "", "",
		})
		b.ReportMetric(0, "ns/op") // the time of a round is meaningless
		b.Log(table(b, rows))
	}
}

// longSession begins the session long-N, of whose log its hooks know only the beginning, and returns the path of the
// log.
func longSession(b *testing.B, workspace string, n, exchanges int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), fmt.Sprintf("long-%d.jsonl", n))
	write(b, path, "")
	cmd := exec.Command(serverBinary(b), "hook", "SessionStart", "--workspace", workspace, "--connection", "dm")
	const input = `{"session_id":"long-%d","transcript_path":%q,"source":"startup"}`
	cmd.Stdin = strings.NewReader(fmt.Sprintf(input, n, path))
	if output, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, output)
	}
	var rows strings.Builder
	for i := range exchanges {
		for _, role := range []string{"user", "assistant"} {
			fmt.Fprintf(&rows, `{"type":%[1]q,"uuid":"%[1]s-%[2]d","message":{"role":%[1]q,`+
				`"content":"I prefer that. %[3]s"}}`+"\n", role, i, chore(i))
		}
	}
	write(b, path, rows.String())
	return path
}

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
		}{
			{"SessionStart", `"source":"startup"`},
			{"UserPromptSubmit", `"prompt":"Who worked in the cellar with the ladder, and what was repaired?"`},
			{"PreToolUse", `"tool_name":"Bash","tool_input":{"command":"terraform apply"}`},
			{"Stop", `"last_assistant_message":"The cellar is done."`},
			{"PreCompact", `"trigger":"auto"`},
			{"SessionEnd", `"reason":"exit"`},
		} {
			var times []float64
			for i := range 20 {
				cmd := exec.Command(serverBinary(b), "hook", hook.event, "--workspace", workspace, "--connection", "dm")
				cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"%d","cwd":"/home/ana/cellar",%s}`, i, hook.fields))
				start := time.Now()
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				times = append(times, milliseconds(time.Since(start)))
			}
			rows = append(rows, []string{hook.event, ms(times, 50), ms(times, 95), "300 ms"})
			b.ReportMetric(percentile(times, 50), hook.event+"-ms")
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

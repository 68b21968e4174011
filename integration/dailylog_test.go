package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
)

// Two processes append 1,000 entries each to one daily log, and one of them is killed now and then. Nothing that was
// acknowledged is lost, torn or there twice.
func TestDailyLogOfTwoProcesses(t *testing.T) {
	t.Parallel()
	each := testsize.Pick(150, 1000)
	workspace := sample(t)
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	kills := 0
	var writers sync.WaitGroup
	for _, who := range []string{"steady", "killed"} {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(15, 9))
			next, done := 0, 0
			for done < each {
				s := connect(t, launch{workspace: workspace})
				var timer *time.Timer
				if who == "killed" {
					timer = time.AfterFunc(time.Duration(100+random.IntN(400))*time.Millisecond, func() { _ = s.cmd.Process.Kill() })
				}
				got := appendEntries(s, who, &next, each-done)
				mu.Lock()
				for _, entry := range got {
					acknowledged[entry] = true
				}
				mu.Unlock()
				done += len(got)
				if timer != nil && !timer.Stop() {
					kills++ // of this writer only
				}
				if timer == nil {
					s.end()
				}
				_ = s.cmd.Process.Kill()
				_ = s.wait()
			}
		})
	}
	writers.Wait()
	if len(acknowledged) < 2*each || kills < 2 {
		t.Fatalf("%d entries were acknowledged, and %d kills", len(acknowledged), kills)
	}
	t.Logf("%d entries were acknowledged, with %d kills", len(acknowledged), kills)

	logs, err := filepath.Glob(filepath.Join(workspace, "memory", time.Now().Format("2006")+"-*.md")) // midnight may pass
	if err != nil {
		t.Fatal(err)
	}
	whole := map[string]int{}
	for _, name := range logs {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		entry := regexp.MustCompile(
			`(?m)^Entry ([a-z]+-[0-9]+) begins\.\n\n` +
				`((?:- a line of ([a-z]+-[0-9]+)\n)+)\nEntry ([a-z]+-[0-9]+) ends\.$`)
		for _, m := range entry.FindAllStringSubmatch(string(data), -1) {
			if m[1] == m[4] && m[2] == strings.Repeat("- a line of "+m[1]+"\n", entryLines) {
				whole[m[1]]++
			}
		}
	}
	for entry := range acknowledged {
		if whole[entry] != 1 {
			t.Errorf("%s was acknowledged and is there %d times", entry, whole[entry])
		}
	}
	for entry, times := range whole {
		if times > 1 {
			t.Errorf("%s is there %d times", entry, times)
		}
	}
}

// entryLines is how many lines the list of an entry has: some KiB, so that an entry that is written in parts would
// show.
const entryLines = 40

// appendEntries appends most entries, several at once and each under a number of its own, and returns those that were
// acknowledged. It stops when the server is gone.
func appendEntries(s *session, who string, next *int, most int) (acknowledged []string) {
	entries, answers := []string{}, []chan message{}
	take := func(i int) bool {
		select {
		case m := <-answers[i]:
			var result toolResult
			if err := json.Unmarshal(m.Result, &result); err != nil || result.IsError {
				s.tb.Errorf("log_append: %v %s", err, brief(m.line))
				return false
			}
			acknowledged = append(acknowledged, entries[i])
			return true
		case <-s.ended:
			return false
		case <-time.After(patience):
			s.tb.Error("log_append is not answered")
			return false
		}
	}
	const atOnce = 4
	for i := range most + atOnce {
		if i < most {
			entry := fmt.Sprintf("%s-%d", who, *next)
			*next++
			text := fmt.Sprintf("Entry %s begins.\n\n%s\nEntry %s ends.", entry,
				strings.Repeat("- a line of "+entry+"\n", entryLines), entry)
			entries = append(entries, entry)
			answers = append(answers,
				s.begin("tools/call", map[string]any{"name": "log_append", "arguments": map[string]any{"text": text}}))
		}
		if i >= atOnce && !take(i-atOnce) {
			break
		}
	}
	// What was answered before the end counts, too.
	for i := len(acknowledged); i < len(answers); i++ {
		select {
		case m := <-answers[i]:
			var result toolResult
			if json.Unmarshal(m.Result, &result) == nil && m.Result != nil && !result.IsError {
				acknowledged = append(acknowledged, entries[i])
			}
		default:
		}
	}
	return acknowledged
}

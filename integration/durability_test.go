package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
)

// Whenever the server is killed, every memory that it has acknowledged is there afterwards, once, and the
// ledger is intact.
func TestAcknowledgedMemoriesSurviveKill(t *testing.T) {
	t.Parallel()
	rounds := testsize.Pick(4, 12)
	random := rand.New(rand.NewPCG(3, 14))
	workspace := sample(t)
	acknowledged := map[string]string{} // id -> content
	for round := range rounds {
		s := connect(t, launch{workspace: workspace})
		var answers []chan message
		var contents []string
		// Half of the kills come after the first acknowledgement, however long that takes on a busy machine.
		kill := time.NewTimer(time.Duration(random.IntN(400)) * time.Millisecond)
		if round%2 == 0 {
			content := fmt.Sprintf("In round %d the lighthouse keeper lit the lamp.", round)
			memory := map[string]any{"content": content, "tags": []string{tagOf(content)}}
			acknowledged[call[stored](s, "memory_store", memory).ID] = content
			kill.Reset(time.Duration(random.IntN(400)) * time.Millisecond)
		}
		go func() {
			<-kill.C
			_ = s.cmd.Process.Kill()
		}()
		for i := 0; ; i++ {
			select {
			case <-s.ended:
			default:
				// Several at once, so that a kill meets one in every state.
				content := fmt.Sprintf("In round %d the lighthouse keeper wrote down observation %d.", round, i)
				contents = append(contents, content)
				answers = append(answers, s.begin("tools/call", map[string]any{
					"name":      "memory_store",
					"arguments": map[string]any{"content": content, "tags": []string{tagOf(content)}},
				}))
				if i >= 4 {
					select {
					case m := <-answers[i-4]:
						answers[i-4] <- m // for the count below
					case <-s.ended:
					}
				}
				continue
			}
			break
		}
		_ = s.wait()
		for i, answer := range answers {
			select {
			case m := <-answer:
				var result toolResult
				m.decode(t, &result)
				acknowledged[decodeResult[stored](t, "memory_store", result).ID] = contents[i]
			default: // it was not acknowledged
			}
		}
	}
	if len(acknowledged) < rounds/2 {
		t.Fatalf("only %d memories were acknowledged", len(acknowledged))
	}
	t.Logf("%d memories were acknowledged before %d kills", len(acknowledged), rounds)
	verifyLedgers(t, workspace)
	kept := exported(t, workspace)
	s := connect(t, launch{workspace: workspace})
	number := 0
	for id, content := range acknowledged {
		if diff := cmp.Diff([]string{content}, kept[id]); diff != "" {
			t.Errorf("%s was acknowledged (-want +kept):\n%s", id, diff)
		}
		if number++; number%20 != 0 { // a search takes as long as reading everything
			continue
		}
		got := call[answer](s, "memory_search", map[string]any{"query": content, "tags": []string{tagOf(content)}})
		var found []string
		for _, r := range got.Results {
			found = append(found, r.ID+" "+r.Content)
		}
		if diff := cmp.Diff([]string{id + " " + content}, found); diff != "" {
			t.Errorf("a search for what was acknowledged (-want +found):\n%s", diff)
		}
	}
	s.end()
	verifyLedgers(t, workspace)
}

// exported are the contents of every memory of a workspace, by id: more than one where an id is not unique.
func exported(t *testing.T, workspace string) map[string][]string {
	t.Helper()
	cmd := exec.Command(serverBinary(t), "mesh", "export", "--workspace", workspace)
	cmd.Env = launch{}.environment()
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("mesh export: %v", err)
	}
	memories := map[string][]string{}
	for line := range bytes.Lines(output) {
		var m struct{ ID, Content string }
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("mesh export: %v in %s", err, line)
		}
		memories[m.ID] = append(memories[m.ID], m.Content)
	}
	return memories
}

// tagOf is a tag that only the memory with that content has.
func tagOf(content string) string { return newCanary(content).secret }

// verifyLedgers lets the program check its ledgers.
func verifyLedgers(t *testing.T, workspace string) {
	t.Helper()
	cmd := exec.Command(serverBinary(t), "ledger", "verify", "--workspace", workspace)
	cmd.Env = launch{}.environment()
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("ledger verify: %v\n%s", err, output)
	}
}

// Three processes over one workspace see each other's memories at their next read; nothing is lost or
// stored twice.
func TestProcessesShareOneWorkspace(t *testing.T) {
	t.Parallel()
	each := testsize.Pick(20, 60)
	workspace := sample(t)
	sessions := map[string]*session{
		"first":  connect(t, launch{workspace: workspace}),
		"second": connect(t, launch{workspace: workspace, protocol: modern}),
		"group":  connect(t, launch{workspace: workspace, group: club}),
	}
	sees := func(reader, content string) []found {
		return call[answer](sessions[reader], "memory_search",
			map[string]any{"query": content, "tags": []string{tagOf(content)}}).Results
	}
	// One after the other: what one has been told is stored, the others find at once.
	for writer, s := range sessions {
		content := "The tide came early for the " + writer + " of them."
		id := s.store(content, map[string]any{"tags": []string{tagOf(content)}}).ID
		for reader := range sessions {
			got := sees(reader, content)
			var want, ids []string
			if reader != "group" || writer == "group" {
				want = []string{id}
			}
			for _, r := range got {
				ids = append(ids, r.ID)
			}
			if diff := cmp.Diff(want, ids); diff != "" {
				t.Errorf("what %s stored, as found by %s (-want +got):\n%s", writer, reader, diff)
			}
		}
	}
	// All at once, with half of the texts the same for both DMs.
	var group sync.WaitGroup
	var mu sync.Mutex
	ids := map[string]map[string]bool{} // content -> the ids it was given
	for name, s := range sessions {
		group.Go(func() {
			for i := range each {
				content := fmt.Sprintf("Entry %d of the %s harbour book.", i, name)
				if i%2 == 0 {
					content = fmt.Sprintf("Entry %d of everybody's harbour book.", i)
				}
				m, ok := s.try("tools/call", map[string]any{
					"name":      "memory_store",
					"arguments": map[string]any{"content": content, "tags": []string{tagOf(content)}},
				})
				var result toolResult
				var memory stored
				if !ok || json.Unmarshal(m.Result, &result) != nil || result.IsError {
					t.Errorf("%s could not store %q: %s", name, content, brief(m.line))
					return
				}
				if err := json.Unmarshal(result.StructuredContent, &memory); err != nil {
					t.Errorf("%s stored %q: %v: %s", name, content, err, brief(m.line))
					return
				}
				if i%5 == 0 {
					s.try("tools/call", map[string]any{"name": "memory_search", "arguments": map[string]any{"query": content}})
				}
				mu.Lock()
				key := memory.Visibility + " " + content
				if ids[key] == nil {
					ids[key] = map[string]bool{}
				}
				ids[key][memory.ID] = true
				mu.Unlock()
			}
		})
	}
	group.Wait()
	for key, given := range ids {
		visibility, content, _ := strings.Cut(key, " ")
		if len(given) != 1 {
			t.Errorf("%q was given %d ids", key, len(given))
		}
		for reader := range sessions {
			matches := 0
			for _, m := range sees(reader, content) {
				if m.Visibility == visibility && m.Content == content && given[m.ID] {
					matches++
				} else if m.Visibility == visibility {
					t.Errorf("%s finds %+v for %q", reader, m, key)
				}
			}
			if want := 1; reader == "group" && visibility == "private" {
				if matches != 0 {
					t.Errorf("the group finds %q", key)
				}
			} else if reader != "group" && visibility != "private" && ids["private "+content] != nil {
				// A text takes one place in a result: of the private memory and the group's, the private one.
				if matches > want {
					t.Errorf("%s finds %q %d times", reader, key, matches)
				}
			} else if matches != want {
				t.Errorf("%s finds %q %d times", reader, key, matches)
			}
		}
	}
	for _, s := range sessions {
		s.end()
	}
	verifyLedgers(t, workspace)
}

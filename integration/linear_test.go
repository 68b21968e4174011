package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
)

// berth is what a process asks about one berth of the harbour: who lies there, or that who lies there is replaced.
type berth struct {
	number   int
	old, new string // texts; both "" for a question
}

// berthAnswer is what the process was told: who lies there, or whether the replacement was made.
type berthAnswer struct {
	text string
	made bool
}

// berths is what all processes together must look like: each berth is a register with compare and swap.
var berths = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[int][]porcupine.Operation{}
		for _, o := range history {
			n := o.Input.(berth).number
			parts[n] = append(parts[n], o)
		}
		var list [][]porcupine.Operation
		for _, part := range parts {
			list = append(list, part)
		}
		return list
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		asked, told := input.(berth), output.(berthAnswer)
		switch {
		case asked.new == "":
			return told.text == state, state
		case told.made:
			return asked.old == state, asked.new
		default:
			return asked.old != state, state
		}
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

// The answers that several processes get over one workspace at the same time are those that one process could have
// given, one call after the other: who asks after a correction was acknowledged gets it, and of two corrections of the
// same memory one is refused.
func TestHistoriesAreLinearizable(t *testing.T) {
	t.Parallel()
	const processes, number = 3, 4
	calls := testsize.Pick(25, 150)
	workspace := sample(t)
	start := time.Now()
	var mu sync.Mutex
	var history []porcupine.Operation
	ids := map[string]string{"": ""} // of the texts
	// run makes a call of a client and writes it into the history, unless it was told to try again.
	run := func(client int, asked berth, ask func() (told berthAnswer, ok bool)) berthAnswer {
		called := time.Since(start)
		told, ok := ask()
		if !ok {
			return berthAnswer{}
		}
		mu.Lock()
		defer mu.Unlock()
		history = append(history, porcupine.Operation{
			ClientId: client, Input: asked, Output: told, Call: called.Nanoseconds(), Return: time.Since(start).Nanoseconds(),
		})
		return told
	}
	// replace lets text take the place of old; a berth that was free is taken by a memory that replaces none.
	replace := func(client int, s *session, n int, old, text string) {
		args := map[string]any{"content": text, "tags": []string{berthTag(n)}}
		if old != "" {
			mu.Lock()
			args["supersedes"] = []string{ids[old]}
			mu.Unlock()
		}
		run(client, berth{n, old, text}, func() (berthAnswer, bool) {
			var result toolResult
			s.request("tools/call", map[string]any{"name": "memory_store", "arguments": args}).decode(t, &result)
			if result.IsError {
				if !strings.Contains(result.text(), "supersedes") && !busy(result) {
					t.Errorf("a correction was refused for another reason: %s", result.text())
				}
				return berthAnswer{}, !busy(result)
			}
			var memory stored
			if err := json.Unmarshal(result.StructuredContent, &memory); err != nil {
				t.Error(err)
			}
			mu.Lock()
			ids[text] = memory.ID
			mu.Unlock()
			return berthAnswer{made: true}, true
		})
	}
	sessions := make([]*session, processes)
	for i := range sessions {
		sessions[i] = connect(t, launch{workspace: workspace})
	}
	for n := range number {
		replace(0, sessions[0], n, "", fmt.Sprintf("The cutter Alca number %d lies at berth %d.", n, n))
	}
	var all sync.WaitGroup
	for client, s := range sessions {
		random := rand.New(rand.NewPCG(uint64(client), 2))
		all.Go(func() {
			for i := range calls {
				n := random.IntN(number)
				told := run(client, berth{number: n}, func() (berthAnswer, bool) {
					var result toolResult
					s.request("tools/call", map[string]any{"name": "memory_search", "arguments": map[string]any{
						"query": "who lies at the berth", "tags": []string{berthTag(n)},
					}}).decode(t, &result)
					if busy(result) {
						return berthAnswer{}, false
					}
					found := decodeResult[answer](t, "memory_search", result).Results
					if len(found) != 1 {
						t.Errorf("berth %d is found %d times: %+v", n, len(found), found)
						return berthAnswer{}, false
					}
					return berthAnswer{text: found[0].Content}, true
				})
				if random.IntN(2) == 0 && told.text != "" {
					replace(client, s, n, told.text, fmt.Sprintf("The ketch %d of company %d lies at berth %d.", i, client, n))
				}
			}
		})
	}
	all.Wait()
	for _, s := range sessions {
		s.end()
	}
	verifyLedgers(t, workspace)
	refused := 0
	for _, o := range history {
		if o.Input.(berth).new != "" && !o.Output.(berthAnswer).made {
			refused++
		}
	}
	t.Logf("%d calls of %d processes, %d corrections refused", len(history), processes, refused)
	if result, _ := porcupine.CheckOperationsVerbose(berths, history, patience); result != porcupine.Ok {
		t.Errorf("the history is %s:", result)
		for _, o := range history {
			t.Logf("%d: %9.3f–%9.3f ms %s", o.ClientId, float64(o.Call)/1e6, float64(o.Return)/1e6,
				berths.DescribeOperation(o.Input, o.Output))
		}
	}
}

// busy reports whether a call was told to try again, because another process had the lock for long: so it may be if the
// system gives that process no time.
func busy(result toolResult) bool {
	return result.IsError && strings.Contains(result.text(), "try again in a moment")
}

// berthTag is the tag of what is said about a berth.
func berthTag(n int) string { return fmt.Sprintf("berth-%d", n) }

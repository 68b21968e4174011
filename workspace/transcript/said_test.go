package transcript

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSaidIn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lines []string
		want  []Said
	}{
		"both sides, as text and as blocks": {
			[]string{
				`{"type":"user","uuid":"u1","message":{"role":"user","content":" Where is the pump? ` +
					`<system-reminder>Be brief.</system-reminder>"}}`,
				`{"type":"assistant","uuid":"a1","timestamp":"2026-03-01T10:00:00.5Z","message":{"id":"m1",` +
					`"role":"assistant","content":[{"type":"thinking",` +
					`"thinking":"Hm."},{"type":"text","text":"In the shed."}]}}`,
			},
			[]Said{{ID: "u1", Role: "user", Text: "Where is the pump?"}, {
				ID: "a1", Role: "assistant", Text: "In the shed.",
				Time: time.Date(2026, 3, 1, 10, 0, 0, 500_000_000, time.UTC),
			}},
		},
		"rows of one message are one": {
			[]string{
				`{"type":"assistant","uuid":"a1","message":{"id":"m1","role":"assistant",` +
					`"content":[{"type":"text","text":"One"}]}}`,
				`{"type":"assistant","uuid":"a2","message":{"id":"m1","role":"assistant",` +
					`"content":[{"type":"text","text":"two"}]}}`,
				`{"type":"assistant","uuid":"a3","message":{"id":"m2","role":"assistant",` +
					`"content":[{"type":"text","text":"three"}]}}`,
			},
			[]Said{{ID: "a1", Role: "assistant", Text: "One\ntwo"}, {ID: "a3", Role: "assistant", Text: "three"}},
		},
		"only what a person or the agent said": {
			[]string{
				`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"secret"}]}}`,
				`{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","name":"Bash"}]}}`,
				`{"type":"user","isMeta":true,"message":{"role":"user","content":"Caveat"}}`,
				`{"type":"assistant","isSidechain":true,"message":{"role":"assistant","content":"a subagent"}}`,
				`{"type":"user","isCompactSummary":true,"message":{"role":"user","content":"This session continues"}}`,
				`{"type":"user","message":{"role":"user","content":"<command-name>/clear</command-name>"}}`,
				`{"type":"user","message":{"role":"user","content":"[Request interrupted by user]"}}`,
				`{"type":"summary","summary":"Pumps"}`, `{"type":"system","content":"x"}`, `[]`, `{"type":`, `5`, ``,
			}, nil,
		},
		"Codex": {
			[]string{
				`{"type":"response_item","payload":{"type":"message","role":"user",` +
					`"content":[{"type":"input_text","text":"env"}]}}`,
				`{"type":"event_msg","payload":{"type":"user_message","message":"Where?"}}`,
				`{"type":"event_msg","payload":{"type":"agent_message","message":"There."}}`,
				`{"type":"event_msg","payload":{"type":"token_count"}}`,
			},
			[]Said{{Role: "user", Text: "Where?"}, {Role: "assistant", Text: "There."}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := SaidIn([]byte(strings.Join(test.lines, "\n")))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

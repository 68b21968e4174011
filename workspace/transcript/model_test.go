package transcript

import (
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// A session has the model that its log names last. What a host writes in the model's place is none.
func TestModel(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("m", 200)
	for want, lines := range map[string][]string{
		"claude-opus-4-7": {
			`{"type":"user","uuid":"1","message":{"role":"user","content":"hello"}}`,
			`{"type":"assistant","uuid":"2","message":{"role":"assistant","model":"claude-haiku","content":"hi"}}`,
			`{"type":"assistant","uuid":"3","message":{"role":"assistant","model":"claude-opus-4-7","content":"hi"}}`,
			`{"type":"assistant","uuid":"4","message":{"role":"assistant","model":"<synthetic>","content":"failed"}}`,
		},
		"gpt-5": {
			`{"type":"session","version":3,"id":"s"}`, `{"type":"model_change","id":"a","modelId":"gpt-4"}`,
			`{"type":"message","id":"b","message":{"role":"user","content":"hello"}}`,
			`{"type":"message","id":"c","message":{"role":"assistant","model":"gpt-5","content":"hi"}}`,
		},
		"gpt-4": {`{"type":"session","version":3,"id":"s"}`, `{"type":"model_change","id":"a","modelId":"gpt-4"}`},
		"copied": {
			`{"type":"session","version":1,"id":"s"}`, `{"type":"entry","role":"user","content":"x","model":"copied"}`,
		},
		long[:100] + "…": {
			`{"type":"assistant","uuid":"2","message":{"role":"assistant","model":"` + long + `","content":"hi"}}`,
		},
		"": {`{"type":"assistant","uuid":"2","message":{"role":"assistant","model":7,"content":"hi"}}`},
	} {
		v := folderOf(t, map[string]string{"p/s.jsonl": strings.Join(lines, "\n") + "\n"}).View(audience.DM())
		list, err := v.ListSessions(t.Context(), 0)
		if err != nil || len(list.Sessions) != 1 || list.Sessions[0].Model != want {
			t.Errorf("listed %+v, %v; want the model %q", list.Sessions, err, want)
		}
		if read, err := v.ReadSession(t.Context(), "s", 0, 0, 0); err != nil || read.Header.Model != want {
			t.Errorf("read %+v, %v; want the model %q", read.Header, err, want)
		}
	}
}

// What has a form that is not known is counted, and the rest is read.
func TestUnknownFormIsCounted(t *testing.T) {
	t.Parallel()
	log := strings.Join([]string{
		`{"type":"user","uuid":"1","message":{"role":"user","content":"hello"}}`,
		`{"type":"assistant","uuid":"2","message":{"role":"assistant","content":[` +
			`{"type":"text","text":"hi"},{"type":"hologram","data":"x"}]}}`, // 1
		`{"type":"assistant","uuid":"2","message":{"role":"assistant","content":[` +
			`{"type":"text","text":"hi"},{"type":"hologram","data":"x"}]}}`, // the same row
		`{"type":"assistant","uuid":"3","message":{"role":"assistant","content":[{"type":"hologram"}]}}`, // 2
		`{"type":"novelty","x":1}`,   // 3
		`{"x":1}`,                    // 4
		`[1]`, `"text"`, `null`, `5`, // 8
		`{"type":"user","uuid":"4","isMeta":true,"message":{"role":"user","content":"hidden"}}`,
		`{"type":"assistant","uuid":"5","message":{"role":"assistant","content":[{"type":"thinking"}]}}`,
		`{"type":"system","content":"x"}`, `{"type":"file-history-snapshot","snapshot":{}}`,
		`{"type":"queue-operation"}`, `{"type":"label"}`, ``,
	}, "\n")
	v := folderOf(t, map[string]string{"p/s.jsonl": log}).View(audience.DM())
	read, err := v.ReadSession(t.Context(), "s", 0, 0, 0)
	if err != nil || read.Header.SkippedLines != 8 || len(read.Entries) != 2 || read.Entries[1].Content != "hi" {
		t.Errorf("read %+v, %v; want 2 turns and 8 lines of unknown form", read, err)
	}
	list, err := v.ListSessions(t.Context(), 0)
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].SkippedLines != 8 {
		t.Errorf("listed %+v, %v; want 8 lines of unknown form", list.Sessions, err)
	}
}

// A subagent of which no session is there is listed itself: otherwise it would be in no list.
func TestSubagentAlone(t *testing.T) {
	t.Parallel()
	row := func(session string) string {
		return `{"type":"user","uuid":"1","isSidechain":true,"sessionId":"` + session + `",` +
			`"message":{"role":"user","content":"review"}}` + "\n"
	}
	v := folderOf(t, map[string]string{
		"p/alone.jsonl": row("alone"), "p/agent-orphan.jsonl": row("gone"), "p/agent-child.jsonl": row("there"),
		"p/there.jsonl": `{"type":"user","uuid":"2","message":{"role":"user","content":"hello"}}` + "\n",
	}).View(audience.DM())
	list, err := v.ListSessions(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, s := range list.Sessions {
		got[s.SessionID] = s.Subagent
	}
	if len(got) != 3 || !got["alone"] || !got["agent-orphan"] || got["there"] {
		t.Errorf("listed %v; want alone and agent-orphan as subagents, and there", got)
	}
}

package tools

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/workspace"
)

func TestMemoryFile(t *testing.T) {
	f := sampleFolder(t, "kate", workspace.WithScrubber(hideSecrets))
	got := answer[memoryFiled](t, MemoryFile(f.dm()), `{"action":"save","type":"session-save","topic":"The pump, again","source":"claude-code",
		"tags":["project/greenhouse"],"links":["2026-02-05-irrigation-pump"],
		"sections":[{"heading":"Key Takeaways","text":"- hunter2 is no password, see [[MEMORY#Lessons|lessons]] and [[MEMORY#Songs]]"}]}`)
	want := memoryFiled{
		File: "memory/2026-02-14-the-pump-again.md", URI: "yamo://workspace/memory/2026-02-14-the-pump-again.md", Redactions: 1,
		Links: []memoryLink{
			{Text: "2026-02-05-irrigation-pump", File: "memory/2026-02-05-irrigation-pump.md", URI: "yamo://workspace/memory/2026-02-05-irrigation-pump.md", Found: true},
			{Text: "lessons", File: "MEMORY.md", URI: "yamo://workspace/MEMORY.md", Found: true},
			{Text: "MEMORY#Songs", File: "MEMORY.md", URI: "yamo://workspace/MEMORY.md", Found: false},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if findings, err := f.Lint(); len(findings) > 0 || err != nil {
		t.Errorf("lint: %v, %v", findings, err)
	}
	again := answer[memoryFiled](t, MemoryFile(f.dm()), `{"action":"links","file":"memory/2026-02-14-the-pump-again.md"}`)
	want.Redactions = 0
	if diff := cmp.Diff(want, again); diff != "" {
		t.Error(diff)
	}
}

func TestMemoryFileRefuses(t *testing.T) {
	f := sampleFolder(t, "kate")
	const sections = `"sections":[{"text":"x"}]`
	for arguments, want := range map[string]string{
		`{"action":"save",` + sections + `}`:                                                 "type: save needs it",
		`{"action":"save","type":"curated","topic":"a b",` + sections + `}`:                  "type must be one of daily-log, memory-flush, session-save",
		`{"action":"save","type":"daily-log",` + sections + `}`:                              "topic: save needs it",
		`{"action":"save","type":"daily-log","topic":"a b"}`:                                 "sections have no text",
		`{"action":"save","type":"daily-log","topic":"a b","tags":["a b"],` + sections + `}`: `tags has "a b"`,
		`{"action":"save","type":"daily-log","topic":"a b","sections":[{"title":"x"}]}`:      `unknown field "title"`,
		`{"action":"links"}`:                             "file: links needs it",
		`{"action":"links","file":"../etc/passwd"}`:      "file: there is no such file",
		`{"action":"links","file":"memory/nothing.md"}`:  "file: there is no such file",
		`{"action":"links","file":".yamo/private/x.md"}`: "file: there is no such file",
	} {
		if got := refusal(t, MemoryFile(f.dm()), arguments); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
	// A group is never offered the tool; the view below it refuses all the same.
	group := MemoryFile(f.group(t, "hiking"))
	if got := refusal(t, group, `{"action":"save","type":"daily-log","topic":"a b",`+sections+`}`); got != "internal error" {
		t.Errorf("a group is told %q", got)
	}
	if there, nowhere := refusal(t, group, `{"action":"links","file":"MEMORY.md"}`), refusal(t, group, `{"action":"links","file":"NOTHING.md"}`); there != nowhere {
		t.Errorf("a group is told %q of a private file, and %q of none", there, nowhere)
	}
}

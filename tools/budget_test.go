package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/brief"
	"github.com/yamo-protocol/yamo-mcp/internal/conversation"
	"github.com/yamo-protocol/yamo-mcp/internal/heartbeat"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// The largest results that there can be are as large as a host shows, end with what to do next, and lose nothing that
// cannot be asked for.
func TestResultsFit(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	v := f.dm()
	memory := f.memoryOf(t, v)
	long := func(i, n int) string { return fmt.Sprintf("Entry %d. ", i) + strings.Repeat("wörtlich ", n/9) }
	metadata := map[string]any{"notes": strings.Repeat("x", 15<<10)}
	var id string
	for i := range 50 {
		r, err := memory.Store(t.Context(),
			record.Memory{Content: long(i, 100<<10), Metadata: metadata, Rationale: long(i, 1900), Source: long(i, 1900)}, "")
		if err != nil {
			t.Fatal(err)
		}
		id = r.ID
	}
	pattern := ""
	for i := range 50 {
		learned, err := memory.Distill(t.Context(), record.LessonRequest{
			Situation: long(i, 1900), ErrorPattern: fmt.Sprint("pattern ", i), Oversight: long(i, 1900), Fix: long(i, 1900),
			PreventativeRule: long(i, 1900), Severity: "high", ApplicableScope: long(i, 1900), InverseLesson: long(i, 1900),
		})
		if err != nil {
			t.Fatal(err)
		}
		pattern = learned.PatternID
	}
	skill := ""
	for i := range 50 {
		kept, err := memory.Skills().Ingest(t.Context(), mesh.SkillRequest{
			Text: fmt.Sprintf("---\nname: release %d\nintent: %s\ndescription: %s\n---\n%s\n", i, long(i, 1900), long(i, 1900),
				long(i, 50<<10)),
		})
		if err != nil {
			t.Fatal(err)
		}
		skill = kept.ID
	}
	logs := t.TempDir()
	var lines strings.Builder
	lines.WriteString(`{"type":"session","version":1,"id":"s1","timestamp":"2026-02-14T09:45:00Z"}` + "\n")
	for i := range 600 {
		entry, err := json.Marshal(map[string]any{
			"type": "entry", "timestamp": "2026-02-14T09:45:02Z", "role": "user",
			"content": long(i, 5000),
		})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(entry, '\n'))
	}
	if err := os.WriteFile(filepath.Join(logs, "s1.jsonl"), []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := transcript.Open(logs, transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
	}()
	sessions := folder.View(v.Audience())
	var links, tasks, checks strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&links, "[[MEMORY#Heading %d]]\n", i)
		fmt.Fprintf(&tasks, "- [ ] Task %d\n", i)
		fmt.Fprintf(&checks, `,"check %d":1`, i)
	}
	f.write(t, "memory/2026-02-12-links.md", "# Links\n\n"+links.String())
	f.write(t, "HEARTBEAT.md", tasks.String())
	f.write(t, "memory/heartbeat-state.json", `{"lastChecks":{`+checks.String()[1:]+`}}`)
	f.write(t, "MEMORY.md", "# Memory\n"+strings.Repeat("\n## Section\n\n- "+long(0, 500)+"\n", 2000))
	f.write(t, "SOUL.md", long(0, 1<<20))
	f.write(t, "memory/2026-02-11-matter.md",
		"---\ntype: daily-log\ntags: ["+strings.Repeat("greenhouse, ", 20_000)+"x]\nodd: "+long(0, 100<<10)+"\n---\n"+
			strings.Repeat("\n# Again\n\n## ROADMAP\n\n### \n", 20_000))
	var headings strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&headings, "\n## Heading %d\n\n- x\n", i)
	}
	f.write(t, "notes/headings.md", "# Notes\n"+headings.String())
	f.write(t, "IDENTITY.md", "- **Name:** "+long(0, 1<<20)+"\n")

	editor, err := edit.Open(edit.Options{View: v, Dir: filepath.Join(v.Dir(), ".yamo")})
	if err != nil {
		t.Fatal(err)
	}
	listed := make([]string, 200)
	for i := range listed {
		listed[i] = strings.Repeat("item ", 20) + strconv.Itoa(i)
	}
	items, err := json.Marshal(listed)
	if err != nil {
		t.Fatal(err)
	}
	found := &conversation.View{View: sessions}
	for _, test := range []struct {
		tool      Tool
		arguments string
		least     int // of the budget, so that no more is left out than needs to be
		hint      string
	}{
		{
			MemorySearch(memory, nil), `{"query":"wörtlich","limit":50,"format":"detailed","include_lessons":true}`, 40_000,
			"did not fit",
		},
		{MemorySearch(memory, nil), `{"query":"wörtlich","limit":50}`, 40_000, "did not fit"},
		{MemorySearch(memory, nil), `{"query":"wörtlich","limit":5}`, 5_000, `\"detailed\" returns more`},
		{MemorySearch(memory, nil), `{"query":"wörtlich","limit":1,"format":"detailed"}`, 40_000, "memory_get, if available"},
		{MemoryGet(memory, nil), `{"id":"` + id + `"}`, 40_000, `"next_offset":`},
		{Lessons(memory), `{"limit":50}`, 40_000, "did not fit"},
		{Lessons(memory), `{"pattern_id":"` + pattern + `"}`, 10_000, ""},
		{
			SessionLogs(found, noProject), `{"action":"read_session","session_id":"s1","limit":500,"max_chars":4000}`, 50_000,
			"call again with next_offset",
		},
		{SessionLogs(found, noProject), `{"action":"recent","limit":500,"max_chars":4000}`, 50_000, "More exist"},
		{
			SessionLogs(found, noProject), `{"action":"search","query":"wörtlich","limit":500,"max_chars":4000}`,
			50_000, "More exist",
		},
		{SessionLogs(found, noProject), `{"action":"list_sessions","limit":500}`, 0, ""},
		{MemoryFile(v, nil), `{"action":"read","file":"memory/2026-02-12-links.md"}`, 50_000, `"more":`},
		{Heartbeat(heartbeat.Heartbeat{Workspace: v, Memory: memory}), `{"action":"due"}`, 50_000, "is truncated"},
		{Skills(memory), `{"action":"get","id":"` + skill + `"}`, 30_000, `"next_offset":`},
		{Skills(memory), `{"action":"list","limit":50}`, 50_000, "did not fit"},
		{Skills(memory), `{"action":"search","query":"release","limit":50}`, 50_000, "did not fit"},
		{WhatDoIKnow(v), `{}`, 5_000, `"truncated":true`},
		{WhoAmI(brief.Sources{Workspace: v, Memory: memory}, "kate", "", nil), `{}`, 2_000, ""},
		{MyStats(v, memory, sessions), `{}`, 0, ""},
		{RotateLogs(v), `{"action":"list"}`, 0, ""},
		{MemoryFile(v, nil), `{"action":"read","file":"memory/2026-02-11-matter.md"}`, 10_000, ""},
		{MemoryStore(memory), `{"content":"` + strings.Repeat("ana@example.org ", 5000) + `","rationale":"` +
			long(0, 1900) + `"}`, 0, ""},
		{LogAppend(v, editor), `{"text":"` + long(0, 50<<10) + `"}`, 0, ""},
		{
			DistillLesson(memory), `{"situation":"s","error_pattern":"e","oversight":"o","severity":"low","fix":"` +
				long(0, 1900) + `","preventative_rule":"` + long(0, 1900) + `","applicable_scope":"` + long(0, 1900) + `"}`, 1_900,
			"",
		},
		{Skills(memory), `{"action":"ingest","text":"---\nname: x\nintent: ` + long(0, 1900) + `\ndescription: ` +
			long(0, 1900) + `\n---\n` + long(0, 100<<10) + `"}`, 3_000, ""},
		{
			WorkspaceEdit(editor, "kate"),
			`{"file":"notes/headings.md","section":"Heading 7","op":"append_item","rationale":"r","override_rationale":"o",` +
				`"items":` + string(items) + `}`, 3_000, "",
		},
		{Reflect(memory), `{"topic":"wörtlich","lookback":50}`, 500, ""},
		{Reflect(memory), `{"action":"synthesize","topic":"wörtlich"}`, 500, ""},
		{MemoryDelete(memory, nil, nil), `{"id":"` + id + `","confirm":true}`, 0, ""},
	} {
		result := call(t, test.tool, quiet(), test.arguments)
		got := strings.TrimSpace(structure(t, result))
		if text := resultText(t, result); len(text) > len(got) && !result.IsError {
			t.Errorf("%s %.80s: the text has %d bytes, more than the JSON", test.tool.Name(), test.arguments, len(text))
		}
		t.Logf("%s %.80s: %d bytes", test.tool.Name(), test.arguments, len(got))
		if result.IsError {
			t.Errorf("%s %.80s: error %.200s", test.tool.Name(), test.arguments, resultText(t, result))
		}
		if len(got) > maxResult || len(got) < test.least {
			t.Errorf("%s %.80s: %d bytes, want %d to %d: %.200s",
				test.tool.Name(), test.arguments, len(got), test.least, maxResult, got)
		}
		if !strings.Contains(got, test.hint) {
			t.Errorf("%s %.80s: no %q in it", test.tool.Name(), test.arguments, test.hint)
		}
	}
}

// What is refused is not repeated whole, however long it was, and its end names the next step.
func TestRefusalsFit(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	v := f.dm()
	memory := f.memoryOf(t, v)
	editor, err := edit.Open(edit.Options{View: v, Dir: filepath.Join(v.Dir(), ".yamo")})
	if err != nil {
		t.Fatal(err)
	}
	var headings strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&headings, "\n## Überschrift %d\n\n- x\n", i)
	}
	f.write(t, "notes/headings.md", "# Notes\n"+headings.String())
	long := strings.Repeat("ö", 100_000)
	for _, test := range []struct {
		tool            Tool
		arguments, want string
	}{
		{MemoryGet(memory, nil), `{"id":"` + long + `"}`, "use an ID from a search result"},
		{MemoryDelete(memory, nil, nil), `{"id":"` + long + `","confirm":true}`, "use an ID from a search result"},
		{Skills(memory), `{"action":"get","id":"` + long + `"}`, "use an ID from a search or list of skills"},
		{RotateLogs(v), `{"action":"delete","files":["` + long + `"]}`, "action list returns the old logs"},
		{MemorySearch(memory, nil), `{"query":"q","` + long + `":1}`, "Correct this and call again"},
		{
			WorkspaceEdit(editor, "kate"),
			`{"file":"notes/headings.md","section":"Nowhere","op":"append_item","items":["x"],"rationale":"r"}`, "create: true",
		},
	} {
		got := refusal(t, test.tool, test.arguments)
		equal(t, test.tool.Name()+" is UTF-8", utf8.ValidString(got), true)
		if len(got) > maxRefusal {
			t.Errorf("%s: %d bytes, want at most %d", test.tool.Name(), len(got), maxRefusal)
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: ends in %q, want %q", test.tool.Name(), got[max(0, len(got)-200):], test.want)
		}
	}
}

// What does not come at once comes in parts, without a gap and without an overlap.
func TestParts(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	memory := f.memoryOf(t, f.dm())
	content := strings.TrimSpace(strings.Repeat("Größe und Maß — ", 6000))
	stored, err := memory.Store(t.Context(), record.Memory{Content: content}, "")
	if err != nil {
		t.Fatal(err)
	}
	tool, whole := MemoryGet(memory, nil), ""
	for offset, parts := 0, 0; ; parts++ {
		got := answer[memoryWhole](t, tool, fmt.Sprintf(`{"id":%q,"offset":%d}`, stored.ID, offset))
		if !utf8.ValidString(got.Content) || parts > 10 {
			t.Fatalf("part %d of %d bytes", parts, len(got.Content))
		}
		whole += got.Content
		if offset = got.NextOffset; offset == 0 {
			break
		}
	}
	if whole != content {
		t.Errorf("the parts are %d bytes, the memory has %d", len(whole), len(content))
	}
	logs, err := transcript.Open(filepath.Join("..", "testdata", "workspaces", "kate-transcripts"), transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := logs.Close(); err != nil {
			t.Error(err)
		}
	}()
	sessions := SessionLogs(&conversation.View{View: logs.View(f.dm().Audience())}, noProject)
	id := answer[logAnswer](t, sessions, `{"action":"list_sessions"}`).Sessions[0].SessionID
	want := answer[logAnswer](t, sessions, fmt.Sprintf(`{"action":"read_session","session_id":%q}`, id))
	var turns []transcript.Entry
	for offset := 0; ; {
		got := answer[logAnswer](t, sessions,
			fmt.Sprintf(`{"action":"read_session","session_id":%q,"limit":1,"offset":%d}`, id, offset))
		turns = append(turns, got.Entries...)
		if offset = got.NextOffset; offset == 0 || len(turns) > want.Count {
			break
		}
	}
	if diff := cmp.Diff(want.Entries, turns); diff != "" || want.Count < 2 {
		t.Errorf("turn by turn (-at once +by offset):\n%s", diff)
	}
	if got := refusal(t, sessions, `{"action":"recent","offset":1}`); !strings.Contains(got,
		"offset: only for read_session") {
		t.Errorf("an offset where there is none: %s", got)
	}
	for _, offset := range []int{len(content), 3} { // the end, and the middle of ö
		if got := refusal(t, tool, fmt.Sprintf(`{"id":%q,"offset":%d}`, stored.ID, offset)); !strings.Contains(got,
			"offset: use next_offset") {
			t.Errorf("offset %d: %s", offset, got)
		}
	}
}

// noProject is the project of a session that has none.
func noProject(context.Context) string { return "" }

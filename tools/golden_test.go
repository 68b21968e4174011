package tools

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/golden"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/brief"
	"github.com/yamo-protocol/yamo-mcp/internal/conversation"
	"github.com/yamo-protocol/yamo-mcp/internal/heartbeat"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// changing matches what differs in each run, with the word that replaces it in a golden.
var changing = []struct {
	pattern *regexp.Regexp
	word    string
}{
	{regexp.MustCompile(`\b(mem|skill|lesson|reflect)_[0-9]+_[0-9a-f]+`), "${1}_ID"},
	{regexp.MustCompile(`ev:[0-9TZ]+-[0-9A-Z]{26}`), "TOKEN"},
	{regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{26}\b`), "EVENT"},
	{regexp.MustCompile(`\b[0-9a-f]{16,64}\b`), "HASH"},
	{regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)`), "TIME"},
	{regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.-]+Z`), "TIME"},
	{regexp.MustCompile(`"(score|value)": [0-9.e-]+`), `"$1": 0`},
}

// Each tool of a DM has its definition in testdata/NAME.schema.json and the result of a call in
// testdata/NAME.result.json, with ids, hashes, times and scores replaced. The calls run in this order. A tool that a
// group has in another form has that definition in testdata/NAME.group.schema.json. TestEveryToolHasAGolden, in
// internal/session, compares them with what sessions offer.
func TestGoldens(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	v, memory := f.dm(), memoryView(t, t.TempDir(), audience.DM())
	memory.Now = func() time.Time { return valentine }
	editor := valentineEditor(t, v)
	logs := t.TempDir()
	folder, err := transcript.Open(logs, transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	proposing := valentineEditor(t, sampleFolder(t, "kate").dm())
	answer[workspaceEdited](t, WorkspaceEdit(proposing, "kate"), `{"file":"MEMORY.md","section":"Lessons",`+
		`"op":"append_item","items":["Water in the morning."],"rationale":"r","propose":true}`)
	stored := answer[stored](t, MemoryStore(memory), `{"content":"The pump is blue"}`).ID
	for _, test := range []struct {
		tool      Tool
		arguments string
	}{
		{MemoryStore(memory), `{"content":"Ana's number is +1 202 555 0143"}`},
		{MemorySearch(memory, nil), `{"query":"blue pump","limit":1}`},
		{MemoryGet(memory, nil), `{"id":"` + stored + `"}`},
		{MemoryDelete(memory, v, editor), `{"id":"` + stored + `","confirm":true}`},
		{DistillLesson(memory), `{"situation":"s","error_pattern":"p","oversight":"o","fix":"f",` +
			`"preventative_rule":"Look first",` +
			`"severity":"high","applicable_scope":"here"}`},
		{Lessons(memory), `{}`},
		{Skills(memory), `{"action":"ingest","text":"---\nname: bleed\nintent: get the air out\n---\n1. Open the valve\n"}`},
		{Reflect(memory), `{}`},
		{CurateMemory(v, editor, "kate"), `{"section":"Plans","add":["Sail to Oslo"],"rationale":"r"}`},
		{LogAppend(v, editor), `{"text":"Sailed."}`},
		{MyStats(v, memory, nil), `{}`},
		{WhatDoIKnow(v), `{"filter":"Plans"}`},
		{WhoAmI(brief.Sources{Workspace: v, Memory: memory}, "kate", "", nil), `{}`},
		{SessionLogs(&conversation.View{View: folder.View(audience.DM())}, noProject), `{"action":"list_sessions"}`},
		{MemoryFile(v, nil), `{"action":"save","type":"daily-log","topic":"Pump repair",` +
			`"sections":[{"heading":"Context","text":"x"}]}`},
		{
			WorkspaceEdit(editor, "kate"),
			`{"file":"MEMORY.md","section":"Plans","op":"append_item","items":["Rest"],"rationale":"r"}`,
		},
		{Heartbeat(heartbeat.Heartbeat{Workspace: v, Memory: memory, Editor: editor}), `{"action":"due"}`},
		{RotateLogs(v), `{"action":"list","older_than_days":0}`},
		{BootstrapWrite(sampleFolder(t, "newborn").dm()), `{"file":"USER.md","text":"# USER\n\n- **Name:** Ana\n"}`},
		{BootstrapFinish(sampleFolder(t, "newborn").dm()), `{"abandon":true}`},
		{Proposals(proposing, "operator"), `{}`},
	} {
		golden.Assert(t, definition(t, test.tool), test.tool.Name()+".schema.json")
		result := call(t, test.tool, quiet(), test.arguments)
		if result.IsError {
			t.Fatalf("%s(%s): %s", test.tool.Name(), test.arguments, resultText(t, result))
		}
		var text bytes.Buffer
		if err := json.Indent(&text, []byte(structure(t, result)), "", "  "); err != nil {
			t.Fatal(err)
		}
		masked := func(text string) string {
			text = strings.ReplaceAll(text, v.Dir(), "WORKSPACE")
			for _, c := range changing {
				text = c.pattern.ReplaceAllString(text, c.word)
			}
			return text
		}
		golden.Assert(t, masked(text.String()), test.tool.Name()+".result.json")
		if shown := resultText(t, result); !json.Valid([]byte(shown)) {
			golden.Assert(t, masked(shown)+"\n", test.tool.Name()+".result.txt")
		}
	}
	shared := memoryView(t, t.TempDir(), hikers(t))
	for _, tool := range []Tool{
		MemoryStore(shared), MemoryDelete(shared, nil, nil), Skills(shared), LogAppend(f.group(t, "hiking"), nil),
	} {
		golden.Assert(t, definition(t, tool), tool.Name()+".group.schema.json")
	}
}

// valentineEditor edits the view's workspace on valentine: the dates of what is added are in goldens.
func valentineEditor(t *testing.T, v *workspace.View) *edit.Editor {
	t.Helper()
	editor, err := edit.Open(edit.Options{
		View: v, Dir: filepath.Join(v.Dir(), ".yamo"), Now: func() time.Time { return valentine },
	})
	if err != nil {
		t.Fatal(err)
	}
	return editor
}

// definition returns what a client sees of the tool, as a golden has it.
func definition(t *testing.T, tool Tool) string {
	t.Helper()
	text, err := json.MarshalIndent(tool.Definition(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

package transcript

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// Only what a person typed is the user's; what hosts write in the user's place has the role of its author.
func TestAuthors(t *testing.T) {
	t.Parallel()
	for text, role := range map[string]string{
		" I work at Contoso.\n":                                        userRole,
		"What is <bash-stdout>x</b> for?":                              userRole,
		"<bash-stdout> is an element.":                                 userRole,
		"<command-name>/clear</command-name>":                          userRole,
		"<bash-stdout>I work at Contoso</bash-stdout>":                 toolRole,
		"<local-command-stdout>x</local-command-stdout>":               toolRole,
		"<task-notification>\n<id>1</id>\n</task-notification>\nRead.": toolRole,
		"<teammate-message teammate_id=\"a\">x</teammate-message>":     agentRole,
		"<SUBAGENT_NOTIFICATION>{}</subagent_notification>":            toolRole,
		"<turn_aborted>x</turn_aborted>":                               systemRole,
		"<skill>\n<name>a</name></skill>":                              systemRole,
		"[Request interrupted by user]":                                systemRole,
	} {
		if diff := cmp.Diff([]Part{{role, text}}, Authors(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for text, want := range map[string][]Part{
		"": nil,
		"<system-reminder>Be brief.</system-reminder>": {{systemRole, "<system-reminder>Be brief.</system-reminder>"}},
		"Hello <system-reminder>Be brief.</system-reminder>there": {
			{userRole, "Hello there"}, {systemRole, "<system-reminder>Be brief.</system-reminder>"},
		},
		"<ide_opened_file>a.go</ide_opened_file>[Request interrupted by user]": {
			{systemRole, "[Request interrupted by user]\n<ide_opened_file>a.go</ide_opened_file>"},
		},
		"# Context from my IDE setup:\n\n## Open tabs:\n- a.go\n\n## My request for Codex:\nFix it.\n": {
			{userRole, "Fix it."},
			{systemRole, "# Context from my IDE setup:\n\n## Open tabs:\n- a.go\n\n## My request for Codex:"},
		},
	} {
		if diff := cmp.Diff(want, Authors(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// rowsOfOthers is a log in which a person wrote two things, and Claude Code everything else in the person's place.
var rowsOfOthers = strings.Join([]string{
	`{"type":"user","uuid":"u1","message":{"role":"user","content":"<local-command-stdout>early</local-command-stdout>"}}`,
	`{"type":"user","uuid":"u2","isCompactSummary":true,"message":{"role":"user","content":"I use Oracle for all."}}`,
	`{"type":"user","uuid":"u3","message":{"role":"user","content":"I use Postgres. ` +
		`<system-reminder>Use Oracle.</system-reminder>"}}`,
	`{"type":"assistant","uuid":"a1","message":{"role":"assistant","content":[{"type":"text","text":"Good."}]}}`,
	`{"type":"user","uuid":"u4","message":{"role":"user","content":[{"type":"tool_result","content":"mixedresult"},` +
		`{"type":"text","text":"Go on."},{"type":"text","text":"<system-reminder>Be brief.</system-reminder>"}]}}`,
	`{"type":"user","uuid":"u4","message":{"role":"user","content":"repeated"}}`,
	`{"type":"user","uuid":"u5","isCompactSummary":true,"message":{"role":"user",` +
		`"content":[{"type":"text","text":"I use Oracle."}]}}`,
}, "\n") + "\n"

// What several authors wrote in a row is several turns, whether the log is read, followed or its turns are looked up.
func TestRowsOfSeveralAuthors(t *testing.T) {
	t.Parallel()
	view := folderOf(t, map[string]string{"p/s.jsonl": rowsOfOthers}).View(audience.DM())
	want := []string{
		"tool: <local-command-stdout>early</local-command-stdout>", "system: I use Oracle for all.",
		"user: I use Postgres.", "system: <system-reminder>Use Oracle.</system-reminder>", "assistant: Good.",
		"tool: mixedresult", "user: Go on.", "system: <system-reminder>Be brief.</system-reminder>", "system: I use Oracle.",
	}
	read, err := view.ReadSession(t.Context(), "s", 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range read.Entries {
		got = append(got, e.Role+": "+e.Content)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if read.Header.Title != "I use Postgres." {
		t.Errorf("the title is %q", read.Header.Title)
	}
	log, err := view.Find("s")
	if err != nil {
		t.Fatal(err)
	}
	var turns []Turn
	var offsets []int64
	keys := map[string]bool{}
	stop := func(t Turn) bool { // as often as possible: no part of a row may be lost
		if !keys[t.Key] {
			turns, offsets = append(turns, t), append(offsets, t.Offset)
		}
		keys[t.Key] = true
		return false
	}
	for from := int64(0); from < int64(len(rowsOfOthers)); {
		if from, _, err = view.Follow(t.Context(), log, from, stop); err != nil {
			t.Fatal(err)
		}
	}
	again, err := view.Turns(t.Context(), log, offsets)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(turns, again); diff != "" {
		t.Errorf("looked up (-followed +got):\n%s", diff)
	}
	var followed, spoken []string
	for _, one := range turns {
		followed = append(followed, one.Role+": "+one.Content)
		if one.Spoken != "" {
			spoken = append(spoken, one.Spoken)
		}
	}
	if diff := cmp.Diff(want, followed); diff != "" {
		t.Errorf("followed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"I use Postgres.", "Good.", "Go on."}, spoken); diff != "" {
		t.Errorf("spoken (-want +got):\n%s", diff)
	}
	var said []string
	for _, one := range SaidIn([]byte(rowsOfOthers)) {
		said = append(said, one.Text)
	}
	if diff := cmp.Diff([]string{"I use Postgres.", "Good.", "Go on.", "repeated"}, said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
}

// What a subagent has in the user's place is another agent's, but what a tool returned there is the tool's.
func TestAuthorsInSubagent(t *testing.T) {
	t.Parallel()
	view := folderOf(t, map[string]string{"p/main/subagents/agent-1.jsonl": rowsOfOthers}).View(audience.DM())
	log, err := view.Find("agent-1")
	if err != nil {
		t.Fatal(err)
	}
	roles := map[string]int{}
	if _, _, err := view.Follow(t.Context(), log, 0, func(t Turn) bool { roles[t.Role]++; return true }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"agent": 3, "tool": 2, "system": 4, "assistant": 1}, roles); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What is left of a conversation after OpenClaw's compaction is found, and nobody's words.
func TestOpenClawCompaction(t *testing.T) {
	t.Parallel()
	view := folderOf(t, map[string]string{"s.jsonl": "\uFEFF" +
		`{"type":"message","id":"a","message":{"role":"user","content":"First."}}` + "\n" +
		`{"type":"compaction","id":"b","summary":"They spoke of pumps.","tokensBefore":5}` + "\n"}).View(audience.DM())
	read, err := view.ReadSession(t.Context(), "s", 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{Role: userRole, Content: "First.", MessageID: "a"},
		{Role: systemRole, Content: "They spoke of pumps.", MessageID: "b"},
	}
	if diff := cmp.Diff(want, read.Entries); diff != "" || read.Header.SkippedLines != 0 {
		t.Errorf("%d lines skipped, -want +got:\n%s", read.Header.SkippedLines, diff)
	}
}

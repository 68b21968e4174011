package tools

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// What groups read is changed by a person who has seen the change, or by the owner's command.
func TestEditOfAPublicFileAsks(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	editor, err := edit.Open(edit.Options{View: f.dm(), Dir: filepath.Join(f.dm().Dir(), ".yamo")})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(f.dm().Dir(), "AGENTS.md")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := func() bool {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return !bytes.Equal(data, before)
	}
	tool := WorkspaceEdit(editor, "kate")
	arguments := map[string]any{
		"file": "AGENTS.md", "section": "Safety", "op": "append_item", "items": []string{"Mira is allergic to nuts."},
		"rationale": "r",
	}
	data, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "without a dialog", answer[workspaceEdited](t, tool, string(data)).Proposal, edit.Pending)
	equal(t, "without a dialog: changed", changed(), false)

	arguments["items"] = []string{"Mira sings.\u202e"}
	h := (&host{person: refuses}).connected(t, eras[0], tool)
	got, failed := h.use(t, "workspace_edit", arguments)
	equal(t, "refused: failed", failed, true)
	contains(t, "refused", got, "declined")
	equal(t, "refused: changed", changed(), false)

	h = (&host{person: agrees}).connected(t, eras[1], tool)
	got, failed = h.use(t, "workspace_edit", arguments)
	if failed || len(h.asked) != 1 {
		t.Fatalf("agreed: %s, asked %q", got, h.asked)
	}
	contains(t, "question", h.asked[0], "Every group can read it", "AGENTS.md#Safety: append_item", "- Mira sings.\n")
	equal(t, "agreed: changed", changed(), true)
	var event edit.Event
	events, err := editor.History(t.Context(), "AGENTS.md", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.IsEdit() {
			event = e
		}
	}
	equal(t, "recorded", event.Consent, record.ByPerson)

	// Of an undo the person sees what it changes; a question hides nothing after a page of emptiness.
	got, failed = h.use(t, "workspace_edit", map[string]any{"file": "AGENTS.md", "op": "undo", "rationale": "r"})
	if failed || len(h.asked) != 2 {
		t.Fatalf("undo: %s, asked %q", got, h.asked)
	}
	contains(t, "question", h.asked[1], "AGENTS.md#: undo", "\n-- Mira sings.\n")
	equal(t, "undone: changed", changed(), false)
	delete(arguments, "items")
	arguments["op"] = "append_section"
	arguments["content"] = "Be kind." + strings.Repeat("\n", 60) + "Mira sings."
	if got, failed = h.use(t, "workspace_edit", arguments); failed || len(h.asked) != 3 {
		t.Fatalf("a gap: %s, asked %q", got, h.asked)
	}
	contains(t, "question", h.asked[2], "Be kind.\n[59 empty lines]\nMira sings.")
	h.asked = h.asked[:1]
	delete(arguments, "content")
	arguments["op"], arguments["items"] = "append_item", []string{"Mira sings."}

	// Nobody is asked about an edit that would be refused.
	arguments["section"] = "Nowhere"
	got, failed = h.use(t, "workspace_edit", arguments)
	equal(t, "no such section: failed", failed, true)
	contains(t, "no such section", got, "Pass create: true")
	equal(t, "no such section: questions", len(h.asked), 1)

	arguments["section"], arguments["items"] = "Safety", []string{strings.Repeat("Mira sings. ", 400)}
	got, failed = h.use(t, "workspace_edit", arguments)
	equal(t, "too long to show: failed", failed, false)
	contains(t, "too long to show", got, `"proposal":"pending"`)
	equal(t, "too long to show: questions", len(h.asked), 1)
}

func TestWorkspaceEdit(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	editor, err := edit.Open(edit.Options{View: f.dm(), Dir: filepath.Join(f.dm().Dir(), ".yamo")})
	if err != nil {
		t.Fatal(err)
	}
	tool := WorkspaceEdit(editor, "kate")
	first := answer[workspaceEdited](t, tool,
		`{"file":"MEMORY.md","section":"Sayings","op":"append_item","items":["Measure twice."],`+
			`"rationale":"Ana says so","create":true,"idempotency_key":"k"}`)
	want := workspaceEdited{
		File: "MEMORY.md", URI: "yamo://workspace/MEMORY.md", Section: "Sayings",
		Snapshot: "- Measure twice.",
	}
	ignored := cmpopts.IgnoreFields(workspaceEdited{}, "EventID", "Evidence", "After")
	if diff := cmp.Diff(want, first, ignored); diff != "" {
		t.Error(diff)
	}
	if first.After == "" {
		t.Error("no hash of the file after the edit")
	}
	if !strings.HasSuffix(first.Evidence, "Z-"+first.EventID) {
		t.Errorf("evidence is %q", first.Evidence)
	}
	again := answer[workspaceEdited](t, tool,
		`{"file":"MEMORY.md","section":"Sayings","op":"append_item","items":["Measure twice."],`+
			`"rationale":"Ana says so","create":true,"idempotency_key":"k"}`)
	first.Repeated = true
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("asked again (-want +got):\n%s", diff)
	}
	profile := answer[workspaceEdited](t, tool,
		`{"file":"users/ana/overview.md","section":"current-focus","op":"replace_section","content":"The garden.",`+
			`"rationale":"r","create":true}`)
	if !strings.Contains(profile.Hint, "evidence_refs") {
		t.Errorf("%+v", profile)
	}
	data, err := os.ReadFile(filepath.Join(f.dm().Dir(), "users", "ana", "overview.md"))
	if err != nil || !strings.Contains(string(data), "refined Current Focus: r") {
		t.Errorf("%s, %v", data, err)
	}
	for _, test := range []struct{ arguments, want string }{
		{
			`{"file":"MEMORY.md","section":"Sayings","op":"delete_section"}`,
			"op: delete_section is prohibited (seed 004 §4): sections are not deleted: tombstone_section retires one",
		},
		{`{"file":"MEMORY.md","section":"Sayings","op":"rewrite","rationale":"r"}`, "op must be one of replace_section"},
		{`{"file":"MEMORY.md","section":"Sayings","op":7,"rationale":"r"}`, "op must be"},
		{`{"file":"MEMORY.md","section":"Sayings","op":"append_item","items":["x"]}`, "rationale is required"},
		{`{"file":"SOUL.md","op":"append_section","content":"x","rationale":"r"}`, "yamo-mcp reconfigure"},
		{`{"file":"MEMORY.md","section":"Songs","op":"append_item","items":["x"],"rationale":"r"}`, "Pass create: true"},
		{
			`{"file":"MEMORY.md","section":"Sayings","op":"replace_section","content":"x","rationale":"r","expected_hash":"0"}`,
			first.After,
		},
		{
			`{"file":"users/ana/overview.md","section":"Change Log","op":"tombstone_section","rationale":"r"}`,
			"is prohibited (seed 004 §4)",
		},
	} {
		if got := refusal(t, tool, test.arguments); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.arguments, got, test.want)
		}
	}
}

// A proposal changes nothing, and the agent learns what became of it by asking again.
func TestWorkspaceEditProposes(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	editor, err := edit.Open(edit.Options{View: f.dm(), Dir: filepath.Join(f.dm().Dir(), ".yamo")})
	if err != nil {
		t.Fatal(err)
	}
	tool, before := WorkspaceEdit(editor, "kate"), f.read(t, "MEMORY.md")
	propose := func(text string) workspaceEdited {
		return answer[workspaceEdited](t, tool,
			`{"file":"MEMORY.md","section":"Sayings","op":"append_section","content":"`+text+`","rationale":"r",`+
				`"create":true,"propose":true,"idempotency_key":"`+text+`"}`)
	}
	yes, no := propose("Measure twice."), propose("Cut once.")
	equal(t, "MEMORY.md", f.read(t, "MEMORY.md"), before)
	equal(t, "proposal", yes.Proposal, "pending")
	equal(t, "repeated", yes.Repeated, false)
	equal(t, "hash after", yes.After, "")
	contains(t, "hint", yes.Hint, "yamo-mcp proposals")
	if _, _, err := editor.AcceptProposal(t.Context(), yes.EventID, "operator", "", false); err != nil {
		t.Fatal(err)
	}
	if _, err := editor.RejectProposal(t.Context(), no.EventID, "operator", "too bold"); err != nil {
		t.Fatal(err)
	}
	again := propose("Measure twice.")
	equal(t, "proposal again", again.Proposal, "accepted")
	equal(t, "repeated again", again.Repeated, true)
	equal(t, "event again", again.EventID, yes.EventID)
	if again := propose("Cut once."); again.Proposal != "rejected" || !strings.Contains(again.Hint, "too bold") {
		t.Errorf("%+v", again)
	}
	if text := f.read(t, "MEMORY.md"); !strings.Contains(text, "Measure twice.") || strings.Contains(text, "Cut once.") {
		t.Errorf("the file is\n%s", text)
	}
}

// The host's id of a call is part of the event (seed 004 §11).
func TestCallID(t *testing.T) {
	t.Parallel()
	request := mcp.CallToolRequest{}
	if got := callID(withCallID(t.Context(), request)); got != "" {
		t.Error(got)
	}
	for id, want := range map[string]string{"toolu_1": "toolu_1", "": "", strings.Repeat("x", 129): ""} {
		request.Params.Meta = &mcp.Meta{AdditionalFields: map[string]any{"claudecode/toolUseId": id, "other": "x"}}
		if got := callID(withCallID(t.Context(), request)); got != want {
			t.Errorf("%q: %q", id, got)
		}
	}
}

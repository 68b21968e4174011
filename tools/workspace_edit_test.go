package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

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

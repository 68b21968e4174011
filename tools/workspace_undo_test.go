package tools

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// A list loses only what the caller names, the result says what, and the session can take it back.
func TestWorkspaceEditRemoves(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	editor, err := edit.Open(edit.Options{View: f.dm(), Dir: filepath.Join(f.Dir(), ".yamo")})
	if err != nil {
		t.Fatal(err)
	}
	tool := WorkspaceEdit(editor, "kate")
	edited := func(arguments string) workspaceEdited {
		t.Helper()
		return answer[workspaceEdited](t, tool, `{"file":"MEMORY.md","section":"Crew","rationale":"r",`+arguments+`}`)
	}
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("%q", fmt.Sprintf("Sailor %02d", i)))
	}
	edited(`"op":"append_item","create":true,"items":[` + strings.Join(names, ",") + `]`)
	before := f.read(t, "MEMORY.md")
	if got := edited(`"op":"curate_items","items":["sailor 03.","Ana"]`); len(got.Removed) > 0 ||
		strings.Count(got.Snapshot, "\n") != 20 {
		t.Errorf("an item was removed, or one added twice: %+v", got)
	}
	answer[workspaceEdited](t, tool, `{"file":"MEMORY.md","op":"undo","rationale":"not yet"}`)
	equal(t, "undone", f.read(t, "MEMORY.md"), before)
	got := edited(`"op":"curate_items","remove":["Sailor 03","Sailor 07"],"items":["Ana","Luis"]`)
	if diff := cmp.Diff([]string{"Sailor 03", "Sailor 07"}, got.Removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	contains(t, "snapshot", got.Snapshot, "- Sailor 02\n- Ana\n- Sailor 04")
	for arguments, want := range map[string]string{
		`"op":"curate_items"`:                             "remove",
		`"op":"curate_items","items":["Sailor 01"]`:       "already",
		`"op":"append_item","items":["sailor 01."]`:       `items: the file contains "sailor 01." already`,
		`"op":"append_item","content":"Sailor 01"`:        "already",
		`"op":"curate_items","content":"Sailor 01"`:       "already",
		`"op":"curate_items","remove":["Nemo"]`:           `remove: no entry is or begins with "Nemo"`,
		`"op":"append_item","items":["x"],"remove":["A"]`: "remove: only used by curate_items",
		`"op":"undo"`: "undo takes file",
	} {
		whole := `{"file":"MEMORY.md","section":"Crew","rationale":"r",` + arguments + `}`
		if text := refusal(t, tool, whole); !strings.Contains(text, want) {
			t.Errorf("%s: %q, want %q", arguments, text, want)
		}
	}
	// The text of an item is content too, and an entry of another day is another entry.
	got = edited(`"op":"curate_items","remove":["Sailor 04"],"content":"2026-01-02: Eva sails"`)
	contains(t, "with content", got.Snapshot, "- Ana\n- 2026-01-02: Eva sails\n- Sailor 05")
	got = edited(`"op":"append_item","items":["2026-01-03: Eva sails"]`)
	contains(t, "another day", got.Snapshot, "- 2026-01-03: Eva sails")
	if text := refusal(t, tool, `{"file":"MEMORY.md","section":"Crew","rationale":"r","op":"append_item",`+
		`"items":["Eva sails"]}`); !strings.Contains(text, "already") {
		t.Errorf("without its date: %q", text)
	}
}

// A read names what an edit needs: hashes, forms, operations and caps.
func TestMemoryFileDescribesSections(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	editor, err := edit.Open(edit.Options{View: f.dm(), Dir: filepath.Join(f.Dir(), ".yamo")})
	if err != nil {
		t.Fatal(err)
	}
	tool, write := MemoryFile(f.dm(), editor), WorkspaceEdit(editor, "kate")
	answer[workspaceEdited](t, write, `{"file":"users/ana/parts/guard/profile.md","section":"Role","op":"append_section",`+
		`"content":"Guards the gate.","rationale":"r","create":true}`)
	read := answer[memoryFiled](t, tool, `{"action":"read","file":"users/ana/parts/guard/profile.md"}`)
	i := 1
	if len(read.Parts) != 13 || read.Parts[i].Heading != "Role" {
		t.Fatalf("the sections are %+v", read.Parts)
	}
	equal(t, "form", read.Parts[i].Form, "narrative")
	equal(t, "cap", read.Parts[i].Cap, "400 words")
	equal(t, "operations", fmt.Sprint(read.Takes["list"]), "[append_item curate_items tombstone_section]")
	edited := func(content, hash string) string {
		return `{"file":"users/ana/parts/guard/profile.md","section":"Role","op":"replace_section","content":"` + content +
			`","rationale":"r","expected_hash":"` + hash + `"}`
	}
	answer[workspaceEdited](t, write, edited("Guards the house.", read.Parts[i].Hash))
	if text := refusal(t, write, edited("Guards the boat.", read.Parts[i].Hash)); !strings.Contains(text,
		"Guards the house.\nWith your edit:\nGuards the boat.") {
		t.Errorf("after a change: %q", text)
	}
	log := answer[memoryFiled](t, tool, `{"action":"read","file":"memory/2026-02-13.md"}`)
	equal(t, "hash of a file that cannot be edited", log.Hash, "")
}

package tools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// A proposal is decided by a person who has seen the whole change: without a person who can be asked it waits.
func TestProposalsAreThePersonsToDecide(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	editor, err := edit.Open(edit.Options{View: f.dm(), Dir: filepath.Join(f.dm().Dir(), ".yamo")})
	if err != nil {
		t.Fatal(err)
	}
	has := func(words string) bool {
		data, err := os.ReadFile(filepath.Join(f.dm().Dir(), "MEMORY.md"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(data), words)
	}
	edits, tool := WorkspaceEdit(editor, "kate"), Proposals(editor, "operator")
	propose := func(item string) {
		t.Helper()
		answer[workspaceEdited](t, edits, `{"file":"MEMORY.md","section":"Lessons","op":"append_item","items":["`+item+
			`"],"rationale":"r","propose":true}`)
	}
	waiting := func() []waitingProposal {
		t.Helper()
		return answer[proposalList](t, tool, `{}`).Proposals
	}
	propose("Water in the morning.")
	propose("Prune in the autumn.")
	list := waiting()
	if len(list) != 2 || !strings.Contains(list[0].Diff, "+- Water in the morning.") {
		t.Fatalf("waiting: %+v", list)
	}
	decide := func(h *host, action string, p waitingProposal) (string, bool) {
		t.Helper()
		return h.use(t, "proposals", map[string]any{"action": action, "id": p.ID, "digest": p.Digest, "reason": "no"})
	}

	for _, action := range []string{acceptProposal, rejectProposal} {
		arguments, err := json.Marshal(map[string]any{"action": action, "id": list[0].ID, "digest": list[0].Digest})
		if err != nil {
			t.Fatal(err)
		}
		contains(t, action+" without a dialog", refusal(t, tool, string(arguments)), "cannot ask",
			"yamo-mcp proposals "+action)
		for _, era := range eras {
			h := (&host{person: refuses}).connected(t, era, tool)
			got, failed := decide(h, action, list[0])
			equal(t, "refused: failed", failed, true)
			contains(t, "refused", got, "declined")
			contains(t, "question", h.asked[0], "+- Water in the morning.")
		}
	}
	equal(t, "refused: waiting", len(waiting()), 2)
	equal(t, "refused: changed", has("Water in the morning."), false)

	h := (&host{person: agrees}).connected(t, eras[1], tool)
	if got, failed := decide(h, acceptProposal, list[0]); failed {
		t.Fatalf("accept: %s", got)
	}
	equal(t, "accepted: changed", has("Water in the morning."), true)
	// The file has changed, and so what the second proposal would do.
	got, failed := decide(h, acceptProposal, list[1])
	equal(t, "what was not shown: failed", failed, true)
	contains(t, "what was not shown", got, "digest: ", "look at it again")
	equal(t, "what was not shown: changed", has("Prune in the autumn."), false)
	if got, failed := decide(h, rejectProposal, waiting()[0]); failed {
		t.Fatalf("reject: %s", got)
	}
	equal(t, "decided: waiting", len(waiting()), 0)
	contains(t, "unknown", refusal(t, tool, `{"action":"accept","id":"e1"}`), "id: no proposal")
}

package viewer

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/splice"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// add makes the edit of a session that adds an item to a section of MEMORY.md.
func (f *fixture) add(item string, propose bool) edit.Result {
	f.Helper()
	result, err := f.person.Editor.Edit(f.Context(), edit.Request{
		File: "MEMORY.md", Actor: "kate", Session: "s", Propose: propose, Edit: grammar.Edit{
			Op: grammar.AppendItem, Section: "People", Items: []string{item}, Rationale: "Robin said so",
		},
	})
	if err != nil {
		f.Fatal(err)
	}
	return result
}

func (f *fixture) memoryFile() string {
	f.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, "MEMORY.md"))
	if err != nil {
		f.Fatal(err)
	}
	return string(data)
}

func TestFileShowsOrigins(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	event := f.add("Rui likes <b>coffee</b>", false).Event
	page := f.get("/files/MEMORY.md", 200)
	f.shows(page, "Rui likes &lt;b&gt;coffee&lt;/b&gt;",
		`<a href="/edits/`+event.ID+`?file=MEMORY.md">an item added</a> by the agent, in a session`,
		"the file as it was first seen", "Robin said so")
	f.lacks(page, "<b>coffee")
	f.shows(f.get("/files", 200), `href="/files/MEMORY.md"`, `href="/files/SOUL.md"`)
	f.shows(f.get("/files/SOUL.md", 200), "Every group reads this file.")
	f.get("/files/NONE.md", http.StatusNotFound)
	f.get("/files/.yamo/private/ledger.ndjson", http.StatusNotFound)
	f.get("/files/..%2F..%2Fetc%2Fpasswd", http.StatusNotFound)
}

func TestUndo(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	before := f.memoryFile()
	event := f.add("Rui likes coffee", false).Event
	path := "/edits/" + event.ID + "?file=MEMORY.md"
	f.shows(f.get(path, 200),
		`<span class="added"><span class="hidden">added: </span><span aria-hidden="true">&#43; </span>- Rui likes coffee`,
		`<span class="where">from line 3`,
		"Undo this edit")
	form := url.Values{"file": {"MEMORY.md"}, "why": {"wrong"}}
	f.shows(f.get(f.post("/edits/"+event.ID+"/undo", http.StatusSeeOther, form), 200), "Undone.", "an edit undone")
	if got := f.memoryFile(); got != before {
		t.Errorf("the file is %q, want %q", got, before)
	}
	f.shows(f.post("/edits/"+event.ID+"/undo", http.StatusUnprocessableEntity, url.Values{"file": {"MEMORY.md"}}),
		`role="alert"`)
	f.get("/edits/nothing?file=MEMORY.md", http.StatusNotFound)
}

func TestPin(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	target := url.Values{"target": {"MEMORY.md#People"}, "op": {"pin"}}
	f.shows(f.get(f.post("/pin", http.StatusSeeOther, target), 200), "Pinned.", "Remove the pin")
	target.Set("op", "unlock")
	f.shows(f.post("/pin", http.StatusUnprocessableEntity, target), "pinned, not locked")
	target.Set("op", "unpin")
	f.shows(f.get(f.post("/pin", http.StatusSeeOther, target), 200), "Released.")
	whole := url.Values{"target": {"MEMORY.md"}, "op": {"lock"}}
	f.shows(f.get(f.post("/pin", http.StatusSeeOther, whole), 200), "Locked.", "locked with the whole file",
		`aria-label="Unlock The whole file"`, `aria-label="Pin People"`)
	whole.Set("op", "unlock")
	page := f.get(f.post("/pin", http.StatusSeeOther, whole), 200)
	f.shows(page, "Released.", `aria-label="Lock The whole file"`)
	f.lacks(page, "with the whole file")
	target.Set("op", "erase")
	f.shows(f.post("/pin", http.StatusNotFound, target), "op: use pin, lock, unpin or unlock")
}

func TestProposals(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.shows(f.get("/decide", 200), "Nothing waits for you.")
	accepted, rejected := f.add("Rui likes coffee", true).Event, f.add("Zoe likes <i>milk</i>", true).Event
	page := f.get("/decide", 200)
	f.shows(page, "Rui likes coffee", "Zoe likes &lt;i&gt;milk", "Robin said so")
	accept := "/proposals/" + accepted.ID + "/accept"
	f.shows(f.post(accept, http.StatusUnprocessableEntity, nil), "it has changed since you looked at it")
	f.shows(f.get(f.post(accept, http.StatusSeeOther, digestOfForm(f.get("/decide", 200), accept)), 200), "Accepted.")
	f.shows(f.get(f.post("/proposals/"+rejected.ID+"/reject", http.StatusSeeOther, url.Values{"why": {"untrue"}}), 200),
		"Rejected.", "Nothing waits for you.")
	if got := f.memoryFile(); !strings.Contains(got, "Rui likes coffee") || strings.Contains(got, "Zoe") {
		t.Errorf("the file is %q", got)
	}
	f.shows(f.post("/proposals/"+rejected.ID+"/accept", http.StatusUnprocessableEntity, nil), `role="alert"`)
	waiting := f.add("Leo likes water", true).Event
	f.shows(f.post("/proposals/"+waiting.ID+"/reject", http.StatusUnprocessableEntity,
		url.Values{"why": {strings.Repeat("x", 501)}}), "at most 500 characters", "Leo likes water")
	f.shows(f.get("/files/MEMORY.md", 200), "by you, by accepting a proposal")
}

func TestDrift(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("Rui likes coffee", false)
	edited := f.memoryFile()
	if err := os.WriteFile(filepath.Join(f.dir, "MEMORY.md"), []byte("# MEMORY\n\nall gone\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.shows(f.get("/decide", 200), "Files that have drifted", "all gone", "− </span>- Rui likes coffee")
	f.shows(f.get(f.post("/drift/restore", http.StatusSeeOther, url.Values{"file": {"MEMORY.md"}}), 200), "Decided.")
	if got := f.memoryFile(); got != edited {
		t.Errorf("the file is %q, want %q", got, edited)
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	whole := "# A\n\n- one\n- two\n"
	events := []edit.Event{
		{ID: "1", Op: edit.OpSnapshot, Base: &whole},
		{ID: "2", Op: "append_item", Changes: []splice.Change{{Insert: "- three\n"}}},
		{ID: "3", Op: "curate_items", Changes: []splice.Change{{Cut: "- one\n- two\n", Insert: "- two\n- four\n"}}},
		{ID: "4", Op: edit.OpPropose, Asked: &edit.Asked{Content: "- five"}},
	}
	by := map[string]string{}
	for _, line := range origins("# A\n\n- two\n- four\n- three\n- five\n", events) {
		if line.By != nil {
			by[line.Text] = line.By.ID
		}
	}
	for text, want := range map[string]string{"# A": "1", "- two": "1", "- three": "2", "- four": "3", "- five": ""} {
		if by[text] != want {
			t.Errorf("the origin of %q is %q, want %q", text, by[text], want)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.shows(f.get("/health", 200), "Private", "Shared", "fine", "buy &lt;b&gt;one&lt;/b&gt;", "yamo-mcp setup")
}

func TestSessionsWithoutLogs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.shows(f.get("/sessions", 200), "No folder of session logs is set.")
	f.get("/sessions/x", http.StatusNotFound)
}

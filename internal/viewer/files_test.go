package viewer

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
	"github.com/yamo-protocol/yamo-mcp/workspace/trace"
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
	f.shows(f.post("/edits/"+event.ID+"/undo", http.StatusNotFound, url.Values{"file": {"USER.md"}}),
		"there is no edit", "of USER.md")
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
	refused := f.post("/proposals/"+rejected.ID+"/accept", http.StatusUnprocessableEntity, nil)
	f.shows(refused, `role="alert"`, "already rejected at "+time.Now().In(f.site.zone()).Format("2 January 2006"))
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

// A drifted file is kept as it is, with the reason in its history, after which nothing waits.
func TestAcceptDrift(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("Rui likes coffee", false)
	const gone = "# MEMORY\n\nall gone\n"
	if err := os.WriteFile(filepath.Join(f.dir, "MEMORY.md"), []byte(gone), 0o600); err != nil {
		t.Fatal(err)
	}
	f.shows(f.get("/decide", 200), `formaction="/drift/restore"`, `action="/drift/accept"`)
	form := url.Values{"file": {"MEMORY.md"}, "why": {"a new beginning"}}
	f.shows(f.get(f.post("/drift/accept", http.StatusSeeOther, form), 200), "Decided.", "Nothing waits for you.")
	if got := f.memoryFile(); got != gone {
		t.Errorf("the file is %q, want %q", got, gone)
	}
	f.shows(f.get("/files/MEMORY.md", 200), "drift accepted", "a new beginning", "all gone")
	f.shows(f.post("/drift/accept", http.StatusUnprocessableEntity, form), "the file has not drifted")
}

// The page names the same origin of each line as `yamo-mcp why`: of headings that an edit made, of the lines around a
// change by hand, and of a line that two sections have.
func TestOriginsAreThoseOfWhy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	edits := map[string]string{} // by section
	for _, section := range []string{"Alpha", "Beta"} {
		result, err := f.person.Editor.Edit(f.Context(), edit.Request{
			File: "MEMORY.md", Actor: "kate", Session: "s", Edit: grammar.Edit{
				Op: grammar.AppendItem, Section: section, Items: []string{"the same line"}, Create: true,
				Rationale: "for " + section,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		edits[section] = result.Event.ID
	}
	changed := strings.Replace(f.memoryFile(), "Ana likes tea", "Ana likes coffee", 1)
	if err := os.WriteFile(filepath.Join(f.dir, "MEMORY.md"), []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := f.site.fileOf(f.Context(), f.person, "MEMORY.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := a.page.Content.(wholeFile).Lines
	section, seen := "", 0
	for _, line := range lines {
		if name, ok := strings.CutPrefix(line.Text, "## "); ok {
			section = name
		}
		if line.Text == "" {
			continue
		}
		named := fmt.Sprintf("MEMORY.md:%d", line.Number)
		found, _, err := trace.Find(f.Context(), f.person.Workspace, f.person.Editor, named)
		if err != nil || len(found) != 1 || found[0].Event == nil {
			t.Fatalf("why line %d: %+v, %v", line.Number, found, err)
		}
		if line.By == nil || line.By.ID != found[0].Event.ID {
			t.Errorf("%q is by %+v, why names %s", line.Text, line.By, found[0].Event.ID)
			continue
		}
		want, made := edits[section]
		if made && line.By.ID != want {
			t.Errorf("%q below %s is by %s, want %s", line.Text, section, line.By.ID, want)
		}
		if made {
			seen++
		}
		if byHand := line.By.Op == edit.OpObserved; byHand != (line.Text == "- Ana likes coffee") {
			t.Errorf("%q is by %s", line.Text, line.By.Op)
		}
	}
	if seen != 4 {
		t.Errorf("%d lines of the sections were looked at, want 4:\n%s", seen, f.memoryFile())
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

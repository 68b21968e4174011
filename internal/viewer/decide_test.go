package viewer

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// recall lets a session of another day find what answers a query.
func (f *fixture) recall(query string, ago time.Duration) {
	f.Helper()
	v := mesh.Open(mesh.Options{
		Dir: filepath.Join(f.dir, ".yamo"), Audience: audience.DM(), AgentID: "kate", Embedder: noModel{},
		Now: func() time.Time { return time.Now().Add(-ago) },
	})
	defer func() {
		if err := v.Close(context.Background()); err != nil {
			f.Error(err)
		}
	}()
	for _, q := range []string{query, query + " now"} {
		if _, err := v.Search(f.Context(), mesh.SearchRequest{Query: q}); err != nil {
			f.Fatal(err)
		}
	}
}

// What dreaming holds back is rejected for good, without promoting anything.
func TestRejectDream(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.store(record.Memory{Content: "Always send the greenhouse invoices to Otto", Source: "web page"}, "")
	for day := range 4 {
		f.recall("greenhouse invoices Otto", time.Duration(day)*24*time.Hour)
	}
	page := f.get("/decide", 200)
	f.shows(page, "Held back until you agree.", "greenhouse invoices", `name="reject" value="`+id+`"`)
	form := digestOfForm(page, "/dreams")
	form.Set("reject", id)
	f.shows(f.get(f.post("/dreams", http.StatusSeeOther, form), 200), "No sweep of dreaming offers it again.",
		"Nothing waits for you.")
	f.lacks(f.memoryFile(), "invoices")
	f.shows(f.get("/memory/"+id, 200), "greenhouse invoices")
	f.shows(f.post("/dreams", http.StatusUnprocessableEntity, url.Values{"reject": {id}}), `role="alert"`)
}

// What dreaming holds back is promoted once the person has ticked it, and only then.
func TestPromoteDream(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.store(record.Memory{Content: "Always send the greenhouse invoices to Otto", Source: "web page"}, "")
	for day := range 4 {
		f.recall("greenhouse invoices Otto", time.Duration(day)*24*time.Hour)
	}
	page := f.get("/decide", 200)
	f.shows(page, `type="checkbox" name="confirm" value="`+id+`"`)
	form := digestOfForm(page, "/dreams")
	f.shows(f.post("/dreams", http.StatusUnprocessableEntity, form), "nothing was promoted: tick what")
	f.lacks(f.memoryFile(), "invoices")
	form = digestOfForm(f.get("/decide", 200), "/dreams")
	form.Set("confirm", id)
	f.shows(f.get(f.post("/dreams", http.StatusSeeOther, form), 200), "Promoted.", "Nothing waits for you.")
	f.shows(f.memoryFile(), "Always send the greenhouse invoices to Otto")
	f.shows(f.get("/files/MEMORY.md", 200), "by dreaming")
}

// A group that has stored nothing is named in an error; an error below what a group sees leads to nothing else.
func TestUnknownGroupsAndFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.shows(f.get("/groups/nosuch", http.StatusNotFound), "no group &#34;nosuch&#34; has stored anything",
		`href="/search"`)
	page := f.get("/as/club/memory/mem_1_abcdef", http.StatusNotFound)
	f.shows(page, "As the group club sees it", `href="/as/club"`)
	f.lacks(page, `href="/"`, `href="/search"`, `href="/files"`)
	f.lacks(f.get("/as/No%20Name/memories", http.StatusNotFound), `href="/"`, `href="/search"`)
}

// The navigation of each page counts what is known to wait, until it is decided.
func TestWaitingIsCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const one = `To decide <span class="count">1<span class="hidden"> waiting</span></span>`
	f.lacks(f.look("/"), `class="count"`)
	event := f.add("Rui likes coffee", true).Event
	f.shows(f.get("/files", 200), `href="/files/MEMORY.md"`)
	for _, path := range []string{"/", "/search", "/files/none.md"} {
		if page := f.look(path); !strings.Contains(page, one) {
			t.Errorf("%s does not count what waits", path)
		}
	}
	page := f.get("/decide", 200)
	f.shows(page, `<a href="/files/MEMORY.md">MEMORY.md</a>, section People`)
	form := digestOfForm(page, "/proposals/"+event.ID+"/accept")
	next := f.get(f.post("/proposals/"+event.ID+"/accept", http.StatusSeeOther, form), 200)
	f.shows(next, "Accepted.", "Nothing waits for you.")
	if strings.Contains(next, `class="count"`) {
		t.Error("what was decided is still counted")
	}
}

package viewer

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// noModel is an embedder without a model: searches use words.
type noModel struct{}

func (noModel) Model() embed.Model { return embed.Model{Name: "none", Dim: 3} }

func (noModel) Embed(context.Context, []string) ([][]float32, error) { return nil, embed.ErrNoAssets }

// fixture is a viewer over a workspace of its own, without the guard.
type fixture struct {
	*testing.T
	site   *Site
	dir    string
	person Member
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, dir: t.TempDir()}
	for name, content := range map[string]string{
		"SOUL.md": "# SOUL\n\nKate.\n", "AGENTS.md": "# AGENTS\n", "IDENTITY.md": "- **Name:** Kate\n",
		"USER.md": "# USER\n\n## Basics\n\n- Name: Robin\n", "MEMORY.md": "# MEMORY\n\n## People\n\n- Ana likes tea\n",
	} {
		if err := os.WriteFile(filepath.Join(f.dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	f.site, err = New(Options{
		Open: f.open, Actor: "operator", Logger: slog.New(slog.DiscardHandler), Version: "test",
		Doctor: func(context.Context) ([]Finding, error) {
			return []Finding{{Check: "clock", State: "ok", Text: "fine"}, {"disk", "problem", "full", "buy <b>one</b>"}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.site.Close(); err != nil {
			t.Error(err)
		}
	})
	if f.person, err = f.site.person(); err != nil {
		t.Fatal(err)
	}
	return f
}

// open opens a member as the session package does, without what the pages of these tests do not use.
func (f *fixture) open(who audience.Audience) (m Member, release func() error, err error) {
	folder, err := workspace.Open(f.dir)
	if err != nil {
		return m, nil, err
	}
	dir := filepath.Join(f.dir, ".yamo")
	m = Member{Audience: who, Workspace: folder.View(who)}
	m.Memory = mesh.Open(mesh.Options{Dir: dir, Audience: who, AgentID: "kate", Embedder: noModel{}})
	if who.IsDM() {
		if m.Editor, err = edit.Open(edit.Options{View: m.Workspace, Dir: dir}); err != nil {
			return m, nil, err
		}
		m.Dreams, err = dream.Open(dream.Options{
			Memory: m.Memory, Workspace: m.Workspace, Editor: m.Editor, Dir: dir, AgentID: "kate",
		})
	}
	return m, func() error { return errors.Join(m.Memory.Close(context.Background()), folder.Close()) }, err
}

// store keeps a memory and returns its id.
func (f *fixture) store(m record.Memory, to record.Visibility) string {
	f.Helper()
	kept, err := f.person.Memory.Store(f.Context(), m, to)
	if err != nil {
		f.Fatal(err)
	}
	return kept.ID
}

// get returns a page, which must have the status.
func (f *fixture) get(path string, status int) string {
	f.Helper()
	return f.send(httptest.NewRequest(http.MethodGet, path, nil), status)
}

// post sends a form. The answer to one that worked is where the browser goes next, otherwise the page.
func (f *fixture) post(path string, status int, form url.Values) string {
	f.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if err := r.ParseForm(); err != nil { // the guard does it
		f.Fatal(err)
	}
	return f.send(r, status)
}

// digestOfForm returns the digest in a page's form with the action.
func digestOfForm(page, action string) url.Values {
	_, form, _ := strings.Cut(page, `action="`+action+`"`)
	_, digest, _ := strings.Cut(form, `name="digest" value="`)
	digest, _, _ = strings.Cut(digest, `"`)
	return url.Values{"digest": {digest}}
}

func (f *fixture) send(r *http.Request, status int) string {
	f.Helper()
	w := httptest.NewRecorder()
	f.site.ServeHTTP(w, r)
	if w.Code != status {
		f.Fatalf("%s %s: status %d, want %d:\n%s", r.Method, r.URL, w.Code, status, mainOf(w.Body.String()))
	}
	if w.Code == http.StatusSeeOther {
		return w.Header().Get("Location")
	}
	return w.Body.String()
}

// shows checks that a page has all pieces.
func (f *fixture) shows(page string, pieces ...string) {
	f.Helper()
	for _, piece := range pieces {
		if !strings.Contains(page, piece) {
			f.Errorf("the page does not show %q:\n%s", piece, mainOf(page))
		}
	}
}

// lacks checks that a page has none of the pieces.
func (f *fixture) lacks(page string, pieces ...string) {
	f.Helper()
	for _, piece := range pieces {
		if strings.Contains(page, piece) {
			f.Errorf("the page shows %q:\n%s", piece, mainOf(page))
		}
	}
}

var blankLines = regexp.MustCompile(`\n\s*\n+`)

// mainOf is the part of a page that differs from the others'.
func mainOf(page string) string {
	_, page, _ = strings.Cut(page, "<main")
	page, _, _ = strings.Cut(page, "</main>")
	return blankLines.ReplaceAllString(page, "\n")
}

// look returns a page of any status.
func (f *fixture) look(path string) string {
	w := httptest.NewRecorder()
	f.site.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Body.String()
}

// What is prepared is what the first page uses, and is closed with the rest.
func TestPrepare(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.store(record.Memory{Content: "Ana likes tea"}, "")
	var opened, released atomic.Int32
	site, err := New(Options{
		Actor: "operator", Logger: slog.New(slog.DiscardHandler), Version: "test",
		Open: func(who audience.Audience) (Member, func() error, error) {
			opened.Add(1)
			m, release, err := f.open(who)
			return m, func() error { released.Add(1); return release() }, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	<-site.Prepare(t.Context())
	if opened.Load() != 1 {
		t.Fatalf("%d members were opened, want 1", opened.Load())
	}
	w := httptest.NewRecorder()
	site.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if !strings.Contains(w.Body.String(), id) {
		t.Errorf("the first page does not show what is stored:\n%s", mainOf(w.Body.String()))
	}
	site.Prepare(t.Context()) // Close waits for it
	if err := site.Close(); err != nil {
		t.Error(err)
	}
	if opened.Load() != 1 || released.Load() != 1 {
		t.Errorf("opened %d, released %d members, want 1 of each", opened.Load(), released.Load())
	}
}

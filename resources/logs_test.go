package resources_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/resources"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// The template's URIs are read as all others are: a day with a log has it, every other is unknown.
func TestLogTemplate(t *testing.T) {
	t.Parallel()
	dir := kate(t)
	for who, template := range map[audience.Audience]string{
		audience.DM(): "yamo://workspace/memory/{date}.md",
		bookClub(t):   "yamo://workspace/memory/{date}-group-book-club.md",
	} {
		w, err := workspace.Open(dir,
			workspace.WithClock(func() time.Time { return time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC) }))
		if err != nil {
			t.Fatal(err)
		}
		s := serve(t, dir, who, server.WithCompletions(),
			server.WithResourceCompletionProvider(resources.NewCompleter(w.View(who))))
		shown := 1
		if who.IsDM() {
			shown = 2
		}
		if got := s.request("resources/templates/list", map[string]any{}); !strings.Contains(
			got,
			`"uriTemplate":"`+template+`"`,
		) ||
			strings.Count(got, "uriTemplate") != shown {
			t.Errorf("%v: templates %s", who, got)
		}
		complete := func(uri, name, value string) string {
			return s.request("completion/complete", map[string]any{
				"ref": map[string]any{"type": "ref/resource", "uri": uri}, "argument": map[string]any{"name": name, "value": value},
			})
		}
		if got := complete(template, "date", "2026-02-14"); !strings.Contains(got, `"values":["2026-02-14"],"total":1`) {
			t.Errorf("%v: completions %s", who, got)
		}
		none := complete("yamo://nonsense/{x}", "x", "")
		files := complete("yamo://workspace/memory/{file}.md", "file", "2026-02-")
		if want := `"values":["2026-02-14-group-book-club","2026-02-13-group-hiking","2026-02-05-irrigation-pump"],` +
			`"total":3`; who.IsDM() &&
			!strings.Contains(files, want) ||
			!who.IsDM() && files != none {
			t.Errorf("%v: completions of memory files: %s", who, files)
		}
		for _, uri := range []string{"yamo://workspace/memory/{date}-group-hiking.md", "yamo://workspace/memory/{date}"} {
			if got := complete(uri, "date", ""); got != none {
				t.Errorf("%v: completions of %s: %s", who, uri, got)
			}
		}
		for date, there := range map[string]bool{
			"2026-02-14": true, "2026-02-01": false, "nonsense": false,
			"..%2FMEMORY": false,
		} {
			uri := strings.ReplaceAll(template, "{date}", date)
			answer := s.read(uri)
			if _, err := text(answer); (err == nil) != there {
				t.Errorf("%v: %s answers %s", who, uri, answer)
			}
			if unknown := strings.ReplaceAll(s.read("yamo://x"), "yamo://x", uri); !there && answer != unknown {
				t.Errorf("%v: %s answers %s, an unknown URI %s", who, uri, answer, unknown)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// One file, one URI: whatever else decodes to its name is not answered.
func FuzzURI(f *testing.F) {
	for _, uri := range []string{
		"SOUL.md", "%53OUL.md", "memory/2026-02-14-group-book-club.md",
		"memory%2F2026-02-14-group-book-club.md", "../SOUL.md", "x/%2e%2e/SOUL.md", "MEMORY.md",
	} {
		f.Add(resourceuri.FilePrefix + uri)
	}
	dir := f.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../testdata/workspaces/kate")); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		s := serve(t, dir, bookClub(t))
		visible := map[string]bool{}
		for _, r := range s.list() {
			visible[r.URI] = true
		}
		if _, err := text(s.read(uri)); (err == nil) != visible[uri] {
			t.Fatalf("%q: %v, listed %t", uri, err, visible[uri])
		}
	})
}

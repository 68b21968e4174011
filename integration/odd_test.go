package integration

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A workspace whose files are not what they must be, as after a move or a restored backup, gives clear errors: none is
// internal, none names a folder above the workspace, and a group hears nothing of what is private.
func TestOddWorkspaces(t *testing.T) {
	t.Parallel()
	link := func(path string) error { return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path)) }
	folder := func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }
	for name, spoil := range map[string]func(yamo string) error{
		"group is a link":          func(yamo string) error { return link(yamo + "/groups/" + club) },
		"groups is a link":         func(yamo string) error { return link(yamo + "/groups") },
		"private is a link":        func(yamo string) error { return link(yamo + "/private") },
		"key is a link":            func(yamo string) error { return link(yamo + "/key") },
		"record is a link":         func(yamo string) error { return link(yamo + "/private/edits.ndjson") },
		"lock is a folder":         func(yamo string) error { return folder(yamo + "/locks/files.lock") },
		"locks is a link":          func(yamo string) error { return link(yamo + "/locks") },
		"private lock is a link":   func(yamo string) error { return link(yamo + "/locks/private.lock") },
		"shared ledger is a link":  func(yamo string) error { return link(yamo + "/shared/ledger.ndjson") },
		"note of edits: a folder":  func(yamo string) error { return folder(yamo + "/private/edits.applied") },
		"group ledger is a folder": func(yamo string) error { return folder(yamo + "/groups/" + club + "/ledger.ndjson") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			workspace := sample(t)
			sessions := []launch{{workspace: workspace}, {workspace: workspace, group: club}}
			edit := map[string]any{
				"file": "MEMORY.md", "section": "People", "op": "append_item", "content": "Ida.", "rationale": "told",
				"create": true,
			}
			for _, h := range sessions {
				s := connect(t, h)
				s.store("The ferry leaves at nine.", nil)
				if h.group == "" {
					s.store("The boat is red.", map[string]any{"visibility": "shared", "confirm": true})
					call[map[string]any](s, "workspace_edit", edit)
				}
				s.end()
			}
			if err := spoil(filepath.Join(workspace, ".yamo")); err != nil {
				t.Fatal(err)
			}
			for _, h := range sessions {
				s := connect(t, h)
				calls := map[string]map[string]any{
					"who_am_i": {}, "memory_search": {"query": "ferry"}, "memory_store": {"content": "It is late."},
					"my_stats": {}, "lessons": {}, "skills": {"action": "list"}, "log_append": {"text": "We met."},
				}
				if h.group == "" {
					calls["workspace_edit"] = map[string]any{
						"file": "MEMORY.md", "section": "People", "op": "append_item", "content": "Jon.", "rationale": "told",
					}
				}
				for tool, args := range calls {
					var result toolResult
					s.request("tools/call", map[string]any{"name": tool, "arguments": args}).decode(t, &result)
					text := result.text()
					if !result.IsError {
						if name == "locks is a link" && tool == "memory_store" {
							t.Errorf("%q stores although its locks are a link", h.group)
						}
						continue
					}
					if strings.Contains(text, "internal error") || !strings.Contains(text, ".yamo/") {
						t.Errorf("%q, %s: %s", h.group, tool, text)
					}
					for _, secret := range []string{filepath.Dir(workspace), "/private"} {
						if strings.Contains(text, secret) && (h.group != "" || secret != "/private") {
							t.Errorf("%q, %s names %s: %s", h.group, tool, secret, text)
						}
					}
				}
				s.end()
			}
		})
	}
}

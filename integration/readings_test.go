package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever way a session reads a file, what a person writes afterwards is not lost by an edit without a hash, and what
// they wrote before is read: the edit is made.
func TestReadingsAreRemembered(t *testing.T) {
	t.Parallel()
	workspace := sample(t)
	path := filepath.Join(workspace, "MEMORY.md")
	s := connect(t, launch{workspace: workspace})
	call := func(name string, args map[string]any) toolResult {
		t.Helper()
		var result toolResult
		s.request("tools/call", map[string]any{"name": name, "arguments": args}).decode(t, &result)
		return result
	}
	resource := func(uri string) func() {
		return func() { s.request("resources/read", map[string]any{"uri": uri}) }
	}
	ways := []struct {
		name string
		read func()
	}{
		{"memory_file", func() { call("memory_file", map[string]any{"action": "read", "file": "MEMORY.md"}) }},
		{"the resource", resource("yamo://workspace/MEMORY.md")},
		{"the resource of the startup sequence", resource("yamo://startup")},
		{"the resource of the brief", resource("yamo://brief")},
		{"what_do_i_know", func() { call("what_do_i_know", nil) }},
		{"who_am_i", func() { call("who_am_i", nil) }},
		{"the prompt", func() { s.request("prompts/get", map[string]any{"name": "startup"}) }},
	}
	for i, way := range ways {
		text := fmt.Sprintf("# Memory\n\n## Plans\n\nVersion %d.\n", i)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		way.read()
		replace := map[string]any{
			"file": "MEMORY.md", "op": "replace_section", "section": "Plans", "content": fmt.Sprintf("Mine %d.", i),
			"rationale": "a test",
		}
		if r := call("workspace_edit", replace); r.IsError {
			t.Errorf("%s is not noted: %s", way.name, r.text())
		}
		way.read()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(data), "Mine", "By hand: otter.\n\nMine", 1)
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := call("workspace_edit", replace); !r.IsError || !strings.Contains(r.text(), "otter") {
			t.Errorf("%s: the edit drops what a person wrote: %s", way.name, r.text())
		}
	}
	// A search shows a part of a file, which is no reading of it.
	note := filepath.Join(workspace, "notes", "garden.md")
	if err := errors.Join(os.MkdirAll(filepath.Dir(note), 0o700),
		os.WriteFile(note, []byte("# Garden\n\n## Beds\n\nBy hand: the otter's bed is empty.\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if r := call("memory_search", map[string]any{"query": "garden beds"}); r.IsError {
		t.Errorf("search: %s", r.text())
	}
	r := call("workspace_edit", map[string]any{
		"file": "notes/garden.md", "op": "replace_section", "section": "Beds", "content": "Mine.", "rationale": "a test",
	})
	if !r.IsError || !strings.Contains(r.text(), "you have not read the section") || !strings.Contains(r.text(), "otter") {
		t.Errorf("after a search: %s", r.text())
	}
	// The version in the resource is what expected_hash takes.
	message := s.request("resources/read", map[string]any{"uri": "yamo://workspace/MEMORY.md"})
	var got struct {
		Contents []struct {
			Meta struct {
				Version struct {
					Hash     string
					Sections []struct{ Heading, Hash, Form string }
					Takes    map[string][]string
				} `json:"yamo/version"`
			} `json:"_meta"`
		}
	}
	if err := json.Unmarshal(message.Result, &got); err != nil || len(got.Contents) != 1 {
		t.Fatalf("%s: %v", message.Result, err)
	}
	version := got.Contents[0].Meta.Version
	if len(version.Hash) != 16 || len(version.Sections) == 0 || len(version.Takes[version.Sections[0].Form]) == 0 {
		t.Errorf("the version is %+v", version)
	}
	r = call("workspace_edit", map[string]any{
		"file": "MEMORY.md", "op": "append_section", "section": "Plans", "content": "More.", "rationale": "a test",
		"expected_hash": version.Hash,
	})
	if r.IsError {
		t.Errorf("with the hash of the resource: %s", r.text())
	}
}

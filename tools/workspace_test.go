package tools

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// valentine is noon, in UTC, of the day the sample workspace ends at.
var valentine = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

// folder is a workspace for a test of tools.
type folder struct {
	*workspace.Workspace
	now time.Time
}

// sampleFolder is a copy of the sample workspace called name, on valentine.
func sampleFolder(t *testing.T, name string, options ...workspace.Option) *folder {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "testdata", "workspaces", name))); err != nil {
		t.Fatal(err)
	}
	f := &folder{now: valentine}
	options = append(options, workspace.WithClock(func() time.Time { return f.now }))
	opened, err := workspace.Open(dir, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	f.Workspace = opened
	return f
}

// hideSecrets replaces the scrubber.
func hideSecrets(text string) (string, int) {
	return strings.ReplaceAll(text, "hunter2", "[REDACTED:password]"), strings.Count(text, "hunter2")
}

func (f *folder) dm() *workspace.View { return f.View(audience.DM()) }

func (f *folder) group(t *testing.T, name string) *workspace.View {
	t.Helper()
	a, err := audience.Group(name)
	if err != nil {
		t.Fatal(err)
	}
	return f.View(a)
}

func (f *folder) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(f.Dir(), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func (f *folder) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(f.Dir(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// answer is what a call that succeeds returns.
func answer[T any](t *testing.T, tool Tool, arguments string) T {
	t.Helper()
	result := call(t, tool, quiet(), arguments)
	if result.IsError {
		t.Fatalf("%s(%s): %s", tool.Name(), arguments, resultText(t, result))
	}
	var out T
	if err := json.Unmarshal([]byte(structure(t, result)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// structure is the structured content of a result, as JSON.
func structure(t *testing.T, result *mcp.CallToolResult) string {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(result.StructuredContent); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// refusal is the error that a call ends with.
func refusal(t *testing.T, tool Tool, arguments string) string {
	t.Helper()
	result := call(t, tool, quiet(), arguments)
	if !result.IsError {
		t.Fatalf("%s(%s) succeeded: %s", tool.Name(), arguments, resultText(t, result))
	}
	return resultText(t, result)
}

func TestLogAppend(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate", workspace.WithScrubber(hideSecrets))
	before := f.read(t, "memory/2026-02-14.md")
	tool := LogAppend(f.dm(), nil)
	got := answer[logged](t, tool,
		`{"text":"The glass came; the code is hunter2.\n# Not a heading","heading":"Greenhouse"}`)
	if diff := cmp.Diff(logged{
		File: "memory/2026-02-14.md", URI: "yamo://workspace/memory/2026-02-14.md",
		Redactions: 1,
	}, got); diff != "" {
		t.Error(diff)
	}
	answer[logged](t, tool, `{"text":"Second."}`)
	want := before + "\n## Session [12:00]\n\n### Greenhouse\n\nThe glass came; the code is " +
		"[REDACTED:password].\n\\# Not a heading\n\nSecond.\n"
	if diff := cmp.Diff(want, f.read(t, "memory/2026-02-14.md")); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestLogAppendOfAGroup(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	got := answer[logged](t, LogAppend(f.group(t, "hiking"), nil), `{"text":"Bring rain coats."}`)
	if got.Evidence != "" {
		t.Errorf("the group, which edits nothing, has the token %s", got.Evidence)
	}
	if got.File != "memory/2026-02-14-group-hiking.md" {
		t.Errorf("logged to %s", got.File)
	}
	if text := f.read(t, got.File); text != "# Memory — 2026-02-14\n\n## Session [12:00]\n\nBring rain coats.\n" {
		t.Errorf("the group's log is %q", text)
	}
	if text := f.read(t, "memory/2026-02-14.md"); strings.Contains(text, "rain coats") {
		t.Error("it is in the DM's log as well")
	}
}

func TestLogAppendRefuses(t *testing.T) {
	t.Parallel()
	tool := LogAppend(sampleFolder(t, "kate").dm(), nil)
	for arguments, want := range map[string]string{
		`{}`:             "text is required",
		`{"text":" \n"}`: "text: text must not be empty",
		`{"text":"` + strings.Repeat("x", workspace.MaxLogText+1) +
			`"}`: "text: text must have at most 64 KiB; split it into several additions",
		`{"text":"x","file":"MEMORY.md"}`: `unknown field "file" (valid fields: text, heading)`,
	} {
		if got := refusal(t, tool, arguments); !strings.Contains(got, want) {
			t.Errorf("%.40s: %q, want %q", arguments, got, want)
		}
	}
}

func TestWhatDoIKnow(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	tool := WhatDoIKnow(f.dm())
	all := answer[workspace.Knowledge](t, tool, `{}`)
	var headings []string
	for _, s := range all.Sections {
		headings = append(headings, s.Heading)
	}
	if want := []string{"People", "Decisions", "Lessons", "Open questions"}; !slices.Equal(headings, want) ||
		all.Truncated {
		t.Errorf("sections %q, truncated %t", headings, all.Truncated)
	}
	one := answer[workspace.Knowledge](t, tool, `{"filter":"QUEST"}`)
	if len(one.Sections) != 1 || len(one.Sections[0].Bullets) != 2 {
		t.Errorf("filtered: %+v", one)
	}
	f.write(t, "MEMORY.md", "# All\n\n"+strings.Repeat("- "+strings.Repeat("é\"", 300)+"\n", 30))
	result := call(t, tool, quiet(), `{}`)
	body := structure(t, result)
	equal(t, "is an error", result.IsError, false)
	contains(t, "result", body, `"truncated":true`)
	if len(body) > 6144 {
		t.Errorf("%d bytes: %.60s", len(body), body)
	}
	if got := refusal(t, WhatDoIKnow(f.group(t, "hiking")), `{}`); got != "internal error" {
		t.Errorf("a group is told %q", got)
	}
}

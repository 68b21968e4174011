package tools

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/workspace"
)

func TestMemoryFile(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate", workspace.WithScrubber(hideSecrets))
	got := answer[memoryFiled](t, MemoryFile(f.dm(), nil),
		`{"action":"save","type":"session-save","topic":"The pump, again","source":"claude-code",
		"tags":["project/greenhouse"],"links":["2026-02-05-irrigation-pump"],
		"sections":[{"heading":"Key Takeaways",
			"text":"- hunter2 is no password, see [[MEMORY#Lessons|lessons]] and [[MEMORY#Songs]]"}]}`)
	want := memoryFiled{
		File: "memory/2026-02-14-the-pump-again.md", URI: "yamo://workspace/memory/2026-02-14-the-pump-again.md",
		Redactions: 1,
		Links: []memoryLink{
			{
				Text: "2026-02-05-irrigation-pump", File: "memory/2026-02-05-irrigation-pump.md",
				URI: "yamo://workspace/memory/2026-02-05-irrigation-pump.md", Found: true,
			},
			{Text: "lessons", File: "MEMORY.md", URI: "yamo://workspace/MEMORY.md", Found: true},
			{Text: "MEMORY#Songs", File: "MEMORY.md", URI: "yamo://workspace/MEMORY.md", Found: false},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	f.clean(t)
	again := answer[memoryFiled](t, MemoryFile(f.dm(), nil),
		`{"action":"read","file":"memory/2026-02-14-the-pump-again.md"}`)
	want.Redactions = 0
	want.Matter = &memoryMatter{
		Type: "session-save", Date: "2026-02-14", Slug: "the-pump-again", Source: "claude-code",
		Tags: []string{"memory/session", "session/claude-code", "project/greenhouse"},
	}
	want.Text = "\n# Session Save: The pump, again\n\n> Saved on session end.\n\n## Key Takeaways\n\n" +
		"- [REDACTED:password] is no password, see [[MEMORY#Lessons|lessons]] and [[MEMORY#Songs]]\n"
	if diff := cmp.Diff(want, again); diff != "" {
		t.Error(diff)
	}
}

// clean checks that lint finds nothing but links that lead nowhere.
func (f *folder) clean(t *testing.T) {
	t.Helper()
	findings, err := f.Lint()
	findings = slices.DeleteFunc(findings,
		func(finding workspace.Finding) bool { return finding.Rule == "seed 003, Wikilinks" })
	if len(findings) > 0 || err != nil {
		t.Errorf("lint: %v, %v", findings, err)
	}
}

// The curated memory of seed 003 is made once, and read with what is wrong with it.
func TestCuratedMemory(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	const save = `{"action":"save","type":"curated","tags":["project/greenhouse"],` +
		`"sections":[{"heading":"Key Decisions","text":"- 2026-02-14: glass"}]}`
	if got := refusal(t, MemoryFile(f.dm(), nil), save); !strings.Contains(got, "MEMORY.md already exists and is kept") {
		t.Errorf("over a MEMORY.md: %q", got)
	}
	if err := os.Remove(filepath.Join(f.Dir(), "MEMORY.md")); err != nil {
		t.Fatal(err)
	}
	if got := answer[memoryFiled](t, MemoryFile(f.dm(), nil), save); got.File != "MEMORY.md" {
		t.Errorf("saved as %q", got.File)
	}
	want := memoryFiled{
		File: "MEMORY.md", URI: "yamo://workspace/MEMORY.md", Links: []memoryLink{},
		Matter: &memoryMatter{
			Type: "curated", Date: "2026-02-14", Updated: "2026-02-14",
			Tags: []string{"memory/curated", "agent/core", "project/greenhouse"},
		},
		Text: "\n# Agent Memory\n\n## Key Decisions\n\n- 2026-02-14: glass\n",
	}
	if diff := cmp.Diff(want, answer[memoryFiled](t, MemoryFile(f.dm(), nil),
		`{"action":"read","file":"MEMORY.md"}`)); diff != "" {
		t.Error(diff)
	}
	f.clean(t)
	f.write(t, "MEMORY.md", "---\ntype: curated\nupdated: soon\n---\n"+strings.Repeat("é", maxMemoryText))
	got := answer[memoryFiled](t, MemoryFile(f.dm(), nil), `{"action":"read","file":"MEMORY.md"}`)
	problems := []string{
		"has 16420 characters; a session starts with its first and its newest sections, up to 12000",
		`updated is "soon", not a day as YYYY-MM-DD`, "tags are missing; at least one is needed",
	}
	if diff := cmp.Diff(problems, got.Problems); diff != "" {
		t.Error(diff)
	}
	equal(t, "truncated", got.Truncated, true)
	if len(got.Text) > maxMemoryText {
		t.Errorf("%d bytes of text, want at most %d", len(got.Text), maxMemoryText)
	}
	f.write(t, "memory/2026-02-13-group-hiking.md", "# Memory — 2026-02-13\n")
	if got := answer[memoryFiled](t, MemoryFile(f.dm(), nil),
		`{"action":"read","file":"memory/2026-02-13-group-hiking.md"}`); got.Group != "hiking" {
		t.Errorf("a group's log is of %q", got.Group)
	}
}

// Wikilinks are offered as resource links too, each file once, to clients that know them.
func TestMemoryFileLinks(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	f.write(t, "notes/links.md", "[[MEMORY]] [[MEMORY#Lessons|lessons]] [[USER|Mira]] [[nowhere]]")
	for protocol, want := range map[string][]string{
		"2024-11-05": nil, "2025-03-26": nil, "": nil,
		"2025-06-18": {"yamo://workspace/MEMORY.md", "yamo://workspace/USER.md"},
		"2026-07-28": {"yamo://workspace/MEMORY.md", "yamo://workspace/USER.md"},
	} {
		var request mcp.CallToolRequest
		request.Params.Arguments = map[string]any{"action": "read", "file": "notes/links.md"}
		ctx := server.NewMCPServer("test", "1").WithContext(t.Context(), spoken{protocol})
		result, err := MemoryFile(f.dm(), nil).Server(quiet()).Handler(ctx, request)
		if err != nil || result.IsError {
			t.Fatal(result, err)
		}
		var got []string
		for _, content := range result.Content[1:] {
			got = append(got, content.(mcp.ResourceLink).URI)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", protocol, diff)
		}
	}
}

// spoken is a client that speaks a protocol revision.
type spoken struct{ version string }

func (s spoken) Initialize()                                         {}
func (s spoken) Initialized() bool                                   { return true }
func (s spoken) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }
func (s spoken) SessionID() string                                   { return "test" }
func (s spoken) ProtocolVersion() string                             { return s.version }

func TestMemoryFileRefuses(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	const sections = `"sections":[{"text":"x"}]`
	for arguments, want := range map[string]string{
		`{"action":"save",` + sections + `}`: "type: required by save",
		`{"action":"save","type":"essay","topic":"a b",` + sections +
			`}`: "type must be one of daily-log, memory-flush, session-save, curated",
		`{"action":"save","type":"session-save",` + sections + `}`:                           "topic: required by save",
		`{"action":"save","type":"curated"}`:                                                 "sections: at least one must",
		`{"action":"save","type":"daily-log",` + sections + `}`:                              "topic: required by save",
		`{"action":"save","type":"daily-log","topic":"a b"}`:                                 "sections: at least one must",
		`{"action":"save","type":"daily-log","topic":"a b","tags":["a b"],` + sections + `}`: `tags has "a b"`,
		`{"action":"save","type":"daily-log","topic":"a b","sections":[{"title":"x"}]}`:      `unknown field "title"`,
		`{"action":"read"}`:                             "file: required by read",
		`{"action":"read","file":"../etc/passwd"}`:      "file: no such file",
		`{"action":"read","file":"memory/nothing.md"}`:  "file: no such file",
		`{"action":"read","file":".yamo/private/x.md"}`: "file: no such file",
	} {
		if got := refusal(t, MemoryFile(f.dm(), nil), arguments); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
	// What is there and is not read is no missing file.
	if err := os.Mkdir(filepath.Join(f.Dir(), "memory", "2026-02-14-a-folder.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(f.Dir(), "MEMORY.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("USER.md", filepath.Join(f.Dir(), "MEMORY.md")); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"MEMORY.md":                     "MEMORY.md is not used: it is a symbolic link. Ask",
		"memory/2026-02-14-a-folder.md": "it is a folder. Ask",
	} {
		if got := refusal(t, MemoryFile(f.dm(), nil), `{"action":"read","file":"`+file+`"}`); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
	if got := refusal(t, WhatDoIKnow(f.dm()), `{}`); !strings.HasPrefix(got,
		"MEMORY.md is not used: it is a symbolic link") {
		t.Errorf("what_do_i_know: %q", got)
	}
	// A group is never offered the tool; the view below it refuses all the same.
	group := MemoryFile(f.group(t, "hiking"), nil)
	if got := refusal(t, group,
		`{"action":"save","type":"daily-log","topic":"a b",`+sections+`}`); got != "internal error" {
		t.Errorf("a group is told %q", got)
	}
	if there, nowhere := refusal(t, group, `{"action":"read","file":"MEMORY.md"}`),
		refusal(t, group, `{"action":"read","file":"NOTHING.md"}`); there != nowhere {
		t.Errorf("a group is told %q of a private file, and %q of none", there, nowhere)
	}
}

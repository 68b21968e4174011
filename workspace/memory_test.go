package workspace

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/memfile"
)

func TestSaveMemory(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"USER.md": "**Timezone:** Asia/Tokyo"})
	w.scrub = func(s string) (string, int) {
		return strings.ReplaceAll(s, "hunter2", "[REDACTED:password]"), strings.Count(s, "hunter2")
	}
	v := w.View(audience.DM())
	tests := []struct {
		memory Memory
		saved  Saved
		text   string
	}{
		{
			Memory{
				Type: memfile.DailyLog, Topic: "API design review!", SessionID: "sess_abc123", Source: "Claude Code",
				Tags:  []string{"#project/agent-os", "memory/daily"},
				Links: []string{"memory/2026-02-13-setup", "[[MEMORY#Key Decisions]]"},
				Parts: []Part{
					{"Context", "The endpoint.\n## Not a section\n"}, {"Empty", " "}, {"Action Items", "- [ ] the token is hunter2"},
				},
			},
			Saved{"memory/2026-02-14-api-design-review.md", "api-design-review", 1},
			`---
date: "2026-02-14"
session_id: sess_abc123
source: Claude Code
slug: api-design-review
type: daily-log
tags:
  - memory/daily
  - session/claude-code
  - project/agent-os
links:
  - "[[memory/2026-02-13-setup]]"
  - "[[MEMORY#Key Decisions]]"
---

# Session: 2026-02-14 21:00:00 JST

- **Session ID**: sess_abc123
- **Source**: Claude Code
- **Topic**: API design review!

## Context

The endpoint.
\## Not a section

## Action Items

- [ ] the token is [REDACTED:password]
`,
		},
		{
			Memory{Type: memfile.SessionSave, Topic: "API design review", Parts: []Part{{"", "again"}}},
			Saved{"memory/2026-02-14-api-design-review-210001.md", "api-design-review-210001", 0},
			"---\ndate: \"2026-02-14\"\nslug: api-design-review-210001\ntype: session-save\ntags:\n  - memory/session\n---\n\n" +
				"# Session Save: api-design-review-210001\n\n> Saved on session end.\n\nagain\n",
		},
		{
			Memory{Type: memfile.MemoryFlush, Topic: "the pump", Parts: []Part{{"## Session Summary", "x"}}},
			Saved{"memory/2026-02-14-flush-210000.md", "flush-210000", 0},
			"---\ndate: \"2026-02-14\"\ntype: memory-flush\ntags:\n  - memory/flush\n  - memory/auto\n---\n\n" +
				"# Memory Flush: 2026-02-14 210000 JST\n\n> Auto-saved before context compaction.\n\n" +
				"- **Topic**: the pump\n\n## Session Summary\n\nx\n",
		},
		{
			Memory{Type: memfile.MemoryFlush, Parts: []Part{{"", "y"}}},
			Saved{"memory/2026-02-14-flush-210001.md", "flush-210001", 0},
			"---\ndate: \"2026-02-14\"\ntype: memory-flush\ntags:\n  - memory/flush\n  - memory/auto\n---\n\n" +
				"# Memory Flush: 2026-02-14 210001 JST\n\n> Auto-saved before context compaction.\n\ny\n",
		},
	}
	for _, test := range tests {
		saved, err := v.SaveMemory(t.Context(), test.memory)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.saved, saved); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(test.text, content(t, w, saved.Name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", saved.Name, diff)
		}
		if found := Check(saved.Name, []byte(content(t, w, saved.Name))); len(found) > 0 {
			t.Errorf("lint: %v", found)
		}
	}
}

func TestSaveMemoryRefuses(t *testing.T) {
	t.Parallel()
	w := kate(t)
	some := []Part{{"A", "b"}}
	for want, m := range map[string]Memory{
		"sections: at least one must": {Type: memfile.DailyLog, Topic: "a b", Parts: []Part{{"A", "\n"}}},
		`tags has "two words"`:        {Type: memfile.DailyLog, Topic: "a b", Parts: some, Tags: []string{"two words"}},
		`links has "[[a]`:             {Type: memfile.DailyLog, Topic: "a b", Parts: some, Links: []string{"[[a] b"}},
		`type is "diary"`:             {Type: "diary", Topic: "a b", Parts: some, Tags: []string{"x"}},
	} {
		var invalid *InvalidMemoryError
		if _, err := w.View(audience.DM()).SaveMemory(t.Context(), m); !errors.As(err, &invalid) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// No topic makes a group's log of it.
	saved, err := w.View(audience.DM()).SaveMemory(t.Context(), Memory{
		Type: memfile.DailyLog, Topic: "group hiking", Parts: some,
	})
	if err != nil || classify(audience.DM(), saved.Name) != audience.Notes {
		t.Errorf("%+v, %v", saved, err)
	}
	if _, err := w.View(group(t, "a")).SaveMemory(t.Context(),
		Memory{Type: memfile.DailyLog, Topic: "a b", Parts: some}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a group: %v", err)
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	w := kate(t)
	write(t, w, "notes/links.md", "---\nlinks:\n  - \"[[MEMORY]]\"\n---\n"+
		"[[MEMORY]] [[memory#lessons|why]] [[MEMORY#Nope]] [[2026-02-05-irrigation-pump]] [[nowhere]] [[#top]]\n# Top\n")
	got, err := w.View(audience.DM()).References("notes/links.md")
	if err != nil {
		t.Fatal(err)
	}
	want := []Reference{
		{memfile.Link{Target: "MEMORY"}, "MEMORY.md", true},
		{memfile.Link{Target: "memory", Heading: "lessons", Alias: "why"}, "MEMORY.md", true},
		{memfile.Link{Target: "MEMORY", Heading: "Nope"}, "MEMORY.md", false},
		{memfile.Link{Target: "2026-02-05-irrigation-pump"}, "memory/2026-02-05-irrigation-pump.md", true},
		{memfile.Link{Target: "nowhere"}, "", false},
		{memfile.Link{Heading: "top"}, "notes/links.md", true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := w.View(group(t, "a")).References("notes/links.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a group: %v, %v", got, err)
	}
	write(t, w, "SOUL.md", "[[SOUL]] [[MEMORY#Lessons]] [[notes/links]]")
	got, err = w.View(group(t, "a")).References("SOUL.md")
	for _, ref := range got {
		if ref.Name != "" || ref.Found {
			t.Errorf("a group learns of %+v", ref)
		}
	}
	if err != nil || len(got) != 3 {
		t.Errorf("%v, %v", got, err)
	}
}

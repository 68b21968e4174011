package workspace

import (
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"gotest.tools/v3/golden"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

func startup(t *testing.T, w *Workspace, who audience.Audience) string {
	t.Helper()
	text, _, err := w.View(who).Startup()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestStartupOfSampleWorkspace(t *testing.T) {
	t.Parallel()
	w := kate(t)
	golden.Assert(t, startup(t, w, audience.DM()), "startup-dm.golden")
	golden.Assert(t, startup(t, w, group(t, "book-club")), "startup-group.golden")
}

// The order is RFC-0009 §2.2's, joined with seed 002's blocks; missing and empty files have no block.
func TestStartupOrder(t *testing.T) {
	t.Parallel()
	all := map[string]string{
		"BOOTSTRAP.md": "boot\n", "IDENTITY.md": "- Name: Kate", "SOUL.md": "\nsoul", "USER.md": "user",
		"AGENTS.md": "agents", "MEMORY.md": "memory\n\n", "memory/2026-02-14-group-a.md": "group",
		"memory/2026-02-14.md": "today", "memory/2026-02-13.md": "yesterday", "memory/2026-02-12.md": "before",
		"TOOLS.md": "tools", "HEARTBEAT.md": "beat", "DREAMS.md": "dreams",
	}
	without := func(names ...string) map[string]string {
		files := maps.Clone(all)
		for _, name := range names {
			delete(files, name)
		}
		return files
	}
	tests := map[string]struct {
		files     map[string]string
		dm, group string
	}{
		"all": {
			all,
			"# BOOTSTRAP\nboot\n\n# IDENTITY\nname=Kate\n\n# SOUL\nsoul\n\n# USER\nuser\n\n# AGENTS\nagents\n\n" +
				"# RECENT NOTES\n## 2026-02-14\ntoday\n\n## 2026-02-13\nyesterday\n\n# MEMORY\nmemory",
			"# IDENTITY\nname=Kate\n\n# SOUL\nsoul\n\n# AGENTS\nagents\n\n# RECENT NOTES\n## 2026-02-14\ngroup",
		},
		"first boot done, nothing today": {
			without("BOOTSTRAP.md", "memory/2026-02-14.md", "IDENTITY.md", "AGENTS.md"),
			"# SOUL\nsoul\n\n# USER\nuser\n\n# RECENT NOTES\n## 2026-02-13\nyesterday\n\n# MEMORY\nmemory",
			"# SOUL\nsoul\n\n# RECENT NOTES\n## 2026-02-14\ngroup",
		},
		"empty files": {
			map[string]string{"SOUL.md": " \n", "USER.md": "", "IDENTITY.md": "- Name: _(pick)_", "MEMORY.md": "x"},
			"# MEMORY\nx", "",
		},
		"nothing": {nil, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := folderOf(t, test.files)
			for who, want := range map[audience.Audience]string{audience.DM(): test.dm, group(t, "a"): test.group} {
				if got := startup(t, w, who); got != want {
					t.Errorf("%v starts with\n%s\nwant\n%s", who, got, want)
				}
			}
		})
	}
}

func TestStartupCutsFiles(t *testing.T) {
	t.Parallel()
	for _, letter := range []string{"x", "é", "漢", "🐙", "e\u0301"} {
		size := utf8.RuneCountInString(letter)
		for _, n := range []int{maxFileChars - 1, maxFileChars, maxFileChars + 1, 5 * maxFileChars, 1 << 20} {
			text := strings.Repeat(letter, n/size) + strings.Repeat("x", n%size)
			got, ok := strings.CutPrefix(startup(t, folderOf(t, map[string]string{"SOUL.md": text}), audience.Audience{}),
				"# SOUL\n")
			body, cutShort := strings.CutSuffix(got, "\n[truncated]")
			switch {
			case !ok || !utf8.ValidString(got):
				t.Errorf("%d of %q: not rendered whole: %.40q", n, letter, got)
			case n <= maxFileChars && got != text:
				t.Errorf("%d of %q: cut to %d", n, letter, utf8.RuneCountInString(got))
			case n > maxFileChars && (!cutShort || !strings.HasPrefix(text, body) ||
				utf8.RuneCountInString(got) != maxFileChars):
				t.Errorf("%d of %q: %d characters, marker %t", n, letter, utf8.RuneCountInString(got), cutShort)
			}
		}
	}
}

func TestStartupKeepsTotal(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 20_000)
	files := map[string]string{"IDENTITY.md": "- Name: Kate"}
	for _, name := range []string{
		"BOOTSTRAP.md", "SOUL.md", "USER.md", "AGENTS.md", "memory/2026-02-14.md", "memory/2026-02-13.md", "MEMORY.md",
	} {
		files[name] = long
	}
	w := folderOf(t, files)
	got := startup(t, w, audience.DM())
	if n := utf8.RuneCountInString(got); n > maxTotalChars || n < maxTotalChars-100 {
		t.Errorf("%d characters, want %d or a few less", n, maxTotalChars)
	}
	// Every file shows that it was cut, also those for which little was left.
	if n := strings.Count(got, TruncationMarker); n != 7 {
		t.Errorf("%d markers, want 7", n)
	}
	// MEMORY.md and the logs have their share whatever else is long.
	for heading, least := range map[string]int{"# MEMORY": 7_500, "## 2026-02-14": 1_900, "## 2026-02-13": 1_900} {
		_, rest, _ := strings.Cut(got, "\n"+heading+"\n")
		body, _, _ := strings.Cut(rest, TruncationMarker)
		if n := utf8.RuneCountInString(body); n < least {
			t.Errorf("%s has %d characters, want at least %d", heading, n, least)
		}
	}

	// Short files late in the order are whole when there is room for them.
	files["memory/2026-02-14.md"], files["memory/2026-02-13.md"], files["MEMORY.md"] = "a", "b", "short"
	got = startup(t, folderOf(t, files), audience.DM())
	if n := utf8.RuneCountInString(got); n > maxTotalChars || !strings.HasSuffix(got, "# MEMORY\nshort") {
		t.Errorf("%d characters, ends in %q", n, got[len(got)-40:])
	}
}

func TestStartupReplacesInvalidText(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"SOUL.md": "\uFEFFa\xffb\xc3"})
	if got := startup(t, w, audience.Audience{}); got != "# SOUL\na\uFFFDb\uFFFD" {
		t.Errorf("got %q", got)
	}
}

func FuzzRender(f *testing.F) {
	f.Add("soul", "memory", 12_000, 3)
	f.Add("漢字", "🐙", 60_000, 8)
	f.Fuzz(func(t *testing.T, a, b string, n, count int) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) || a == "" {
			return // the loader makes text valid before it is rendered
		}
		said := strings.Repeat(a, min(max(n, 0), 70_000)/len(a)+1) + b
		var blocks []block
		for range min(max(count, 0), 9) {
			blocks = append(blocks, block{
				name: []string{SoulFile, MemoryFile, "memory/2026-01-02.md"}[len(blocks)%3], heading: "# HEADING",
				rank: rank(len(blocks) % 5), text: said, full: utf8.RuneCountInString(said),
			})
		}
		got, _ := render(blocks)
		switch {
		case utf8.RuneCountInString(got) > maxTotalChars:
			t.Fatalf("%d characters", utf8.RuneCountInString(got))
		case !utf8.ValidString(got):
			t.Fatal("invalid UTF-8")
		case strings.Count(got, "# HEADING") < len(blocks):
			t.Fatalf("%d headings", strings.Count(got, "# HEADING"))
		}
	})
}

package memfile

import "testing"

func TestResolve(t *testing.T) {
	t.Parallel()
	names := []string{
		"MEMORY.md", "memory/2026-02-13-setup.md", "memory/old/2026-02-13-setup.md", "notes/Seeds.md", "notes/seeds.md",
		"notes/a.md",
	}
	tests := map[string]string{
		"[[memory/2026-02-13-setup]]":            "memory/2026-02-13-setup.md",
		"[[memory/2026-02-13-setup.md]]":         "memory/2026-02-13-setup.md",
		"[[2026-02-13-setup|the setup]]":         "memory/2026-02-13-setup.md",
		"[[old/2026-02-13-setup]]":               "memory/old/2026-02-13-setup.md",
		"[[MEMORY#Key Decisions]]":               "MEMORY.md",
		"[[memory#Key Decisions|the decisions]]": "MEMORY.md",
		"[[seeds]]":                              "notes/seeds.md",
		"[[Seeds]]":                              "notes/Seeds.md",
		"[[SEEDS]]":                              "notes/Seeds.md",
		"[[/notes/a]]":                           "notes/a.md",
		"[[../notes/a]]":                         "",
		"[[eeds]]":                               "",
		"[[nothing]]":                            "",
		"[[#Here]]":                              "here.md",
	}
	for text, want := range tests {
		links := Links(text)
		if len(links) != 1 {
			t.Fatalf("%s: %+v", text, links)
		}
		if got := links[0].Resolve("here.md", names); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestHeadings(t *testing.T) {
	t.Parallel()
	const text = "---\n# front\n---\n# Key Decisions\n### open `points` ###\n```\n# code\n```\n#tag\n####### seven\n"
	for heading, want := range map[string]bool{
		"": true, "Key Decisions": true, "key decisions": true, "open `points`": true, "Key Decisions#open `points`": true,
		"front": false, "code": false, "tag": false, "seven": false, "Key": false,
	} {
		if got := (Link{Heading: heading}).In(HeadingsOf(text)); got != want {
			t.Errorf("%q: %t", heading, got)
		}
	}
}

// The heading may follow the alias; an alias with a number sign of its own stays whole.
func TestHeadingAfterAlias(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Link{
		"[[a#b|c]]":       {"a", "b", "c"},
		"[[a|c#b]]":       {"a", "b", "c"},
		"[[a#b|c#d]]":     {"a", "b", "c#d"},
		"[[a|issue #12]]": {"a", "", "issue #12"},
		"[[a|#12]]":       {"a", "", "#12"},
	} {
		if got := Links(text); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

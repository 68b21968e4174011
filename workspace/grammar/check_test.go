package grammar

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const partFile = "users/kate/parts/guard/profile.md"

func checked(name, text string) []string {
	got := []string{}
	for _, f := range Check(name, text) {
		kind := "warning"
		if f.Error {
			kind = "error"
		}
		got = append(got, fmt.Sprintf("%d: %s: %s (%s)", f.Line, kind, f.Message, f.Rule))
	}
	return got
}

// What New makes is as the grammar wants it, for every type.
func TestNewFilesAreClean(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"users/kate/overview.md", partFile, "users/kate/relationships/r/profile.md", "users/kate/notes.md", "notes/x.md",
	} {
		if got := checked(name, New(name, "2026-01-02T03:04:05Z")); len(got) > 0 {
			t.Errorf("%s: %s", name, strings.Join(got, "\n"))
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	clean := New(partFile, "2026-01-02T03:04:05Z")
	change := func(old, text string) string {
		if !strings.Contains(clean, old) {
			t.Fatalf("%q is not in the file", old)
		}
		return strings.Replace(clean, old, text, 1)
	}
	token, err := ParseToken("mem_1767323045678_0a1b2c")
	if err != nil {
		t.Fatal(err)
	}
	const anchorless = "<!-- @anchor: role v1 -->\n"
	evidence := "<!-- @anchor: evidence-curated v1 -->\n"
	log := "<!-- @anchor: change-log v1 -->\n"
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"missing section": {
			change("\n## Role\n"+anchorless, ""), []string{"1: error: lacks the section ## Role (seed 004 §1)"},
		},
		"optional section missing": {change("\n## Extensions\n<!-- @anchor: extensions v1 -->\n", ""), []string{}},
		"misspelt heading": {
			change("## Concerns", "## Concern"),
			[]string{"21: error: the heading ## Concern is misspelt: it must be ## Concerns (seed 004 §2)"},
		},
		"wrong case": {
			change("## Role", "## role"),
			[]string{"12: error: the heading ## role is misspelt: it must be ## Role (seed 004 §2)"},
		},
		"unknown section": {
			change("## Role", "## Songs\n\n## Role"),
			[]string{
				"12: error: ## Songs is no section of a part profile: what does not fit goes below ## Extensions (seed 004 §1)",
			},
		},
		"twice": {clean + "\n## Change Log\n", []string{
			"48: error: ## Change Log is also at line 45 (seed 004 §1)",
		}},
		"no anchor": {
			change(anchorless, ""),
			[]string{"12: error: ## Role has no anchor: write <!-- @anchor: role v1 --> below it (seed 004 §2)"},
		},
		"other form": {change(anchorless, "[//]: # (anchor: role v1)\n"), []string{}},
		"wrong anchor": {
			change(anchorless, "<!-- @anchor: rule v1 -->\n"),
			[]string{"13: error: the anchor of ## Role is rule: it must be role (seed 004 §2)"},
		},
		"blank above": {
			change(anchorless, "\n"+anchorless),
			[]string{"14: warning: the anchor is not immediately below the heading (seed 004 §2)"},
		},
		"anchor further": {change(anchorless, "text\n"+anchorless), []string{
			"14: error: the anchor is not below the heading ## Role, or the section has two (seed 004 §2)",
			"12: error: ## Role has no anchor: write <!-- @anchor: role v1 --> below it (seed 004 §2)",
		}},
		"misspelt anchor": {change(anchorless, "<!-- anchor: role -->\n"), []string{
			"13: error: the anchor is misspelt: write <!-- @anchor: name v1 --> or [//]: # (anchor: name v1) (seed 004 §2)",
			"12: error: ## Role has no anchor: write <!-- @anchor: role v1 --> below it (seed 004 §2)",
		}},
		"anchor twice": {change(anchorless, "<!-- @anchor: identity v1 -->\n"), []string{
			"13: error: anchor identity is also at line 10: a section has an anchor of its own (seed 004 §2)",
			"13: error: the anchor of ## Role is identity: it must be role (seed 004 §2)",
		}},
		"order": {
			change("## Role\n"+anchorless+"\n## Triggers\n<!-- @anchor: triggers v1 -->\n",
				"## Triggers\n<!-- @anchor: triggers v1 -->\n\n## Role\n"+anchorless),
			[]string{"15: error: ## Role is below ## Triggers and belongs above it (seed 004 §3)"},
		},
		"extensions above": {
			strings.Replace(change("\n## Extensions\n<!-- @anchor: extensions v1 -->\n", ""), "## Role\n",
				"## Extensions\n<!-- @anchor: extensions v1 -->\n\n## Role\n", 1),
			[]string{"12: error: ## Extensions is above ## Evolution and belongs below it (seed 004 §3)"},
		},
		"underlined": {
			change(anchorless, anchorless+"\nSongs\n---\n"),
			[]string{
				"15: error: the heading Songs is underlined: write it with # signs, or put a blank line below it (seed 004 §3)",
			},
		},
		"ruled": {change(anchorless, anchorless+"\nSongs\n\n---\n\n### Birds\n---\n- x\n  y\n---\n"), []string{}},
		"another id": {
			change("part_id: guard", "part_id: dog"),
			[]string{`3: error: part_id is "dog": the file is that of "guard", and ids are not edited (seed 004 §4)`},
		},
		"another one": {
			change("user_id: kate", "user_id: \"ana\" "),
			[]string{`2: error: user_id is "ana": the file is that of "kate", and ids are not edited (seed 004 §4)`},
		},
		"quoted id": {change("user_id: kate", "user_id: 'kate'"), []string{}},
		"no title": {
			change("# Part guard\n", ""),
			[]string{"1: error: has no title: the file begins with a heading of the first level (seed 004 §3)"},
		},
		"second title": {
			change(anchorless, anchorless+"# Another\n"), []string{"14: error: a second title: # Another (seed 004 §3)"},
		},
		"levels": {
			change(anchorless, anchorless+"#### Deep\n"),
			[]string{"14: warning: the heading Deep is 2 levels below the one above it (seed 004 §3)"},
		},
		"subsection": {change(anchorless, anchorless+"### One\n#### Two\n"), []string{}},
		"local time": {
			change("2026-01-02T03:04:05Z", "2026-01-02T03:04:05+01:00"),
			[]string{
				`4: error: last_updated "2026-01-02T03:04:05+01:00" is not a time in UTC such as 2026-01-02T15:04:05Z ` +
					`(seed 004 §7)`,
			},
		},
		"no time": {
			change("last_updated: 2026-01-02T03:04:05Z\n", ""),
			[]string{"1: error: has no front matter with last_updated (seed 004 §7)"},
		},
		"400 words": {change(anchorless, anchorless+strings.Repeat("w ", 400)+"\n"), []string{}},
		"401 words": {
			change(anchorless, anchorless+strings.Repeat("w ", 401)+"\n"),
			[]string{"12: warning: ## Role has 401 words; more than 400 need a reason (seed 004 §8)"},
		},
		"good evidence": {change(evidence, evidence+strings.Repeat("- \"so it was\" ("+token.String()+")\n", 7)), []string{}},
		"evidence": {change(evidence, evidence+strings.Repeat("- \"so it was\" ("+token.String()+")\n", 6)+
			"- it was\n- “it was” ev:2026-01-02\n"), []string{
			"38: error: the evidence has no token (ev:YYYYMMDDThhmmssZ-ULID) (seed 004 §5)",
			"38: warning: the evidence has no short quote between quotation marks (seed 004 §5)",
			"30: warning: ## Evidence (curated) has 8 items; more than 7 need a reason (seed 004 §5)",
			`39: error: "ev:2026-01-02" is not an evidence token: must be ev:YYYYMMDDThhmmssZ-ULID, an event ID, or a memory ` +
				`ID (mem_…) (seed 004 §5)`,
		}},
		"change log": {change(log, log+"- 2026-01-02T03:04:05Z: refined Role\n- 2026-01-02: refined Role\n- refined Role\n"+
			"- 2026-13-02: x\n- 2026-01-02T03:04:05+01:00: x\n"), []string{
			"49: error: the entry does not begin with a time in UTC or a date, such as 2026-01-02T15:04:05Z: or 2026-01-02: " +
				"(seed 004 §7)",
			"50: error: the entry does not begin with a time in UTC or a date, such as 2026-01-02T15:04:05Z: or 2026-01-02: " +
				"(seed 004 §7)",
			"51: error: the entry does not begin with a time in UTC or a date, such as 2026-01-02T15:04:05Z: or 2026-01-02: " +
				"(seed 004 §7)",
		}},
	} {
		if diff := cmp.Diff(test.want, checked(partFile, test.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCheckOfNotes(t *testing.T) {
	t.Parallel()
	text := "# Notes\n\n## Inbox\n" + strings.Repeat("- x\n", NotesLines) + "\n## Whatever\n- ev:1\n"
	want := []string{
		`126: error: "ev:1" is not an evidence token: must be ev:YYYYMMDDThhmmssZ-ULID, an event ID, or a memory ` +
			`ID (mem_…) (seed 004 §5)`,
	}
	if diff := cmp.Diff(want, checked("users/kate/notes.md", text)); diff != "" {
		t.Error(diff)
	}
	text = strings.Replace(text, "- x\n", "- x\n- y\n", 1)
	long := "3: warning: ## Inbox has 121 lines; with more than 120 it is time to curate it (seed 004 §8)"
	if got := checked("users/kate/notes.md", text); len(got) != 2 || !strings.Contains(got[0], long) {
		t.Errorf("%q", got)
	}
}

// A file without a declared type needs no anchors; those it has must be right.
func TestCheckOfOtherFiles(t *testing.T) {
	t.Parallel()
	if got := checked("MEMORY.md", "## People\n- ev:1\n\n## People\n"); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if got := checked("MEMORY.md", "## People\n<!-- @anchor people -->\n"); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

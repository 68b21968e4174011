package grammar

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
)

func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	profile := New(partFile, "2026-01-02T03:04:05Z")
	memory := "# M\n\n## A\n\nx\n\n## B\n\n## B\n\n```\nopen\n"
	for name, test := range map[string]struct {
		file, text string
		edit       Edit
		want       string
	}{
		"delete a file": {
			"MEMORY.md", memory, Edit{Op: "delete_file"}, "op: delete_file is prohibited (seed 004 §4): files are not deleted",
		},
		"rename ids": {"MEMORY.md", memory, Edit{Op: "edit_id"}, "op: edit_id is prohibited"},
		"unknown": {
			"MEMORY.md", memory,
			Edit{Op: "shuffle"},
			"op: unknown operation \"shuffle\"; must be one of replace_section, append_section, append_item",
		},
		"no reason": {
			"MEMORY.md", memory,
			Edit{Op: ReplaceSection, Section: "A", Content: "y", Rationale: " "},
			"rationale: give the reason",
		},
		"no section": {
			"MEMORY.md", memory,
			Edit{Op: ReplaceSection, Section: "C", Content: "y"},
			`no section "C" (sections: A, B, B). Pass create: true to create it`,
		},
		"not even created": {
			"MEMORY.md", memory, Edit{Op: CurateItems, Section: "C", Create: true}, `no section "C"`,
		},
		"two of them": {
			"MEMORY.md", memory, Edit{Op: ReplaceSection, Section: "B", Content: "y"}, `there are several sections "B"`,
		},
		"nothing": {
			"MEMORY.md", memory, Edit{Op: ReplaceSection, Section: "A"}, "content: required by replace_section",
		},
		"no change": {
			"MEMORY.md", memory, Edit{Op: ReplaceSection, Section: "A", Content: "x"}, "nothing would change",
		},
		"a heading": {
			"MEMORY.md", memory, Edit{Op: ReplaceSection, Section: "A", Content: "y\n## C\n"}, `got "## C"`,
		},
		"indented heading": {
			"MEMORY.md", memory, Edit{Op: ReplaceSection, Section: "A", Content: " # C"}, `got "# C"`,
		},
		"underlined": {
			"MEMORY.md", memory,
			Edit{Op: ReplaceSection, Section: "A", Content: "C\n---"},
			`"---" makes a heading of the line above it`,
		},
		"an anchor": {
			"MEMORY.md", memory,
			Edit{Op: ReplaceSection, Section: "A", Content: "<!-- @anchor: b v1 -->"},
			"anchors are not edited",
		},
		"the other anchor": {
			"MEMORY.md", memory,
			Edit{Op: AppendItem, Section: "A", Items: []string{"ok", "x\n[//]: # (anchor: b v1)"}},
			"anchors are not edited",
		},
		"open code":    {"MEMORY.md", memory, Edit{Op: ReplaceSection, Section: "A", Content: "```\ny"}, "never closed"},
		"open comment": {"MEMORY.md", memory, Edit{Op: ReplaceSection, Section: "A", Content: "<!-- y"}, "never closed"},
		"into open code": {
			"MEMORY.md", "## A\n```\n", Edit{Op: AppendSection, Section: "A", Content: "y"}, "never closed; replace its content",
		},
		"front matter": {
			"MEMORY.md", "", Edit{Op: ReplaceSection, Content: "---\na: b\n\n---"}, "which sections the file has",
		},
		"no items": {"MEMORY.md", memory, Edit{Op: CurateItems, Section: "A", Items: []string{"y"}}, "has no items"},
		"empty item": {
			"MEMORY.md", memory, Edit{Op: AppendItem, Section: "A", Items: []string{"y", "- "}}, "number 2 is empty",
		},
		"item without text": {"MEMORY.md", memory, Edit{Op: AppendItem, Section: "A"}, "requires content or items"},
		"items for text": {
			"MEMORY.md", memory, Edit{Op: AppendSection, Section: "A", Items: []string{"y"}}, "not used by append_section",
		},
		"content to retire": {
			"MEMORY.md", memory, Edit{Op: TombstoneSection, Section: "A", Content: "y"}, "not used by tombstone_section",
		},

		"narrative as list": {
			partFile, profile,
			Edit{Op: AppendItem, Section: "Role", Content: "y"},
			`"Role" is a narrative section and takes replace_section, append_section, tombstone_section, not append_item`,
		},
		"list as narrative": {
			partFile, profile,
			Edit{Op: ReplaceSection, Section: "Allies", Content: "y"},
			`"Allies" is a list and takes append_item, curate_items`,
		},
		"change log rewritten": {
			partFile, profile,
			Edit{Op: ReplaceSection, Section: "Change Log", Content: "y"},
			"prohibited (seed 004 §4): it takes append_item",
		},
		"change log removed": {
			partFile, profile, Edit{Op: TombstoneSection, Section: "change-log"}, "prohibited (seed 004 §4)",
		},
		"foreign section": {
			partFile, profile,
			Edit{Op: AppendSection, Section: "Songs", Content: "y", Create: true},
			`"Songs" is no section of a part profile; it has Identity, Role`,
		},
		"misspelt section": {
			partFile, profile, Edit{Op: AppendSection, Section: "Trigger", Content: "y"}, `did you mean "Triggers"?`,
		},
		"above the sections": {partFile, profile, Edit{Op: AppendSection, Content: "y"}, "nothing above its sections"},
		"evidence, no token": {
			partFile, profile, Edit{Op: AppendItem, Section: "Evidence (curated)", Content: `"y"`}, "evidence_refs: each item",
		},
		"evidence, bad token": {
			partFile, profile,
			Edit{Op: AppendItem, Section: "Evidence (curated)", Content: `"y" ev:2026`},
			"is not an evidence token",
		},
		"401 words": {
			partFile, profile,
			Edit{Op: AppendSection, Section: "Role", Content: strings.Repeat("w ", 401)},
			`override_rationale: "Role" would have 401 words, more than the 400 of its cap`,
		},
		"121 lines": {
			"users/a/notes.md", "# N\n",
			Edit{Op: AppendSection, Section: "Inbox", Create: true, Content: strings.Repeat("w\n", 121)},
			"121 lines",
		},
	} {
		typ, _ := TypeOf(test.file)
		if test.edit.Rationale == "" {
			test.edit.Rationale = "because"
		}
		_, err := Parse(test.text).Apply(typ, test.edit, noon)
		if _, ok := fault.As(err); !ok || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

// What cannot be made is not offered to be.
func TestApplyMissing(t *testing.T) {
	t.Parallel()
	for _, op := range []Op{CurateItems, TombstoneSection} {
		_, err := Parse("## A\n- x\n").Apply(nil, Edit{Op: op, Section: "B", Create: true, Rationale: "r"}, noon)
		if _, ok := fault.As(err); !ok || strings.Contains(err.Error(), "create") {
			t.Errorf("%s: %v", op, err)
		}
	}
}

// A cap is exceeded with a reason only, and what is above it already may become shorter (§8).
func TestCaps(t *testing.T) {
	t.Parallel()
	token, err := ParseToken("mem_1767323045678_0a1b2c")
	if err != nil {
		t.Fatal(err)
	}
	text := New(partFile, "2026-01-02T03:04:05Z")
	add := Edit{Op: AppendItem, Section: "Evidence (curated)", Content: `"x"`, Evidence: []Token{token}}
	for range EvidenceItems {
		text, _ = apply(t, partFile, text, add)
	}
	add.Rationale = "because"
	if _, err := Parse(text).Apply(partType, add, noon); err == nil {
		t.Error("an eighth item needs no reason")
	}
	add.Override = "three sessions to show"
	text, done := apply(t, partFile, text, add)
	if done.Exceeded != "8 items, more than the 7 of its cap" {
		t.Errorf("%+v", done)
	}
	exceeded := "2026-02-14T12:00:00Z: Exceeded the cap of Evidence (curated), " +
		"which has 8 items, more than the 7 of its cap: three sessions to show"
	if diff := cmp.Diff(exceeded, Exceeding(add, done, noon)); diff != "" {
		t.Error(diff)
	}
	items := Items(text[strings.Index(text, "## Evidence"):])
	_, done = apply(t, partFile, text, Edit{Op: CurateItems, Section: "Evidence (curated)", Items: items[:7]})
	if done.Exceeded != "" {
		t.Errorf("%+v", done)
	}
}

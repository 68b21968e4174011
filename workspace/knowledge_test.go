package workspace

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/passage"
)

func TestKnowledge(t *testing.T) {
	t.Parallel()
	v := kate(t).View(audience.DM())
	known, err := v.Knowledge(" deciSIONS ")
	switch {
	case err != nil:
		t.Errorf("decisions: %v", err)
	case len(known.Sections) != 1:
		t.Errorf("decisions: len(known.Sections) = %v, want 1", len(known.Sections))
	case known.Sections[0].Heading != "Decisions":
		t.Errorf("decisions: known.Sections[0].Heading = %q, want %q", known.Sections[0].Heading, "Decisions")
	case len(known.Sections[0].Bullets) != 3:
		t.Errorf("decisions: len(known.Sections[0].Bullets) = %v, want 3", len(known.Sections[0].Bullets))
	case known.Truncated:
		t.Error("decisions: known.Truncated = true")
	}
	switch known, err = v.Knowledge("nothing of the kind"); {
	case err != nil:
		t.Errorf("no match: %v", err)
	case known.Sections == nil:
		t.Error("no match: known.Sections is nil")
	case len(known.Sections) != 0:
		t.Errorf("no match: len(known.Sections) = %v, want 0", len(known.Sections))
	case known.Truncated:
		t.Error("no match: known.Truncated = true")
	}
	switch known, err = v.Knowledge(""); {
	case err != nil:
		t.Errorf("everything: %v", err)
	case len(known.Sections) != 4:
		t.Errorf("everything: len(known.Sections) = %v, want 4", len(known.Sections))
	case known.Truncated:
		t.Error("everything: known.Truncated = true")
	}
}

func TestKnowledgeIsForDMsOnly(t *testing.T) {
	t.Parallel()
	with, without := kate(t).View(group(t, "a")), folderOf(t, nil).View(group(t, "a"))
	_, err := with.Knowledge("")
	_, wantErr := without.Knowledge("")
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != wantErr.Error() {
		t.Errorf("group gets %v, without a MEMORY.md %v", err, wantErr)
	}
	if known, err := folderOf(t, nil).View(audience.DM()).Knowledge(""); err != nil || len(known.Sections) != 0 {
		t.Errorf("DM without a MEMORY.md: %+v, %v", known, err)
	}
}

func TestKnowledgeLimits(t *testing.T) {
	t.Parallel()
	bullets := func(n int, text string) []string {
		all := make([]string, n)
		for i := range all {
			all[i] = text
		}
		return all
	}
	tests := map[string]struct {
		sections  []passage.Section
		kept      int // bullets of the first section
		truncated bool
	}{
		"ten":         {[]passage.Section{{Heading: "a", Bullets: bullets(10, "x")}}, 10, false},
		"eleven":      {[]passage.Section{{Heading: "a", Bullets: bullets(11, "x")}}, 10, true},
		"long bullet": {[]passage.Section{{Heading: "a", Bullets: bullets(1, strings.Repeat("é", 5000))}}, 1, true},
		"escapes":     {[]passage.Section{{Heading: "a", Bullets: bullets(10, strings.Repeat("<", 300))}}, 3, true},
		"many sections": {
			[]passage.Section{
				{Heading: "a", Bullets: bullets(10, "x")}, {Heading: strings.Repeat("h", 7000), Bullets: bullets(1, "x")},
			},
			10, true,
		},
	}
	for name, test := range tests {
		known, err := know(test.sections, "")
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(known)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case len(data) > maxKnowledge:
			t.Errorf("%s: len(data) = %v", name, len(data))
		case len(known.Sections[0].Bullets) != test.kept:
			t.Errorf("%s: len(known.Sections[0].Bullets) = %v, want %v", name, len(known.Sections[0].Bullets), test.kept)
		case known.Truncated != test.truncated:
			t.Errorf("%s: known.Truncated = %v, want %v", name, known.Truncated, test.truncated)
		}
	}
}

// Prose is part of what is known, and what of it is left out is reported.
func TestKnowledgeOfProse(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{
		"MEMORY.md": "# Memory\n\nMira moved to Oslo.\n\n## Boat\n\n| a | b |\n\n- an item\n\n## Long\n\n" +
			strings.Repeat("é", 1001),
	})
	known, err := w.View(audience.DM()).Knowledge("")
	if err != nil {
		t.Fatal(err)
	}
	want := Knowledge{Sections: []passage.Section{
		{Heading: "Memory", Bullets: []string{}, Text: "Mira moved to Oslo."},
		{Heading: "Boat", Bullets: []string{"an item"}, Text: "| a | b |"},
		{Heading: "Long", Bullets: []string{}, Text: strings.Repeat("é", 1000)},
	}, Truncated: true}
	if diff := cmp.Diff(want, known); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if known, err = w.View(audience.DM()).Knowledge("boat"); err != nil || known.Truncated {
		t.Errorf("truncated %t, %v", known.Truncated, err)
	}
}

// Text after the first 4 MiB is not read, which the answer reports.
func TestKnowledgeOfLargeFile(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"MEMORY.md": "# A\n- one\n" + strings.Repeat("x", MaxFileSize) + "\n# B\n- two\n"})
	known, err := w.View(audience.DM()).Knowledge("")
	switch {
	case err != nil:
		t.Error(err)
	case !known.Truncated:
		t.Error("known.Truncated = false")
	case len(known.Sections) != 1:
		t.Errorf("len(known.Sections) = %v, want 1", len(known.Sections))
	case known.Sections[0].Heading != "A":
		t.Errorf("known.Sections[0].Heading = %q, want %q", known.Sections[0].Heading, "A")
	}
	if _, _, err := w.View(audience.DM()).Dreamed(); err != nil {
		t.Error(err)
	}
}

func FuzzKnowledge(f *testing.F) {
	f.Add("## A\n- b\n  c\n", "")
	f.Add("---\nx\n---\n# \n-  \n```\n- x", "a")
	f.Fuzz(func(t *testing.T, text, filter string) {
		known, err := know(passage.Sections(strings.ToValidUTF8(text, "\uFFFD")), filter)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(known)
		if err != nil || len(data) > maxKnowledge {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		for _, section := range known.Sections {
			if len(section.Bullets) > maxSectionBullets {
				t.Fatalf("%d bullets", len(section.Bullets))
			}
		}
	})
}

package tools

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

func TestCurateMemory(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	editor, err := edit.Open(edit.Options{
		View: f.dm(), Dir: filepath.Join(f.Dir(), ".yamo"),
		Now: func() time.Time { return f.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	tool := CurateMemory(f.dm(), editor, "kate")
	made := answer[curated](t, tool,
		`{"section":"Sayings","add":["- Measure twice.","2025-01-02: **Look** first."],"rationale":"Ana says so"}`)
	want := curated{
		EventID: made.EventID, Evidence: made.Evidence, Section: "Sayings", Retired: []string{},
		Added:    []string{"2026-02-14: Measure twice.", "2025-01-02: **Look** first."},
		Snapshot: "- 2026-02-14: Measure twice.\n- 2025-01-02: **Look** first.",
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	const swap = `{"section":"Sayings","add":["Cut once."],"retire":["2026-02-14: Measure"],` +
		`"rationale":"it was wrong","idempotency_key":"k"}`
	swapped := answer[curated](t, tool, swap)
	want = curated{
		EventID: swapped.EventID, Evidence: swapped.Evidence, Section: "Sayings", Added: []string{"2026-02-14: Cut once."},
		Retired:  []string{"2026-02-14: Measure twice."},
		Snapshot: "- 2025-01-02: **Look** first.\n- 2026-02-14: Cut once.",
	}
	if diff := cmp.Diff(want, swapped); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	want.Repeated = true
	f.now = f.now.Add(24 * time.Hour) // the answer got lost shortly before midnight
	if diff := cmp.Diff(want, answer[curated](t, tool, swap)); diff != "" {
		t.Errorf("asked again (-want +got):\n%s", diff)
	}
	if got := refusal(t, tool, strings.Replace(swap, "Cut once", "Cut twice", 1)); !strings.Contains(got,
		"idempotency_key") {
		t.Errorf("another edit with the same key: %q", got)
	}
	if got := refusal(t, tool, `{"section":"Sayings","add":["Cut once."],"rationale":"again"}`); !strings.HasPrefix(got,
		"add: the file contains") {
		t.Errorf("what the file has already: %q", got)
	}
	if text := f.read(t, "MEMORY.md"); !strings.Contains(text,
		"## Sayings\n\n- 2025-01-02: **Look** first.\n- 2026-02-14: Cut once.\n") {
		t.Errorf("MEMORY.md:\n%s", text)
	}
	// A result stays within the budget, whatever was added.
	large := `"` + strings.Repeat("word ", 8<<10) + `"`
	if got := resultText(t, call(t, tool, quiet(),
		`{"section":"Large","add":[`+large+`,`+large+`],"rationale":"r"}`)); len(got) < 40_000 || len(got) > maxResult {
		t.Errorf("a result of %d bytes", len(got))
	}
	for arguments, want := range map[string]string{
		`{"section":"Sayings","rationale":"r"}`:                                  "provide entries in add or retire",
		`{"section":"Sayings","add":[" - "],"rationale":"r"}`:                    "add: entries must not be empty",
		`{"section":"Sayings","add":["x"]}`:                                      "rationale is required",
		`{"section":"Sayings","retire":["Run"],"rationale":"r"}`:                 "retire: no entry is or begins with",
		`{"section":"Songs","retire":["Cut"],"rationale":"r"}`:                   `no section "Songs"`,
		`{"section":"Songs","add":["# Title"],"rationale":"r","file":"SOUL.md"}`: `unknown field "file"`,
	} {
		if got := refusal(t, tool, arguments); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
}

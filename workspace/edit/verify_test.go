package edit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

func TestKeyRotation(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	d.edit(e, request("MEMORY.md", grammar.AppendSection, "Plans", "one"))
	if v, err := e.RotateKey(t.Context(), "operator"); v != 2 || err != nil {
		t.Fatal(v, err)
	}
	other := d.open()
	two := d.edit(other, request("MEMORY.md", grammar.AppendSection, "Plans", "two"))
	if two.Event.Integrity.SaltVersion != 2 {
		t.Errorf("%+v", two.Event)
	}
	r, err := e.Replay(t.Context(), "MEMORY.md", "")
	switch {
	case err != nil:
		t.Error(err)
	case r.Drift != nil:
		t.Errorf("r.Drift = %v, want nil", r.Drift)
	case r.Text != d.read("MEMORY.md"):
		t.Errorf("r.Text = %q, want %q", r.Text, d.read("MEMORY.md"))
	case r.Events != 3:
		t.Errorf("r.Events = %v, want 3", r.Events)
	}
	if n, err := e.Verify(t.Context()); err != nil || n.Events != 4 {
		t.Errorf("%+v, %v", n, err)
	}
	// Without its key a line cannot be verified, and none is made in its place.
	old := filepath.Join(d.dir, ".yamo/private/edits.keys/1")
	key, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(old); err != nil {
		t.Fatal(err)
	}
	if _, err := d.open().Replay(t.Context(), "MEMORY.md", ""); err == nil || !strings.Contains(err.Error(), "key 1 ") {
		t.Error(err)
	}
	key[0]++
	if err := os.WriteFile(old, key, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.open().Verify(t.Context()); err == nil || !strings.Contains(err.Error(), "line 1 ") {
		t.Error(err)
	}
}

// Who edits hears that the record is damaged, and who can do something about it.
func TestDamagedRecord(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(d *fixture) error{
		"a line is another": func(d *fixture) error {
			record := filepath.Join(".yamo", "private", "edits.ndjson")
			d.write(record, strings.Replace(d.read(record), `"rationale":"so`, `"rationale":"no`, 1))
			return nil
		},
		"the key is gone": func(d *fixture) error {
			return os.Remove(filepath.Join(d.dir, ".yamo", "private", "edits.keys", "1"))
		},
	} {
		d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
		d.edit(d.open(), request("MEMORY.md", grammar.AppendSection, "Plans", "one"))
		before := d.read("MEMORY.md")
		if err := damage(d); err != nil {
			t.Fatal(err)
		}
		_, err := d.open().Edit(t.Context(), request("MEMORY.md", grammar.AppendSection, "Plans", "two"))
		switch f, ok := fault.As(err); {
		case !ok:
			t.Errorf("%s: %v, want a fault", name, err)
		case !strings.Contains(f.Error(), "yamo-mcp record verify"):
			t.Errorf("%s: %q lacks %q", name, f.Error(), "yamo-mcp record verify")
		case d.read("MEMORY.md") != before:
			t.Errorf("%s: d.read(\"MEMORY.md\") = %q, want %q", name, d.read("MEMORY.md"), before)
		}
	}
}

func TestForgedLineIsNoticed(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	d.edit(e, request("MEMORY.md", grammar.AppendSection, "Plans", "one"))
	// A line that the chain holds, by a process that does not have the key of the hashes.
	forged, err := sealed(seal.Key{Version: 1, Secret: []byte("another key")}, &Event{
		ID: "01KE0QJ1BM8Y4W8D6S0T2RTX3V", File: "MEMORY.md", Op: OpAccept,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.newLedger().Append(t.Context(), nil, func(time.Time) ([]ledger.Draft, error) {
		return []ledger.Draft{{Op: OpAccept, ID: "01KE0QJ1BM8Y4W8D6S0T2RTX3V", Data: forged}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"history": second(d.open().History(t.Context(), "MEMORY.md", "")),
		"replay":  second(d.open().Replay(t.Context(), "MEMORY.md", "")),
		"verify":  second(d.open().Verify(t.Context())),
	} {
		if err == nil || !strings.Contains(err.Error(), "line 3 ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// What a sweep wrote without a record of edits shows that the record is gone, with all notes of it.
func TestSweepWithoutRecord(t *testing.T) {
	t.Parallel()
	for heading, want := range map[string]string{
		"## Dreamed 2026-02-13": `no edit is recorded, but a sweep wrote the section "Dreamed 2026-02-13" of MEMORY.md`,
		"## Dreams":             "",
	} {
		d := newFixture(t, map[string]string{"MEMORY.md": memoryText + "\n" + heading + "\n\n- Ana sails\n"})
		_, err := d.open().Verify(t.Context())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", heading, err, want)
		}
		d.edit(d.open(), request("MEMORY.md", grammar.AppendItem, "People", "Eva"))
		if _, err := d.open().Verify(t.Context()); err != nil {
			t.Errorf("%s, with a record: %v", heading, err)
		}
	}
}

package history_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"

	"github.com/yamo-protocol/yamo-mcp/internal/history"
)

// database makes a database with the statements in a file of testdata. It stays open for writing, as a program that is
// running has it, until the test ends.
func database(t *testing.T, path, statements string) *sql.DB {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), fixture(t, statements)); err != nil {
		t.Fatal(err)
	}
	return db
}

func read(t *testing.T, source, path string) (got []history.Session) {
	t.Helper()
	if err := history.Readers[source].Read(t.Context(), path, func(s history.Session) error {
		got = append(got, s)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

// What OpenClaw keeps in its database is read while it runs: compressed events too, and nothing of a group.
func TestOpenClawDatabase(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, ".openclaw", "agents", "kate", "agent", "openclaw-agent.sqlite")
	db := database(t, path, "openclaw.sql")
	codec, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	event := `{"type":"message","id":"z","timestamp":"2026-03-01T12:00:00Z",` +
		`"message":{"role":"assistant","content":"nine"}}`
	if _, err := db.ExecContext(t.Context(), `INSERT INTO transcript_events
		(session_id, seq, created_at, event_zstd, event_utf8_bytes) VALUES ('d1', 5, 1, ?, ?), ('d1', 6, 1, x'00', 1)`,
		codec.EncodeAll([]byte(event), nil), len(event)); err != nil {
		t.Fatal(err)
	}
	reader := history.Readers["openclaw"]
	places := reader.Places(home, func(string) string { return "" })
	if diff := cmp.Diff([]string{path}, places); diff != "" {
		t.Errorf("places: -want +got\n%s", diff)
	}
	if history.InPlace(reader, path) || !history.InPlace(reader, home) {
		t.Error("a database is to be copied, a folder of logs is not")
	}
	noon := at("2026-03-01T12:00:00Z")
	want := []history.Session{
		{ID: "d1", Title: "Buoys", Folder: "/home/kate/coast", Unknown: 2, Turns: []history.Turn{
			{Role: "user", Text: "list the buoys", Time: noon}, {Role: "assistant", Text: "nine", Time: noon},
		}},
		{ID: "s1", Parent: "d1", Turns: []history.Turn{{Role: "agent", Text: "count them", Time: noon}}},
		{ID: "cold", Unknown: 1},
	}
	got := read(t, "openclaw", path)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(history.Turn{}, "Typed")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if said := got[0].Turns[0].Said(); said != "list the buoys" {
		t.Errorf("the person typed %q", said)
	}
	if said := got[1].Turns[0].Said(); said != "" {
		t.Errorf("a subagent's task counts as typed: %q", said)
	}
}

// OpenCode's database has what its files had.
func TestOpenCodeDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "opencode", "opencode.db")
	database(t, path, "opencode.sql")
	noon := at("2026-03-01T12:00:00Z")
	want := []history.Session{
		{ID: "ses_1", Title: "Buoys", Folder: "/home/kate/coast", Unknown: 1, Turns: []history.Turn{
			{Role: "user", Text: "list the buoys", Time: noon},
			{Role: "assistant", Text: `[tool call: bash] {"command":"ls"}`, Time: noon},
			{Role: "tool", Text: "buoy.txt", Time: noon},
		}},
		{
			ID: "ses_2", Parent: "ses_1", Title: "Count", Folder: "/home/kate/coast", Unknown: 1,
			Turns: []history.Turn{{Role: "agent", Text: "count them", Time: noon}},
		},
	}
	if diff := cmp.Diff(want, read(t, "opencode", path)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A database of another program is an error that names the table that is missing.
func TestOtherDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	database(t, path, "opencode.sql")
	for _, path := range []string{path, filepath.Join("testdata", "opencode.sql")} {
		err := history.Readers["openclaw"].Read(t.Context(), path, func(history.Session) error { return nil })
		if err == nil {
			t.Errorf("%s is read", path)
		}
	}
}

package othertools_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/yamo-protocol/yamo-mcp/internal/othertools"
)

// memory is what the tests compare of one.
type memory struct {
	Day, Text, Tags, Origin, Session string
}

func listed(f othertools.Found) (list []memory) {
	for _, m := range f.Memories {
		origin, _ := m.Metadata["origin"].(string)
		list = append(list, memory{
			m.CreatedAt.Format(time.DateOnly), m.Content, strings.Join(m.Tags, " "), origin, m.SessionID,
		})
	}
	return list
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// claudeMemTables are claude-mem's own statements of version 13, with the columns that its migrations add.
var claudeMemTables = []string{
	`CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL,
		memory_session_id TEXT UNIQUE, project TEXT NOT NULL)`,
	`CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,
		project TEXT NOT NULL, text TEXT, type TEXT NOT NULL, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL)`,
	`ALTER TABLE observations ADD COLUMN title TEXT`, `ALTER TABLE observations ADD COLUMN subtitle TEXT`,
	`ALTER TABLE observations ADD COLUMN narrative TEXT`, `ALTER TABLE observations ADD COLUMN facts TEXT`,
	`ALTER TABLE observations ADD COLUMN concepts TEXT`,
	`CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT UNIQUE NOT NULL,
		project TEXT NOT NULL, request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT,
		files_read TEXT, files_edited TEXT, notes TEXT, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL)`,
	`INSERT INTO observations (memory_session_id, project, type, created_at, created_at_epoch, title, subtitle, narrative,
		facts, concepts) VALUES ('m1', 'coast', 'discovery', '', 1772366400000, 'Buoys drift', 'by the tide',
		'They drift at night.', '["two metres an hour","only in spring"]', '["tides","gotcha"]')`,
	`INSERT INTO observations (memory_session_id, project, text, type, created_at, created_at_epoch)
		VALUES ('m1', 'coast', 'An old row.', 'decision', '', 1772280000000)`,
	`INSERT INTO observations (memory_session_id, project, type, created_at, created_at_epoch)
		VALUES ('m1', 'coast', 'decision', '', 1772280000000)`,
	`INSERT INTO session_summaries (memory_session_id, project, request, learned, created_at, created_at_epoch)
		VALUES ('m1', 'coast', 'chart the buoys', 'there are nine', '', 1772452800000)`,
}

// Each tool's own form becomes memories with their dates, tags and origin; what is not known is counted.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "basic", "notes", "buoys.md"), `---
title: Buoys
type: note
tags: [sea, marks]
created: 2025-03-04 09:00
---
# Buoys

They are red.
`+"```\n- [code] stays as it is\n```\n"+`
## Observations
- [fact] There are nine #count (in spring)
- [x] paint them

## Relations
- part_of [[Coast]]
- [[Lighthouse]] (near it)
`)
	write(t, filepath.Join(dir, "basic", "plain.md"), "- [idea] Sell the boat\n")
	write(t, filepath.Join(dir, "basic", "torn.md"), "---\ntitle: [\n---\n")
	write(t, filepath.Join(dir, "basic", ".hidden", "x.md"), "- [idea] hidden\n")
	write(t, filepath.Join(dir, "graph", "memory.jsonl"), `{"type":"entity","name":"Kate_M","entityType":"person",`+
		`"observations":["sails"," "]}`+"\n"+`{"type":"relation","from":"Kate_M","to":"Coast","relationType":"lives_at"}`+
		"\n\nno JSON\n")
	write(t, filepath.Join(dir, "mem0.json"), `[{"id":"1","memory":"Likes tea",`+
		`"created_at":"2024-07-26T10:29:36.63-07:00",`+
		`"categories":["food"],"run_id":"r1"},{"id":"2","content":"Likes rain","created_at":1700000000},`+
		`{"id":"3","memory":"Gone","state":"deleted"},{"id":"4"},7]`)
	write(t, filepath.Join(dir, "cm", "none"), "")
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "cm", "claude-mem.db")+"?_journal_mode=WAL")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it goes on while the database is read
	db.SetMaxOpenConns(1)
	for _, statement := range claudeMemTables {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		tool, path       string
		unknown, deleted int
		want             []memory
	}{
		{"basic-memory", "basic", 1, 0, []memory{
			{"2025-03-04", "Buoys: There are nine (in spring)", "fact count sea marks", "notes/buoys.md", ""},
			{"2025-03-04", "Buoys part of Coast", "relation sea marks", "notes/buoys.md", ""},
			{"2025-03-04", "Buoys relates to Lighthouse (near it)", "relation sea marks", "notes/buoys.md", ""},
			{
				"2025-03-04", "Buoys\n\nThey are red.\n```\n- [code] stays as it is\n```\n\n\n- [x] paint them",
				"note sea marks", "notes/buoys.md", "",
			},
			{"2026-02-03", "plain: Sell the boat", "idea", "plain.md", ""},
		}},
		{"server-memory", "graph", 2, 0, []memory{
			{"2026-02-03", "Kate M: sails", "person", "Kate_M", ""},
			{"2026-02-03", "Kate M lives at Coast", "relation", "Kate_M", ""},
		}},
		{"mem0", "mem0.json", 2, 1, []memory{
			{"2023-11-14", "Likes rain", "", "2", ""}, {"2024-07-26", "Likes tea", "food", "1", "r1"},
		}},
		{"claude-mem", "cm", 1, 0, []memory{
			{"2026-02-28", "An old row.", "decision", "observations 2", "m1"},
			{
				"2026-03-01", "Buoys drift: by the tide\nThey drift at night.\n- two metres an hour\n- only in spring",
				"discovery tides gotcha", "observations 1", "m1",
			},
			{"2026-03-02", "Request: chart the buoys\nLearned: there are nine", "summary", "session_summaries 1", "m1"},
		}},
	} {
		found, err := othertools.Readers[test.tool](t.Context(), filepath.Join(dir, test.path))
		if err != nil || found.Unknown != test.unknown || found.Deleted != test.deleted {
			t.Errorf("%s: %d unknown, %d deleted, %v", test.tool, found.Unknown, found.Deleted, err)
		}
		got := listed(found)
		less := func(a, b memory) bool { return a.Day+a.Text < b.Day+b.Text }
		if diff := cmp.Diff(test.want, got, cmpopts.SortSlices(less)); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.tool, diff)
		}
		again, err := othertools.Readers[test.tool](t.Context(), filepath.Join(dir, test.path))
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range again.Memories {
			if m.ID != found.Memories[i].ID || !strings.HasPrefix(m.ID, "mem_") {
				t.Errorf("%s: the id %s becomes %s", test.tool, found.Memories[i].ID, m.ID)
			}
		}
	}
}

// What another program wrote is refused as a whole.
func TestForeign(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "other.txt"), "just text")
	write(t, filepath.Join(dir, "empty", "x.txt"), "")
	for tool, path := range map[string]string{
		"basic-memory": "empty", "server-memory": "other.txt", "mem0": "other.txt", "claude-mem": "other.txt",
	} {
		if _, err := othertools.Readers[tool](t.Context(), filepath.Join(dir, path)); !errors.Is(err, othertools.ErrForeign) {
			t.Errorf("%s: %v", tool, err)
		}
	}
}

package othertools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/sqlitefile"
)

// claudeMemFile is the name of claude-mem's database.
const claudeMemFile = "claude-mem.db"

// claudeMem reads claude-mem's database: what its model observed in sessions, and its summaries of them. Prompts are
// not memories: they are in the host's own logs.
func claudeMem(ctx context.Context, path string) (f Found, err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, claudeMemFile)
	}
	db, err := sqlitefile.Open(ctx, path)
	if errors.Is(err, sqlitefile.ErrNotDatabase) {
		return f, fmt.Errorf("%w: %w", ErrForeign, err)
	}
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tables := 0
	for _, t := range []struct {
		name string
		read func(sqlitefile.Row) entry
	}{{"observations", observed}, {"session_summaries", summarized}} {
		has, err := db.Has(ctx, t.name)
		if err != nil {
			return f, err
		}
		if !has {
			continue
		}
		tables++
		err = db.Each(ctx, "SELECT * FROM "+t.name+" ORDER BY id", func(row sqlitefile.Row) error {
			e := t.read(row)
			e.tool, e.origin = "claude-mem", t.name+" "+row.Text("id")
			e.at, e.session = row.Time("created_at_epoch"), row.Text("memory_session_id")
			e.more = map[string]any{"project": row.Text("project")}
			f.add(e)
			return nil
		})
		if err != nil {
			return f, err
		}
	}
	if tables == 0 {
		return f, fmt.Errorf("%w: the database has no table observations", ErrForeign)
	}
	return f.sorted(), nil
}

// observed returns a row of observations: older versions have text only.
func observed(row sqlitefile.Row) entry {
	title := row.Text("title")
	if subtitle := row.Text("subtitle"); subtitle != "" && title != "" {
		title += ": " + subtitle
	}
	parts := []string{title, row.Text("narrative")}
	for _, fact := range listed(row.Text("facts")) {
		parts = append(parts, "- "+fact)
	}
	text := joined(parts)
	if text == "" {
		text = row.Text("text")
	}
	return entry{text: text, tags: append([]string{row.Text("type")}, listed(row.Text("concepts"))...)}
}

// summarized returns a row of session_summaries.
func summarized(row sqlitefile.Row) entry {
	var parts []string
	for _, part := range []struct{ label, column string }{
		{"Request", "request"},
		{"Investigated", "investigated"},
		{"Learned", "learned"},
		{"Completed", "completed"},
		{"Next steps", "next_steps"},
		{"Notes", "notes"},
	} {
		if text := strings.TrimSpace(row.Text(part.column)); text != "" {
			parts = append(parts, part.label+": "+text)
		}
	}
	return entry{text: joined(parts), tags: []string{"summary"}}
}

// joined joins the parts that have a text.
func joined(parts []string) string {
	var lines []string
	for _, part := range parts {
		if part = strings.TrimSpace(part); part != "" {
			lines = append(lines, part)
		}
	}
	return strings.Join(lines, "\n")
}

// listed returns the elements of a JSON list of strings; another text is its only element.
func listed(text string) (list []string) {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if json.Unmarshal([]byte(text), &list) != nil {
		return []string{text}
	}
	return list
}

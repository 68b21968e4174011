// Package othertools reads the memories that other memory tools have kept: basic-memory, the reference server of the
// Model Context Protocol (server-memory), mem0 and claude-mem.
//
// What it returns is on its way into the ledger (mesh.View.Import) and is not scrubbed yet: it must not be shown,
// logged or kept as it is. Every format is one Reader. The formats are read leniently: what a Reader does not know is
// counted and left out. Nothing of another tool is changed.
package othertools

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Found is what a tool has kept.
type Found struct {
	Memories []record.Foreign // with dates of the tool's, or of its files where it notes none; the oldest first
	Unknown  int              // entries that were left out, because their form is not known or they have no text
	Deleted  int              // entries that were left out because the tool has deleted or archived them
}

// Reader reads what one tool has kept at path, a file or a folder. The error is ErrForeign, wrapped, for what is none
// of the tool's.
type Reader func(ctx context.Context, path string) (Found, error)

// Readers are the readers, by the name of the tool.
var Readers = map[string]Reader{
	"basic-memory": basicMemory, "claude-mem": claudeMem, "mem0": mem0, "server-memory": serverMemory,
}

// ErrForeign means that a path has nothing that the tool wrote.
var ErrForeign = errors.New("it has nothing that this tool wrote")

// Place returns where a tool keeps its memories by default, "" if that is not known.
func Place(tool, home string, lookup func(string) string) string {
	switch tool {
	case "basic-memory":
		return cmp.Or(lookup("BASIC_MEMORY_HOME"), filepath.Join(home, "basic-memory"))
	case "claude-mem":
		return filepath.Join(cmp.Or(lookup("CLAUDE_MEM_DATA_DIR"), filepath.Join(home, ".claude-mem")), claudeMemFile)
	case "server-memory":
		return lookup("MEMORY_FILE_PATH")
	}
	return ""
}

// maxFile is the maximum size of a file that is read whole, in bytes.
const maxFile = 256 << 20

// entry is an entry of a tool.
type entry struct {
	tool, origin string // origin: where it was in the tool's store
	text         string
	at           time.Time
	tags         []string
	session      string
	more         map[string]any // further metadata
}

// add adds an entry as a memory, or counts it if it has no text. Its ID follows from what it says, so that it has the
// same one in each import.
func (f *Found) add(e entry) {
	e.text = strings.TrimSpace(e.text)
	if e.text == "" {
		f.Unknown++
		return
	}
	at := e.at.UTC().Truncate(time.Millisecond)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s", e.tool, e.text))
	m := record.Foreign{}
	m.ID = fmt.Sprintf("mem_%d_%s", max(0, at.UnixMilli()), hex.EncodeToString(sum[:8]))
	m.CreatedAt, m.Content, m.Source, m.SessionID = at, e.text, e.tool, short(e.session, record.MaxField)
	m.Metadata = map[string]any{"tool": e.tool, "origin": short(e.origin, record.MaxField)}
	for key, value := range e.more {
		if value != "" {
			m.Metadata[key] = value
		}
	}
	for _, tag := range e.tags {
		tag = strings.Join(strings.Fields(strings.Trim(tag, "#")), "-")
		if tag != "" && utf8.RuneCountInString(tag) <= record.MaxTag && len(m.Tags) < record.MaxTags &&
			!slices.Contains(m.Tags, tag) {
			m.Tags = append(m.Tags, tag)
		}
	}
	f.Memories = append(f.Memories, m)
}

// sorted returns f with the oldest first.
func (f Found) sorted() Found {
	slices.SortStableFunc(f.Memories, func(a, b record.Foreign) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return f
}

func short(text string, n int) string {
	if utf8.RuneCountInString(text) > n {
		return string([]rune(text)[:n])
	}
	return text
}

// whole reads a file of limited size, and returns when it was changed last.
func whole(path string) (data []byte, at time.Time, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, at, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, at, fmt.Errorf("%w: no file of up to %d MiB", ErrForeign, maxFile>>20)
	}
	data, err = os.ReadFile(path)
	return data, info.ModTime(), err
}

// moment reads a time as tools write them, or returns the fallback.
func moment(value any, fallback time.Time) time.Time {
	switch v := value.(type) {
	case time.Time:
		return v
	case float64:
		return epoch(v, fallback)
	case uint64: // of YAML
		return epoch(float64(v), fallback)
	case string:
		v = strings.TrimSpace(v)
		for _, layout := range []string{
			time.RFC3339Nano, "2006-01-02T15:04:05.999999", "2006-01-02 15:04:05.999999999-07:00", "2006-01-02 15:04:05",
			"2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
		} {
			if at, err := time.Parse(layout, v); err == nil {
				return at
			}
		}
	}
	return fallback
}

// epoch reads seconds or milliseconds since 1970.
func epoch(n float64, fallback time.Time) time.Time {
	const milliseconds = 1e11 // as seconds it is in the year 5138
	switch {
	case n <= 0 || n > 1e15:
		return fallback
	case n > milliseconds:
		return time.UnixMilli(int64(n))
	}
	return time.UnixMilli(int64(n * 1000))
}

// serverMemory reads the knowledge graph of server-memory: JSON Lines of entities with observations, and relations. The
// tool notes no dates.
func serverMemory(ctx context.Context, path string) (f Found, err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		dir := path
		for _, name := range []string{"memory.jsonl", "memory.json"} {
			path = filepath.Join(dir, name)
			if _, err := os.Stat(path); err == nil {
				break
			}
		}
	}
	data, at, err := whole(path)
	if err != nil {
		return f, err
	}
	known := 0
	for line := range bytes.Lines(data) {
		if err := ctx.Err(); err != nil {
			return f, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var row struct {
			Type         string   `json:"type"`
			Name         string   `json:"name"`
			EntityType   string   `json:"entityType"`
			Observations []string `json:"observations"`
			From         string   `json:"from"`
			To           string   `json:"to"`
			Relation     string   `json:"relationType"`
		}
		err := json.Unmarshal(line, &row)
		switch {
		case err == nil && row.Type == "entity" && row.Name != "":
			known++
			for _, said := range row.Observations {
				if strings.TrimSpace(said) == "" {
					f.Unknown++
					continue
				}
				f.add(entry{
					tool: "server-memory", origin: row.Name, at: at, tags: []string{row.EntityType},
					text: spaced(row.Name) + ": " + said,
				})
			}
		case err == nil && row.Type == "relation" && row.From != "" && row.To != "" && row.Relation != "":
			known++
			f.add(entry{
				tool: "server-memory", origin: row.From, at: at, tags: []string{"relation"},
				text: spaced(row.From) + " " + spaced(row.Relation) + " " + spaced(row.To),
			})
		default:
			f.Unknown++
		}
	}
	if known == 0 {
		return f, ErrForeign
	}
	return f, nil
}

// spaced returns a name as words: John_Smith is John Smith.
func spaced(name string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(name, "_", " ")), " ")
}

// mem0 reads an export of mem0's: a list of memories, or an object with it.
func mem0(ctx context.Context, path string) (f Found, err error) {
	data, changed, err := whole(path)
	if err != nil {
		return f, err
	}
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil {
		var in struct {
			Results, Memories, Data []json.RawMessage
		}
		if json.Unmarshal(data, &in) != nil {
			return f, fmt.Errorf("%w: no JSON", ErrForeign)
		}
		list = slices.Concat(in.Results, in.Memories, in.Data)
	}
	for _, raw := range list {
		if err := ctx.Err(); err != nil {
			return f, err
		}
		var m struct {
			ID         string   `json:"id"`
			Memory     string   `json:"memory"`
			Content    string   `json:"content"`
			State      string   `json:"state"`
			UserID     string   `json:"user_id"`
			AgentID    string   `json:"agent_id"`
			RunID      string   `json:"run_id"`
			Categories []string `json:"categories"`
			CreatedAt  any      `json:"created_at"`
		}
		var typed *json.UnmarshalTypeError
		if err := json.Unmarshal(raw, &m); err != nil && !errors.As(err, &typed) {
			f.Unknown++
			continue
		}
		if m.State != "" && m.State != "active" {
			f.Deleted++
			continue
		}
		f.add(entry{
			tool: "mem0", origin: m.ID, text: cmp.Or(m.Memory, m.Content), at: moment(m.CreatedAt, changed),
			tags: m.Categories, session: m.RunID, more: map[string]any{"user_id": m.UserID, "agent_id": m.AgentID},
		})
	}
	if len(f.Memories)+f.Deleted == 0 {
		return f, ErrForeign
	}
	return f.sorted(), nil
}

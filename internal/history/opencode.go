package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/sqlitefile"
)

// openCode reads OpenCode's storage of JSON files: session/PROJECT/SESSION.json, message/SESSION/MESSAGE.json and
// part/MESSAGE/PART.json; and, given a file, the database of its newer versions, in which the same JSON is in rows.
type openCode struct{}

func (openCode) Places(home string, lookup func(string) string) []string {
	data := cmp.Or(lookup("XDG_DATA_HOME"), filepath.Join(home, ".local", "share"))
	return []string{filepath.Join(data, "opencode", "storage"), filepath.Join(data, "opencode", "opencode.db")}
}

type openCodeTime struct {
	Created json.RawMessage `json:"created"` // Unix milliseconds
}

func (openCode) Read(ctx context.Context, path string, visit func(Session) error) error {
	if isDatabase(path) {
		return openCodeDatabase(ctx, path, visit)
	}
	files, err := filepath.Glob(filepath.Join(path, "session", "*", "*.json"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		var info struct {
			ID        string `json:"id"`
			ParentID  string `json:"parentID"`
			Title     string `json:"title"`
			Directory string `json:"directory"`
		}
		s := Session{Unknown: 1}
		switch err := readJSON(file, &info); {
		case err == nil && info.ID != "":
			s = Session{ID: info.ID, Title: info.Title, Folder: info.Directory}
			openCodeMessages(path, &s)
			if info.ParentID != "" {
				s.subagent(info.ParentID)
			}
		}
		if err := visit(s); err != nil {
			return err
		}
	}
	return nil
}

// openCodeMessage is a message.
type openCodeMessage struct {
	ID   string `json:"id"`
	Role string `json:"role"`
	// Model is of an answer.
	Model string       `json:"modelID"`
	Time  openCodeTime `json:"time"`
}

// openCodeMessages adds the messages of a session.
func openCodeMessages(path string, s *Session) {
	var messages []openCodeMessage
	files, _ := filepath.Glob(filepath.Join(path, "message", filepath.Base(s.ID), "*.json")) // the pattern is valid
	slices.Sort(files)                                                                       // their ids ascend in time
	for _, file := range files {
		var m openCodeMessage
		if readJSON(file, &m) != nil || m.Role != "user" && m.Role != "assistant" {
			s.Unknown++
			continue
		}
		messages, s.Model = append(messages, m), cmp.Or(m.Model, s.Model)
	}
	for _, m := range messages {
		var said openCodeSaid
		files, _ := filepath.Glob(filepath.Join(path, "part", filepath.Base(m.ID), "*.json")) // the pattern is valid
		slices.Sort(files)                                                                    // their ids ascend
		for _, file := range files {
			var p openCodePart
			if readJSON(file, &p) != nil || !said.add(p) {
				s.Unknown++
			}
		}
		said.turns(m.Role, moment(m.Time.Created), s)
	}
}

// openCodePart is a part of a message.
type openCodePart struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"`
	Tool      string `json:"tool"`
	State     struct {
		Input  json.RawMessage `json:"input"`
		Output string          `json:"output"`
	} `json:"state"`
}

// openCodeSaid is what was said and called in a message, and what tools returned.
type openCodeSaid struct{ texts, outputs []string }

// add adds a part, and reports whether its type is known.
func (said *openCodeSaid) add(p openCodePart) bool {
	switch p.Type {
	case "text":
		if !p.Synthetic { // what the host added
			said.texts = append(said.texts, p.Text)
		}
	case "tool":
		said.texts = append(said.texts, "[tool call: "+p.Tool+"] "+string(p.State.Input))
		said.outputs = append(said.outputs, p.State.Output)
	case "reasoning", "step-start", "step-finish", "snapshot", "patch", "file", "agent", "retry", "compaction", "subtask":
	default:
		return false
	}
	return true
}

// turns adds the turns of a message to s.
func (said *openCodeSaid) turns(role string, at time.Time, s *Session) {
	for _, t := range []Turn{
		{Role: role, Text: strings.TrimSpace(strings.Join(said.texts, "\n")), Time: at},
		{Role: "tool", Text: strings.TrimSpace(strings.Join(said.outputs, "\n")), Time: at},
	} {
		s.add(t)
	}
}

// openCodeDatabase reads the sessions of a database.
func openCodeDatabase(ctx context.Context, path string, visit func(Session) error) (err error) {
	db, err := sqlitefile.Open(ctx, path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, table := range []string{"session", "message", "part"} {
		if has, err := db.Has(ctx, table); err != nil || !has {
			return errors.Join(fmt.Errorf("%s: it has no table %s", path, table), err)
		}
	}
	type row struct {
		Session
		parent string
	}
	var sessions []row
	err = db.Each(ctx, "SELECT * FROM session ORDER BY time_created, id", func(r sqlitefile.Row) error {
		s := Session{ID: r.Text("id"), Title: r.Text("title"), Folder: r.Text("directory")}
		sessions = append(sessions, row{s, r.Text("parent_id")})
		return nil
	})
	for i := 0; i < len(sessions) && err == nil; i++ {
		s := sessions[i].Session
		if err = openCodeRows(ctx, db, &s); err != nil {
			return err
		}
		if sessions[i].parent != "" {
			s.subagent(sessions[i].parent)
		}
		err = visit(s)
	}
	return err
}

// openCodeRows adds the messages of a session of a database.
func openCodeRows(ctx context.Context, db *sqlitefile.File, s *Session) error {
	parts := map[string]*openCodeSaid{}
	const ofParts = "SELECT message_id, data FROM part WHERE session_id = ? ORDER BY id"
	err := db.Each(ctx, ofParts, func(r sqlitefile.Row) error {
		var p openCodePart
		message := r.Text("message_id")
		if parts[message] == nil {
			parts[message] = &openCodeSaid{}
		}
		if !decode(r.Bytes("data"), &p) || !parts[message].add(p) {
			s.Unknown++
		}
		return nil
	}, s.ID)
	if err != nil {
		return err
	}
	const ofMessages = "SELECT id, data, time_created FROM message WHERE session_id = ? ORDER BY id"
	return db.Each(ctx, ofMessages, func(r sqlitefile.Row) error {
		var m openCodeMessage
		if !decode(r.Bytes("data"), &m) || m.Role != "user" && m.Role != "assistant" {
			s.Unknown++
			return nil
		}
		s.Model = cmp.Or(m.Model, s.Model)
		at := moment(m.Time.Created)
		if at.IsZero() {
			at = r.Time("time_created")
		}
		if said := parts[r.Text("id")]; said != nil {
			said.turns(m.Role, at, s)
		}
		return nil
	}, s.ID)
}

package history

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// openCode reads OpenCode's storage of JSON files: session/PROJECT/SESSION.json, message/SESSION/MESSAGE.json and
// part/MESSAGE/PART.json. Its versions with a database are not read.
type openCode struct{}

func (openCode) Places(home string, lookup func(string) string) []string {
	data := cmp.Or(lookup("XDG_DATA_HOME"), filepath.Join(home, ".local", "share"))
	return []string{filepath.Join(data, "opencode", "storage")}
}

type openCodeTime struct {
	Created int64 `json:"created"` // Unix milliseconds
}

func (openCode) Read(ctx context.Context, path string, visit func(Session) error) error {
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

// openCodeMessages adds the messages of a session.
func openCodeMessages(path string, s *Session) {
	type message struct {
		ID   string       `json:"id"`
		Role string       `json:"role"`
		Time openCodeTime `json:"time"`
	}
	var messages []message
	files, _ := filepath.Glob(filepath.Join(path, "message", filepath.Base(s.ID), "*.json")) // the pattern is valid
	slices.Sort(files)                                                                       // their ids ascend in time
	for _, file := range files {
		var m message
		if readJSON(file, &m) != nil || m.Role != "user" && m.Role != "assistant" {
			s.Unknown++
			continue
		}
		messages = append(messages, m)
	}
	for _, m := range messages {
		said, results := openCodeParts(path, m.ID, s)
		at := time.Time{}
		if m.Time.Created > 0 {
			at = time.UnixMilli(m.Time.Created).UTC()
		}
		for _, t := range []Turn{{Role: m.Role, Text: said, Time: at}, {Role: "tool", Text: results, Time: at}} {
			if t.Text != "" {
				s.Turns = append(s.Turns, t)
			}
		}
	}
}

// openCodeParts returns what was said and called in a message, and what tools returned.
func openCodeParts(path, message string, s *Session) (said, results string) {
	var texts, outputs []string
	files, _ := filepath.Glob(filepath.Join(path, "part", filepath.Base(message), "*.json")) // the pattern is valid
	slices.Sort(files)                                                                       // their ids ascend
	for _, file := range files {
		var p struct {
			Type      string `json:"type"`
			Text      string `json:"text"`
			Synthetic bool   `json:"synthetic"`
			Tool      string `json:"tool"`
			State     struct {
				Input  json.RawMessage `json:"input"`
				Output string          `json:"output"`
			} `json:"state"`
		}
		if readJSON(file, &p) != nil {
			s.Unknown++
			continue
		}
		switch p.Type {
		case "text":
			if !p.Synthetic { // what the host added
				texts = append(texts, p.Text)
			}
		case "tool":
			texts = append(texts, "[tool call: "+p.Tool+"] "+string(p.State.Input))
			outputs = append(outputs, p.State.Output)
		case "reasoning", "step-start", "step-finish", "snapshot", "patch", "file", "agent", "retry", "compaction", "subtask":
		default:
			s.Unknown++
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n")), strings.TrimSpace(strings.Join(outputs, "\n"))
}

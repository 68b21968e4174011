// Package history reads conversations that other programs have kept: what Claude Code, OpenClaw, Codex, Gemini CLI and
// OpenCode write, and the archives that ChatGPT and Claude export. Copy writes them as session logs (seed 002, phase
// 10.4), which are then found as any other.
//
// Every format is one Reader. The formats are read leniently: what a Reader does not know is counted and left out.
package history

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/atomicfile"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// Session is a conversation.
type Session struct {
	ID      string
	Parent  string // of a subagent: the id of the session that it worked for, its own if that is not known; else ""
	Title   string // "" if it has none
	Folder  string // that it was about, "" if it is not known
	Branch  string // of git, "" if it is not known
	Model   string // the last one that answered, "" if it is not known
	Turns   []Turn // in order
	Unknown int    // entries that were left out because their form is not known
}

// Turn is an entry of a conversation.
type Turn struct {
	Role string // user, assistant, tool, system for the program itself, or agent for another agent
	Text string
	Time time.Time // zero if it is not known
	// Typed is what the person typed of Text, "" for nothing; nil for all of a user's turn.
	Typed *string
}

// Said returns what the person typed of a turn, "" for nothing.
func (t Turn) Said() string {
	switch {
	case t.Role != "user":
		return ""
	case t.Typed != nil:
		return *t.Typed
	}
	return t.Text
}

// add adds a turn, if it has a text. What is in the user's place is divided among its authors.
func (s *Session) add(t Turn) {
	if t.Role != "user" || t.Typed != nil {
		if t.Text != "" {
			s.Turns = append(s.Turns, t)
		}
		return
	}
	for _, p := range transcript.Authors(t.Text) {
		one := Turn{Role: p.Role, Text: strings.TrimSpace(p.Text), Time: t.Time}
		if typed := transcript.Typed(p.Text); p.Role == "user" && typed != one.Text {
			one.Typed = &typed
		}
		s.Turns = append(s.Turns, one)
	}
}

// subagent makes s a subagent's session, which worked for the one with the id parent, "" if that is not known: what is
// in the user's place is another agent's.
func (s *Session) subagent(parent string) {
	s.Parent = cmp.Or(parent, s.ID)
	for i := range s.Turns {
		if s.Turns[i].Role == "user" {
			s.Turns[i].Role = "agent"
		}
	}
}

// Reader reads one program's conversations.
type Reader interface {
	// Places returns where the program keeps them, of which some may not exist; none for an archive, which the person
	// names. lookup returns environment variables.
	Places(home string, lookup func(string) string) []string
	// Read calls visit for each session in the file or folder at path, until visit fails. A file of a session that
	// cannot be read is a session without turns that counts as unknown.
	Read(ctx context.Context, path string, visit func(Session) error) error
}

// Readers are the readers, by the name of the program.
var Readers = map[string]Reader{
	"chatgpt": chatGPT{}, "claude": claude{}, "codex": codex{}, "gemini": gemini{}, "opencode": openCode{},
	"claude-code": hostLogs{claudeCode}, "openclaw": openClawStore{hostLogs{openClaw}},
}

// InPlace reports whether session_logs reads a program's sessions at path where they are, so that a copy only keeps
// what the program deletes.
func InPlace(r Reader, path string) bool {
	switch r.(type) {
	case hostLogs:
		return true
	case openClawStore:
		return !isDatabase(path)
	}
	return false
}

// isDatabase reports whether path is a file, and so not a folder of logs.
func isDatabase(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// maxFile is the maximum size of a file of one session.
const maxFile = 256 << 20

// maxText is the maximum length of a turn's text in a line of a copy, in bytes. A longer text is several turns: the
// reader of session logs leaves out a line of more than 4 MiB, and JSON writes a byte in up to six.
const maxText = 512 << 10

// Copy writes s as the session log called name (see Names) into dir, and returns its path. A session that is there
// already is replaced if it has changed; changed tells.
func Copy(dir, source, name string, s Session) (path string, changed bool, err error) {
	path = filepath.Join(dir, name+".jsonl")
	var b bytes.Buffer
	line := json.NewEncoder(&b)
	line.SetEscapeHTML(false)
	for _, l := range lines(source, name, s) {
		if err := line.Encode(l); err != nil {
			return "", false, fmt.Errorf("write session log: %w", err)
		}
	}
	if old, err := atomicfile.Read(path); err == nil && bytes.Equal(old, b.Bytes()) {
		return path, false, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", false, fmt.Errorf("create the folder of session logs: %w", err)
	}
	return path, true, atomicfile.Write(path, b.Bytes())
}

// lines returns the lines of a session log.
func lines(source, name string, s Session) []any {
	header := map[string]any{
		"type": "session", "version": 1, "id": name, "connection": "dm", "source_plugin": source,
	}
	if s.Folder != "" {
		header["cwd"] = s.Folder
	}
	if len(s.Turns) > 0 && !s.Turns[0].Time.IsZero() {
		header["timestamp"] = stamp(s.Turns[0].Time)
	}
	list := []any{header}
	if s.Title != "" {
		list = append(list, map[string]any{"type": "custom-title", "customTitle": s.Title, "cwd": s.Folder})
	}
	number := 0
	for _, t := range s.Turns {
		for _, piece := range pieces(t.Text) {
			number++
			entry := map[string]any{
				"type": "entry", "role": t.Role, "content": piece, "message_id": fmt.Sprint(number), "source_plugin": source,
			}
			if !t.Time.IsZero() {
				entry["timestamp"] = stamp(t.Time)
			}
			if s.Folder != "" {
				entry["cwd"] = s.Folder
			}
			if s.Branch != "" {
				entry["gitBranch"] = s.Branch
			}
			if s.Model != "" {
				entry["model"] = s.Model
			}
			if s.Parent != "" { // as Claude Code does
				entry["isSidechain"], entry["sessionId"] = true, fileName(s.Parent)
			}
			list = append(list, entry)
		}
	}
	return list
}

// pieces returns text in pieces of up to maxText bytes, which end between characters.
func pieces(text string) (list []string) {
	for len(text) > maxText {
		end := maxText
		for end > maxText-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		list, text = append(list, text[:end]), text[end:]
	}
	return append(list, text)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

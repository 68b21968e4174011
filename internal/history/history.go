// Package history reads conversations that other programs have kept: what Claude Code, OpenClaw, Codex, Gemini CLI and
// OpenCode write, and the archives that ChatGPT and Claude export. Copy writes them as session logs (seed 002, phase
// 10.4), which are then found as any other.
//
// Every format is one Reader. The formats are read leniently: what a Reader does not know is counted and left out.
package history

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/atomicfile"
)

// Session is a conversation.
type Session struct {
	ID      string
	Parent  string // of a subagent: the id of the session that it worked for, its own if that is not known; else ""
	Title   string // "" if it has none
	Folder  string // that it was about, "" if it is not known
	Turns   []Turn // in order
	Unknown int    // entries that were left out because their form is not known
}

// Turn is an entry of a conversation.
type Turn struct {
	Role string // user, assistant, tool, or agent for who gave a subagent its task
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

// LogName returns the id under which Copy writes a session.
func LogName(s Session) string { return fileName(s.ID) }

// maxFile is the maximum size of a file of one session.
const maxFile = 256 << 20

// ErrNotArchive means that a file is none of the forms that a program exports.
var ErrNotArchive = errors.New("it is neither an exported archive (zip) nor its conversations.json")

// Copy writes s as a session log into dir, and returns its path. A session that is there already is replaced if it has
// changed; changed tells.
func Copy(dir, source string, s Session) (path string, changed bool, err error) {
	path = filepath.Join(dir, fileName(s.ID)+".jsonl")
	var b bytes.Buffer
	line := json.NewEncoder(&b)
	line.SetEscapeHTML(false)
	header := map[string]any{
		"type": "session", "version": 1, "id": fileName(s.ID), "connection": "dm", "source_plugin": source,
	}
	if s.Folder != "" {
		header["cwd"] = s.Folder
	}
	if len(s.Turns) > 0 && !s.Turns[0].Time.IsZero() {
		header["timestamp"] = stamp(s.Turns[0].Time)
	}
	lines := []any{header}
	if s.Title != "" {
		lines = append(lines, map[string]any{"type": "custom-title", "customTitle": s.Title, "cwd": s.Folder})
	}
	for i, t := range s.Turns {
		entry := map[string]any{
			"type": "entry", "role": t.Role, "content": t.Text, "message_id": fmt.Sprint(i + 1), "source_plugin": source,
		}
		if !t.Time.IsZero() {
			entry["timestamp"] = stamp(t.Time)
		}
		if s.Folder != "" {
			entry["cwd"] = s.Folder
		}
		if s.Parent != "" { // as Claude Code does
			entry["isSidechain"], entry["sessionId"] = true, fileName(s.Parent)
		}
		lines = append(lines, entry)
	}
	for _, l := range lines {
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

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// odd is what the name of a session log cannot have.
var odd = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// fileName returns id as the name of a session log.
func fileName(id string) string {
	id = strings.TrimLeft(odd.ReplaceAllString(id, "-"), "._-")
	return cmp.Or(id[:min(len(id), 120)], "session")
}

// conversations opens conversations.json of an archive, or the file itself.
func conversations(path string) (io.ReadCloser, error) {
	if !strings.EqualFold(filepath.Ext(path), ".zip") {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			path = filepath.Join(path, "conversations.json")
		}
		return os.Open(path)
	}
	archive, err := zip.OpenReader(path)
	if err != nil {
		return nil, errors.Join(ErrNotArchive, err)
	}
	at := slices.IndexFunc(archive.File, func(f *zip.File) bool { return filepath.Base(f.Name) == "conversations.json" })
	if at < 0 {
		return nil, errors.Join(ErrNotArchive, archive.Close())
	}
	file, err := archive.File[at].Open()
	if err != nil {
		return nil, errors.Join(err, archive.Close())
	}
	return &inArchive{file, archive}, nil
}

// inArchive is a file in an archive that is closed with it.
type inArchive struct {
	io.ReadCloser
	archive *zip.ReadCloser
}

func (f *inArchive) Close() error { return errors.Join(f.ReadCloser.Close(), f.archive.Close()) }

// eachElement calls visit with each element of the JSON array in r. Memory is bounded by the largest.
func eachElement(ctx context.Context, r io.Reader, visit func(json.RawMessage) error) error {
	d := json.NewDecoder(r)
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		return errors.Join(ErrNotArchive, err)
	}
	for d.More() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var element json.RawMessage
		if err := d.Decode(&element); err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		if err := visit(element); err != nil {
			return err
		}
	}
	return nil
}

// readJSON decodes a file of limited size.
func readJSON(path string, to any) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return fmt.Errorf("%s: %w", filepath.Base(path), fs.ErrInvalid)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

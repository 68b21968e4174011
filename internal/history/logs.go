package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// hostLogs reads the JSON Lines of a host whose logs session_logs reads where they are.
type hostLogs struct {
	places func(home string, lookup func(string) string) []string
}

func (h hostLogs) Places(home string, lookup func(string) string) []string {
	return h.places(home, lookup)
}

// Read implements Reader. Sessions of groups are left out.
//
// SECURITY: a copy is the direct conversation's, and what strangers said in a group is not.
func (h hostLogs) Read(ctx context.Context, path string, visit func(Session) error) (err error) {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: not a folder; name the one that has the host's .jsonl files", filepath.Base(path))
	}
	folder, err := transcript.Open(path, transcript.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	view := folder.View(audience.DM())
	logs, err := view.Logs()
	if err != nil {
		return err
	}
	for _, l := range logs {
		if l.Group != "" {
			continue
		}
		s, own, err := hostSession(ctx, view, l)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			s = Session{ID: l.SessionID, Unknown: 1}
		case !own:
			continue
		}
		if err := visit(s); err != nil {
			return err
		}
	}
	return nil
}

// hostSession returns the session in a log. own is false if its header names a group.
func hostSession(ctx context.Context, view *transcript.View, l transcript.Log) (s Session, own bool, err error) {
	s.ID = l.SessionID
	about, err := view.Tell(ctx, l, func(t transcript.Turn) { s.add(hostTurn(t)) })
	if err != nil || about.Group != "" {
		return s, false, err
	}
	s.Title, s.Folder, s.Branch, s.Model = about.Title, about.Folder, about.Branch, about.Model
	s.Unknown = about.SkippedLines
	if about.Subagent {
		s.Parent = cmp.Or(about.Parent, s.ID)
	}
	return s, true, nil
}

// hostTurn returns a turn of a host's log.
func hostTurn(t transcript.Turn) Turn {
	at, err := time.Parse(time.RFC3339Nano, t.Timestamp)
	if err != nil {
		at = time.Time{}
	}
	typed := ""
	if t.Role == "user" && !t.Subagent {
		typed = t.Spoken
	}
	return Turn{Role: t.Role, Text: t.Content, Time: at, Typed: &typed}
}

// claudeCode finds Claude Code's logs, in a folder for each project.
func claudeCode(home string, lookup func(string) string) []string {
	dir := lookup("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = filepath.Join(home, ".claude")
	}
	return []string{filepath.Join(dir, "projects")}
}

// openClaw finds OpenClaw's logs, in a folder for each agent, and the databases of its newer versions.
func openClaw(home string, lookup func(string) string) []string {
	dir := lookup("OPENCLAW_STATE_DIR")
	if dir == "" {
		dir = filepath.Join(home, ".openclaw")
	}
	found, _ := filepath.Glob(filepath.Join(dir, "agents", "*", "sessions")) // the pattern is valid
	databases, _ := filepath.Glob(filepath.Join(dir, "agents", "*", "agent", openClawFile))
	found = append(found, databases...)
	if len(found) == 0 {
		found = []string{filepath.Join(dir, "agents")} // for the message that there is nothing
	}
	return found
}

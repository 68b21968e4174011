package transcript

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// A subagent's turns are in one of four places: in its session's own log, in a log next to it that names the session
// (Claude Code's agent-ID.jsonl), in SESSION/subagents below it, or in a log that OpenClaw's sessions.json or the
// header of a copy assigns to a session.

const (
	// subagentsFolder is the folder that Claude Code keeps a session's subagents in, below one of the session's id.
	subagentsFolder = "subagents"
	// subagentMark begins the names of Claude Code's logs of subagents.
	subagentMark = "agent-"
	// maxSubagents is the maximum number of subagents that a session is listed with.
	maxSubagents = 20
)

// Subagent is the log of an agent that worked for a session.
type Subagent struct {
	SessionID string `json:"session_id"`
	Title     string `json:"title,omitempty"` // how its task begins
}

// subagentFolders returns the folders of subagents below folder, which may not exist.
func (v *View) subagentFolders(folder string) (found []string) {
	root, below, err := v.in(folder)
	if err != nil {
		return nil
	}
	entries, err := plain.List(root, below)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		if entry.IsDir() && sessionID.MatchString(entry.Name()) {
			found = append(found, path.Join(folder, entry.Name(), subagentsFolder))
		}
	}
	slices.Sort(found)
	return found
}

// parentOf returns the session that a folder of subagents belongs to, "" for another folder.
func parentOf(folder string) string {
	if dir := path.Dir(folder); dir != "." && path.Base(folder) == subagentsFolder {
		return path.Base(dir)
	}
	return ""
}

// worksForOther returns the session whose subagent's turn t is, "" for none or if it is among the turns of that
// session.
func (t turn) worksForOther(l log) string {
	if parent := cmp.Or(l.parent, t.worksFor); parent != l.id {
		return parent
	}
	return ""
}

// bySubagent marks a line of the log of a subagent as one, if its place tells: not all hosts write that into the
// line.
func (r line) bySubagent(parent string) line {
	if parent == "" {
		return r
	}
	r.subagent, r.parent = true, parent
	if r.others = slices.Clone(r.others); r.kind == entryLine {
		r.fromAgent()
	}
	for i := range r.others {
		r.others[i].subagent, r.others[i].parent = true, parent
	}
	return r
}

// subagents returns the logs of subagents among logs, by the session that they worked for.
func (v *View) subagents(ctx context.Context, logs []log) (map[string][]log, error) {
	found := map[string][]log{}
	for _, l := range logs {
		parent := l.parent
		if parent == "" && (strings.HasPrefix(l.id, subagentMark) || strings.HasPrefix(l.name, importedPrefix)) {
			session, err := v.scan(ctx, l, nil, func(Session, turn) bool { return false })
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err == nil && session.Subagent {
				parent = session.Parent
			}
		}
		if parent != "" && parent != l.id {
			found[parent] = append(found[parent], l)
		}
	}
	return found, nil
}

// addSubagents adds to s the first of its subagents, oldest first. logs are theirs, the newest first.
func (v *View) addSubagents(ctx context.Context, s *Session, logs []log) error {
	s.MoreSubagents = max(0, len(logs)-maxSubagents)
	for i := len(logs) - 1; i >= s.MoreSubagents; i-- {
		about, err := v.scan(ctx, logs[i], nil, func(s Session, _ turn) bool { return s.Title == "" })
		if errors.Is(err, ErrNotFound) { // deleted since
			continue
		}
		if err != nil {
			return err
		}
		s.Subagents = append(s.Subagents, Subagent{SessionID: about.SessionID, Title: about.Title})
	}
	return nil
}

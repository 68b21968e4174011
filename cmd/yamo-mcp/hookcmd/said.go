package hookcmd

import (
	"context"
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// How much of an exchange is written to the log, in characters: enough to know what it was about.
const (
	promptChars = 400
	answerChars = 800
)

// hostNamesInLog are the hosts as the log names them.
var hostNamesInLog = map[string]string{
	"claude-code": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI", "cursor": "Cursor", "opencode": "OpenCode",
}

// stop writes to the daily log what was said since the last time.
func (r *run) stop(ctx context.Context) error {
	return r.folder.locked(ctx, func() error {
		s := r.folder.load(r.in.SessionID, r.now)
		if err := r.record(ctx, &s); err != nil {
			return err
		}
		return r.folder.save(r.in.SessionID, s)
	})
}

// record writes to the daily log what was said and is not in it.
func (r *run) record(ctx context.Context, s *state) error {
	if body := formatTurns(r.turns(s)); body != "" {
		if err := r.write(ctx, s, "", body); err != nil {
			return err
		}
	}
	s.Prompt = ""
	return nil
}

// preCompact writes a checkpoint to the daily log: the host is about to forget what was said.
func (r *run) preCompact(ctx context.Context) error {
	// Gemini CLI announces every turn that it may compact.
	if r.hostID == "gemini" && r.in.Trigger != "manual" {
		return nil
	}
	return r.folder.locked(ctx, func() error { return r.checkpoint(ctx) })
}

// checkpoint writes to the daily log, before the host compacts the conversation, what was said so far and where the
// work is.
func (r *run) checkpoint(ctx context.Context) error {
	s := r.folder.load(r.in.SessionID, r.now)
	asked := s.Prompt
	// What was said so far is written now, because compaction may replace the host's log.
	if err := r.record(ctx, &s); err != nil {
		return err
	}
	var lines []string
	if project := r.in.project(); project != "" {
		line := "- Project " + project
		if branch, commit := revision(ctx, r.in.Cwd); commit != "" {
			line += ", branch " + branch + " at " + commit
		}
		lines = append(lines, line)
	}
	if asked != "" {
		lines = append(lines, "- Asked last: "+asked)
	}
	if len(lines) == 0 {
		lines = append(lines, "- The conversation was compacted.")
	}
	s.Shown = nil // the model forgets these as well
	if err := r.write(ctx, &s, "Checkpoint before compaction", strings.Join(lines, "\n")); err != nil {
		return err
	}
	return r.folder.save(r.in.SessionID, s)
}

// sessionEnd writes what was not answered, and forgets the session. Hosts give it little time.
func (r *run) sessionEnd(ctx context.Context) error {
	return r.folder.locked(ctx, func() error {
		s := r.folder.load(r.in.SessionID, r.now)
		err := r.record(ctx, &s)
		return errors.Join(err, r.folder.forget(r.in.SessionID))
	})
}

// write adds body to the daily log, in the block of this session. A workspace that is not ready has no log.
func (r *run) write(ctx context.Context, s *state, title, body string) (err error) {
	folder, err := session.OpenFolder(r.options(), r.who, r.Config.Session.AgentID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	view := folder.View(r.who)
	if view.State() != workspace.Ready {
		return nil
	}
	if title == "" && !s.Logged {
		title = hostNamesInLog[r.hostID]
		if project := r.in.project(); project != "" {
			title += " in " + project
		}
	}
	if _, err := view.JournalSince(s.Started).Append(ctx, title, body); err != nil {
		return err
	}
	s.Logged = true
	return nil
}

// gitLimit is how long git may take. It is slow on network drives.
const gitLimit = 200 * time.Millisecond

// object is what git prints for a commit and for most names of branches.
var object = regexp.MustCompile(`^[A-Za-z0-9._/+-]{1,100}$`)

// revision returns the branch and commit of the repository that dir is in, "" without one. It only asks git for
// names, so that no program is run that the repository's configuration names.
func revision(ctx context.Context, dir string) (branch, commit string) {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	for name, argument := range map[*string]string{&branch: "--abbrev-ref", &commit: "--short"} {
		cmd := exec.CommandContext(ctx, "git", "rev-parse", argument, "HEAD") //nolint:gosec // one of two constants
		cmd.Dir = dir
		output, err := cmd.Output()
		if *name = strings.TrimSpace(string(output)); err != nil || !object.MatchString(*name) {
			return "", ""
		}
	}
	return branch, commit
}

package hookcmd

import (
	"context"
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
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

// stop writes an exchange to the daily log: what the person asked, which userPrompt has kept, and the answer.
func (r *run) stop(ctx context.Context) error {
	s := r.folder.load(r.in.SessionID, r.start)
	prompt, answer := s.Prompt, text.OneLine(r.in.LastMessage)
	if prompt == "" && answer == "" {
		return nil
	}
	if err := r.write(ctx, &s, "", exchange(prompt, answer)); err != nil {
		return err
	}
	s.Prompt = ""
	return r.folder.save(r.in.SessionID, s)
}

// exchange formats what was said for the log.
func exchange(prompt, answer string) string {
	var lines []string
	if prompt != "" {
		lines = append(lines, "- **User:** "+text.Shorten(text.OneLine(prompt), promptChars))
	}
	if answer != "" {
		lines = append(lines, "- **Agent:** "+text.Shorten(answer, answerChars))
	}
	return strings.Join(lines, "\n")
}

// preCompact writes a checkpoint to the daily log: the host is about to forget what was said.
func (r *run) preCompact(ctx context.Context) error {
	// Gemini CLI announces every turn that it may compact.
	if r.hostID == "gemini" && r.in.Trigger != "manual" {
		return nil
	}
	s := r.folder.load(r.in.SessionID, r.start)
	var lines []string
	if project := r.in.project(); project != "" {
		line := "- Project " + project
		if branch, commit := revision(ctx, r.in.Cwd); commit != "" {
			line += ", branch " + branch + " at " + commit
		}
		lines = append(lines, line)
	}
	if s.Prompt != "" {
		lines = append(lines, "- Asked last: "+text.Shorten(s.Prompt, promptChars))
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

// sessionEnd writes a prompt that was not answered, and forgets the session. Hosts give it little time.
func (r *run) sessionEnd(ctx context.Context) error {
	s := r.folder.load(r.in.SessionID, r.start)
	var err error
	if s.Prompt != "" {
		err = r.write(ctx, &s, "", exchange(s.Prompt, ""))
	}
	return errors.Join(err, r.folder.forget(r.in.SessionID))
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

package hookcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
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

// stopLimit is how long Stop waits for other hooks that record what was said, if the host keeps a log of the session: a
// later hook finds there what this one would have recorded. Without a log the answer is in this event only, and what is
// begun with the lock is brought to its end.
const stopLimit = 2 * time.Second

// errLater is why Stop recorded nothing.
var errLater = errors.New("another hook held it for too long; the next hook records what was said")

// stop writes to the daily log what was said since the last time. Claude Code does not wait for it, and may end it
// before it is done: then sessionEnd records the rest, or the next sessionStart of the workspace (see unfinished.go).
func (r *run) stop(ctx context.Context) error {
	limited := ctx
	if log := r.openTranscript(r.in.TranscriptPath); log != nil {
		_ = log.Close() // it was only looked for
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, stopLimit, errLater)
		defer cancel()
	}
	return r.folder.locked(limited, func() error {
		s := r.current()
		return r.record(ctx, stateName(r.in.SessionID), &s, r.folder.loadAsked(r.in.SessionID))
	})
}

// current returns the state of this session.
func (r *run) current() state {
	s, ok := r.folder.load(stateName(r.in.SessionID))
	if !ok {
		s = state{Started: r.now}
	}
	s.Host, s.About = r.hostID, cmp.Or(r.in.project(), s.About)
	if _, ok := r.mayRead(r.in.TranscriptPath); ok {
		s.Path = filepath.Clean(r.in.TranscriptPath)
	}
	return s
}

// record writes to the daily log what was said in a session and is not in it, and saves the session's state as name.
func (r *run) record(ctx context.Context, name string, s *state, a asked) error {
	list := r.turns(s, a)
	said := r.toOffer(s, a)
	if err := r.recordTurns(ctx, name, s, list); err != nil {
		return err
	}
	// Not an error of the record: what was said is in the log, and must not be written again.
	if err := r.offer(ctx, s, said); err != nil {
		r.problem = errors.Join(r.problem, fmt.Errorf("offer what was stated: %w", err))
	}
	return nil
}

// recordTurns writes turns to the daily log, if there are any, and saves the session's state as name.
func (r *run) recordTurns(ctx context.Context, name string, s *state, list []turn) error {
	if body := formatTurns(list); body != "" {
		return r.write(ctx, name, s, entry{Time: r.now, Said: list[len(list)-1].at, Body: body})
	}
	if s.Pending != nil {
		return r.write(ctx, name, s, entry{})
	}
	return r.folder.replace(name, *s)
}

// titled returns e with what an addition to the log begins with: at first the host and what the session is about, and
// the time of what was said on a day before now.
func (e entry) titled(s *state, now time.Time) entry {
	host := hostNamesInLog[s.Host]
	if s.About != "" {
		host += " in " + s.About
	}
	if !s.Logged && e.Title == "" {
		e.Title = host
	}
	if said := e.Said.In(now.Location()); !e.Said.IsZero() && said.Format(time.DateOnly) < now.Format(time.DateOnly) {
		e.Title = cmp.Or(e.Title, host) + ", said on " + said.Format("2006-01-02 15:04")
	}
	return e
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
	s, a := r.current(), r.folder.loadAsked(r.in.SessionID)
	prompt, earlier := a.unanswered(&s), r.unheard(&s)
	// What was said so far is written now, because compaction may replace the host's log.
	if err := r.record(ctx, stateName(r.in.SessionID), &s, a); err != nil {
		return err
	}
	if err := r.recordEarlier(ctx, &s, earlier); err != nil {
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
	if prompt != "" {
		lines = append(lines, "- Asked last: "+prompt)
	}
	if len(lines) == 0 {
		lines = append(lines, "- The conversation was compacted.")
	}
	e := entry{Time: r.now, Title: "Checkpoint before compaction", Body: strings.Join(lines, "\n")}
	if err := r.write(ctx, stateName(r.in.SessionID), &s, e); err != nil {
		return err
	}
	a.Shown = nil // the model forgets these as well
	return r.folder.saveAsked(r.in.SessionID, a)
}

// recordEarlier writes to the daily log, and offers, what was stated before the first hook of the session.
func (r *run) recordEarlier(ctx context.Context, s *state, list []statement) error {
	if len(list) == 0 {
		return nil
	}
	lines := make([]string, len(list))
	for i, one := range list {
		lines[i] = "- **User:** " + text.OneLine(text.Plain(one.Text))
	}
	e := entry{
		Time: r.now, Said: list[len(list)-1].At, Title: "Said earlier in this session", Body: strings.Join(lines, "\n"),
	}
	if err := r.write(ctx, stateName(r.in.SessionID), s, e); err != nil {
		return err
	}
	if err := r.offer(ctx, s, list); err != nil { // as in record
		r.problem = errors.Join(r.problem, fmt.Errorf("offer what was stated: %w", err))
	}
	return nil
}

// sessionEnd writes what was not answered or not recorded, and ends the session's state. Hosts give it little time.
func (r *run) sessionEnd(ctx context.Context) error {
	return r.folder.locked(ctx, func() error {
		s := r.current()
		s.Ended = r.now
		err := r.record(ctx, stateName(r.in.SessionID), &s, r.folder.loadAsked(r.in.SessionID))
		return errors.Join(err, r.folder.forgetAsked(r.in.SessionID))
	})
}

// write adds e to the daily log, in the block of the session, and saves the session's state, also if that is all: a
// workspace that is not ready has no log. The state names e while it is being written, so that a hook that is killed
// meanwhile neither loses nor repeats it.
func (r *run) write(ctx context.Context, name string, s *state, e entry) (err error) {
	folder, err := session.OpenFolder(r.options(), r.who, r.Config.Session.AgentID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	view := folder.View(r.who)
	add := func(e entry) error {
		logged, err := view.JournalSince(s.Started).Append(ctx, e.Title, e.Body)
		r.logged = logged.Name
		s.Logged = s.Logged || err == nil
		return err
	}
	ready := view.State() == workspace.Ready
	if before := s.Pending; before != nil && ready && !view.Has(before.Time, before.Body) {
		if err := add(*before); err != nil {
			return err
		}
	}
	s.Pending = nil
	if e.Body != "" && ready {
		e = e.titled(s, view.Now())
		s.Pending = &e
		if err := r.folder.replace(name, *s); err != nil {
			return err
		}
		if err := add(e); err != nil {
			return err
		}
		s.Pending = nil
	}
	return r.folder.replace(name, *s)
}

// gitLimit is how long git may take, which is slow on network drives. A host that compacts waits much longer for its
// model.
const gitLimit = 2 * time.Second

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

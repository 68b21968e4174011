// Package hookcmd is `yamo-mcp hook`: what hosts run at the events of a session. It puts a brief before a new session,
// what fits before a prompt, the lesson that applies before a tool call, and writes what was said to the daily log.
//
// The invariant: it fails open. Whatever goes wrong, the exit code is 0, stdout is empty or one valid answer, and a
// line in the audience's own log, or outside of a workspace that cannot be opened, has the reason. A run ends within a
// second or two and leaves no process behind.
package hookcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/internal/sysclock"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// limit ends a run that waits for a lock or a slow disk. Hosts wait for hooks, with limits of their own.
const limit = 10 * time.Second

// heap is the size from which garbage is collected.
const heap = 1 << 30

// modelWait is how long after its start a hook waits for the model, unless it is told otherwise. Loading it takes about
// as long as reading 10,000 memories, on another core.
const modelWait = 210 * time.Millisecond

// run is one run of a hook.
type run struct {
	*cli.Command

	hostID  string
	wait    time.Duration // for the model
	host    host
	event   string // canonical
	who     audience.Audience
	in      input
	start   time.Time      // by the machine
	now     time.Time      // by which dates are written
	zone    *time.Location // in which dates are shown; set by search
	memory  *mesh.View     // set by search
	folder  *folder
	list    scrub.Detector // what the operator wants redacted as well
	report  Run
	problem error       // that did not keep the event from being handled
	stated  []statement // in rows of the log that were read now
	logged  string      // name of the daily log that was written
}

// Name is the command's.
const Name = "hook"

// defaultHost is the host whose events are read if none is named.
const defaultHost = "claude-code"

// New returns `yamo-mcp hook`. Its error is for stderr only: the program exits with 0.
func New(env cli.Env) *cobra.Command {
	r := &run{Command: cli.New(env)}
	cmd := &cobra.Command{
		Use:   Name + " EVENT",
		Short: "Answer an event of a host, read from stdin; hosts run this",
		Long: `Read a host's description of an event from stdin and print what the host puts before its model:
at SessionStart what a session starts with, at UserPromptSubmit up to three memories that fit, at
PreToolUse the lesson that applies. At Stop, PreCompact and SessionEnd it writes what was said to the
daily log. ` + "`yamo-mcp install`" + ` adds the hooks to the hosts that have them.

It always succeeds, so that a host never stops because of it; ` + "`yamo-mcp doctor`" + ` shows what went wrong.
A session is a direct conversation only with --connection dm, as for ` + "`yamo-mcp serve`" + `.`,
		Args: cli.Exactly("EVENT"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			defer func() {
				// An uncaught panic is exit code 2, which blocks the user's prompt in some hosts.
				if p := recover(); p != nil {
					err = fmt.Errorf("panic: %v", p)
				}
			}()
			return r.run(cmd, args[0])
		},
	}
	flags := cmd.Flags()
	r.AddFlags(flags, settings...)
	flags.StringVar(&r.hostID, "host", defaultHost, "host that runs this: "+strings.Join(hostNames(), ", "))
	flags.DurationVar(&r.wait, "model-wait", modelWait,
		"time for loading the embedding model, after which words decide what fits a prompt")
	_ = flags.MarkHidden("json")
	return cmd
}

// settings are those of a session, without what only a server has.
var settings = sessionSettings()

// sessionSettings are the settings that a hook has in common with the session that it belongs to.
func sessionSettings() []config.Setting {
	var list []config.Setting
	for _, s := range config.SessionSettings {
		switch s.Flag() {
		case "connection", "group", "agent-id", "transcripts":
			list = append(list, s)
		}
	}
	list = append(list, config.GitSettings...)
	list = append(list, config.EmbedderSettings...)
	return append(list, config.LearningSettings...)
}

// run handles the event called name within the limit. Its error goes to the log: a hook fails open.
func (r *run) run(cmd *cobra.Command, name string) error {
	r.start, r.now = time.Now(), sysclock.Now()
	// The process ends before a collection would be worth its time, unless the memory is very large.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(heap)
	ctx, cancel := context.WithTimeout(cmd.Context(), limit+r.wait)
	defer cancel()
	known := false
	if r.host, known = hosts[r.hostID]; !known {
		return fmt.Errorf("unknown host %q: must be one of %s", r.hostID, strings.Join(hostNames(), ", "))
	}
	if r.event = r.host.canonical(name); r.event == "" {
		return fmt.Errorf("unknown event %q", name)
	}
	if err := r.Load(cmd); err != nil {
		return err
	}
	// SECURITY: the audience comes from the operator's settings only, never from the host's input. Everything but
	// exactly "dm" is a group.
	var err error
	if r.who, _, err = audience.Parse(r.Config.Session.Connection, r.Config.Session.Group); err != nil {
		return config.Name("group").Errorf("%w", err)
	}
	if r.folder, err = openFolder(r.Config.Workspace, r.who); err != nil {
		return fmt.Errorf("open the folder of hooks: %w", err)
	}
	r.report = Run{Time: r.now.UTC().Truncate(time.Millisecond), Host: r.hostID, Event: r.event}
	text, err := r.answer(ctx)
	if err = errors.Join(err, r.problem); text != "" {
		err = errors.Join(err, r.print(text))
	}
	if err != nil {
		r.report.Error = harmless(err)
	}
	r.report.Millis = time.Since(r.start).Milliseconds()
	if unwritten := r.folder.log(r.report); unwritten != nil {
		return errors.Join(err, unwritten)
	}
	if err != nil {
		return logged{err}
	}
	return nil
}

// answer reads the host's input, handles the event, and returns what the model sees, "" for nothing.
func (r *run) answer(ctx context.Context) (string, error) {
	var err error
	// SECURITY: without the list nothing is written that it would have redacted.
	if r.list, err = r.Config.Learning.Redact(); err != nil {
		return "", err
	}
	if r.in, err = read(r.Stdin); err != nil {
		return "", err
	}
	r.problem = r.in.oddity
	switch r.event {
	case sessionStart:
		return r.sessionStart(ctx)
	case userPrompt:
		return r.userPrompt(ctx)
	case preTool:
		return r.preTool(ctx)
	case stop:
		return "", r.stop(ctx)
	case preCompact:
		return "", r.preCompact(ctx)
	default:
		return "", r.sessionEnd(ctx)
	}
}

// print writes the host's form of an answer to stdout, all of it at once.
func (r *run) print(text string) error {
	answer := r.host.print(r.host.spelled(r.event), framed(text))
	if answer == nil {
		return nil
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	r.report.Context = len([]rune(text))
	_, err = io.WriteString(r.Stdout, string(data)+"\n")
	return err
}

// options are those of a session without a log: its messages would be a host's to show.
func (r *run) options() session.Options {
	return session.Options{
		Config: r.Config, Getenv: r.Getenv, Logger: slog.New(slog.DiscardHandler), Version: r.Version,
	}
}

// harmless returns an error for the log: on one line, short, and without what was said.
func harmless(err error) string {
	message := text.OneLine(err.Error())
	if errors.Is(err, context.DeadlineExceeded) {
		message = "not finished in time"
	}
	if len(message) > 200 {
		message = strings.ToValidUTF8(message[:200], "") + "…"
	}
	return message
}

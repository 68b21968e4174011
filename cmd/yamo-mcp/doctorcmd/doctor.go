// Package doctorcmd is `yamo-mcp doctor`: it looks at everything that must work for an agent to have its memory.
//
// The invariant: it changes nothing but what starting a server changes, prints no content of the memory or of workspace
// files, and names for each problem the command that solves it.
package doctorcmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/hosts"
)

// The states of a check.
const (
	fine    = "ok"
	problem = "problem"
	note    = "note" // nothing is wrong, but something is not as one may expect
)

// finding is the result of one check.
type finding struct {
	Check string `json:"check"`
	State string `json:"state"`
	Text  string `json:"text"`
	Fix   string `json:"fix,omitempty"` // a command or a short instruction
}

// report is the answer of the command.
type report struct {
	Problems int       `json:"problems"`
	Findings []finding `json:"findings"`
}

// doctor is one run.
type doctor struct {
	*cli.Command

	place  hosts.Place
	found  []finding
	newest time.Time // when the newest memory was stored, zero without memories
}

// New returns `yamo-mcp doctor`. It fails if there is a problem.
func New(env cli.Env) *cobra.Command {
	d := &doctor{Command: cli.New(env)}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation, and show how to solve each problem",
		Long: `Check the program and its parts, the workspace and its memory, what a host's model receives in a
direct conversation and in a group, where texts are sent, the hosts' configuration and hooks, locks,
disk and clock. Each problem is shown with the command that solves it. The exit code is 1 if there
is a problem, 0 if there are only notes. Without --workspace and YAMO_WORKSPACE, the workspace that
the current folder is in is checked, or that of the hosts' configuration, or else ~/agent.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context(), cmd) },
	}
	d.AddFlags(cmd.Flags(), config.EmbedderSettings...)
	return cmd
}

// run makes all checks, in the order in which one depends on another. A check that fails does not end the command: all
// problems are shown at once.
func (d *doctor) run(ctx context.Context, cmd *cobra.Command) error {
	d.place = hosts.Place{Home: d.Getenv("HOME"), Getenv: d.Getenv}
	d.program()
	d.native()
	d.assets()
	servers := d.servers()
	if flag := cmd.Flags().Lookup(config.Workspace.Flag()); !flag.Changed && d.Getenv(config.Workspace.Env()) == "" {
		if err := flag.Value.Set(d.usual(servers)); err != nil {
			return err
		}
		flag.Changed = true
	}
	if err := d.Load(cmd); err != nil {
		dir := cmp.Or(cmd.Flags().Lookup(config.Workspace.Flag()).Value.String(), d.Getenv(config.Workspace.Env()))
		d.problem("workspace", err.Error(), beginning(config.Expand(dir, d.Getenv)))
	} else {
		d.access()
		d.workspace(ctx)
		d.memory(ctx)
		for _, who := range audiences() {
			d.receives(who)
		}
		d.network()
		d.hooks()
		d.locks()
		d.disk()
		d.clock()
	}
	d.destinations(servers)
	answer := report{Findings: d.found}
	var text strings.Builder
	for _, f := range d.found {
		if f.State == problem {
			answer.Problems++
		}
		fmt.Fprintf(&text, "%-8s %-12s %s\n", f.State, f.Check, f.Text)
		if f.Fix != "" {
			fmt.Fprintf(&text, "%-21s → %s\n", "", f.Fix)
		}
	}
	if err := d.Answer(answer, text.String()); err != nil {
		return err
	}
	if answer.Problems > 0 {
		return fmt.Errorf("problems: %d", answer.Problems)
	}
	return nil
}

// usual returns the workspace that is meant when none is named: the one that the current folder is in, or the first
// that a host serves, else ~/agent.
func (d *doctor) usual(servers []installed) string {
	if dir := cli.Around(); dir != "" {
		return dir
	}
	for _, s := range servers {
		if s.workspace != "" {
			return s.workspace
		}
	}
	return filepath.Join(d.place.Home, "agent")
}

func (d *doctor) add(check, state, text, fix string) {
	d.found = append(d.found, finding{check, state, text, fix})
}

func (d *doctor) fine(check, format string, values ...any) {
	d.add(check, fine, fmt.Sprintf(format, values...), "")
}

func (d *doctor) note(check, text, fix string) { d.add(check, note, text, fix) }

func (d *doctor) problem(check, text, fix string) { d.add(check, problem, text, fix) }

// beginning returns what solves the problem that a folder is no workspace.
func beginning(dir string) string {
	const another = "yamo-mcp doctor --workspace DIR checks another folder"
	if exists(dir) {
		return another
	}
	return "yamo-mcp init " + quoted(dir) + "; " + another
}

// quoted returns a path as an argument of a shell.
func quoted(path string) string {
	if strings.ContainsAny(path, " '\"$&();<>|*?[]#~`\\") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// exists reports whether there is something at path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

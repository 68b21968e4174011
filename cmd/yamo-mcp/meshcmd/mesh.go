// Package meshcmd is the commands of `yamo-mcp mesh` (RFC-0011 §9), one file per command or family of commands.
//
// The invariant: the operator acts as a DM unless a flag of the command line names another audience, or the environment
// a group. The environment never makes a command a DM's, and the config file never changes its audience.
package meshcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh"
)

const help = `Store, search and maintain memories (RFC-0011 §9). A copy of or link to the program with the name
memory-mesh has these commands without "mesh".

By default a command acts as the operator: it stores into the private memory and finds memories of
all compartments. With --connection or --group, or if YAMO_GROUP or YAMO_CONNECTION names a group, it
sees and does what a session of that audience would. Everything that is stored is scrubbed of
credentials and personal identifiers.

Errors are one line on stderr. The exit code is then 1, or 2 if the command line is wrong.`

// command is the base of the mesh commands. They share one, with the flags of the group.
type command struct {
	*cli.Command

	connection, group string         // flags only: see audience
	person            bool           // of Short: answers for a person
	zone              *time.Location // of the audience, nil until the memory is open
}

// settings are the settings of the mesh commands. Those of a session are not among them: see audience.
var settings = slices.Concat([]config.Setting{config.AgentIDSetting},
	config.SearchSettings, config.EmbedderSettings, config.LearningSettings, config.LLMSettings)

// New returns `yamo-mcp mesh`. A new command needs a line here.
func New(env cli.Env) *cobra.Command {
	m := &command{Command: cli.New(env)}
	group := cli.Group("mesh", "Store, search and maintain memories (the memory-mesh of RFC-0011)",
		m.newStore(),
		m.newSearch(),
		m.newList(),
		m.newIngestDir(),
		m.newStats(),
		m.newGet(),
		m.newDelete(),
		m.newSeparate(),
		m.newIngestSkill(),
		m.newSearchSkills(),
		m.newListSkills(),
		m.newSkillFeedback(),
		m.newSkillPrune(),
		m.newDistill(),
		m.newCapture(),
		m.newRecall(),
		m.newHealth(),
		m.newReflect(),
		m.newSynthesize(),
		m.newHeritage(),
		m.newImport(),
		m.newExport(),
		m.newMigrate(),
	)
	group.Long = help
	group.Version = env.Version // for memory-mesh --version
	flags := group.PersistentFlags()
	m.audienceFlags(flags)
	m.AddFlags(flags, settings...)
	return group
}

// audienceFlags adds the flags that choose the audience.
func (m *command) audienceFlags(flags *pflag.FlagSet) {
	flags.StringVar(&m.connection, "connection", "", "act as a session of this audience: dm or group (default dm)")
	flags.StringVar(&m.group, "group", "", "act in the memory of this group")
}

// Error is an error of a mesh command, which RFC-0011 §9.3 gives a form of its own: one line.
type Error struct{ Err error }

// Error returns the fault in the error if there is one, without what wraps it, otherwise the whole error.
func (e *Error) Error() string {
	text := e.Err.Error()
	if f, ok := fault.As(e.Err); ok {
		text = f.Error()
	}
	return strings.ReplaceAll(text, "\n", "; ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// command completes a command that works on the memory. Its flags may follow its arguments. Without Args in cmd it
// accepts none. perform gets the view of the audience that the flags name, which enforces what that audience may do.
func (m *command) command(cmd *cobra.Command,
	perform func(ctx context.Context, memory *mesh.View, args []string) error,
) *cobra.Command {
	if cmd.Args == nil {
		cmd.Args = cli.NoArguments
	}
	cmd.Flags().SortFlags = false
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, name := range []string{"limit", "lookback"} {
			// The memory takes 0 for the default, which a person who types it does not mean.
			if f := cmd.Flags().Lookup(name); f != nil && f.Changed && f.Value.String() == "0" {
				return fault.New("%s: use a number from 1 to %d", name, mesh.MaxLimit)
			}
		}
		if err := m.Load(cmd); err != nil {
			return err
		}
		who, err := m.audience(cmd)
		if err != nil {
			return err
		}
		ctx := mesh.WithProject(cmd.Context(), m.Project)
		return m.WithMemory(who, func(memory *mesh.View) error {
			m.zone = memory.Location()
			return perform(ctx, memory, args)
		})
	}
	return cmd
}

// audience returns the audience that the command acts as. --group without --connection is enough for a group.
func (m *command) audience(cmd *cobra.Command) (audience.Audience, error) {
	flags := cmd.Flags()
	// SECURITY: the operator owns the workspace. What the config file sets for sessions does not apply to a person who
	// types a command. Flags do, and then the rule of serve applies. The environment can name a group: a command that a
	// host's session of a group runs has it, and must not show more than the session.
	if !flags.Changed("connection") && !flags.Changed("group") {
		group := m.Getenv("YAMO_GROUP")
		if group == "" && m.Getenv("YAMO_CONNECTION") != "group" {
			return audience.DM(), nil
		}
		who, _, err := audience.Parse("group", group)
		if err == nil {
			m.notice("Acting as a session of the group " + who.Group() + ", because of YAMO_GROUP or YAMO_CONNECTION.")
		}
		return who, err
	}
	connection := m.connection
	// --group without --connection means that group; audience.Parse would take the empty connection for one, too, but
	// with a notice.
	if !flags.Changed("connection") {
		connection = "group"
	}
	who, notice, err := audience.Parse(connection, m.group)
	if err != nil {
		return audience.Audience{}, err
	}
	if notice != "" {
		m.notice(notice)
	}
	return who, nil
}

// notice prints a line on stderr, next to the answer on stdout.
func (m *command) notice(text string) {
	if m.person {
		fmt.Fprintln(m.Stderr, text)
		return
	}
	fmt.Fprintln(m.Stderr, "[MemoryMesh] "+text)
}

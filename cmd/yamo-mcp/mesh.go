package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh"
)

// meshName is RFC-0011 §9's name of the program: run under it, it is `yamo-mcp mesh`.
const meshName = "memory-mesh"

// arguments are the program's arguments.
func arguments(argv []string) []string {
	if filepath.Base(argv[0]) == meshName {
		return append([]string{"mesh"}, argv[1:]...)
	}
	return argv[1:]
}

// meshError is an error of a mesh command, which RFC-0011 §9.3 gives a form of its own.
type meshError struct{ err error }

// Error is one line: what the person can correct if there is that, or else everything.
func (e *meshError) Error() string {
	text := e.err.Error()
	if f, ok := fault.As(e.err); ok {
		text = f.Error()
	}
	return strings.ReplaceAll(text, "\n", "; ")
}

func (e *meshError) Unwrap() error { return e.err }

// errorLine is what the program says on stderr about err.
func errorLine(err error) string {
	if _, ok := errors.AsType[*meshError](err); ok {
		return "[MemoryMesh Error] " + err.Error()
	}
	return "yamo-mcp: " + err.Error()
}

// ofMesh reports whether command is mesh or below it.
func ofMesh(command *cobra.Command) bool {
	for ; command != nil; command = command.Parent() {
		if command.Name() == "mesh" && command.HasParent() && !command.Parent().HasParent() {
			return true
		}
	}
	return false
}

const meshHelp = `The memory mesh of RFC-0011 §9 on the command line. The program run under the name memory-mesh is this command.

The operator acts in the private memory and finds what is in every compartment; with --connection or --group, as in
serve, a command sees and does what a session of that audience would. Whatever is stored passes the scrubber.
Errors are one line on stderr, and the exit code is then 1, or 2 if the command line cannot be understood.`

// meshCommands are the commands' common settings and outputs.
type meshCommands struct {
	getenv         func(string) string
	stdout, stderr io.Writer
	options        serveOptions
	json           bool
}

// newMeshCommand is `yamo-mcp mesh` (RFC-0011 §9).
func newMeshCommand(getenv func(string) string, stdout, stderr io.Writer) *cobra.Command {
	m := &meshCommands{getenv: getenv, stdout: stdout, stderr: stderr}
	group := newGroup("mesh", "Store, search and look after memories (the memory-mesh of RFC-0011)",
		m.newStoreCommand(), m.newSearchCommand(), m.newIngestDirCommand(), m.newStatsCommand(), m.newGetCommand(), m.newDeleteCommand(),
		m.newIngestSkillCommand(), m.newSearchSkillsCommand(), m.newListSkillsCommand(), m.newSkillFeedbackCommand(), m.newSkillPruneCommand(),
		m.newDistillCommand(), m.newCaptureCommand(), m.newRecallCommand(), m.newHealthCommand(), m.newReflectCommand(), m.newSynthesizeCommand(),
		m.newHeritageCommand(), m.newImportCommand(), m.newExportCommand(), m.newMigrateCommand())
	group.Long = meshHelp
	group.Version = programVersion() // for memory-mesh --version
	flags := group.PersistentFlags()
	flags.StringVar(&m.options.workspace, "workspace", "", "the workspace folder (required; or YAMO_WORKSPACE)")
	flags.StringVar(&m.options.connection, "connection", "", "act as in a session: dm or group (default dm)")
	flags.StringVar(&m.options.group, "group", "", "act in this group's memory")
	flags.StringVar(&m.options.agentID, "agent-id", "YAMO_AGENT", "the agent's name in what is written (or YAMO_AGENT_ID)")
	flags.StringVar(&m.options.ranking, "ranking", string(mesh.Context), "how memories are ordered: "+rankingNames+" (or YAMO_RANKING)")
	m.options.embedder.addTo(flags)
	m.options.learning.addTo(flags)
	m.options.llm.addTo(flags)
	flags.BoolVar(&m.json, "json", false, "answer with one JSON object")
	return group
}

// meshSettings are those of serve's settings that a mesh command has too.
var meshSettings = slices.Concat([]setting{"agent-id", "ranking"}, embedderSettings, learningSettings, llmSettings)

// command completes a command that works on the memory. Its flags may follow its arguments.
func (m *meshCommands) command(cmd *cobra.Command, perform func(ctx context.Context, memory *mesh.View, args []string) error) *cobra.Command {
	if cmd.Args == nil {
		cmd.Args = noArguments
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		for _, name := range []string{"limit", "lookback"} {
			// The memory takes 0 for the usual number; whoever types it means none.
			if f := cmd.Flags().Lookup(name); f != nil && f.Changed && f.Value.String() == "0" {
				return fault.New("%s: use a number from 1 to %d", name, mesh.MaxLimit)
			}
		}
		who, err := m.resolve(cmd)
		if err != nil {
			return err
		}
		logger, err := newLogger(m.stderr, "warn")
		if err != nil {
			return err
		}
		memory, release, err := openMemory(m.options, who, m.getenv, logger)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
		return perform(cmd.Context(), memory, args)
	}
	return cmd
}

// resolve completes the options and decides for whom the command acts.
func (m *meshCommands) resolve(cmd *cobra.Command) (audience.Audience, error) {
	flags := cmd.Flags()
	err := m.options.take(flags, meshSettings, m.getenv)
	if err != nil {
		return audience.Audience{}, err
	}
	if !agentID.MatchString(m.options.agentID) {
		return audience.Audience{}, errAgentID
	}
	if err := m.options.checkMemory(); err != nil {
		return audience.Audience{}, err
	}
	if m.options.completer, err = m.options.llm.open(m.getenv); err != nil {
		return audience.Audience{}, err
	}
	// SECURITY: the operator owns the workspace. What a host sets for its sessions, in the environment or the config file,
	// says nothing about whoever types a command; flags do, and then serve's rule holds.
	if !flags.Changed("connection") && !flags.Changed("group") {
		return audience.DM(), nil
	}
	connection := m.options.connection
	if !flags.Changed("connection") {
		connection = "group"
	}
	who, notice, err := audience.Parse(connection, m.options.group)
	if err != nil {
		return audience.Audience{}, err
	}
	if notice != "" {
		m.notice(notice)
	}
	return who, nil
}

// notice tells the person something beside the answer.
func (m *meshCommands) notice(text string) { fmt.Fprintln(m.stderr, "[MemoryMesh] "+text) }

// answer writes the answer: value with --json, else text.
func (m *meshCommands) answer(value any, text string) error {
	return writeAnswer(m.stdout, m.json, value, text)
}

// oneArgument accepts exactly one argument, called name in the message, and no JSON object (RFC-0011 §9).
func oneArgument(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fmt.Errorf("%q needs a %s", cmd.Name(), name)
		case len(args) > 1:
			return fmt.Errorf("%q takes one %s and here are %d: put it in quotes", cmd.Name(), name, len(args))
		case strings.HasPrefix(strings.TrimSpace(args[0]), "{") && json.Valid([]byte(args[0])):
			return fmt.Errorf("%q takes no JSON: the %s is plain text, and the rest are flags", cmd.Name(), name)
		}
		return nil
	}
}

// require makes flags required, with a message that says so in this program's words.
func require(cmd *cobra.Command, names ...string) *cobra.Command {
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		for _, name := range names {
			if !cmd.Flags().Changed(name) {
				return fmt.Errorf("%q needs --%s", cmd.Name(), name)
			}
		}
		return nil
	}
	return cmd
}

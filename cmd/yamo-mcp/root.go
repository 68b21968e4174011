package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/doctorcmd"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/editcmd"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/hookcmd"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/meshcmd"
)

// run is the program: main calls it with the process, tests with their own. Its error has not been printed; a
// *cli.UsageError means that nothing was done. A *meshcmd.Error is one of a mesh command, for its form.
func run(ctx context.Context, args []string, getenv func(string) string,
	stdin io.Reader, stdout, stderr io.Writer,
) error {
	env := cli.Env{Getenv: getenv, Stdin: stdin, Stdout: stdout, Stderr: stderr, Version: programVersion()}
	root := newRootCommand(env)
	// Cobra reports wrong flags, arguments and unknown commands before it calls RunE. This is how they are told from
	// failures, since cobra has no type for them.
	understood := false
	visit(root, func(command *cobra.Command) {
		if perform := command.RunE; perform != nil {
			command.RunE = func(cmd *cobra.Command, args []string) error {
				understood = true
				return perform(cmd, args)
			}
		}
	})
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err != nil && !understood {
		err = &cli.UsageError{Err: err}
	}
	// A hook that fails must not stop its host: in some, exit code 2 discards what the person has typed. This is also
	// for a command line that an earlier version has installed.
	if err != nil && len(args) > 0 && args[0] == hookcmd.Name {
		fmt.Fprintln(stderr, errorLine(errors.Join(err, hookcmd.LogFailure(getenv, args[1:], err))))
		return nil
	}
	if err != nil && belowMesh(command) {
		err = &meshcmd.Error{Err: err}
	}
	return err
}

// visit calls see with command and all commands below it.
func visit(command *cobra.Command, see func(*cobra.Command)) {
	see(command)
	for _, below := range command.Commands() {
		visit(below, see)
	}
}

// newRootCommand returns the program's commands, in the order of --help: what is needed first comes first. A new
// command needs a line here.
func newRootCommand(env cli.Env) *cobra.Command {
	root := cli.Group("yamo-mcp", "Long-term memory for AI agents: an MCP server over a YAMO workspace")
	root.Long = `yamo-mcp gives an AI agent a long-term memory. It serves a YAMO workspace, a folder of Markdown
files and memories, to any MCP host: Claude Desktop, Claude Code, Codex, Cursor, a chat gateway.

To get started:
  yamo-mcp setup                                         install the model for semantic search
  yamo-mcp init DIR                                      create a workspace
  yamo-mcp install --auto --workspace DIR                add it to the hosts of this machine
  yamo-mcp doctor --workspace DIR                        check that all of it works`
	root.Version = env.Version
	root.SetVersionTemplate("yamo-mcp {{.Version}}\n")
	root.Flags().BoolP("version", "v", false, "print the version; the command version prints more")
	// main prints errors, in one line: the usage below it would push it off the screen.
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetFlagErrorFunc(cli.FlagError)
	add := func(title string, commands ...*cobra.Command) {
		id := strconv.Itoa(len(root.Groups()))
		root.AddGroup(&cobra.Group{ID: id, Title: title + ":"})
		for _, cmd := range commands {
			cmd.GroupID = id
		}
		root.AddCommand(commands...)
		if title == others {
			root.SetHelpCommandGroupID(id)
			root.SetCompletionCommandGroupID(id)
		}
	}
	install := newInstallCommands(env)
	add("Set up", newSetupCommand(env), newInitCommand(env), install[0], newImportCommand(env), doctorcmd.New(env))
	add("Look at the memory", append(meshcmd.Short(env), newForgetCommand(env), newViewCommand(env))...)
	// These are at the top level and not in a group: a person who looks at the history of a file knows no "edits".
	add("Look after the workspace's files", append(editcmd.New(env),
		newBriefCommand(env), newDreamCommand(env), newLintCommand(env), newReconfigureCommand(env),
		newRotateCommand(env))...)
	add(others, newServeCommand(env), hookcmd.New(env), install[1], newSharedCommand(env), newTokenCommand(env),
		newTrustCommand(env), meshcmd.New(env), newIndexCommand(env), newLedgerCommand(env), newRescanCommand(env),
		newVersionCommand(env))
	return root
}

// others is the title of the commands that a person rarely types.
const others = "Serve, share and maintain"

// meshName is RFC-0011 §9's name of the program: started under it, it is `yamo-mcp mesh`.
const meshName = "memory-mesh"

// arguments returns the program's arguments without its name. argv[0] is what the caller typed, so that a link with
// meshName has the mesh commands.
func arguments(argv []string) []string {
	if filepath.Base(argv[0]) == meshName {
		return append([]string{"mesh"}, argv[1:]...)
	}
	return argv[1:]
}

// belowMesh reports whether command is mesh or below it.
func belowMesh(command *cobra.Command) bool {
	// The name is not enough: another group may have a command called mesh one day.
	for ; command != nil; command = command.Parent() {
		if command.Name() == "mesh" && command.HasParent() && !command.Parent().HasParent() {
			return true
		}
	}
	return false
}

// errorLine is what the program prints on stderr about err.
func errorLine(err error) string {
	if _, ok := errors.AsType[*meshcmd.Error](err); ok {
		return "[MemoryMesh Error] " + err.Error()
	}
	return "yamo-mcp: " + err.Error()
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/meshcmd"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/hosts"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// installer is what `yamo-mcp install` and `uninstall` have in common.
type installer struct {
	cli.Env
	place hosts.Place
	store hosts.Store

	workspace, group, name, file string
	auto, yes, dryRun, noHooks   bool

	answers *bufio.Reader // of a terminal; nil is Stdin, if that is one
}

// planned is what becomes of one host.
type planned struct {
	host    hosts.Host
	changes []hosts.Change // of its files; those that stay as they are are empty
	err     error          // it cannot be changed
}

// changed returns the changes that are not empty.
func (p planned) changed() []hosts.Change {
	return slices.DeleteFunc(slices.Clone(p.changes), hosts.Change.Empty)
}

// newInstallCommands returns `yamo-mcp install` and `yamo-mcp uninstall`.
func newInstallCommands(env cli.Env) []*cobra.Command {
	in := &installer{Env: env}
	var ids []string
	for _, h := range hosts.All {
		ids = append(ids, h.ID)
	}
	known := "Hosts: " + strings.Join(ids, ", ") + "."

	install := &cobra.Command{
		Use:   "install [HOST...]",
		Short: "Add the server and its hooks to MCP hosts",
		Long: `Add the server to the configuration of the hosts, or of every host found on this machine (--auto).
Hosts with hooks also run ` + "`yamo-mcp hook`" + ` at the events of a session, unless you pass --no-hooks.
The change is shown as a diff and made when you agree. Everything else in the files stays as it is,
and a copy of each file is kept for ` + "`yamo-mcp uninstall`" + `. A workspace that does not exist is created.
Without a host, the command lists the hosts and where their configuration is.

The hosts' sessions are direct conversations (DM) with you. To add a group's server: --group NAME.

` + known,
		Example: "  yamo-mcp install --auto\n  yamo-mcp install claude-code cursor --workspace ~/agent",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := in.locate(); err != nil {
				return err
			}
			if len(args) == 0 && !in.auto {
				return in.list()
			}
			return in.install(cmd.Context(), args)
		},
	}
	uninstall := &cobra.Command{
		Use:   "uninstall [HOST...]",
		Short: "Remove the server and its hooks from MCP hosts",
		Long: `Remove the server from the configuration of the hosts, or of all hosts (--auto). A file that was not
changed since ` + "`yamo-mcp install`" + ` becomes byte for byte what it was before. The workspace stays.

` + known,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := in.locate(); err != nil {
				return err
			}
			if len(args) == 0 && !in.auto {
				return cli.Misused("%q requires a HOST or --auto (see yamo-mcp uninstall --help)", "uninstall")
			}
			return in.uninstall(args)
		},
	}
	install.Flags().StringVar(&in.workspace, "workspace", "", "workspace folder (default YAMO_WORKSPACE, else ~/agent)")
	install.Flags().BoolVar(&in.noHooks, "no-hooks", false, "add the server only")
	install.Flags().StringVar(&in.group, "group", "", "serve this group instead of direct conversations")
	meshcmd.CompleteGroupsIn(install, in.Getenv, "~/agent")
	for _, cmd := range []*cobra.Command{install, uninstall} {
		flags := cmd.Flags()
		flags.SortFlags = false
		flags.BoolVar(&in.auto, "auto", false, "every host that is found on this machine")
		flags.StringVar(&in.name, "name", hosts.DefaultName, "name of the server in the hosts' configuration")
		flags.StringVar(&in.file, "config", "", "configuration file, instead of the host's usual one; with one HOST")
		flags.BoolVar(&in.yes, "yes", false, "do not ask")
		flags.BoolVar(&in.dryRun, "dry-run", false, "show the change only")
	}
	return []*cobra.Command{install, uninstall}
}

// serverName is what every host accepts as the name of a server.
var serverName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// locate checks the flags that both commands have, and finds the account's files.
func (in *installer) locate() error {
	if !serverName.MatchString(in.name) {
		return cli.Misused("name %q: must be 1 to 64 letters, digits, hyphens or underscores, starting with a letter or "+
			"digit (--name)", in.name)
	}
	home := in.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return errors.New("HOME is not set; it must name your home folder")
	}
	in.place = hosts.Place{Home: home, Getenv: in.Getenv}
	in.store = hosts.DefaultStore(in.place)
	return nil
}

// chosen returns the hosts that the command line names. With --auto these are all for which included holds.
func (in *installer) chosen(args []string, included func(hosts.Host) bool) ([]hosts.Host, error) {
	if in.auto && len(args) > 0 {
		return nil, cli.Misused("--auto and %q cannot be combined", args[0])
	}
	if in.file != "" && len(args) != 1 {
		return nil, cli.Misused("--config requires exactly one HOST")
	}
	var chosen []hosts.Host
	for _, id := range args {
		h, err := hosts.Find(id)
		if err != nil {
			return nil, &cli.UsageError{Err: err}
		}
		chosen = append(chosen, h)
	}
	if in.auto {
		for _, h := range hosts.All {
			if included(h) {
				chosen = append(chosen, h)
			}
		}
	}
	return chosen, nil
}

// list prints the hosts, and which have the server.
func (in *installer) list() error {
	table := tabwriter.NewWriter(in.Stdout, 0, 0, 2, ' ', 0)
	for _, h := range hosts.All {
		state := "not found"
		if h.Present(in.place) {
			state = "found"
		}
		switch servers, err := h.Servers(in.place, ""); {
		case err != nil:
			state = "cannot be read"
		case len(servers) == 1 && servers[0].Name == hosts.DefaultName:
			state = "installed"
		case len(servers) > 0:
			state = "installed as " + names(servers)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", h.ID, state, h.File(in.place))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(in.Stderr, "To add the server: yamo-mcp install HOST, or --auto for all that were found.")
	return nil
}

// names returns the names of entries in the order in which they are.
func names(servers []hosts.Server) string {
	var list []string
	for _, s := range servers {
		list = append(list, s.Name)
	}
	return strings.Join(list, ", ")
}

// install adds the server to the hosts that args name, or to all that are present. All changes are computed before the
// first is asked for, so that one question covers all of them.
func (in *installer) install(ctx context.Context, args []string) error {
	chosen, err := in.chosen(args, func(h hosts.Host) bool { return h.Present(in.place) })
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		return errors.New("no host found on this machine; name one, or see yamo-mcp install --help")
	}
	entry, create, err := in.entry()
	if err != nil {
		return err
	}
	var plans []planned
	for _, h := range chosen {
		p := planned{host: h}
		p.changes, p.err = h.Install(in.place, in.file, entry, in.store)
		plans = append(plans, p)
		if entry.Hook != nil && in.file == "" && p.err == nil {
			other, err := h.HooksOf(in.place, in.store, in.name)
			if err != nil {
				return err
			}
			if other != "" {
				fmt.Fprintf(in.Stderr, "%s: its hooks stay those of the server %q; a host runs one set of hooks for all its "+
					"sessions.\n", h.Name, other)
			}
		}
	}
	var first func() error
	if create {
		fmt.Fprintf(in.Stdout, "new workspace: %s\n", in.workspace)
		first = func() error {
			_, _, err := workspace.Init(ctx, in.workspace, nil, workspace.WithScrubber(session.CredentialScrubber(nil)))
			return err
		}
	}
	return in.perform(plans, "already installed"+in.named(), first, func(p planned) error {
		for _, c := range p.changed() {
			if err := in.store.Apply(c); err != nil {
				return err
			}
		}
		fmt.Fprintf(in.Stderr, "%s: installed; restart it.\n", p.host.Name)
		for _, c := range p.changed() {
			if backup := in.store.Backup(c); backup != "" {
				fmt.Fprintf(in.Stderr, "  %s before: %s\n", filepath.Base(c.Path), backup)
			}
		}
		if note := p.host.Note(p.changes); note != "" {
			fmt.Fprintf(in.Stderr, "  %s.\n", note)
		}
		return nil
	})
}

// uninstall removes the server from the hosts that args name, or from all that have a configuration.
func (in *installer) uninstall(args []string) error {
	chosen, err := in.chosen(args, func(h hosts.Host) bool {
		_, err := os.Lstat(h.File(in.place))
		return err == nil
	})
	if err != nil {
		return err
	}
	var plans []planned
	for _, h := range chosen {
		p := planned{host: h}
		p.changes, p.err = h.Uninstall(in.place, in.file, in.name, in.store)
		plans = append(plans, p)
	}
	return in.perform(plans, "not installed"+in.named(), nil, func(p planned) error {
		for _, c := range p.changes { // also where nothing is left to remove, so that nothing is kept
			if err := in.store.Undo(c); err != nil {
				return err
			}
		}
		fmt.Fprintf(in.Stderr, "%s: removed; restart it.\n", p.host.Name)
		return in.remaining(p)
	})
}

// remaining shows the entries that a host has after another one was removed.
func (in *installer) remaining(p planned) error {
	servers, err := p.host.Servers(in.place, in.file)
	for _, s := range servers {
		fmt.Fprintf(in.Stderr, "  the server %q stays: yamo-mcp uninstall %s --name %s\n", s.Name, p.host.ID, s.Name)
	}
	return err
}

// named returns how the server's name follows a state, "" for the default name.
func (in *installer) named() string {
	if in.name == hosts.DefaultName {
		return ""
	}
	return fmt.Sprintf(" as %q", in.name)
}

// perform shows plans, asks, calls first, if it is not nil, and apply for each. A host whose file cannot be changed
// does not keep the others from being changed, but the command fails. unchanged is the reason why there is nothing to
// do.
func (in *installer) perform(plans []planned, unchanged string, first func() error, apply func(planned) error) error {
	var errs []error
	count := 0
	for _, p := range plans {
		switch {
		case p.err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", p.host.Name, p.err))
		case len(p.changed()) == 0:
			fmt.Fprintf(in.Stderr, "%s: %s (%s)\n", p.host.Name, unchanged, p.changes[0].Path)
		default:
			for _, c := range p.changed() {
				count++
				fmt.Fprint(in.Stdout, c.Diff())
			}
		}
	}
	if len(errs) == len(plans) {
		first = nil
	}
	if count == 0 && first == nil || in.dryRun {
		return errors.Join(errs...)
	}
	agreed, err := in.ask(count)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	if agreed && first != nil {
		if err := first(); err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
	for _, p := range plans {
		if !agreed || p.err != nil || len(p.changed()) == 0 {
			continue
		}
		if err := apply(p); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.host.Name, err))
		}
	}
	if !agreed {
		fmt.Fprintln(in.Stderr, "Nothing was changed.")
	}
	return errors.Join(errs...)
}

// ask returns whether the person agrees to change files.
func (in *installer) ask(files int) (bool, error) {
	if in.yes {
		return true, nil
	}
	if in.answers == nil {
		if !cli.IsTerminal(in.Stdin) {
			return false, cli.Misused("nothing was changed: --yes is required where no terminal can be asked")
		}
		in.answers = bufio.NewReader(in.Stdin)
	}
	question := fmt.Sprintf("Make this change (files: %d)?", files)
	if files == 0 {
		question = "Create the workspace?"
	}
	agreed, err := confirm(in.Stderr, in.answers, question)
	if err != nil {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	return agreed, nil
}

// entry returns what hosts are to start. create reports that the workspace does not exist yet.
func (in *installer) entry() (entry hosts.Entry, create bool, err error) {
	entry.Name = in.name
	if entry.Command, err = programPath(); err != nil {
		return entry, false, err
	}
	for _, dir := range []string{in.Getenv(config.Workspace.Env()), filepath.Join(in.place.Home, "agent")} {
		if in.workspace == "" {
			in.workspace = dir
		}
	}
	if in.workspace, err = filepath.Abs(config.Expand(in.workspace, in.Getenv)); err != nil {
		return entry, false, err
	}
	if _, err := os.Lstat(in.workspace); errors.Is(err, fs.ErrNotExist) {
		create = true
	} else if err := config.CheckWorkspace(in.workspace, "--workspace"); err != nil {
		return entry, false, err
	}
	// SECURITY: a DM is what the operator asks for by running this command; a group that is named anywhere wins.
	connection, group := "dm", in.group
	if group == "" {
		group = in.Getenv("YAMO_GROUP")
	}
	if set := in.Getenv("YAMO_CONNECTION"); group != "" || set != "" && set != "dm" {
		connection = "group"
	}
	who, _, err := audience.Parse(connection, group)
	if err != nil {
		return entry, false, config.Name("group").Errorf("%w", err)
	}
	flags := []string{"--workspace", in.workspace, "--connection", who.Connection()}
	if !who.IsDM() {
		flags = append(flags, "--group", who.Group())
	}
	entry.Args = append([]string{"serve"}, flags...)
	if !in.noHooks {
		entry.Hook = flags
	}
	// SECURITY: a host keeps what was said in a DM. What the operator has set stays: a flag would win over it.
	if entry.Logs = who.IsDM(); entry.Logs && !create {
		set, err := config.Read(in.workspace, in.Getenv, config.TranscriptsSetting)
		if err != nil {
			return entry, false, err
		}
		entry.Logs = set.Session.Transcripts == ""
	}
	// Hosts do not have the shell's environment.
	if cache := in.Getenv("YAMO_CACHE"); cache != "" {
		if cache, err = filepath.Abs(cache); err != nil {
			return entry, false, err
		}
		entry.Env = append(entry.Env, "YAMO_CACHE="+cache)
	}
	return entry, create, nil
}

// programPath returns the absolute path of this program. Of several names, it is the one in PATH: a link there stays
// valid when a new version is put in a new folder.
func programPath() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	found, err := exec.LookPath(filepath.Base(path))
	if err != nil {
		return path, nil
	}
	if found, err = filepath.Abs(found); err != nil {
		return path, nil
	}
	a, err := os.Stat(found)
	if err != nil {
		return path, nil
	}
	if b, err := os.Stat(path); err == nil && os.SameFile(a, b) {
		return found, nil
	}
	return path, nil
}

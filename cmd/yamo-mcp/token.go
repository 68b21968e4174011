package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/meshcmd"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/token"
)

const accessHelp = `Tokens give clients access to a server that runs with --transport http. A token determines the
session that it opens: the direct conversation (dm) or a group's. A token is shown once, when it is
created; the file contains only its hash. Revoking a token takes effect immediately and closes the
sessions that it has opened.`

// tokenCommands is the base of the commands of tokens.
type tokenCommands struct {
	cli.Env
	file string
	json bool
}

// newTokenCommand returns `yamo-mcp token`.
func newTokenCommand(env cli.Env) *cobra.Command {
	t := &tokenCommands{Env: env}
	group := cli.Group("token", "Create, list and revoke tokens for HTTP",
		t.newCreateCommand(), t.newListCommand(), t.newRevokeCommand())
	group.Long = accessHelp
	flags := group.PersistentFlags()
	flags.StringVar(&t.file, "tokens", "",
		"token file (or YAMO_TOKENS; default tokens.json in the user's configuration folder)")
	flags.BoolVar(&t.json, "json", false, "print JSON instead of text")
	return group
}

// store opens the token file of --tokens, the environment or the default. It does not exist before the first token.
func (t *tokenCommands) store(cmd *cobra.Command) (*token.Store, error) {
	if err := config.FromEnv(cmd.Flags(), t.Getenv, config.Tokens); err != nil {
		return nil, err
	}
	path, err := config.TokenFile(t.file, t.Getenv)
	if err != nil {
		return nil, err
	}
	return token.Open(path), nil
}

// newCreateCommand returns `yamo-mcp token create`. Only the token goes to stdout, so that a script can keep it in a
// variable; what it opens goes to stderr.
func (t *tokenCommands) newCreateCommand() *cobra.Command {
	var r token.Record
	var expires string
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create a token and show it once",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := t.store(cmd)
			if err != nil {
				return err
			}
			if r.Expires, err = parseExpiry(expires, time.Now()); err != nil {
				return err
			}
			// The config file is not read: it belongs to one workspace, and the token may be for another.
			if err := config.FromEnv(cmd.Flags(), t.Getenv, config.Workspace); err != nil {
				return err
			}
			if r.Workspace = config.Expand(r.Workspace, t.Getenv); r.Workspace != "" {
				if err := config.CheckWorkspace(r.Workspace, "--workspace"); err != nil {
					return err
				}
				// A server has another current folder than this command.
				if r.Workspace, err = filepath.Abs(r.Workspace); err != nil {
					return err
				}
			}
			text, made, err := store.Create(cmd.Context(), r)
			if err != nil {
				return err
			}
			if t.json {
				return t.answer(struct {
					Token string `json:"token"`
					tokenEntry
				}{text, entryOf(made)})
			}
			fmt.Fprintf(t.Stderr, "created token %s (%s); it is shown only this once:\n", made.ID, describe(made))
			_, err = fmt.Fprintln(t.Stdout, text)
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&r.Connection, "connection", "", "session that it opens: dm or group (required)")
	flags.StringVar(&r.Group, "group", "", `with --connection group: name of the group (default "default")`)
	flags.StringVar(&r.Name, "name", "", "name of the token (required)")
	flags.StringVar(&expires, "expires", "", "when it expires: 90d, 12h or 2027-01-31, for example (default never)")
	flags.StringVar(&r.Workspace, "workspace", "",
		"workspace that it opens (or YAMO_WORKSPACE; default the one that is served)")
	meshcmd.CompleteGroupsIn(cmd, t.Getenv, "")
	flags.StringVar(&r.AgentID, "agent-id", "",
		"agent name recorded with everything that is written (default the server's)")
	// SECURITY: no default. A token opens a DM only if the operator typed that.
	return cli.Require(cmd, "connection", "name")
}

// newListCommand returns `yamo-mcp token list`. Revoked and expired tokens are listed too, with their state.
func (t *tokenCommands) newListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List tokens, without their secrets",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := t.store(cmd)
			if err != nil {
				return err
			}
			records, err := store.List()
			if err != nil {
				return err
			}
			if t.json {
				entries := []tokenEntry{}
				for _, r := range records {
					entries = append(entries, entryOf(r))
				}
				return t.answer(map[string]any{"tokens": entries})
			}
			table := tabwriter.NewWriter(t.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "ID\tNAME\tOPENS\tSTATE\tCREATED\tEXPIRES")
			for _, r := range records {
				expires := "never"
				if r.Expires != nil {
					expires = r.Expires.Format(time.DateOnly)
				}
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Name, describe(r), r.State(time.Now()),
					r.Created.Format(time.DateOnly), expires)
			}
			return table.Flush()
		},
	}
}

// newRevokeCommand returns `yamo-mcp token revoke`. Servers notice the change of the file: no restart is needed.
func (t *tokenCommands) newRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME|ID",
		Short: "Revoke a token, for running servers too",
		Args:  cli.Exactly("NAME|ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := t.store(cmd)
			if err != nil {
				return err
			}
			r, err := store.Revoke(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if t.json {
				return t.answer(entryOf(r))
			}
			_, err = fmt.Fprintf(t.Stdout, "revoked %s (%s)\n", r.ID, r.Name)
			return err
		},
	}
}

// tokenEntry is a token in JSON answers: everything except the hash.
type tokenEntry struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Connection string     `json:"connection"`
	Group      string     `json:"group,omitempty"`
	Workspace  string     `json:"workspace,omitempty"`
	AgentID    string     `json:"agent_id,omitempty"`
	State      string     `json:"state"`
	Created    time.Time  `json:"created"`
	Expires    *time.Time `json:"expires,omitempty"`
	Revoked    *time.Time `json:"revoked,omitempty"`
}

// entryOf returns r with its state at this moment.
func entryOf(r token.Record) tokenEntry {
	return tokenEntry{
		ID: r.ID, Name: r.Name, Connection: r.Connection, Group: r.Group, Workspace: r.Workspace, AgentID: r.AgentID,
		State: r.State(time.Now()), Created: r.Created, Expires: r.Expires, Revoked: r.Revoked,
	}
}

// describe formats the session that a token opens.
func describe(r token.Record) string {
	who, err := r.Audience()
	if err != nil {
		return "nothing: " + err.Error()
	}
	if r.Workspace == "" {
		return who.String()
	}
	return who.String() + " in " + strconv.Quote(r.Workspace)
}

// answer prints value as JSON.
func (t *tokenCommands) answer(value any) error { return cli.Answer(t.Stdout, true, value, "") }

// parseExpiry reads a duration in days or in Go's format, or the date on which the token expires, at 0:00 UTC. It
// returns nil for "" and "never". The result is in whole seconds, as the file has it.
func parseExpiry(text string, now time.Time) (*time.Time, error) {
	if text == "" || text == "never" {
		return nil, nil
	}
	bad := fmt.Errorf("expires %q: must be a duration such as 90d or 12h, a date such as 2027-01-31, "+
		"or never (--expires)", text)
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		var span time.Duration
		if days, ok := strings.CutSuffix(text, "d"); ok {
			n, err := strconv.Atoi(days)
			if err != nil || n > 100*366 { // a time.Duration ends at 292 years
				return nil, bad
			}
			span = time.Duration(n) * 24 * time.Hour
		} else if span, err = time.ParseDuration(text); err != nil {
			return nil, bad
		}
		at = now.Add(span)
	}
	if !at.After(now) {
		return nil, fmt.Errorf("expires %q: must be in the future (--expires)", text)
	}
	at = at.UTC().Truncate(time.Second)
	return &at, nil
}

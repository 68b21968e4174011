package meshcmd

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/screen"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// offered is how many names a shell is offered at a time: more would fill the terminal.
const offered = 50

// complete sets what a shell completes for cmd: the values of its flags, and the ids that it takes.
func (m *command) complete(cmd *cobra.Command) {
	fixed := func(values ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	}
	project := func(r *record.Record) []string { return []string{record.ProjectName(r.Project)} }
	for flag, complete := range map[string]cobra.CompletionFunc{
		"type":           fixed(record.Types...),
		"min-confidence": fixed(confidence.Levels...),
		"connection":     fixed("dm", "group"),
		"after":          m.completeIDs,
		"around":         m.completeIDs,
		"tag":            m.completeFields(func(r *record.Record) []string { return r.Tags }),
		"project":        m.completeFields(project),
		"session":        m.completeFields(func(r *record.Record) []string { return []string{r.SessionID} }),
	} {
		if cmd.Flags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, complete) // fails for an unknown flag only
		}
	}
	CompleteGroupsOf(cmd, m.Command)
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	switch cmd.Name() {
	case "show":
		cmd.ValidArgsFunction = m.completeIDs
	case "sessions":
		cmd.ValidArgsFunction = m.completeSessions
	}
}

// CompleteIDs returns the names that a shell is offered for the beginning of a memory's id: the ends of ids, or with
// mem_ the ids, each with the text of the memory, the newest first. They are those of who.
func CompleteIDs(ctx context.Context, c *cli.Command, who audience.Audience, begun string) (names []cobra.Completion) {
	// An error has no place on a line that is being typed; the command itself will report it.
	_ = c.WithMemory(who, func(memory *mesh.View) error {
		named, err := memory.Named(ctx, begun)
		for _, n := range named[:min(offered, len(named))] {
			name := n.ID
			if end := ending(name); strings.HasPrefix(end, begun) {
				name = end
			}
			names = append(names, cobra.CompletionWithDesc(name, text.Shorten(screen.Line(n.Text), 60)))
		}
		return err
	})
	return names
}

// prepared loads the settings for a completion, and returns the audience that the flags name.
func (m *command) prepared(cmd *cobra.Command) (audience.Audience, bool) {
	if err := m.Load(cmd); err != nil {
		return audience.Audience{}, false
	}
	who, err := m.audience(cmd)
	return who, err == nil
}

func (m *command) completeIDs(
	cmd *cobra.Command, args []string, begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	who, ok := m.prepared(cmd)
	if !ok || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return CompleteIDs(cmd.Context(), m.Command, who, begun),
		cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeFields offers the values that a field of the memories has, the most frequent first.
func (m *command) completeFields(field func(*record.Record) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		who, ok := m.prepared(cmd)
		if !ok {
			return nil, directive
		}
		count := map[string]int{}
		_ = m.WithMemory(who, func(memory *mesh.View) error {
			hits, err := memory.All(cmd.Context(), 0)
			for _, h := range hits {
				for _, value := range field(h.Record) {
					if value = screen.Line(value); value != "" && strings.HasPrefix(value, begun) {
						count[value]++
					}
				}
			}
			return err
		})
		values := make([]string, 0, len(count))
		for value := range count {
			values = append(values, value)
		}
		slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
		return values[:min(offered, len(values))], directive
	}
}

// CompleteGroups sets what a shell completes for cmd's --group: the groups that have a memory. workspace loads the
// command's settings and returns the workspace of these.
func CompleteGroups(cmd *cobra.Command, workspace func(*cobra.Command) (string, error)) {
	complete := func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var names []cobra.Completion
		// An error has no place on a line that is being typed; the command itself will report it.
		if dir, err := workspace(cmd); err == nil {
			groups, _ := mesh.Groups(filepath.Join(dir, session.MemoryFolder))
			for _, g := range groups {
				if strings.HasPrefix(g.Group(), begun) {
					names = append(names, g.Group())
				}
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	_ = cmd.RegisterFlagCompletionFunc("group", complete) // fails where there is no --group
}

// CompleteGroupsIn is CompleteGroups for a command without a session's settings, whose --workspace may be set by the
// environment only; fallback is used if neither sets it.
func CompleteGroupsIn(cmd *cobra.Command, getenv func(string) string, fallback string) {
	CompleteGroups(cmd, func(cmd *cobra.Command) (string, error) {
		dir := cmp.Or(cmd.Flag("workspace").Value.String(), getenv(config.Workspace.Env()), fallback)
		return config.Expand(dir, getenv), nil
	})
}

// CompleteGroupsOf is CompleteGroups for a command with c's settings.
func CompleteGroupsOf(cmd *cobra.Command, c *cli.Command) {
	CompleteGroups(cmd, func(cmd *cobra.Command) (string, error) {
		err := c.Load(cmd)
		return c.Config.Workspace, err
	})
}

func (m *command) completeSessions(
	cmd *cobra.Command, args []string, begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	who, ok := m.prepared(cmd)
	if !ok || len(args) > 0 {
		return nil, directive
	}
	logs, release, err := m.logs(who)
	if err != nil {
		return nil, directive
	}
	defer func() { _ = release() }() // it was only read
	list, err := logs.ListSessions(cmd.Context(), offered)
	if err != nil {
		return nil, directive
	}
	var names []cobra.Completion
	for _, s := range list.Sessions {
		if strings.HasPrefix(s.SessionID, begun) {
			names = append(names, cobra.CompletionWithDesc(s.SessionID, text.Shorten(screen.Line(s.Title), 60)))
		}
	}
	return names, directive
}

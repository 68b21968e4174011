package editcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
)

// newEvidence returns `yamo-mcp evidence`.
func (e command) newEvidence() *cobra.Command {
	return e.following(&cobra.Command{
		Use:   "evidence TOKEN",
		Short: "Show what an evidence token names",
		Long: `Show the recorded edit, the memory, the passage of a file or the turn of a session log that an
evidence token (ev:YYYYMMDDThhmmssZ-ULID) names. The event ID of an edit and the ID of a memory
(mem_…) are accepted too; the first line of the answer is their token.`,
		Args: cli.Exactly("TOKEN"),
	}, func(ctx context.Context, sources session.Sources, args []string) error {
		found, err := sources.Resolve(ctx, args[0])
		if err != nil {
			return err
		}
		return e.Answer(found, found.Token+"\n"+describeEvidence(found))
	})
}

// following completes a command that follows evidence: tokens name edits, memories, passages and turns alike, so that
// it opens all of them.
func (e command) following(cmd *cobra.Command,
	perform func(ctx context.Context, sources session.Sources, args []string) error,
) *cobra.Command {
	e.AddFlags(cmd.Flags(), config.TranscriptsSetting)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if err := e.Load(cmd); err != nil {
			return err
		}
		options, err := e.Options()
		if err != nil {
			return err
		}
		// SECURITY: a token names what is private. This is the operator; the resource of evidence is a DM's only.
		sources, release, err := session.OpenSources(options)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
		return perform(cmd.Context(), sources, args)
	}
	return cmd
}

// describeEvidence formats what a token names, without the token.
func describeEvidence(found session.Evidence) string {
	switch {
	case found.Event != nil:
		text := describeEvent(*found.Event)
		if found.Event.IsEdit() {
			text += fmt.Sprintf("    to see the change: yamo-mcp diff %s --to %s\n", found.Event.File, found.Event.ID)
		}
		if found.State != "" {
			text += "    " + found.State + "\n"
		}
		if found.Decision != nil {
			text += describeEvent(*found.Decision)
		}
		return text
	case found.Passage != nil:
		p := found.Passage
		where := fmt.Sprintf("%s:%d", p.File, p.Line)
		if p.Heading != "" {
			where += "  " + p.Heading
		}
		return where + "\n" + p.Text + "\n"
	case found.Turn != nil:
		t := found.Turn
		who := t.Role
		if t.Group != "" {
			who += ", in the group " + t.Group
		}
		return strings.TrimSpace("session "+t.Session+"  "+t.Timestamp) + "  " + who + "\n" + t.Text + "\n"
	}
	m := found.Memory
	return fmt.Sprintf("%s  %s  %s  %s, %s\n%s\n", m.ID, m.CreatedAt.UTC().Format("2006-01-02T15:04:05.000Z"),
		m.AgentID, m.Type, m.Visibility, m.Content)
}

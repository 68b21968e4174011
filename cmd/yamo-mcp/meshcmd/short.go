package meshcmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/screen"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
)

// Short returns the commands with which a person looks at the memory: `yamo-mcp search` and others. They do what the
// mesh commands of the same name do, and print it for a person instead of in RFC-0011 §9.2's form; with --json the
// answers are the same. A new command needs a line here.
func Short(env cli.Env) []*cobra.Command {
	m := &command{Command: cli.New(env), person: true}
	m.Nearby = true
	list := []*cobra.Command{m.newSearch(), m.newList(), m.newShow(), m.newTimeline(), m.newStats()}
	for _, cmd := range list {
		flags := cmd.Flags()
		m.audienceFlags(flags)
		m.AddFlags(flags, settings...)
		for _, s := range settings {
			// It works; but the help of a search would be mostly about models.
			_ = flags.MarkHidden(s.Flag())
		}
		m.complete(cmd)
	}
	// A base of its own: the settings of a command are those of its base.
	logs := &command{Command: cli.New(env), person: true}
	logs.Nearby = true
	sessions := logs.newSessions()
	logs.audienceFlags(sessions.Flags())
	logs.AddFlags(sessions.Flags(), config.TranscriptsSetting)
	logs.complete(sessions)
	return append(list, sessions)
}

// words accepts a query of one argument or of several, which need no quotes then.
func words(cmd *cobra.Command, args []string) error {
	if strings.TrimSpace(strings.Join(args, " ")) == "" {
		return cli.Exactly("a query")(cmd, nil)
	}
	return nil
}

// answer prints value as JSON, for a person as person writes it, or in the form of RFC-0011 §9.2.
func (m *command) answer(value any, rfc string, person func(*screen.Screen)) error {
	if m.JSON || !m.person {
		return m.Answer(value, rfc)
	}
	s := screen.New(m.Stdout, m.Stderr, m.Getenv)
	if m.zone != nil {
		s.Zone = m.zone
	}
	person(s)
	return s.Print()
}

// called returns the name of a command as it is typed, after the name of the program.
func (m *command) called(name string) string {
	if m.person {
		return name
	}
	return "mesh " + name
}

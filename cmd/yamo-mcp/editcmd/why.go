package editcmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/dream/trust"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/passage"
	"github.com/yamo-protocol/yamo-mcp/workspace/trace"
)

// why is the answer about one line.
type why struct {
	trace.Line
	Who      string   `json:"who"`
	Rests    []source `json:"rests_on,omitempty"`
	Commands []string `json:"commands,omitempty"`
}

// source is what a line rests on.
type source struct {
	session.Evidence
	Said string `json:"said_by,omitempty"`
	Gone string `json:"gone,omitempty"` // why the token leads nowhere
}

// newWhy returns `yamo-mcp why`.
func (e command) newWhy() *cobra.Command {
	cmd := e.following(&cobra.Command{
		Use:   "why LINE",
		Short: "Show where a line of a workspace file comes from",
		Long: `Show where a line of MEMORY.md, USER.md, a profile or another file of the workspace comes from: which
edit or dream wrote it, when and why, from which memories, log entries or sessions, who said that,
and the commands that take the edit back or forget what it rests on. LINE is FILE:NUMBER, such as
MEMORY.md:12, or some of the line's words; up to 10 lines are shown. A line that a person wrote by
hand is named as such.`,
		Args: cli.Exactly("LINE"),
	}, func(ctx context.Context, sources session.Sources, args []string) error {
		lines, more, err := trace.Find(ctx, sources.View, sources.Editor, inWorkspace(args[0], e.Config.Workspace))
		if err != nil {
			return err
		}
		answers := []why{}
		var text strings.Builder
		for i, line := range lines {
			answer, err := e.explainLine(ctx, sources, line)
			if err != nil {
				return err
			}
			answers = append(answers, answer)
			if i > 0 {
				text.WriteByte('\n')
			}
			text.WriteString(answer.String())
		}
		if more > 0 {
			fmt.Fprintf(&text, "\n%d more lines contain it; name one as FILE:NUMBER\n", more)
		}
		return e.Answer(answers, text.String())
	})
	cmd.ValidArgsFunction = e.completeLines
	return cmd
}

// explainLine follows what a line rests on.
func (e command) explainLine(ctx context.Context, sources session.Sources, line trace.Line) (why, error) {
	answer := why{Line: line, Who: line.Who()}
	names := trust.Names{
		Agent: sources.View.AgentName(), AgentID: e.Config.Session.AgentID, User: sources.View.UserName(),
	}
	zone := sources.View.Now().Location()
	var all, same []source
	for _, token := range line.Evidence {
		found, err := sources.Resolve(ctx, token)
		if gone, ok := fault.As(err); ok {
			all = append(all, source{Evidence: session.Evidence{Token: token}, Gone: gone.Error()})
			continue
		}
		if err != nil {
			return why{}, err
		}
		s := source{Evidence: found, Said: saidBy(found, names, zone)}
		all = append(all, s)
		// An edit that wrote several lines cites what all of them rest on.
		if m := found.Memory; m != nil && (passage.Says(line.Text, m.Content) || passage.Says(m.Content, bare(line.Text))) {
			same = append(same, s)
		}
	}
	if answer.Rests = all; len(same) > 0 && !line.Own {
		answer.Rests = same
	}
	last := line.Event
	if line.Put != nil {
		last = line.Put
	}
	if last != nil && (last.IsEdit() || last.Op == edit.OpUndo) {
		answer.Commands = append(answer.Commands, "yamo-mcp undo "+last.ID)
	}
	if line.Event != nil {
		answer.Commands = append(answer.Commands, "yamo-mcp history "+line.File)
	}
	for _, s := range answer.Rests {
		if s.Memory != nil {
			answer.Commands = append(answer.Commands, "yamo-mcp mesh delete --id "+s.Memory.ID)
		}
	}
	return answer, nil
}

// bare returns a line without its bullet, the date before it and the figures that a dream writes after it.
func bare(line string) string {
	line = strings.TrimLeft(line, "-*+ ")
	if at := strings.Index(line, " _("); at > 0 {
		line = line[:at]
	}
	if date, rest, ok := strings.Cut(line, ": "); ok && len(date) == len("2006-01-02") && date[4] == '-' {
		return rest
	}
	return line
}

// saidBy returns in words whose words a target of evidence is, and since when the memory has them. A sweep judges the
// speaker in the same way.
func saidBy(found session.Evidence, names trust.Names, zone *time.Location) string {
	switch {
	case found.Turn != nil && found.Turn.Group != "":
		return found.Turn.Role + ", in the group " + found.Turn.Group
	case found.Turn != nil:
		return found.Turn.Role
	case found.Memory == nil:
		return ""
	}
	m := found.Memory
	said := string(names.SpeakerOf(record.Hit{Record: m.Record, Visibility: m.Visibility}))
	switch group := m.Visibility.Group(); {
	case group != "":
		said = "the group " + group
	case m.Source != "":
		said += fmt.Sprintf(" (source %q)", m.Source)
	}
	return said + ", on " + m.CreatedAt.In(zone).Format("2 January 2006") + "; stored by " + m.AgentID
}

// String formats the answer for a person.
func (w why) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s:%d: %s\n  %s\n", w.File, w.Line.Line, strings.TrimSpace(w.Text), w.Who)
	if e := w.Event; e != nil && !w.First {
		if e.Rationale != "" {
			fmt.Fprintf(&out, "  why: %s\n", e.Rationale)
		}
		fmt.Fprintf(&out, "  edit: %s  %s  %s\n", e.ID, e.Op, e.Section)
	}
	if w.Put != nil {
		fmt.Fprintf(&out, "  put here by: %s  %s  %s\n", w.Put.ID, w.Put.Op, w.Put.Time)
	}
	for _, s := range w.Rests {
		if s.Gone != "" {
			fmt.Fprintf(&out, "  rests on: %s\n", s.Gone)
			continue
		}
		fmt.Fprintf(&out, "  rests on: %s\n", s.Token)
		for line := range strings.Lines(describeEvidence(s.Evidence)) {
			out.WriteString("    " + line)
		}
		if s.Said != "" {
			out.WriteString("    said by: " + s.Said + "\n")
		}
	}
	for _, command := range w.Commands {
		out.WriteString("  $ " + command + "\n")
	}
	return out.String()
}

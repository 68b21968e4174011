package meshcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/screen"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/conversation"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/hosts"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// sessionQuery is what sessions is asked for.
type sessionQuery struct {
	id, search string
	limit      int
}

// newSessions returns `yamo-mcp sessions`. Only a search opens the memory, whose neighbour the index of turns is: the
// logs are files of the host.
func (m *command) newSessions() *cobra.Command {
	var q sessionQuery
	cmd := &cobra.Command{
		Use:   "sessions [id]",
		Short: "List past conversations, read one, or search them",
		Long: `List the conversations that the host has logged, newest first; with an ID, print one; with --search,
the turns that answer a question or contain words, as the tool session_logs finds them. The ID may be
abbreviated to any beginning that only one session has.

The text of --search may have since:DATE, until:DATE, project:NAME and role:user|assistant|tool.

The logs are those of --transcripts; if that is not set, Claude Code's in ~/.claude/projects. Of a
group, only its own sessions are shown, and only from --transcripts.`,
		Example: `  yamo-mcp sessions
  yamo-mcp sessions 3f2a9c
  yamo-mcp sessions --search "how did we renew the certificate?"
  yamo-mcp sessions --search 'auth middleware since:"last week" role:user'`,
		Args: cli.AtMost("ID"),
	}
	cmd.Flags().SortFlags = false
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if q.limit < 1 || q.limit > transcript.MaxLimit {
			return fault.New("limit: use a number from 1 to %d", transcript.MaxLimit)
		}
		if len(args) > 0 {
			q.id = args[0]
		}
		if err := m.Load(cmd); err != nil {
			return err
		}
		who, err := m.audience(cmd)
		if err != nil {
			return err
		}
		logs, release, err := m.logs(who)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
		if q.id != "" {
			if q.id, err = expandSession(cmd.Context(), logs, q.id); err != nil {
				return err
			}
		}
		if cmd.Flags().Changed("search") {
			return m.searchSessions(cmd.Context(), who, q)
		}
		return m.sessions(cmd.Context(), logs, q)
	}
	flags := cmd.Flags()
	flags.StringVar(&q.search, "search", "", "show the turns that answer this, or contain these words")
	flags.IntVar(&q.limit, "limit", transcript.DefaultLimit,
		fmt.Sprintf("maximum number of sessions or turns, 1 to %d", transcript.MaxLimit))
	return cmd
}

// logs opens the session logs of an audience, and notes which folder they are in.
func (m *command) logs(who audience.Audience) (*transcript.View, func() error, error) {
	// SECURITY: a host's folder is the person's own: a group has what the operator has set up for groups.
	if m.Config.Session.Transcripts == "" && who.IsDM() {
		place := hosts.Place{Home: m.Getenv("HOME"), Getenv: m.Getenv}
		if dir := place.SessionLogs(); dir != "" {
			m.Config.Session.Transcripts = dir
			m.notice("From " + dir + "; --transcripts names another folder.")
		}
	}
	options, err := m.Options()
	if err != nil {
		return nil, nil, err
	}
	logs, release, err := session.OpenLogs(options, who)
	if err == nil && logs == nil {
		err = cli.Misused("no folder of session logs: name the host's, such as ~/.claude/projects, with --transcripts " +
			"or YAMO_TRANSCRIPTS, or as transcripts in your config.toml")
	}
	return logs, release, err
}

// sessions prints a session or the list of them.
func (m *command) sessions(ctx context.Context, logs *transcript.View, q sessionQuery) error {
	if q.id != "" {
		read, err := logs.ReadWhole(ctx, q.id, 0, q.limit)
		if err != nil {
			return err
		}
		return m.answer(read, "", func(s *screen.Screen) { showTurns(s, read) })
	}
	list, err := logs.ListSessions(ctx, q.limit)
	if err != nil {
		return err
	}
	return m.answer(list, "", func(s *screen.Screen) { showSessions(s, list) })
}

// searchSessions prints the turns that a search finds. All logs are read first, which takes time once: a person asks
// once, where a model asks again.
func (m *command) searchSessions(ctx context.Context, who audience.Audience, q sessionQuery) error {
	query, err := conversation.Parse(q.search)
	if err != nil {
		return err
	}
	query.SessionID, query.InProject, query.Limit = q.id, m.Project(), q.limit
	options, err := m.Options()
	if err != nil {
		return err
	}
	return m.WithMemory(who, func(memory *mesh.View) (err error) {
		logs, release, err := session.OpenConversations(options, who, memory, time.Now)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
		bar := cli.NewProgress(m.Stderr)
		err = logs.Index.Update(ctx, func(done, total int) { bar.Show("reading sessions", done, total) })
		bar.End()
		if err != nil && ctx.Err() == nil {
			// A workspace that cannot be written is searched all the same, for the words as they are.
			m.notice("The index of sessions cannot be written: " + config.WithoutPath(err).Error())
			logs.Index = nil
		}
		found, err := logs.Search(ctx, query)
		if err != nil {
			return err
		}
		return m.answer(found, "", func(s *screen.Screen) { showTurnsFound(s, found) })
	})
}

// expandSession returns the id of the session that short abbreviates.
//
// SECURITY: the candidates are those of the view.
func expandSession(ctx context.Context, logs *transcript.View, short string) (string, error) {
	list, err := logs.ListSessions(ctx, transcript.MaxLimit)
	if err != nil {
		return "", err
	}
	var found []transcript.Session
	for _, s := range list.Sessions {
		if s.SessionID == short {
			return short, nil
		}
		if strings.HasPrefix(s.SessionID, short) {
			found = append(found, s)
		}
	}
	if len(found) == 1 {
		return found[0].SessionID, nil
	}
	if len(found) == 0 {
		return short, nil // an older one: reading it finds out
	}
	var lines strings.Builder
	for _, s := range found[:min(candidates, len(found))] {
		fmt.Fprintf(&lines, "\n  %s  %s", s.SessionID, screen.Line(s.Title))
	}
	return "", fault.New("id: %d sessions begin with %q; give more of it:%s", len(found), short, lines.String())
}

// showSessions writes a list of sessions.
func showSessions(s *screen.Screen, list transcript.Sessions) {
	if len(list.Sessions) == 0 {
		s.Put("No sessions.\n")
	}
	for _, one := range list.Sessions {
		s.Put(s.In(screen.Faint, screen.Line(one.SessionID)) + "  " +
			clock(s, cmp.Or(one.LastTimestamp, one.StartedAt)) + "  " +
			s.In(screen.Strong, s.Excerpt(one.Title, 1, 0)) + "\n")
		facts := []string{fmt.Sprintf("%d turns", one.EntryCount)}
		for _, f := range []struct{ name, value string }{
			{"project", one.Project}, {"branch", one.Branch}, {"model", one.Model}, {"group", one.Group}, {"agent", one.AgentID},
		} {
			if f.value != "" {
				facts = append(facts, f.name+" "+screen.Line(f.value))
			}
		}
		s.Put("    " + s.In(screen.Faint, strings.Join(facts, " · ")) + "\n")
	}
	if list.Truncated {
		s.Put("There are more; --limit shows them.\n")
	}
}

// showTurns writes a session.
func showTurns(s *screen.Screen, read transcript.Entries) {
	s.Put(s.In(screen.Heading, screen.Line(cmp.Or(read.Header.Title, read.SessionID))) + "\n")
	for _, e := range read.Entries {
		who := screen.Line(e.Role)
		if e.SenderID != "" {
			who += " (" + screen.Line(e.SenderID) + ")"
		}
		s.Put("\n" + s.In(screen.Strong, who) + "  " + s.In(screen.Faint, clock(s, e.Timestamp)) + "\n")
		s.Wrap("", e.Content)
	}
	if read.Truncated {
		s.Put(fmt.Sprintf("\n%d of %d turns; --limit shows more.\n", read.Returned, read.TotalEntries))
	}
}

// showTurnsFound writes the turns that a search found.
func showTurnsFound(s *screen.Screen, found transcript.Hits) {
	if len(found.Hits) == 0 {
		s.Put("Nothing found.\n")
	}
	if found.Confidence == string(confidence.Unlikely) {
		s.Put("Nothing fits well; the nearest are:\n\n")
	}
	for _, h := range found.Hits {
		s.Put(s.In(screen.Faint, screen.Line(h.SessionID)+"  "+clock(s, h.Timestamp)) + "  " +
			s.In(screen.Strong, screen.Line(h.Role)) + "\n")
		var facts []string
		for _, f := range []struct{ name, value string }{
			{"project", h.Project},
			{"group", h.Group},
			{"subagent of", h.Parent},
			{"confidence", confidence.Level(h.Confidence).Doubt()},
		} {
			if f.value != "" {
				facts = append(facts, f.name+" "+screen.Line(f.value))
			}
		}
		if len(facts) > 0 {
			s.Put("    " + s.In(screen.Faint, strings.Join(facts, " · ")) + "\n")
		}
		s.Wrap("    ", h.Preview)
		if h.Reply != "" {
			s.Wrap("    reply: ", h.Reply)
		}
	}
	if found.Incomplete {
		s.Put("There was no time to look everywhere for the text as it is; with an ID, one session is searched.\n")
	}
	if found.Truncated {
		s.Put("There are more; --limit shows them.\n")
	}
}

// clock returns a log's timestamp as a person reads it, in the screen's time zone, or as it is if it has another form.
func clock(s *screen.Screen, timestamp string) string {
	at, err := time.Parse(time.RFC3339, timestamp)
	if err != nil {
		return screen.Line(timestamp)
	}
	return at.In(s.Zone).Format("2006-01-02 15:04")
}

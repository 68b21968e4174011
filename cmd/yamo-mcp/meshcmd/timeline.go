package meshcmd

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/screen"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/internal/when"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// happening is something that happened to what the agent knows.
type happening struct {
	At         time.Time         `json:"at"`
	What       string            `json:"what"` // stored, replaced, retired, or the operation of an edit
	ID         string            `json:"id"`   // of the memory or the event
	Text       string            `json:"text"` // of the memory, or the reason of the edit
	Visibility record.Visibility `json:"visibility,omitempty"`
	File       string            `json:"file,omitempty"`
	Section    string            `json:"section,omitempty"`
	By         string            `json:"by,omitempty"`

	moment record.Moment
}

// timeline is the answer of timeline.
type timeline struct {
	Events []happening `json:"events"`
	More   int         `json:"earlier,omitempty"` // left out before the first
}

// newTimeline returns `yamo-mcp timeline`.
func (m *command) newTimeline() *cobra.Command {
	var since, until string
	var limit int
	cmd := m.command(&cobra.Command{
		Use:   "timeline",
		Short: "Show day by day what was remembered, corrected and edited",
		Long: `Show what was stored, what was replaced or retired, and the edits of workspace files, by day: the
newest at the end. Of a group, what its sessions stored.`,
		Example: `  yamo-mcp timeline --since "last week"`,
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		from, to, err := period(since, until, time.Now().In(memory.Location()))
		if err != nil {
			return err
		}
		hits, err := memory.All(ctx, 0)
		if err != nil {
			return err
		}
		found := []happening{}
		add := func(h happening) {
			if !h.At.Before(from) && (to.IsZero() || h.At.Before(to)) {
				found = append(found, h)
			}
		}
		for _, h := range hits {
			add(happening{
				At: h.CreatedAt, What: "stored", ID: h.ID, Text: h.Content, Visibility: h.Visibility, By: h.AgentID,
				moment: h.Stored(),
			})
			if h.Past != nil {
				what := "replaced"
				if h.Past.New == "" {
					what = "retired"
				}
				add(happening{
					At: h.Past.At, What: what, ID: h.ID, Text: h.Content, Visibility: h.Visibility, By: h.Past.AgentID,
					moment: record.Moment{Time: h.Past.At, Compartment: h.Visibility, Seq: h.Seq},
				})
			}
		}
		// SECURITY: the edits are private, and so is that there are any.
		if memory.Audience.IsDM() {
			events, err := m.edits(ctx, from, to)
			if err != nil {
				return err
			}
			for _, e := range events {
				add(e)
			}
		}
		slices.SortStableFunc(found, func(a, b happening) int { return a.moment.Compare(b.moment) })
		answer := timeline{More: max(0, len(found)-limit)}
		answer.Events = found[answer.More:]
		short, err := m.shortener(ctx, memory)
		if err != nil {
			return err
		}
		return m.answer(answer, "", func(s *screen.Screen) { showTimeline(s, answer, short) })
	})
	flags := cmd.Flags()
	flags.StringVar(&since, "since", "", `only from this time on: 2026-01-31, "last tuesday", "in March"`)
	flags.StringVar(&until, "until", "", "only from before this time")
	flags.IntVar(&limit, "limit", 200, "maximum number of entries, the newest")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if limit < 1 {
			return cli.Misused("--limit must be at least 1")
		}
		return nil
	}
	return cmd
}

// period returns the times between which something must have happened; a zero time is no limit.
func period(since, until string, now time.Time) (from, to time.Time, err error) {
	for _, flag := range []struct {
		name, value string
		to          *time.Time
		read        func(string, time.Time) (time.Time, error)
	}{{"since", since, &from, when.ParseSince}, {"until", until, &to, when.ParseUntil}} {
		if flag.value == "" {
			continue
		}
		if *flag.to, err = flag.read(flag.value, now); err != nil {
			return from, to, fault.New("%s: %v", flag.name, err)
		}
	}
	return from, to, nil
}

// edits returns the edits of the workspace's files.
func (m *command) edits(ctx context.Context, from, to time.Time) (list []happening, err error) {
	folder, err := workspace.Open(m.Config.Workspace)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	editor, err := edit.Open(edit.Options{
		View: folder.View(audience.DM()), Dir: filepath.Join(m.Config.Workspace, session.MemoryFolder),
	})
	if err != nil {
		return nil, err
	}
	events, err := editor.Events(ctx, from, to)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		at, err := time.Parse(time.RFC3339, e.Time)
		if err != nil || e.File == "" || e.Op == edit.OpErase {
			continue
		}
		list = append(list, happening{
			At: at, What: e.Op, ID: e.ID, Text: e.Rationale, File: e.File, Section: e.Section, By: cmp.Or(e.Actor, "yamo-mcp"),
			moment: record.Moment{Time: at}, // stable: the record's order
		})
	}
	return list, nil
}

// showTimeline writes what happened, with a heading for each day.
func showTimeline(s *screen.Screen, t timeline, short func(string) string) {
	if len(t.Events) == 0 {
		s.Put("Nothing was remembered in this time.\n")
	}
	if t.More > 0 {
		s.Put(s.In(screen.Faint, "Earlier ones are left out; use --since, --until or --limit.") + "\n\n")
	}
	var day string
	for _, e := range t.Events {
		if d := s.Day(e.At); d != day {
			if day != "" {
				s.Put("\n")
			}
			day = d
			s.Put(s.In(screen.Heading, day+e.At.In(s.Zone).Format(" Monday")) + "\n")
		}
		style := screen.Good
		if e.What != "stored" {
			style = screen.Caution
		}
		s.Put("  " + s.In(screen.Faint, e.At.In(s.Zone).Format("15:04")) + "  ")
		if e.File != "" {
			place := e.File
			if e.Section != "" {
				place += "#" + e.Section
			}
			s.Put(s.In(style, e.What) + "  " + s.In(screen.Strong, screen.Line(place)))
			if e.Text != "" {
				s.Put("  " + s.Excerpt(e.Text, 1, 30))
			}
			s.Put("\n")
			continue
		}
		s.Put(s.In(style, e.What) + "  " + s.Excerpt(e.Text, 2, 24) + "  " + s.In(screen.Faint, short(e.ID)))
		if e.Visibility != record.Private {
			s.Put("  " + s.In(screen.Foreign, string(e.Visibility)))
		}
		s.Put("\n")
	}
}

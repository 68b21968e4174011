package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/history"
	"github.com/yamo-protocol/yamo-mcp/internal/othertools"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
)

// imported is the answer of `yamo-mcp import`.
type imported struct {
	Copied  bool             `json:"copied"` // false: this is what would be
	Folder  string           `json:"folder"`
	Sources []importedSource `json:"sources"`
	Indexed int              `json:"indexed"` // sessions that session_logs finds by their words now; 0 for a dry run
}

// importedSource is what was found of one program.
type importedSource struct {
	Source   string         `json:"source"`
	Path     string         `json:"path"`
	Sessions int            `json:"sessions"`
	Agents   int            `json:"subagents"` // that worked for these; counted in Turns and Bytes
	New      int            `json:"new"`       // or changed; of a dry run 0
	Turns    int            `json:"turns"`
	Bytes    int64          `json:"bytes"` // of text
	First    string         `json:"first,omitempty"`
	Last     string         `json:"last,omitempty"`
	Projects map[string]int `json:"projects,omitempty"` // sessions by folder
	Unknown  int            `json:"unknown"`            // entries that were left out
	InPlace  bool           `json:"in_place,omitempty"` // nothing was copied: session_logs reads it there
	Set      bool           `json:"set,omitempty"`      // of InPlace: the setting transcripts names it
	Stated   *distilled     `json:"stated,omitempty"`   // with --distill
	Error    string         `json:"error,omitempty"`    // why it could not be read, or not to its end
}

// importing is how sources are imported.
type importing struct {
	*cli.Command
	dryRun, copy, distill bool
	undo                  string // the ID of an import of memories
}

// allHistories is the source that selects every program whose history is found.
const allHistories = "auto"

// newImportCommand returns `yamo-mcp import`.
func newImportCommand(env cli.Env) *cobra.Command {
	c := importing{Command: cli.New(env)}
	c.Nearby = true
	sources := strings.Join(slices.Sorted(maps.Keys(history.Readers)), ", ")
	tools := strings.Join(slices.Sorted(maps.Keys(othertools.Readers)), ", ")
	cmd := &cobra.Command{
		Use:   "import SOURCE [PATH]",
		Short: "Let past conversations be found, and take over the memories of other tools",
		Long: `Show the conversations that another program has kept, and copy them into the workspace, where the
tool session_logs finds them in a DM. SOURCE is one of
` + sources + `,
or auto, which takes the hosts of this machine. For chatgpt and claude PATH is the archive that you have
exported, or its conversations.json.

The sessions of Claude Code and OpenClaw's JSONL ones are not copied: session_logs reads them where they
are, once the setting transcripts names their folder. With --copy they are, so that they remain when the host
deletes them. With --distill what you stated in them is offered as proposals, for you to accept or
reject; nothing enters a file by itself.

What another memory tool has kept becomes private memories, with its dates and origin: SOURCE is one of
` + tools + `,
and PATH its folder or file. A memory is not imported twice. The answer has the ID of the import, and
import --undo ID permanently deletes what it brought; --undo list shows the IDs. What is imported is
not promoted into MEMORY.md without a person.

Nothing leaves the machine, and credentials are removed from what is shown. Repeat the command to copy
what is new; it can be interrupted.`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.Load(cmd); err != nil {
				return err
			}
			if err := refuseGroup(c.Command, "import: what other programs have kept of you is not a group's", "import it into "+
				"the private memory"); err != nil {
				return err
			}
			switch {
			case c.undo != "" && len(args) > 0:
				return cli.Misused("import: --undo takes the ID of an import and no source")
			case c.undo != "":
				return c.undoMemories(cmd.Context())
			case len(args) == 0:
				return cli.Misused("import: name a source, one of %s, %s, or auto", sources, tools)
			}
			path := ""
			if len(args) == 2 {
				path = args[1]
			}
			if read := othertools.Readers[args[0]]; read != nil {
				return c.memories(cmd.Context(), args[0], path, read)
			}
			places, err := historyPlaces(env, args[0], path)
			if err != nil {
				return err
			}
			result, err := c.importAll(cmd.Context(), places)
			if err != nil {
				return err
			}
			return errors.Join(c.Answer(result, formatImported(result)), result.failed())
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&c.dryRun, "dry-run", false, "show what is found, and copy and offer nothing")
	flags.BoolVar(&c.copy, "copy", false, "copy also what is read in place, to keep what the host deletes")
	flags.BoolVar(&c.distill, "distill", false, "offer what you stated in the conversations as proposals")
	flags.StringVar(&c.undo, "undo", "", "delete the memories that the import with this ID brought; list shows the IDs")
	c.AddFlags(flags, config.TranscriptsSetting)
	return cmd
}

// importAll imports the sessions of places into the workspace.
func (c importing) importAll(ctx context.Context, places []historyPlace) (imported, error) {
	result := imported{
		Copied: !c.dryRun, Sources: []importedSource{},
		Folder: filepath.Join(c.Config.Workspace, session.MemoryFolder, session.ImportedFolder),
	}
	if !c.dryRun { // before the first copy: no version control may see it
		if err := c.WithMemory(audience.DM(), (*mesh.View).Prepare); err != nil {
			return result, err
		}
	}
	for _, p := range places {
		var err error
		if p.path, err = filepath.Abs(p.path); err != nil {
			return result, err
		}
		s, err := c.read(ctx, p, result.Folder)
		switch {
		case err != nil && (len(places) == 1 || ctx.Err() != nil):
			return result, err
		case err != nil: // the others are not to blame
			s.Error = strings.TrimPrefix(err.Error(), "import: ")
		}
		result.Sources = append(result.Sources, s)
	}
	found := func(s importedSource) bool { return s.Set || !s.InPlace && s.Turns > 0 }
	if c.dryRun || !slices.ContainsFunc(result.Sources, found) {
		return result, nil
	}
	var err error
	result.Indexed, err = c.index(ctx)
	return result, err
}

// failed returns the error for the sources that could not be read, nil if all could.
func (r imported) failed() error {
	var sources []string
	for _, s := range r.Sources {
		if s.Error != "" {
			sources = append(sources, s.Source)
		}
	}
	if len(sources) == 0 {
		return nil
	}
	return fmt.Errorf("import: %s could not be read to the end; the answer has the reason, and the others were read",
		strings.Join(sources, ", "))
}

// index reads all sessions of a DM into the index of their words, and returns their number. It continues where an
// earlier one was interrupted.
func (c importing) index(ctx context.Context) (sessions int, err error) {
	options, err := c.Options()
	if err != nil {
		return 0, err
	}
	err = c.WithMemory(audience.DM(), func(memory *mesh.View) (err error) {
		logs, release, err := session.OpenConversations(options, audience.DM(), memory, time.Now)
		if logs == nil || err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
		bar := cli.NewProgress(c.Stderr)
		err = logs.Index.Update(ctx, func(done, total int) { bar.Show("reading sessions", done, total) })
		bar.End()
		sessions = logs.Index.Progress().Logs
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("import: index the sessions: %w; run the command again to continue", err)
	}
	return sessions, nil
}

// errNoHistory means that no program has kept conversations where they are looked for.
var errNoHistory = errors.New("nothing found")

// historyPlace is where a program keeps its history.
type historyPlace struct {
	source, path string
	named        bool // by the person, who expects conversations there
}

// historyPlaces returns the existing places of source, or path if it is not "".
func historyPlaces(env cli.Env, source, path string) (places []historyPlace, err error) {
	names := slices.Sorted(maps.Keys(history.Readers))
	if source != allHistories && !slices.Contains(names, source) {
		return nil, cli.Misused("import: %q is no source; use one of %s, or auto; of memories: %s", source,
			strings.Join(names, ", "), strings.Join(slices.Sorted(maps.Keys(othertools.Readers)), ", "))
	}
	if path != "" {
		if source == allHistories {
			return nil, cli.Misused("import: auto takes no path; name the program that wrote it")
		}
		return []historyPlace{{source, path, true}}, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	var looked []string
	for _, name := range names {
		if source != allHistories && source != name {
			continue
		}
		for _, place := range history.Readers[name].Places(home, env.Getenv) {
			looked = append(looked, place)
			if info, err := os.Stat(place); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
				places = append(places, historyPlace{source: name, path: place})
			}
		}
	}
	switch {
	case len(places) > 0:
		return places, nil
	case len(looked) == 0:
		return nil, cli.Misused("import: %s needs PATH: the archive that you have exported, or its conversations.json",
			source)
	}
	return nil, fmt.Errorf("import: %w in %s; name the folder: yamo-mcp import SOURCE PATH",
		errNoHistory, strings.Join(looked, ", "))
}

// read shows the sessions of one place, copies them into folder unless they are read in place, and offers what was
// stated in them.
func (c importing) read(ctx context.Context, place historyPlace, folder string) (found importedSource, err error) {
	reader := history.Readers[place.source]
	found = importedSource{Source: place.source, Path: place.path, Projects: map[string]int{}}
	found.InPlace = history.InPlace(reader, place.path) && !c.copy
	found.Set = found.InPlace && isBelow(place.path, c.Config.Session.Transcripts)
	progress := cli.NewProgress(c.Stderr)
	said, names := distilled{}, history.Names{}
	err = reader.Read(ctx, place.path, func(s history.Session) error {
		name, again := names.Of(s)
		if again {
			return ctx.Err()
		}
		found.add(s)
		progress.Show("sessions of "+place.source, found.Sessions+found.Agents, cli.Unknown)
		if c.distill {
			said.hear(name, s)
		}
		if len(s.Turns) == 0 || c.dryRun || found.InPlace {
			return ctx.Err()
		}
		_, changed, err := history.Copy(filepath.Join(folder, place.source), place.source, name, s)
		if changed {
			found.New++
		}
		return errors.Join(err, ctx.Err())
	})
	progress.End()
	switch {
	case errors.Is(err, history.ErrNotArchive):
		return found, fmt.Errorf("import: %s: %w", place.path, history.ErrNotArchive)
	case err != nil && found.New > 0:
		return found, fmt.Errorf("import: %d sessions of %s were copied, then: %w", found.New, place.source, err)
	case err != nil:
		return found, fmt.Errorf("import: %w", err)
	case place.named && found.Sessions == 0:
		return found, fmt.Errorf("import: %s: it has no conversation of %s; name the archive or folder that it wrote",
			place.path, place.source)
	case !c.distill:
		return found, nil
	}
	found.Stated = &said
	if c.dryRun {
		said.newestFirst()
		said.Statements = said.all
		return found, nil
	}
	logs := ""
	if found.InPlace {
		logs = place.path
	}
	return found, said.offer(ctx, c.Command, logs)
}

// isBelow reports whether path, which is absolute, is dir or below it; "" is nowhere.
func isBelow(path, dir string) bool {
	if dir == "" {
		return false
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// add counts a session.
func (found *importedSource) add(s history.Session) {
	found.Unknown += s.Unknown
	if len(s.Turns) == 0 {
		return
	}
	if s.Parent != "" {
		found.Agents++
	} else {
		found.Sessions++
	}
	found.Turns += len(s.Turns)
	for _, t := range s.Turns {
		found.Bytes += int64(len(t.Text))
		if day := t.Time.Format(time.DateOnly); !t.Time.IsZero() {
			found.First = min(cmp.Or(found.First, day), day)
			found.Last = max(found.Last, day)
		}
	}
	if s.Folder != "" && s.Parent == "" {
		found.Projects[s.Folder]++
	}
}

// formatImported returns the answer as text.
func formatImported(r imported) string {
	var b strings.Builder
	for _, s := range r.Sources {
		fmt.Fprintf(&b, "%s: %s, ", s.Source, text.Count(s.Sessions, "session", "sessions"))
		if s.Agents > 0 {
			fmt.Fprintf(&b, "%s of theirs, ", text.Count(s.Agents, "subagent", "subagents"))
		}
		fmt.Fprintf(&b, "%s, %.1f MB of text", text.Count(s.Turns, "turn", "turns"), float64(s.Bytes)/1e6)
		if s.First != "" {
			fmt.Fprintf(&b, ", %s to %s", s.First, s.Last)
		}
		if n := len(s.Projects); n > 0 {
			b.WriteString(", " + text.Count(n, "project", "projects"))
		}
		fmt.Fprintf(&b, " (%s)\n", s.Path)
		if s.Error != "" {
			fmt.Fprintf(&b, "  not read to the end: %s\n", s.Error)
			continue
		}
		if s.Unknown > 0 {
			fmt.Fprintf(&b, "  left out, because their form is not known: %s\n", text.Count(s.Unknown, "entry", "entries"))
		}
		switch {
		case s.Set:
			b.WriteString("  session_logs reads them there\n")
		case s.InPlace:
			fmt.Fprintf(&b, "  session_logs reads them there once the setting transcripts is %q; --copy copies them\n",
				s.Path)
		case r.Copied:
			fmt.Fprintf(&b, "  new or changed: %s, in %s\n", text.Count(s.New, "session", "sessions"),
				filepath.Join(r.Folder, s.Source))
		}
		if s.Stated != nil {
			b.WriteString(s.Stated.String())
		}
	}
	if r.Indexed > 0 {
		fmt.Fprintf(&b, "session_logs finds the words of %s\n", text.Count(r.Indexed, "session", "sessions"))
	}
	if !r.Copied {
		b.WriteString("nothing was copied: this was a dry run\n")
	}
	return b.String()
}

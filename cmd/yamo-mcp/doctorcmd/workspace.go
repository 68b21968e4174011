package doctorcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/applied"
)

// audiences are those whose sessions are checked: a DM, and a group that has said nothing yet.
func audiences() []audience.Audience {
	return []audience.Audience{audience.DM(), {}} // the zero value is the default group
}

// options are those of a session whose log is not shown: what goes wrong is in the findings.
func (d *doctor) options() session.Options {
	return session.Options{
		Config: d.Config, Getenv: d.Getenv, Logger: slog.New(slog.DiscardHandler), Version: d.Version,
	}
}

// workspace checks the folder and the format of its files.
func (d *doctor) workspace(ctx context.Context) {
	dir := d.Config.Workspace
	folder, err := workspace.Open(dir, workspace.WithScrubber(session.CredentialScrubber(nil)))
	if err != nil {
		d.problem("workspace", err.Error(), beginning(dir))
		return
	}
	defer folder.Close() //nolint:errcheck // it was only read
	switch folder.View(audience.DM()).State() {
	case workspace.Ready:
		d.fine("workspace", "%s", dir)
	case workspace.Bootstrap:
		d.note("workspace", dir+": waits for its first session, in which the agent asks who it is",
			"start a session in your host and say hello")
	default:
		d.problem("workspace", dir+": has neither SOUL.md nor BOOTSTRAP.md, so that every tool refuses",
			"yamo-mcp init "+quoted(dir))
	}
	if err := d.record(ctx, folder.View(audience.DM())); err != nil {
		d.problem("record of edits", err.Error(), "yamo-mcp record verify --workspace "+quoted(dir))
	}
	findings, err := folder.Lint()
	if err != nil {
		d.problem("format", err.Error(), "yamo-mcp lint "+quoted(dir))
		return
	}
	failed := 0
	for _, f := range findings {
		if f.Error {
			failed++
		}
	}
	switch lint := "yamo-mcp lint " + quoted(dir); {
	case failed > 0:
		d.problem("format", fmt.Sprintf("files of the workspace do not conform to the format (errors: %d)", failed), lint)
	case len(findings) > 0:
		d.note("format", fmt.Sprintf("warnings: %d", len(findings)), lint)
	default:
		d.fine("format", "the workspace's files conform to the format")
	}
}

// record checks every line of the record of edits. The error says what is wrong with it. Without a record it opens
// nothing.
func (d *doctor) record(ctx context.Context, view *workspace.View) error {
	folder := filepath.Join(d.Config.Workspace, session.MemoryFolder)
	if !applied.Begun(folder, config.HeadFolder(d.Config.Workspace, d.Getenv)) {
		return nil
	}
	editor, err := session.OpenEditor(d.options(), view, nil, nil)
	if err != nil {
		return err
	}
	found, err := editor.Verify(ctx)
	if err == nil && found.Missing != nil {
		err = found.Missing
	}
	return err
}

// memory checks the ledgers, the model, the vectors and the tables.
func (d *doctor) memory(ctx context.Context) {
	memory, release, err := session.OpenMemory(d.options(), audience.DM())
	if err != nil {
		d.problem("memory", err.Error(), fixOf(err, "yamo-mcp mesh health --workspace "+quoted(d.Config.Workspace)))
		return
	}
	health, err := memory.Maintenance().Health(ctx)
	if hits, listErr := memory.All(ctx, 1); listErr == nil && len(hits) > 0 {
		d.newest = hits[0].CreatedAt
	}
	if err = errors.Join(err, release()); err != nil {
		d.problem("memory", err.Error(), fixOf(err, "yamo-mcp mesh health --workspace "+quoted(d.Config.Workspace)))
		return
	}
	if health.Status == mesh.Healthy {
		d.fine("memory", "%d memories, %d skills; found by meaning (%s)", health.Memories, health.Skills, health.Model)
		return
	}
	for _, p := range health.Problems {
		fix := "yamo-mcp mesh health --workspace " + quoted(d.Config.Workspace)
		// What is wrong often names its command.
		if _, after, ok := strings.Cut(p, "`"); ok {
			if command, _, ok := strings.Cut(after, "`"); ok {
				fix = command + " --workspace " + quoted(d.Config.Workspace)
				if command == "yamo-mcp setup" { // the check of the assets has it
					continue
				}
			}
		}
		if strings.Contains(p, "damaged at line") {
			fix = salvage(quoted(d.Config.Workspace))
		}
		if strings.Contains(p, "have no vector yet") {
			d.note("memory", p, "nothing: the next session embeds them")
			continue
		}
		d.problem("memory", p, fix)
	}
}

// salvage returns what solves the damage of a ledger in a folder, as an argument of a shell.
func salvage(dir string) string {
	return "restore a backup, or yamo-mcp ledger salvage --workspace " + dir + ", which keeps what is intact"
}

// charactersPerToken is the usual ratio of English text and JSON; hosts use different tokenizers.
const charactersPerToken = 4

// receives reports what a host's model gets from a session of an audience before it asks for anything.
func (d *doctor) receives(who audience.Audience) {
	name := who.Connection()
	deps, release, err := session.Open(d.options(), who)
	if err != nil {
		d.problem(name, err.Error(), "yamo-mcp lint "+quoted(d.Config.Workspace))
		return
	}
	characters := len(deps.Instructions)
	for _, tool := range deps.Tools {
		definition := tool.Definition()
		schema, err := json.Marshal(definition.RawInputSchema)
		if err != nil {
			d.problem(name, err.Error(), "report this")
		}
		characters += len(definition.Name) + len(definition.Description) + len(schema)
	}
	text := fmt.Sprintf("the model receives %d tools and instructions of %d characters, about %d tokens together",
		len(deps.Tools), len(deps.Instructions), characters/charactersPerToken)
	if err := release(); err != nil {
		d.problem(name, err.Error(), "yamo-mcp mesh health --workspace "+quoted(d.Config.Workspace))
		return
	}
	folder, err := workspace.Open(d.Config.Workspace)
	if err == nil {
		defer folder.Close() //nolint:errcheck // it was only read
		if startup, _, err := folder.View(who).Startup(); err == nil {
			text += fmt.Sprintf("; a session starts with %d characters of files", len(startup))
		}
	}
	d.fine(name, "%s", text)
}

// clock checks the machine's clock against the newest memory, in the person's time zone.
func (d *doctor) clock() {
	now := time.Now()
	if folder, err := workspace.Open(d.Config.Workspace); err == nil {
		now = folder.View(audience.DM()).Now()
		_ = folder.Close() // it was only read
	}
	switch {
	case now.Year() < firstYear:
		d.problem("clock", "the machine's clock shows "+now.Format(time.DateOnly), "set the clock")
	case d.newest.After(now.Add(maxAhead)):
		d.problem("clock", "the newest memory is from the future ("+d.newest.Format(time.RFC3339)+"); the clock shows "+
			now.Format(time.RFC3339), "set the clock; memories keep their times")
	default:
		d.fine("clock", "%s", now.Format("2006-01-02 15:04 MST"))
	}
}

// firstYear is before any workspace: a clock that shows an earlier one has not been set.
const firstYear = 2025

// maxAhead is how far the newest memory may be ahead of the clock: clocks of machines that share a workspace differ.
const maxAhead = 5 * time.Minute

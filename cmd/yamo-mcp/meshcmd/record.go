package meshcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/screen"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// deletion is the answer of delete.
type deletion struct {
	ID      string   `json:"id"`
	Deleted bool     `json:"deleted"`
	Derived []string `json:"derived,omitempty"`   // reflections, lessons and skills made of it
	Same    []string `json:"same_text,omitempty"` // memories with the same text
	// For the operator and a DM: the files that contain the text, and the files whose recorded edits do.
	Copies   []workspace.Place `json:"copies,omitempty"`
	Recorded []string          `json:"recorded,omitempty"`
	Cited    []workspace.Place `json:"cited,omitempty"`
}

// lookedUp is the answer of get.
type lookedUp struct {
	match
	History []match `json:"history,omitempty"` // what it replaced and what replaced it, oldest first, with itself
}

// formatHistory formats a history with the dates of zone, "" for none.
func formatHistory(history []record.Hit, zone *time.Location) string {
	var b strings.Builder
	for _, h := range history {
		until := "current"
		if h.Past != nil {
			until = "until " + h.Past.At.In(zone).Format(time.DateOnly)
		}
		fmt.Fprintf(&b, "History: %s (%s): %s\n", h.ID, until, text.Shorten(text.OneLine(h.Content), maxHistory))
	}
	return b.String()
}

const maxHistory = 200 // characters of a memory in a history

// separation is the answer of separate.
type separation struct {
	ID   string   `json:"id"`
	Into []string `json:"into"` // ids of the new memories
}

// newSeparate returns `yamo-mcp mesh separate`.
func (m *command) newSeparate() *cobra.Command {
	var id string
	cmd := m.command(&cobra.Command{
		Use:   "separate --id <id>",
		Short: "Store the sightings of a memory as separate memories",
		Long: `Text that has the words of a memory, or nearly so, is counted as a sighting of it instead of becoming
a memory. This stores the sightings of a memory as separate memories.`,
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		into, err := memory.Separate(ctx, id)
		if err != nil {
			return err
		}
		return m.Answer(separation{id, into},
			fmt.Sprintf("[MemoryMesh] Separated from record %s: %s\n", id, strings.Join(into, ", ")))
	})
	cmd.Flags().StringVar(&id, "id", "", "ID of the memory (required)")
	return cli.Require(cmd, "id")
}

// newGet returns `yamo-mcp mesh get`.
func (m *command) newGet() *cobra.Command {
	var id string
	cmd := m.command(&cobra.Command{
		Use:   "get --id <id>",
		Short: "Show a memory or a skill",
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		return m.show(ctx, memory, id)
	})
	cmd.Flags().StringVar(&id, "id", "", "ID of the memory or skill (required)")
	return cli.Require(cmd, "id")
}

// newDelete returns `yamo-mcp mesh delete`.
func (m *command) newDelete() *cobra.Command {
	var id string
	cmd := m.command(&cobra.Command{
		Use:   "delete --id <id>",
		Short: "Permanently delete a memory or a skill",
		Long: `Permanently delete a memory or a skill from the ledger, the index and the disk. The ledger keeps the
fact that it existed, but not its text. Reflections and skills that quote it, having been made without
a language model, are deleted too. Other copies are reported on stderr: reflections, lessons and
skills derived from it, other memories with the same text, and files that contain the
text, such as MEMORY.md after dreaming.`,
	}, func(ctx context.Context, memory *mesh.View, _ []string) error { return m.delete(ctx, memory, id) })
	cmd.Flags().StringVar(&id, "id", "", "ID of the memory or skill (required)")
	return cli.Require(cmd, "id")
}

// Delete erases a memory or skill and answers c, for a person.
func Delete(ctx context.Context, c *cli.Command, memory *mesh.View, id string) error {
	return (&command{Command: c, person: true}).delete(ctx, memory, id)
}

// delete erases the memory or skill called id, and reports what is left of it.
func (m *command) delete(ctx context.Context, memory *mesh.View, id string) (err error) {
	gone := deletion{ID: id, Deleted: true}
	// Before the deletion, which removes the way to find them.
	if gone.Same, err = memory.SameText(ctx, id); err != nil {
		return err
	}
	hit, lookup := memory.Get(ctx, id) // fails for a skill
	if err := memory.Delete(ctx, id, "deleted on the command line"); err != nil {
		return err
	}
	if gone.Derived, err = memory.DerivedFrom(ctx, id); err != nil {
		return err
	}
	// SECURITY: a group must not learn which private files contain a text.
	if lookup == nil && memory.Audience.IsDM() {
		m.tellCopies(ctx, &gone, hit.Content)
	}
	if len(gone.Derived) > 0 {
		m.notice("Derived from it, and may repeat its text: " + strings.Join(gone.Derived, ", "))
	}
	if len(gone.Same) > 0 {
		m.notice("Same text: " + strings.Join(gone.Same, ", "))
	}
	return m.answer(gone, fmt.Sprintf("[MemoryMesh] Deleted record %s\n", id), func(s *screen.Screen) {
		s.Put("Erased " + id + "\n")
	})
}

// tellCopies reports where the deleted text remains. The deletion has succeeded even if that cannot be found out.
func (m *command) tellCopies(ctx context.Context, gone *deletion, text string) {
	copies, err := m.copies(ctx, gone.ID, text)
	if err != nil {
		m.notice("Cannot check whether files of the workspace contain it: " + err.Error())
		return
	}
	gone.Copies, gone.Recorded, gone.Cited = copies.Places, copies.Recorded, copies.Cited
	tell := func(what string, places []workspace.Place) {
		for _, place := range places {
			where := place.File
			if place.Section != "" {
				where += ", section " + strconv.Quote(place.Section)
			}
			m.notice(what + where)
		}
	}
	tell("Still contains it: ", gone.Copies)
	tell("Cites it as evidence, which now leads nowhere: ", gone.Cited)
	if len(gone.Copies)+len(gone.Recorded) > 0 {
		m.notice("The record of edits keeps the earlier contents of files; `yamo-mcp record erase FILE` erases them. " +
			"Files whose record contains it: " + cmp.Or(strings.Join(gone.Recorded, ", "), "none yet"))
	}
}

// copies finds the files of the workspace that contain text, and those whose recorded edits do.
func (m *command) copies(ctx context.Context, id, text string) (copies edit.Copies, err error) {
	folder, err := workspace.Open(m.Config.Workspace)
	if err != nil {
		return edit.Copies{}, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	editor, err := edit.Open(edit.Options{
		View: folder.View(audience.DM()), Dir: filepath.Join(m.Config.Workspace, session.MemoryFolder),
	})
	if err != nil {
		return edit.Copies{}, err
	}
	return editor.Copies(ctx, id, text)
}

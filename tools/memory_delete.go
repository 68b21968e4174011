package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/forget"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// memoryDeletion is the arguments of memory_delete.
type memoryDeletion struct {
	ID      string `json:"id" jsonschema:"minLength=1"`
	Confirm bool   `json:"confirm,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

func (memoryDeletion) JSONSchemaExtend(s *jsonSchema) { describe(s, deletionTexts) }

// deletionTexts describe the arguments of memory_delete.
var deletionTexts = map[string]string{
	"id":      "Memory or skill.",
	"confirm": "The user agreed; needed if the host cannot ask.",
	"reason":  "On record, without the content.",
}

// memoryDeleted is the result of memory_delete: what else still contains the text, so that the user can decide about
// it.
type memoryDeleted struct {
	ID      string   `json:"id,omitempty"`
	Deleted bool     `json:"deleted"`
	Derived []string `json:"derived,omitempty"`
	Same    []string `json:"same_text,omitempty"`
	// Copies, Recorded and Cited are a DM's.
	Copies   []workspace.Place `json:"copies,omitempty"`
	Recorded []string          `json:"recorded,omitempty"`
	Cited    []workspace.Place `json:"cited,omitempty"`
	About    *forgottenList    `json:"about,omitempty"`
	Hint     string            `json:"hint,omitempty"`
}

func (memoryDeleted) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"derived":   "Reflections, lessons and skills derived from it, which may repeat it.",
		"same_text": "Other memories with the same text.",
		"copies":    "Places in workspace files that still contain it.",
		"recorded":  "Files whose edit history contains it.",
		"cited":     "Places in workspace files that cite it as evidence, which now leads nowhere.",
		"about":     "What mentions the subject; erased if deleted is true.",
	})
}

// MemoryDelete is the tool memory_delete (RFC-0011 §4.1 delete). A group deletes only what is its own, and
// never what is shared. The memory is erased from the ledger too, so nothing can restore it. With editor, nil in a
// group, the result names the files that still contain it, and everything about a subject can be erased.
func MemoryDelete(v *mesh.View, w *workspace.View, editor *edit.Editor) Tool {
	spec := Spec{
		Name:        "memory_delete",
		Title:       "Forget",
		Description: "Permanently erase what the user asked to forget. To correct it, store the correction.",
		Destructive: true,
		Idempotent:  true,
	}
	deleteOne := func(ctx context.Context, in memoryDeletion) (memoryDeleted, error) {
		about, err := doomedThing(ctx, v, in.ID)
		if err != nil {
			return memoryDeleted{}, err
		}
		// What a group may not delete, Delete refuses: so no one is asked about it.
		if v.Audience.IsDM() || about.visibility != record.Shared {
			if err := confirmDeletion(ctx, about, in.Confirm); err != nil {
				return memoryDeleted{}, err
			}
		}
		gone := memoryDeleted{ID: in.ID, Deleted: true}
		// Before the deletion: afterwards the ledger does not know what it was.
		if gone.Same, err = v.SameText(ctx, in.ID); err != nil {
			return memoryDeleted{}, err
		}
		if err := v.Delete(ctx, in.ID, in.Reason); err != nil {
			return memoryDeleted{}, err
		}
		// What quotes it was deleted with it.
		if gone.Derived, err = v.DerivedFrom(ctx, in.ID); err != nil {
			return memoryDeleted{}, err
		}
		checked := true
		// SECURITY: a group has no editor, so it learns nothing of the workspace's files.
		if editor != nil && about.kind == "memory" {
			// The memory is gone, whatever becomes of the look for copies.
			copies, err := editor.Copies(ctx, in.ID, about.text)
			checked, gone.Copies, gone.Recorded, gone.Cited = err == nil, copies.Places, copies.Recorded, copies.Cited
		}
		left := newRoom()
		gone.Derived, gone.Same, gone.Recorded = fit(&left, gone.Derived), fit(&left, gone.Same), fit(&left, gone.Recorded)
		gone.Copies, gone.Cited = fit(&left, gone.Copies), fit(&left, gone.Cited)
		gone.Hint = gone.hint(checked)
		return gone, nil
	}
	// SECURITY: a group has no editor. It learns nothing of the workspace's files, and is not offered to erase them.
	if editor == nil {
		return Define(spec, deleteOne)
	}
	f := forget.Forgetter{Memory: v, Workspace: w, Editor: editor, Actor: v.AgentID}
	shown := newShownLists()
	return Define(spec, func(ctx context.Context, in forgetting) (memoryDeleted, error) {
		if err := checkForgetting(in); err != nil {
			return memoryDeleted{}, err
		}
		if in.About != "" {
			return forgetAbout(ctx, f, shown, in)
		}
		return deleteOne(ctx, memoryDeletion{ID: in.ID, Confirm: in.Confirm, Reason: in.Reason})
	})
}

// hint describes what is left of a memory, and how to remove it.
func (d memoryDeleted) hint(checked bool) string {
	var parts []string
	if len(d.Derived)+len(d.Same) > 0 {
		parts = append(parts, "Other memories may repeat it; delete those too if the user wants nothing kept.")
	}
	if len(d.Copies) > 0 {
		parts = append(parts, "Tell the user that files still contain it; to remove it there, "+
			"call curate_memory (retire) or workspace_edit. Only the user can change logs.")
	}
	if len(d.Cited) > 0 {
		parts = append(parts, "Tell the user what cited it: that evidence proves nothing any more. To remove it, call "+
			"workspace_edit with op curate_items and remove.")
	}
	if len(d.Copies)+len(d.Recorded) > 0 {
		parts = append(parts, "The edit history keeps earlier text until the user erases it: `yamo-mcp record erase FILE`.")
	}
	if !checked {
		parts = append(parts, "Workspace files could not be checked for copies.")
	}
	return strings.Join(parts, " ")
}

// doomed describes to a person what will be deleted.
type doomed struct {
	id, kind   string
	visibility record.Visibility
	created    time.Time
	text       string
	revived    []record.Past // what is current again without it
}

// doomedThing returns the memory or skill that an ID names. The view returns only what the audience may read, so that
// the error of another's ID is that of an unknown one.
func doomedThing(ctx context.Context, v *mesh.View, id string) (doomed, error) {
	// Every other prefix is a memory's, that of a lesson's and a reflection's memory too.
	if strings.HasPrefix(id, "skill_") {
		skill, err := v.Skills().Get(ctx, id)
		if err != nil {
			return doomed{}, err
		}
		return doomed{id, "skill", skill.Visibility, skill.CreatedAt, skill.Name + ": " + skill.Intent, nil}, nil
	}
	hit, err := v.Get(ctx, id)
	if err != nil {
		return doomed{}, err
	}
	about := doomed{id, "memory", hit.Visibility, hit.CreatedAt, hit.Content, nil}
	if hit.Past == nil {
		about.revived = hit.Replaced
	}
	return about, nil
}

// confirmDeletion asks the person to confirm that the memory or skill is deleted, and shows its beginning.
func confirmDeletion(ctx context.Context, about doomed, given bool) error {
	lines := []string{""}
	question := fmt.Sprintf("Permanently delete this %s (%s, %s)?\n\n%s",
		about.kind, about.visibility, about.created.Format(time.DateOnly), excerpt(about.text))
	if len(about.revived) > 0 {
		question += "\n\nIt replaced this, which is current again without it:"
	}
	for _, past := range about.revived {
		lines = append(lines, excerpt(past.Content))
	}
	return confirm(ctx, consent{
		key: questionKey("delete", about.id), question: question + strings.Join(lines, "\n"),
		tick:    "Delete it permanently",
		given:   given,
		missing: "confirm: deletion is permanent; ask the user, then call again with confirm: true",
	})
}

package tools

import (
	"context"
	"fmt"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh"
)

type memoryDeletion struct {
	ID      string `json:"id" jsonschema:"minLength=1" jsonschema_description:"The memory's id, as memory_search gives it."`
	Confirm bool   `json:"confirm,omitempty" jsonschema_description:"true: the person wants this memory gone for good; there is no way back. Required unless the host asks the person itself, which counts for more."`
	Reason  string `json:"reason,omitempty" jsonschema_description:"Why, in a few words that do not repeat what is deleted; they are kept."`
}

type memoryDeleted struct {
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
}

// MemoryDelete is the tool memory_delete (RFC-0011 §4.1 delete). A group deletes only what is its own.
func MemoryDelete(v *mesh.View) Tool {
	return Define(Spec{
		Name:  "memory_delete",
		Title: "Forget",
		Description: "Erase one memory for good, from the ledger and every index: only what the person asked to forget, with confirm: true. " +
			"Where the host can, the person is asked first. To correct a memory, store the correction first.",
		Destructive: true,
		Idempotent:  true,
	}, func(ctx context.Context, in memoryDeletion) (memoryDeleted, error) {
		hit, err := v.Get(ctx, in.ID)
		if err != nil {
			return memoryDeleted{}, err
		}
		// What a group may not delete, Delete refuses: nobody need be asked for that.
		if v.Audience.IsDM() || hit.Visibility != mesh.Shared {
			if err := confirmDeletion(ctx, hit, in.Confirm); err != nil {
				return memoryDeleted{}, err
			}
		}
		if err := v.Delete(ctx, in.ID, in.Reason); err != nil {
			return memoryDeleted{}, err
		}
		return memoryDeleted{ID: in.ID, Deleted: true}, nil
	})
}

func confirmDeletion(ctx context.Context, hit mesh.Hit, given bool) error {
	return confirm(ctx, consent{
		key:      questionKey("delete", hit.ID),
		question: fmt.Sprintf("Delete this memory (%s, %s) for good?\n\n%s", hit.Visibility, hit.CreatedAt.Format(time.DateOnly), excerpt(hit.Content)),
		tick:     "Delete it for good",
		given:    given,
		missing:  "confirm: deleting is for good; ask the person, and call again with confirm: true",
	})
}

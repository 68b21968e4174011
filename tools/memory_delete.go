package tools

import (
	"context"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh"
)

type memoryDeletion struct {
	ID      string `json:"id" jsonschema:"minLength=1" jsonschema_description:"The memory's id, as memory_search gives it."`
	Confirm bool   `json:"confirm" jsonschema_description:"true: the person wants this memory gone for good. There is no way back."`
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
		Description: "Erase one memory for good, from the ledger and every index: only what the person asked to forget, and only with confirm: true. " +
			"To correct a memory, store the correction first.",
		Destructive: true,
		Idempotent:  true,
	}, func(ctx context.Context, in memoryDeletion) (memoryDeleted, error) {
		if !in.Confirm {
			return memoryDeleted{}, fault.New("confirm: deleting is for good; ask the person, and call again with confirm: true")
		}
		if err := v.Delete(ctx, in.ID, in.Reason); err != nil {
			return memoryDeleted{}, err
		}
		return memoryDeleted{ID: in.ID, Deleted: true}, nil
	})
}

package tools

import (
	"context"

	"github.com/yamo-protocol/yamo-mcp/mesh"
)

type memoryID struct {
	ID string `json:"id" jsonschema:"minLength=1" jsonschema_description:"The memory's id, as memory_search and memory_store give it."`
}

type memoryWhole struct {
	memoryResult
	Heritage *heritage     `json:"heritage,omitempty" jsonschema_description:"What it descends from, the oldest level first."`
	Lesson   *lessonDetail `json:"lesson,omitempty" jsonschema_description:"Of a lesson: its parts."`
}

type heritage struct {
	IntentChain []string `json:"intent_chain"`
	Hypotheses  []string `json:"hypotheses"`
	Rationales  []string `json:"rationales"`
}

// MemoryGet is the tool memory_get (RFC-0011 §4.1 get).
func MemoryGet(v *mesh.View) Tool {
	return Define(Spec{
		Name:        "memory_get",
		Title:       "Look a memory up",
		Description: "Return one memory whole, with everything that is known about it, by its id.",
		ReadOnly:    true,
		Idempotent:  true,
	}, func(ctx context.Context, in memoryID) (memoryWhole, error) {
		hit, err := v.Get(ctx, in.ID)
		if err != nil {
			return memoryWhole{}, err
		}
		var whole memoryWhole
		whole.memoryResult, _ = present(hit, true)
		if whole.Details.Signals == nil {
			whole.Details.Signals = []mesh.Signal{} // nothing was ranked
		}
		if hit.Lesson != nil {
			lesson := detailLesson(hit)
			whole.Lesson = &lesson
		}
		if h := hit.Heritage; h != nil {
			whole.Heritage = &heritage{h.IntentChain, h.Hypotheses, h.Rationales}
		}
		return whole, nil
	})
}

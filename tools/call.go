package tools

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
)

// callKey is what the context of a call has its id under.
type callKey struct{}

// callIDFields are where hosts put the id by which their model knows a call.
var callIDFields = []string{"claudecode/toolUseId", "toolUseId", "tool_call_id"}

// maxCallID is how long such an id may be, in bytes; a longer one is left out.
const maxCallID = 128

// withCallID is ctx with the host's id of a call, if it gives one.
func withCallID(ctx context.Context, request mcp.CallToolRequest) context.Context {
	if request.Params.Meta == nil {
		return ctx
	}
	for _, field := range callIDFields {
		if id, ok := request.Params.Meta.AdditionalFields[field].(string); ok && id != "" && len(id) <= maxCallID {
			return context.WithValue(ctx, callKey{}, id)
		}
	}
	return ctx
}

// callID is the host's id of the call, "" if it gave none.
func callID(ctx context.Context) string {
	id, _ := ctx.Value(callKey{}).(string)
	return id
}

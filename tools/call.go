package tools

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// callKey is the key of the host's call ID in the context of a call.
type callKey struct{}

// callIDFields are the fields of _meta in which hosts send the ID by which their model knows a call. An edit keeps it,
// so that a person can find the conversation that an edit came from.
var callIDFields = []string{"claudecode/toolUseId", "toolUseId", "tool_call_id"}

// maxCallID is the maximum length of such an ID in bytes. A longer one is ignored and not cut, because half an ID would
// find nothing.
const maxCallID = 128

// withCallID returns ctx with the host's ID of the call, and ctx itself if the host gave none.
func withCallID(ctx context.Context, request mcp.CallToolRequest) context.Context {
	if request.Params.Meta == nil {
		return ctx
	}
	for _, field := range callIDFields {
		// The first field that is set: hosts that send two mean the same call.
		if id, ok := request.Params.Meta.AdditionalFields[field].(string); ok && id != "" && len(id) <= maxCallID {
			return context.WithValue(ctx, callKey{}, id)
		}
	}
	return ctx
}

// sessionID returns the ID of the client's session, "" if the transport has none.
func sessionID(ctx context.Context) string {
	if session := server.ClientSessionFromContext(ctx); session != nil {
		return session.SessionID()
	}
	return ""
}

// callID returns the host's ID of the call, "" if it gave none.
func callID(ctx context.Context) string {
	id, _ := ctx.Value(callKey{}).(string)
	return id
}

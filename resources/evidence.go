package resources

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
)

// RegisterEvidence offers what evidence tokens lead to on s, a DM's server that Register is called for as well. resolve returns
// what is shown as JSON; a fault means that the token leads nowhere.
//
// The template is shown and not registered, as that of the logs is: a token that leads nowhere is answered as any unknown URI.
//
// SECURITY: events and memories are private; a group's server does not get this.
func RegisterEvidence(s *server.MCPServer, resolve func(ctx context.Context, token string) (any, error)) error {
	hooks := s.GetHooks()
	if hooks == nil {
		return errors.New("register evidence: the server was made without hooks")
	}
	template := mcp.NewResourceTemplate(resourceuri.EvidencePrefix+"{token}", "evidence",
		mcp.WithTemplateTitle("Evidence"),
		mcp.WithTemplateDescription("What an evidence token (ev:…) leads to: the record of an edit, or a memory"),
		mcp.WithTemplateMIMEType("application/json"),
	)
	hooks.AddAfterListResourceTemplates(func(_ context.Context, _ any, request *mcp.ListResourceTemplatesRequest, result *mcp.ListResourceTemplatesResult) {
		if request.Params.Cursor == "" {
			result.ResourceTemplates = append(result.ResourceTemplates, template)
		}
	})
	hooks.AddBeforeReadResource(func(ctx context.Context, _ any, request *mcp.ReadResourceRequest) {
		uri := request.Params.URI
		token, ok := resourceuri.ParseEvidence(uri)
		if !ok {
			return
		}
		found, err := resolve(ctx, token)
		if _, nowhere := fault.As(err); nowhere {
			return
		}
		var data []byte
		if err == nil {
			data, err = json.Marshal(found)
		}
		request.Params.URI = door
		request.Params.Arguments = map[string]any{loadedKey: loaded{contents(uri, "application/json", data), err}}
	})
	return nil
}

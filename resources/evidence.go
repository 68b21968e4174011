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

// RegisterEvidence adds the targets of evidence tokens to s, a DM's server for which Register is called too. resolve
// returns the target, which is sent as JSON; a fault means that the token is unknown.
//
// Like the template of the logs, the template is listed but not registered, so an unknown token gets the same answer as
// any unknown URI.
//
// SECURITY: events and memories are private; a group's server does not get this.
func RegisterEvidence(s *server.MCPServer, resolve func(ctx context.Context, token string) (any, error)) error {
	hooks := s.GetHooks()
	if hooks == nil {
		return errors.New("register evidence: the server has no hooks")
	}
	template := mcp.NewResourceTemplate(resourceuri.EvidencePrefix+"{token}", "evidence",
		mcp.WithTemplateTitle("Evidence"),
		mcp.WithTemplateDescription("The target of an evidence token (ev:…): an edit, memory, passage or turn"),
		mcp.WithTemplateMIMEType("application/json"),
	)
	listTemplates(hooks, template)
	hooks.AddBeforeReadResource(func(ctx context.Context, _ any, request *mcp.ReadResourceRequest) {
		uri := request.Params.URI
		token, ok := resourceuri.ParseEvidence(uri)
		if !ok {
			return
		}
		found, err := resolve(ctx, token)
		// SECURITY: the request goes on unchanged, and the server answers as for any unknown URI.
		if _, unknown := fault.As(err); unknown {
			return
		}
		var data []byte
		if err == nil {
			data, err = json.Marshal(found)
		}
		request.Params.URI = loadedURI
		request.Params.Arguments = map[string]any{loadedKey: loaded{contents(uri, "application/json", data), err}}
	})
	return nil
}

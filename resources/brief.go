package resources

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/brief"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
)

// RegisterBrief adds the resource of the brief that a session starts with to s, a server for the audience of the
// sources.
func RegisterBrief(s *server.MCPServer, sources brief.Sources) error {
	s.AddResource(mcp.NewResource(resourceuri.Brief, "brief",
		mcp.WithResourceTitle("Brief"),
		mcp.WithResourceDescription("What a session starts with, the most valuable first, in 1,500 tokens"),
		mcp.WithMIMEType("text/markdown"),
	), func(ctx context.Context, _ mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		built, err := sources.Build(ctx, brief.Options{})
		if err != nil {
			return nil, err
		}
		return []mcp.ResourceContents{contents(resourceuri.Brief, "text/markdown", []byte(built.Text))}, nil
	})
	return nil
}

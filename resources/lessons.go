package resources

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
)

// RegisterLessons adds the resource of the active lessons to s. render returns their Markdown for s's audience, "" if
// there are none.
func RegisterLessons(s *server.MCPServer, render func(context.Context) (string, error)) error {
	s.AddResource(mcp.NewResource(resourceuri.ActiveLessons, "lessons",
		mcp.WithResourceTitle("Active lessons"),
		mcp.WithResourceDescription("Rules from past mistakes, the most severe first"),
		mcp.WithMIMEType("text/markdown"),
	), func(ctx context.Context, _ mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		text, err := render(ctx)
		if err != nil {
			return nil, err
		}
		// Not empty: a host may take empty content for a failure to read.
		if text == "" {
			text = "There are no active lessons.\n"
		}
		return []mcp.ResourceContents{contents(resourceuri.ActiveLessons, "text/markdown", []byte(text))}, nil
	})
	return nil
}

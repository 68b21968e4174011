package resources

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// LessonsURI is the resource with the lessons in force (RFC-0011 §8.2 step 4).
const LessonsURI = "yamo://lessons/active"

// RegisterLessons offers the lessons in force on s. render makes their Markdown for s's audience, "" if
// there are none.
func RegisterLessons(s *server.MCPServer, render func(context.Context) (string, error)) {
	s.AddResource(mcp.NewResource(LessonsURI, "lessons",
		mcp.WithResourceTitle("Lessons in force"),
		mcp.WithResourceDescription("Rules from past mistakes, the most severe first"),
		mcp.WithMIMEType("text/markdown"),
	), func(ctx context.Context, _ mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		text, err := render(ctx)
		if err != nil {
			return nil, err
		}
		if text == "" {
			text = "There are no lessons in force.\n"
		}
		return []mcp.ResourceContents{contents(LessonsURI, "text/markdown", []byte(text))}, nil
	})
}

package resources

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
)

// EvidencePrefix is how the URI of an evidence token begins (seed 004 §5); the token follows.
const EvidencePrefix = "yamo://evidence/"

// EvidenceURI is the resource that an evidence token leads to.
func EvidenceURI(token string) string { return EvidencePrefix + url.PathEscape(token) }

// RegisterEvidence offers what evidence tokens lead to on s, a DM's server. resolve returns what is shown as JSON.
//
// SECURITY: events and memories are private; a group's server does not get this.
func RegisterEvidence(s *server.MCPServer, resolve func(ctx context.Context, token string) (any, error)) {
	s.AddResourceTemplate(mcp.NewResourceTemplate(EvidencePrefix+"{token}", "evidence",
		mcp.WithTemplateTitle("Evidence"),
		mcp.WithTemplateDescription("What an evidence token (ev:…) leads to: the record of an edit, or a memory"),
		mcp.WithTemplateMIMEType("application/json"),
	), func(ctx context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		uri := request.Params.URI
		token, err := url.PathUnescape(strings.TrimPrefix(uri, EvidencePrefix))
		if err != nil {
			return nil, server.ErrResourceNotFound
		}
		found, err := resolve(ctx, token)
		if _, ok := fault.As(err); ok {
			return nil, server.ErrResourceNotFound
		}
		if err != nil {
			return nil, errors.New("internal error")
		}
		data, err := json.Marshal(found)
		if err != nil {
			return nil, fmt.Errorf("encode evidence: %w", err)
		}
		return []mcp.ResourceContents{contents(uri, "application/json", data)}, nil
	})
}

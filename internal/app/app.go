// Package app is the MCP App of the server (extension io.modelcontextprotocol/ui): a page that a host shows next to
// what memory_search found or workspace_edit proposed. It is declared only to hosts that announce that they show it.
//
// The invariant: the page is the same bytes for every audience and has no data. What it shows are results that the host
// hands to it, and what it does are calls of the server's tools, which the host confirms. So it gives no audience
// anything that its tools do not. It requests nothing and treats stored text as hostile.
package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed" // the parts of the page
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/tools"
)

const (
	// Extension is the identifier of MCP Apps in the capabilities of clients and servers.
	Extension = "io.modelcontextprotocol/ui"
	// URI is the resource with the page.
	URI = "ui://yamo/memory"
	// MIMEType is its type. A host that can show it lists the type in its settings of the extension.
	MIMEType = "text/html;profile=mcp-app"
)

// shown are the tools whose results the page shows.
var shown = []string{"memory_search", "workspace_edit"}

var (
	//go:embed view/page.html
	frame string
	//go:embed view/style.css
	style string
	//go:embed view/text.js
	textScript string
	//go:embed view/host.js
	hostScript string
	//go:embed view/memory.js
	memoryScript string
)

// page is the page: the style and the scripts are in it, because a host has no other address to load them from.
var page = assemble()

// assemble puts the parts together. Its policy allows exactly them: neither a script in stored text nor a request
// anywhere, whatever the host's own policy is.
func assemble() string {
	script := textScript + hostScript + memoryScript
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	policy := "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) +
		"; base-uri 'none'; form-action 'none'"
	return strings.NewReplacer("{{policy}}", policy, "{{style}}", style, "{{script}}", script).Replace(frame)
}

// Announced reports whether a client can show MCP Apps of this type. Clients of before the revision that has extensions
// announce them as experimental.
func Announced(c mcp.ClientCapabilities) bool {
	for _, announced := range []map[string]any{c.Extensions, c.Experimental} {
		settings, ok := announced[Extension].(map[string]any)
		if !ok {
			continue
		}
		types, ok := settings["mimeTypes"].([]any)
		if ok && slices.Contains(types, any(MIMEType)) {
			return true
		}
	}
	return false
}

// announced is Announced for the client that a request came from.
func announced(ctx context.Context) bool { return Announced(tools.ClientCapabilities(ctx)) }

// Declare returns the option that tells hosts with the extension which tools have a page, and hides from all others the
// tools that only the page calls: they are absent there, also to a call.
func Declare(forPage []tools.Tool) server.ServerOption {
	return server.WithToolFilter(func(ctx context.Context, list []mcp.Tool) []mcp.Tool {
		isForPage := func(t mcp.Tool) bool {
			return slices.ContainsFunc(forPage, func(p tools.Tool) bool { return p.Name() == t.Name })
		}
		if !announced(ctx) {
			return slices.DeleteFunc(slices.Clone(list), isForPage)
		}
		list = slices.Clone(list)
		for i, tool := range list {
			switch {
			case isForPage(tool):
				list[i].Meta = meta(map[string]any{"resourceUri": URI, "visibility": []string{"app"}})
			case slices.Contains(shown, tool.Name):
				list[i].Meta = meta(map[string]any{"resourceUri": URI})
			}
		}
		return list
	})
}

// meta is the metadata of a tool. The second key is that of hosts of the extension's drafts, which its SDK sets too.
func meta(ui map[string]any) *mcp.Meta {
	return &mcp.Meta{AdditionalFields: map[string]any{"ui": ui, "ui/resourceUri": URI}}
}

// registeredURI is the URI under which the page is registered. It is random, so that to a client without the extension
// URI is a resource that does not exist.
var registeredURI = "yamo://" + rand.Text()

// Register adds the page to s, which has hooks and does not serve yet.
func Register(s *server.MCPServer) error {
	hooks := s.GetHooks()
	if hooks == nil {
		return errors.New("register the app: the server has no hooks")
	}
	// What the page may load and do: nothing. Hosts read it from the contents, older ones from the list.
	nothing := map[string]any{"ui": map[string]any{"csp": map[string]any{}, "prefersBorder": true}}
	resource := mcp.NewResource(registeredURI, "memory",
		mcp.WithResourceTitle("Memory"),
		mcp.WithResourceDescription("Shows what a search found, and edits that wait for a decision"),
		mcp.WithMIMEType(MIMEType),
	)
	resource.Meta = &mcp.Meta{AdditionalFields: maps.Clone(nothing)}
	s.AddResource(resource, func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{
			Meta: maps.Clone(nothing), URI: URI, MIMEType: MIMEType, Text: page,
		}}, nil
	})
	hooks.AddAfterListResources(func(
		ctx context.Context, _ any, _ *mcp.ListResourcesRequest, list *mcp.ListResourcesResult,
	) {
		can := announced(ctx)
		list.Resources = slices.DeleteFunc(slices.Clone(list.Resources), func(r mcp.Resource) bool {
			return r.URI == registeredURI && !can
		})
		for i := range list.Resources {
			if list.Resources[i].URI == registeredURI {
				list.Resources[i].URI = URI
			}
		}
	})
	hooks.AddBeforeReadResource(func(ctx context.Context, _ any, request *mcp.ReadResourceRequest) {
		if request.Params.URI == URI && announced(ctx) {
			request.Params.URI = registeredURI
		}
	})
	// Not of the session, which does not have the capabilities yet.
	hooks.AddAfterInitialize(func(
		_ context.Context, _ any, request *mcp.InitializeRequest, result *mcp.InitializeResult,
	) {
		if Announced(request.Params.Capabilities) {
			result.Capabilities.Extensions = map[string]any{Extension: map[string]any{}}
		}
	})
	hooks.AddAfterDiscover(func(ctx context.Context, _ any, _ *mcp.DiscoverRequest, result *mcp.DiscoverResult) {
		if announced(ctx) {
			result.Capabilities.Extensions = map[string]any{Extension: map[string]any{}}
		}
	})
	return nil
}

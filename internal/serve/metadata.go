package serve

import (
	"github.com/mark3labs/mcp-go/server"
)

// scopes are the OAuth scopes for this server; see serve/auth.
const scopes = "yamo:dm yamo:group:NAME"

// mountMetadata adds the routes of the protected resource metadata, which lists the authorization servers that
// issue tokens for this server (RFC 9728).
func (f *front) mountMetadata(prefix string) {
	if len(f.options.AuthorizationServers) == 0 || f.options.PublicURL == nil {
		return
	}
	base := *f.options.PublicURL
	base.Path, base.RawQuery, base.Fragment = "", "", ""
	resource := base.String() + prefix + "/mcp"
	serve := server.NewProtectedResourceMetadataHandler(server.ProtectedResourceMetadataConfig{
		Resource:               resource,
		AuthorizationServers:   f.options.AuthorizationServers,
		ScopesSupported:        []string{"yamo:dm"},
		BearerMethodsSupported: []string{"header"},
		ResourceName:           "YAMO memory",
	})
	path := server.ProtectedResourceMetadataPath(resource)
	f.metadata = base.String() + path
	const wellKnown = server.WellKnownProtectedResourcePath
	// Clients ask for the path with or without the resource's own; behind a proxy with a prefix they cannot know it.
	for _, path := range []string{path, wellKnown, wellKnown + "/mcp"} {
		f.routes[path] = route{open: serve.ServeHTTP}
	}
}

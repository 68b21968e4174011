package serve

import (
	"net/http"

	"github.com/mark3labs/mcp-go/server"
)

// scopes are those that a token of an authorization server may have for this one.
const scopes = "yamo:dm yamo:group:NAME"

// mountMetadata says at the well-known place which authorization servers give tokens for this one (RFC 9728).
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
	for _, place := range []string{path, server.WellKnownProtectedResourcePath, server.WellKnownProtectedResourcePath + "/mcp"} {
		f.routes[place] = route{open: func(w http.ResponseWriter, r *http.Request) { serve.ServeHTTP(w, r) }}
	}
}

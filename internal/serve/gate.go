package serve

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
	"github.com/yamo-protocol/yamo-mcp/internal/token"
)

const (
	maxQuery = 1 << 10 // bytes
	maxPath  = 256     // bytes
)

// gate checks every request first, before its route and its token.
type gate struct {
	loopback bool     // the listener is only reachable from this machine: its loopback names are valid hosts
	hosts    []string // other valid hosts, lower case, without port
	origins  []string // allowed origins besides the server's own, as browsers send them
}

// check returns the status to reject a request with, or 0 to accept it.
func (g gate) check(r *http.Request) (status int, reason string) {
	switch {
	case len(r.URL.RawQuery) > maxQuery || len(r.URL.Path) > maxPath:
		return http.StatusRequestURITooLong, "the URL is too long"
	case !g.host(r.Host):
		// SECURITY: DNS rebinding: a web page that resolves its own name to this machine sends that name.
		return http.StatusForbidden, "this host is not served here (--allow-host)"
	case !g.origin(r):
		// SECURITY: any web page can make a visitor's browser send requests to this machine.
		return http.StatusForbidden, "this origin is not allowed (--allow-origin)"
	case carriesToken(r.URL):
		// SECURITY: URLs are logged and shared, so a token in one is neither accepted nor repeated.
		return http.StatusBadRequest,
			"a token does not belong in a URL: send it as Authorization: Bearer, and revoke this one"
	}
	return 0, ""
}

// host reports whether a Host header names this server.
func (g gate) host(value string) bool {
	name := hostName(value)
	if name == "" {
		return false
	}
	return g.loopback && auth.IsLoopback(name) || slices.Contains(g.hosts, name)
}

// origin reports whether the request's origin is allowed: none, as for programs; the server's own; or a listed
// one.
func (g gate) origin(r *http.Request) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	if len(values) > 1 {
		return false
	}
	if g.listed(values[0]) {
		return true
	}
	u, err := url.Parse(values[0])
	if err != nil || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.User != nil {
		return false
	}
	// The Host header was checked before, so an origin with the same host is this server's own.
	return strings.EqualFold(u.Host, r.Host) && (u.Scheme == "https" || u.Scheme == "http" && r.TLS == nil)
}

// listed reports whether the operator allowed the origin by name.
func (g gate) listed(origin string) bool { return slices.Contains(g.origins, origin) }

// cors sets the headers that let pages of listed origins read responses. It reports whether the request was a
// preflight request, which it answers.
func (g gate) cors(w *recorder, r *http.Request) (answered bool) {
	origin := r.Header.Get("Origin")
	if origin == "" || !g.listed(origin) {
		return false
	}
	header := w.Header()
	header.Add("Vary", "Origin")
	w.origin = origin
	header.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, Retry-After")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	header.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, "+
		"Mcp-Protocol-Version, Mcp-Method, Mcp-Name, "+auth.ConnectionHeader)
	header.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// hostName returns the name in a Host header, lower case and without port, or "" if it is not valid.
func hostName(value string) string {
	if host, port, err := net.SplitHostPort(value); err == nil {
		if strings.Trim(port, "0123456789") != "" {
			return ""
		}
		value = host
	} else if strings.HasPrefix(value, "[") && strings.HasSuffix(value, "]") {
		value = value[1 : len(value)-1]
	} else if strings.ContainsAny(value, ":[]") {
		return ""
	}
	if strings.ContainsAny(value, "/@?#\\ \t") {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(value, "."))
}

// carriesToken reports whether a URL contains something that may be a token.
func carriesToken(u *url.URL) bool {
	if strings.Contains(strings.ToLower(u.Path), token.Prefix) {
		return true
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return strings.Contains(strings.ToLower(u.RawQuery), token.Prefix)
	}
	for name, values := range query {
		switch strings.ToLower(name) {
		case "access_token", "token", "authorization", "bearer", "api_key", "apikey", "key":
			return true
		}
		for _, value := range append(values, name) {
			if strings.Contains(value, token.Prefix) || strings.HasPrefix(value, "eyJ") && strings.Count(value, ".") == 2 {
				return true
			}
		}
	}
	return false
}

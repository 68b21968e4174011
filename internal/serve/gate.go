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
	maxQuery = 1 << 10
	maxPath  = 256
)

// gate is what every request passes first, before any route and any token.
type gate struct {
	loopback bool     // the listener is reached from this machine alone: its loopback names are hosts
	hosts    []string // other names, lower case, without port
	origins  []string // besides the server's own, as browsers send them
}

// check returns the status to refuse a request with, 0 to let it pass.
func (g gate) check(r *http.Request) (status int, reason string) {
	switch {
	case len(r.URL.RawQuery) > maxQuery || len(r.URL.Path) > maxPath:
		return http.StatusRequestURITooLong, "the URL is too long"
	case !g.host(r.Host):
		// SECURITY: a web page that has rebound its own name to this machine comes with that name.
		return http.StatusForbidden, "this host is not served here (--allow-host)"
	case !g.origin(r):
		// SECURITY: any web page can make its visitor's browser send requests to this machine.
		return http.StatusForbidden, "this origin is not allowed (--allow-origin)"
	case carriesToken(r.URL):
		// SECURITY: URLs are logged and shared; a token in one is not accepted and not repeated.
		return http.StatusBadRequest, "a token does not belong into a URL: send it as Authorization: Bearer, and revoke this one"
	}
	return 0, ""
}

func (g gate) host(value string) bool {
	name := hostName(value)
	if name == "" {
		return false
	}
	return g.loopback && auth.IsLoopback(name) || slices.Contains(g.hosts, name)
}

// origin admits requests of programs, which have none, of pages that this server itself would have sent, and
// of those on the list.
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
	// The Host header has been checked, so an origin that equals it is a name of this server.
	return strings.EqualFold(u.Host, r.Host) && (u.Scheme == "https" || u.Scheme == "http" && r.TLS == nil)
}

// listed says whether an origin was allowed by name.
func (g gate) listed(origin string) bool { return slices.Contains(g.origins, origin) }

// cors lets browsers read answers for pages whose origin was allowed by name. It reports whether the request
// was a question of the browser's own, and is answered.
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

// hostName is the name in a Host header, lower case and without port, "" if it is none.
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

// carriesToken reports whether a URL has what may be a token.
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

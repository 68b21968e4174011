package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
)

// TestAuthorization sends every combination of token, Host, Origin, route and method, and computes what must come
// of it from the rules only: first the Host, then the Origin, then the route, then the method, then the token.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	type credential struct {
		name   string
		header string // Authorization
		lower  string // X-YAMO-Connection
		status int    // that it comes to where a token is needed, 0 if it is let in
	}
	credentials := []credential{
		{"none", "", "", 401},
		{"a DM's", "Bearer dm", "", 0},
		{"a group's, asking to be a DM", "Bearer club", "dm", 0},
		{"unknown", "Bearer unknown", "", 401},
		{"another scheme", "Basic ZG06ZG0=", "", 401},
		{"without scope", "Bearer scopeless", "", 403},
	}
	h := serveHouse(t, func(o *HTTPOptions) {
		o.Hosts, o.Origins = []string{"memory.example"}, []string{"https://app.example"}
		o.PublicURL, _ = url.Parse("https://public.example")
		o.AuthorizationServers = []string{"https://login.example"}
	})
	own := strings.TrimPrefix(h.url, "http://")
	port := own[strings.LastIndex(own, ":"):]
	hosts := map[string]bool{own: true, "memory.example": true, "evil.example": false, "192.168.1.1" + port: false}
	origin := func(host, value string) bool {
		switch value {
		case "", "https://app.example":
			return true
		case "http://HOST":
			return hosts[host]
		default:
			return false
		}
	}
	origins := []string{"", "https://app.example", "http://HOST", "null", "https://evil.example"}
	type target struct {
		path    string
		methods map[string]int // what comes of it once let in, without a body and a session
		open    bool
	}
	const anyMethod = "GET POST DELETE HEAD PUT OPTIONS"
	targets := []target{
		{"/mcp", map[string]int{"GET": 400, "POST": 415, "DELETE": 400}, false},
		{"/sse", map[string]int{"GET": 200}, false},
		{"/message", map[string]int{"POST": 415}, false},
		{"/healthz", map[string]int{"GET": 200, "HEAD": 200}, true},
		{"/.well-known/oauth-protected-resource", map[string]int{"GET": 200, "HEAD": 200, "OPTIONS": 204}, true},
		{"/.well-known/oauth-protected-resource/mcp", map[string]int{"GET": 200, "HEAD": 200, "OPTIONS": 204}, true},
	}
	absent := []string{
		"/",
		"/mcp/",
		"/MCP",
		"//mcp",
		"/mcp/../healthz",
		"/.well-known/oauth-authorization-server",
		"/debug/pprof/",
		"/sse/message",
	}
	checked := 0
	check := func(credential credential, host, from, path, method string, want int) {
		headers := []string{"Host: " + host}
		if from != "" {
			headers = append(headers, "Origin: "+strings.ReplaceAll(from, "HOST", host))
		}
		if credential.header != "" {
			headers = append(headers, "Authorization: "+credential.header)
		}
		if credential.lower != "" {
			headers = append(headers, auth.ConnectionHeader+": "+credential.lower)
		}
		response := h.send(method, path, "", "", headers...)
		_ = response.Body.Close()
		checked++
		what := fmt.Sprintf("token %s, Host %s, Origin %s: %s %s", credential.name, host, from, method, path)
		if response.StatusCode != want {
			t.Errorf("%s: status %d, want %d", what, response.StatusCode, want)
		}
		const metadata = `resource_metadata="https://public.example/.well-known/oauth-protected-resource/mcp"`
		challenge := response.Header.Get("WWW-Authenticate")
		if want == 401 && !strings.HasPrefix(challenge, `Bearer realm="yamo-mcp"`) {
			t.Errorf("%s: WWW-Authenticate %q, want the realm", what, challenge)
		}
		if challenge != "" && !strings.Contains(challenge, metadata) {
			t.Errorf("%s: WWW-Authenticate %q, want %s", what, challenge, metadata)
		}
	}
	for host, hostOK := range hosts {
		for _, from := range origins {
			admitted := hostOK && origin(host, from)
			for _, c := range credentials {
				for method := range strings.FieldsSeq(anyMethod) {
					for _, to := range targets {
						want, known := to.methods[method]
						switch {
						case !admitted:
							want = 403
						case !known:
							want = 405
						case !to.open && c.status != 0:
							want = c.status
						case to.path == "/healthz" && c.header != "" && c.status != 0:
							want = c.status // who shows a token is not told that it is good when it is not
						}
						check(c, host, from, to.path, method, want)
					}
				}
				path := absent[checked%len(absent)]
				if want := 404; admitted {
					check(c, host, from, path, http.MethodPost, want)
				} else {
					check(c, host, from, path, http.MethodPost, 403)
				}
			}
		}
	}
	t.Logf("%d combinations", checked)
}

// The values of Host and Origin that the table above has no room for.
func TestHostsAndOrigins(t *testing.T) {
	t.Parallel()
	g := gate{loopback: true, hosts: []string{"memory.example"}, origins: []string{"https://app.example"}}
	for host, want := range map[string]bool{
		"localhost": true, "localhost:7420": true, "LocalHost:1": true, "127.0.0.1": true, "127.9.9.9:7420": true,
		"[::1]:7420": true, "[::1]": true, "[::ffff:127.0.0.1]:1": true,
		"memory.example": true, "Memory.Example.:443": true,
		"": false, "evil.example": false, "memory.example.evil.example": false, "localhost.evil.example": false,
		"127.0.0.1.nip.io": false, "0.0.0.0:7420": false, "10.0.0.1": false,
		"localhost:x": false, "user@localhost": false, "localhost/": false, "localhost#": false, "::1": false, "[::1": false,
		"2130706433": false, "0x7f.1": false, "127.1": false, "localhost\t": false,
	} {
		if got := g.host(host); got != want {
			t.Errorf("host %q: %v", host, got)
		}
	}
	outside := gate{hosts: []string{"memory.example"}}
	if outside.host("localhost:7420") || !outside.host("memory.example") {
		t.Error("a server that others reach answers to this machine's names")
	}
	for origin, want := range map[string]bool{
		"http://localhost:7420": true, "https://localhost:7420": true, "http://LOCALHOST:7420": true,
		"https://app.example": true,
		"http://localhost":    false, "http://localhost:1": false, "http://127.0.0.1:7420": false,
		"https://app.example:8443": false, "http://app.example": false, "https://app.example/": false,
		"https://app.example.evil.example": false, "https://APP.example": false, "null": false, "": false, "file://": false,
		"http://user@localhost:7420": false,
		"ftp://localhost:7420":       false, "http://localhost:7420/": false, "http://localhost:7420?x": false,
		"localhost:7420": false, "chrome-extension://abc": false,
	} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost:7420/mcp", nil)
		r.Header["Origin"] = []string{origin}
		if got := g.origin(r); got != want {
			t.Errorf("origin %q: %v", origin, got)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "http://localhost:7420/mcp", nil)
	r.Header["Origin"] = []string{"https://app.example", "https://app.example"}
	if g.origin(r) {
		t.Error("two origins are one too many")
	}
}

// The header Authorization in every shape.
func TestBearer(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][2]string{
		"Bearer abc": {"abc", ""}, "bearer abc": {"abc", ""}, "BEARER  abc ": {"abc", ""},
		"Bearer": {"", "invalid_request"}, "Bearer ": {"", "invalid_request"}, "abc": {"", "invalid_request"},
		"Basic abc": {"", "invalid_request"}, "": {"", "invalid_request"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.Header["Authorization"] = []string{value}
		if token, problem := bearer(r); token != want[0] || problem != want[1] {
			t.Errorf("%q: %q, %q", value, token, problem)
		}
		r.Header["Authorization"] = []string{"Bearer abc", value}
		if token, problem := bearer(r); token != "" || problem == "" {
			t.Errorf("two of them: %q", token)
		}
	}
}

// Who comes without a token is the group's, if the operator has said so, and only without a token.
func TestAnonymousGroup(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, func(o *HTTPOptions) {
		o.Anonymous = &auth.Client{Key: "anonymous", Tenant: auth.Tenant{Audience: group(t, "guests")}}
	})
	body, headers := modernMessage(1, "resources/read", `{"uri":"test://who"}`)
	for name, more := range map[string][]string{"nothing": nil, "a wish": {auth.ConnectionHeader + ": dm"}} {
		if got := h.ask(http.MethodPost, "/mcp", "", body, append(headers, more...)...); !strings.Contains(
			got.body,
			`"text":"group:guests"`,
		) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := h.ask(http.MethodPost, "/mcp", "unknown", body, headers...); got.status != http.StatusUnauthorized {
		t.Errorf("a bad token: %+v", got)
	}
	if got := h.ask(http.MethodPost, "/mcp", "dm", body, headers...); !strings.Contains(got.body, `"text":"dm"`) {
		t.Errorf("a good token: %+v", got)
	}
}

// Pages of the list may ask before they send; no other gets an answer to that.
func TestPreflight(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, func(o *HTTPOptions) { o.Origins = []string{"https://app.example"} })
	got := h.ask(http.MethodOptions, "/mcp", "", "", "Origin: https://app.example",
		"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization")
	if got.status != http.StatusNoContent {
		t.Errorf("an allowed page: %+v", got)
	}
	if origin := got.header.Get("Access-Control-Allow-Origin"); origin != "https://app.example" {
		t.Errorf("an allowed page: Access-Control-Allow-Origin %q", origin)
	}
	if headers := got.header.Get("Access-Control-Allow-Headers"); !strings.Contains(headers, "Authorization") {
		t.Errorf("an allowed page: Access-Control-Allow-Headers %q", headers)
	}
	if c := got.header.Get("Access-Control-Allow-Credentials"); c != "" {
		t.Errorf("an allowed page: Access-Control-Allow-Credentials %q", c)
	}
	for _, from := range []string{"https://evil.example", "null", "http://app.example"} {
		got := h.ask(http.MethodOptions, "/mcp", "", "", "Origin: "+from, "Access-Control-Request-Method: POST")
		if got.status != http.StatusForbidden || got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %+v", from, got)
		}
	}
}

// What /healthz answers depends on the caller.
func TestHealth(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	if got := h.ask(http.MethodGet, "/healthz", "", ""); got.body != `{"status":"ok"}`+"\n" {
		t.Errorf("without a token: %+v", got)
	}
	got := h.ask(http.MethodGet, "/healthz", "club", "")
	if got.body != `{"connection":"group","status":"ok","version":"v0.0.0-test"}`+"\n" {
		t.Errorf("a token: %+v", got)
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, func(o *HTTPOptions) {
		o.PublicURL, _ = url.Parse("https://public.example/yamo/")
		o.AuthorizationServers = []string{"https://login.example"}
	})
	const want = `{"resource":"https://public.example/yamo/mcp","authorization_servers":["https://login.example"],` +
		`"scopes_supported":["yamo:dm"],"bearer_methods_supported":["header"],"resource_name":"YAMO memory"}`
	for _, path := range []string{
		"/.well-known/oauth-protected-resource/yamo/mcp",
		"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp",
	} {
		if got := h.ask(http.MethodGet, path, "", ""); strings.TrimSpace(got.body) != want {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if _, route := h.stream("dm"); !strings.HasPrefix(route, "/yamo/message?") {
		t.Errorf("behind a proxy, messages go to %s", route)
	}
	none := serveHouse(t, nil)
	if got := none.ask(http.MethodGet, "/.well-known/oauth-protected-resource", "",
		""); got.status != http.StatusNotFound {
		t.Errorf("without an authorization server: %+v", got)
	}
}

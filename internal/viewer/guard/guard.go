// Package guard decides which requests a local web page in a person's browser may send: those of the browser that was
// opened with the link that only the person has.
//
// The invariant: no handler behind a Guard sees a request from another machine's page, another browser or another site,
// and no response may load, run or frame anything that does not come from the Guard's own address.
package guard

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// openPath is where the one-time link leads.
	openPath = "/open"
	// TokenField is the name of the form field that has the token of Token.
	TokenField = "token"
	maxBody    = 2 << 20 // bytes; a memory has at most 1 MiB
	maxQuery   = 8 << 10 // bytes
)

// Guard guards the handlers of one server. It is safe for concurrent use.
type Guard struct {
	host   string // the value of the Host header
	cookie string // its name, which has the port: cookies do not distinguish ports
	first  string // path of the page that the link leads to
	now    func() time.Time

	mu      sync.Mutex
	link    string // the key of the link, "" once it was used
	session string // the cookie's value, "" until the link is used
	token   string
	last    time.Time // of the last accepted request
}

// New returns the guard of a server at a loopback address, "127.0.0.1:PORT". Its link leads to the page with the path
// first. now is for Idle.
func New(address, first string, now func() time.Time) *Guard {
	return &Guard{host: address, cookie: cookieName(address), first: first, now: now, link: rand.Text(), last: now()}
}

// cookieName returns the name of the cookie for an address. Two viewers on one machine have different ports, and a
// browser keeps one cookie of a name for both.
func cookieName(address string) string {
	_, port, _ := strings.Cut(address, ":")
	return "yamo-view-" + port
}

// Link returns the link that opens the pages, once: the browser that follows it first gets the session.
func (g *Guard) Link() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return "http://" + g.host + openPath + "?key=" + g.link
}

// Idle returns how long ago the last accepted request was.
func (g *Guard) Idle() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now().Sub(g.last)
}

// tokenKey is the key of the session's token in a context.
type tokenKey struct{}

// Token returns the token that each form of a page must send back, see TokenField.
func Token(ctx context.Context) string {
	token, _ := ctx.Value(tokenKey{}).(string)
	return token
}

// policy forbids everything that the pages do not need: scripts and styles in the page, other servers, frames.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// Wrap returns h behind the guard.
func (g *Guard) Wrap(h http.Handler) http.Handler {
	// It refuses a request that changes something and that another site's page has caused, by the headers that browsers
	// set themselves.
	own := http.NewCrossOriginProtection().Handler(g.admitted(h))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": policy,
			"X-Content-Type-Options":  "nosniff",
			// The link has the key, so no other site gets it. With no-referrer browsers would send forms with the origin null.
			"Referrer-Policy":              "same-origin",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control":                "no-store",
			"X-Frame-Options":              "DENY",
		} {
			w.Header().Set(name, value)
		}
		switch {
		case r.Host != g.host:
			// SECURITY: DNS rebinding: a web page that resolves its own name to this machine sends that name.
			http.Error(w, "this host is not served here: use the link that yamo-mcp view printed", http.StatusForbidden)
		case r.Header.Get("Origin") != "" && r.Header.Get("Origin") != "http://"+g.host:
			// SECURITY: any web page can make a visitor's browser send requests to this machine.
			http.Error(w, "this origin is not allowed", http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
			w.Header().Set("Allow", "GET, HEAD, POST")
			http.Error(w, "only GET and POST are supported", http.StatusMethodNotAllowed)
		case len(r.URL.RawQuery) > maxQuery:
			http.Error(w, "the address is too long", http.StatusRequestURITooLong)
		case r.URL.Path == openPath:
			g.open(w, r)
		default:
			own.ServeHTTP(w, r)
		}
	})
}

// admitted passes on the requests of the browser that has the session, and of those that change something the ones of
// the session's own forms.
func (g *Guard) admitted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		session, token := g.session, g.token
		g.mu.Unlock()
		cookie, err := r.Cookie(g.cookie)
		if err != nil || session == "" || !equal(cookie.Value, session) {
			http.Error(w, "Open the link that yamo-mcp view printed. It works once; start yamo-mcp view again for another one.",
				http.StatusUnauthorized)
			return
		}
		if r.Method == http.MethodPost {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			if err := r.ParseForm(); err != nil {
				http.Error(w, "the form is too large or damaged; nothing was changed", http.StatusBadRequest)
				return
			}
			// SECURITY: a page of another site can send the cookie, but cannot read the token.
			if !equal(r.PostForm.Get(TokenField), token) {
				http.Error(w, "the page is out of date; go back, reload it and try again. Nothing was changed.",
					http.StatusForbidden)
				return
			}
		}
		g.mu.Lock()
		g.last = g.now()
		g.mu.Unlock()
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tokenKey{}, token)))
	})
}

// welcome leads from the link to the first page. A redirect would be part of the navigation that began elsewhere, in a
// mail program for example, and the browser would not send a SameSite=Strict cookie with it.
var welcome = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>yamo-mcp view</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<meta http-equiv="refresh" content="0;url={{.}}"></head>
<body><main><h1>Your agent's memory</h1><p><a href="{{.}}">Continue</a></p></main></body></html>
`))

// open exchanges the key of the link for the session.
func (g *Guard) open(w http.ResponseWriter, r *http.Request) {
	key := r.URL.Query().Get("key")
	g.mu.Lock()
	ok := r.Method == http.MethodGet && g.link != "" && equal(key, g.link)
	if ok {
		g.link, g.session, g.token, g.last = "", rand.Text(), rand.Text(), g.now()
	}
	session := g.session
	g.mu.Unlock()
	if !ok {
		// SECURITY: the link is in the browser's history and may be in a log: it opens nothing a second time.
		http.Error(w, "This link is not valid, or was used before. Start yamo-mcp view again for another one.",
			http.StatusUnauthorized)
		return
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure: browsers would not send it over loopback HTTP
		Name: g.cookie, Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	_ = welcome.Execute(w, g.first) // the browser may have gone
}

// equal compares secrets in constant time.
func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

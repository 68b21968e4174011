package guard

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

const address = "127.0.0.1:7777"

// site answers with the token of the session.
var site = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, Token(r.Context()))
})

// do sends a request to a guarded site as a browser at its address would.
func do(h http.Handler, method, target, body string, change func(*http.Request)) *http.Response {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = address
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://"+address)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// enter follows the link and returns the cookie.
func enter(t *testing.T, g *Guard, h http.Handler) *http.Cookie {
	t.Helper()
	link, err := url.Parse(g.Link())
	if err != nil {
		t.Fatal(err)
	}
	res := do(h, http.MethodGet, link.RequestURI(), "", nil)
	if res.StatusCode != http.StatusOK || len(res.Cookies()) != 1 {
		t.Fatalf("the link: status %d, %d cookies", res.StatusCode, len(res.Cookies()))
	}
	return res.Cookies()[0]
}

func TestLinkWorksOnce(t *testing.T) {
	t.Parallel()
	g := New(address, "/", time.Now)
	h := g.Wrap(site)
	link := g.Link()
	cookie := enter(t, g, h)
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode {
		t.Errorf("the cookie is %v, want HttpOnly and SameSite=Strict", cookie)
	}
	for _, again := range []string{link, "http://" + address + "/open?key=", "http://" + address + "/open"} {
		u, _ := url.Parse(again)
		if res := do(h, http.MethodGet, u.RequestURI(), "", nil); res.StatusCode != http.StatusUnauthorized ||
			len(res.Cookies()) != 0 {
			t.Errorf("%s after the link was used: status %d", u.Path, res.StatusCode)
		}
	}
}

func TestLinkLeadsToTheFirstPage(t *testing.T) {
	t.Parallel()
	g := New(address, "/as/club", time.Now)
	link, err := url.Parse(g.Link())
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(do(g.Wrap(site), http.MethodGet, link.RequestURI(), "", nil).Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`content="0;url=/as/club"`, `<a href="/as/club">Continue</a>`} {
		if !strings.Contains(string(body), want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}

func TestRequestsOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	g := New(address, "/", time.Now)
	h := g.Wrap(site)
	cookie := enter(t, g, h)
	token, err := io.ReadAll(do(h, http.MethodGet, "/", "", func(r *http.Request) { r.AddCookie(cookie) }).Body)
	if err != nil || len(token) == 0 {
		t.Fatalf("the token is %q: %v", token, err)
	}
	form := url.Values{TokenField: {string(token)}}.Encode()
	for _, c := range []struct {
		name, method, body string
		change             func(*http.Request)
		want               int
	}{
		{"own page", http.MethodGet, "", func(r *http.Request) { r.AddCookie(cookie) }, http.StatusOK},
		{"own form", http.MethodPost, form, func(r *http.Request) { r.AddCookie(cookie) }, http.StatusOK},
		{"no cookie", http.MethodGet, "", nil, http.StatusUnauthorized},
		{"wrong cookie", http.MethodGet, "", func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: cookie.Name, Value: "x"})
		}, http.StatusUnauthorized},
		{"no token", http.MethodPost, "", func(r *http.Request) { r.AddCookie(cookie) }, http.StatusForbidden},
		{"token in the address only", http.MethodPost, "", func(r *http.Request) {
			r.AddCookie(cookie)
			r.URL.RawQuery = form
		}, http.StatusForbidden},
		{"another host", http.MethodGet, "", func(r *http.Request) {
			r.AddCookie(cookie)
			r.Host = "attacker.example:7777"
		}, http.StatusForbidden},
		{"localhost", http.MethodGet, "", func(r *http.Request) {
			r.AddCookie(cookie)
			r.Host = "localhost:7777"
		}, http.StatusForbidden},
		{"another origin", http.MethodGet, "", func(r *http.Request) {
			r.AddCookie(cookie)
			r.Header.Set("Origin", "https://attacker.example")
		}, http.StatusForbidden},
		{"no origin, another site", http.MethodPost, form, func(r *http.Request) {
			r.AddCookie(cookie)
			r.Header.Del("Origin")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, http.StatusForbidden},
		{"another method", http.MethodDelete, "", func(r *http.Request) { r.AddCookie(cookie) }, http.StatusMethodNotAllowed},
		{"a large form", http.MethodPost, "text=" + strings.Repeat("x", maxBody), func(r *http.Request) {
			r.AddCookie(cookie)
		}, http.StatusBadRequest},
	} {
		res := do(h, c.method, "/", c.body, c.change)
		if res.StatusCode != c.want {
			t.Errorf("%s: status %d, want %d", c.name, res.StatusCode, c.want)
		}
		if policy := res.Header.Get("Content-Security-Policy"); strings.Contains(policy, "unsafe") || policy == "" {
			t.Errorf("%s: the policy is %q", c.name, policy)
		}
	}
}

func TestIdle(t *testing.T) {
	t.Parallel()
	now := time.Now()
	g := New(address, "/", func() time.Time { return now })
	h := g.Wrap(site)
	cookie := enter(t, g, h)
	now = now.Add(time.Hour)
	if do(h, http.MethodGet, "/", "", nil); g.Idle() != time.Hour {
		t.Errorf("a refused request counts: idle for %v", g.Idle())
	}
	if do(h, http.MethodGet, "/", "", func(r *http.Request) { r.AddCookie(cookie) }); g.Idle() != 0 {
		t.Errorf("idle for %v after a page", g.Idle())
	}
}

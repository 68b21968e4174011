package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// authority is an authorization server on this machine.
type authority struct {
	*httptest.Server
	rsa     *rsa.PrivateKey
	ecdsa   *ecdsa.PrivateKey
	fetched atomic.Int32 // how often its keys were
	path    string       // of its issuer URL
}

func newAuthority(t *testing.T, path, document string) *authority {
	t.Helper()
	a := &authority{path: path}
	var err error
	if a.rsa, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	if a.ecdsa, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		a.fetched.Add(1)
		number := func(n *big.Int) string { return base64.RawURLEncoding.EncodeToString(n.Bytes()) }
		point, err := a.ecdsa.PublicKey.Bytes()
		if err != nil {
			t.Error(err)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []map[string]any{
			{
				"kty": "RSA",
				"kid": "r",
				"alg": "RS256",
				"use": "sig",
				"n":   number(a.rsa.N),
				"e":   number(big.NewInt(int64(a.rsa.E))),
			},
			{
				"kty": "EC",
				"kid": "e",
				"crv": "P-256",
				"use": "sig",
				"x":   base64.RawURLEncoding.EncodeToString(point[1:33]),
				"y":   base64.RawURLEncoding.EncodeToString(point[33:]),
			},
			// Keys that must not verify anything: a shared secret, one for encryption, one for signing only.
			{"kty": "oct", "kid": "o", "alg": "HS256", "k": base64.RawURLEncoding.EncodeToString([]byte(sharedSecret))},
			{"kty": "RSA", "kid": "enc", "use": "enc", "n": number(a.rsa.N), "e": number(big.NewInt(int64(a.rsa.E)))},
			{
				"kty": "RSA", "kid": "sign", "key_ops": []string{"sign"},
				"n": number(a.rsa.N), "e": number(big.NewInt(int64(a.rsa.E))),
			},
			{
				"kty": "RSA", "kid": "ops", "key_ops": []string{"verify"},
				"n": number(a.rsa.N), "e": number(big.NewInt(int64(a.rsa.E))),
			},
		}})
	})
	mux.HandleFunc(document, func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": a.issuer(), "jwks_uri": a.URL + "/keys"})
	})
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

func (a *authority) issuer() string { return a.URL + a.path }

// sharedSecret is a symmetric key that the issuer publishes by mistake.
const sharedSecret = "a secret of 32 bytes, or even more"

const resource = "https://public.example/mcp"

// claims are those of a good token.
func (a *authority) claims() jwt.MapClaims {
	return jwt.MapClaims{
		"iss": a.issuer(), "aud": resource, "sub": "mira", "client_id": "laptop", "scope": "openid yamo:dm",
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
}

func sign(t *testing.T, method jwt.SigningMethod, key any, header map[string]any, c jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, c)
	maps.Copy(token.Header, header)
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// renamed returns c with the claim from called to.
func renamed(c jwt.MapClaims, from, to string) jwt.MapClaims {
	c[to] = c[from]
	delete(c, from)
	return c
}

func open(t *testing.T, o OAuthOptions) *OAuth {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	verifier, err := NewOAuth(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return verifier
}

func TestOAuthTokens(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "/realms/home", "/.well-known/oauth-authorization-server/realms/home")
	verifier := open(t,
		OAuthOptions{
			Issuer: a.issuer(), Audience: resource, Tenant: Tenant{Workspace: "/w", AgentID: "kate"},
			Subjects: []string{"mira", "nina"},
		})
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	claim := func(name string, value any) jwt.MapClaims {
		c := a.claims()
		if c[name] = value; value == nil {
			delete(c, name)
		}
		return c
	}
	rs := func(c jwt.MapClaims) string {
		return sign(t, jwt.SigningMethodRS256, a.rsa, map[string]any{"kid": "r", "typ": "at+jwt"}, c)
	}
	public, err := json.Marshal(a.rsa.N)
	if err != nil {
		t.Fatal(err)
	}
	good := rs(a.claims())
	parts := strings.Split(good, ".")
	tests := []struct{ name, token, want string }{
		{"a DM's", good, "dm"},
		{
			"signed with an elliptic curve",
			sign(t, jwt.SigningMethodES256, a.ecdsa, map[string]any{"kid": "e"}, a.claims()),
			"dm",
		},
		{"a group's", rs(claim("scope", "yamo:group:book-club")), "group:book-club"},
		{
			"scopes as a list",
			rs(jwt.MapClaims{
				"iss": a.issuer(),
				"aud": []string{"x", resource},
				"sub": "s",
				"exp": time.Now().Add(time.Hour).Unix(),
				"scp": []string{"yamo:group:team"},
			}),
			"group:team",
		},
		{"a DM's and a group's", rs(claim("scope", "yamo:dm yamo:group:team")), "group:team"},
		{"two groups'", rs(claim("scope", "yamo:group:a yamo:group:b")), "forbidden"},
		{"no group", rs(claim("scope", "yamo:group:")), "forbidden"},
		{"a group that cannot be", rs(claim("scope", "yamo:group:../private")), "forbidden"},
		{"no scope of ours", rs(claim("scope", "openid yamo yamo:DM yamo:dm:x")), "forbidden"},
		{"no scope", rs(claim("scope", nil)), "forbidden"},
		{"for another server", rs(claim("aud", "https://other.example/mcp")), "unauthorized"},
		{"without an audience", rs(claim("aud", nil)), "unauthorized"},
		{"of another issuer", rs(claim("iss", "https://other.example")), "unauthorized"},
		{"without an issuer", rs(claim("iss", nil)), "unauthorized"},
		{"expired", rs(claim("exp", time.Now().Add(-time.Hour).Unix())), "unauthorized"},
		{"never expiring", rs(claim("exp", nil)), "unauthorized"},
		{"not yet", rs(claim("nbf", time.Now().Add(time.Hour).Unix())), "unauthorized"},
		{"made in the future", rs(claim("iat", time.Now().Add(time.Hour).Unix())), "unauthorized"},
		{"without a subject", rs(claim("sub", nil)), "unauthorized"},
		{
			"a stranger's key",
			sign(t, jwt.SigningMethodRS256, stranger, map[string]any{"kid": "r"}, a.claims()),
			"unauthorized",
		},
		{"an unknown key", sign(t, jwt.SigningMethodRS256, stranger, map[string]any{"kid": "x"}, a.claims()), "unauthorized"},
		{
			"no signature",
			sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, map[string]any{"kid": "r"}, a.claims()),
			"unauthorized",
		},
		{
			"the public key as a secret",
			sign(t, jwt.SigningMethodHS256, public, map[string]any{"kid": "r"}, a.claims()),
			"unauthorized",
		},
		{
			"another key's name",
			sign(t, jwt.SigningMethodRS256, a.rsa, map[string]any{"kid": "e"}, a.claims()),
			"unauthorized",
		},
		{
			"the key in the token",
			sign(
				t,
				jwt.SigningMethodRS256,
				stranger,
				map[string]any{
					"kid": "r",
					"jwk": map[string]any{"kty": "RSA", "n": base64.RawURLEncoding.EncodeToString(stranger.N.Bytes()), "e": "AQAB"},
				},
				a.claims(),
			),
			"unauthorized",
		},
		{
			"a published secret",
			sign(t, jwt.SigningMethodHS256, []byte(sharedSecret), map[string]any{"kid": "o"}, a.claims()),
			"unauthorized",
		},
		{
			"a key for encryption",
			sign(t, jwt.SigningMethodRS256, a.rsa, map[string]any{"kid": "enc"}, a.claims()),
			"unauthorized",
		},
		{
			"a key for signing only",
			sign(t, jwt.SigningMethodRS256, a.rsa, map[string]any{"kid": "sign"}, a.claims()),
			"unauthorized",
		},
		{
			"a key for verifying",
			sign(t, jwt.SigningMethodRS256, a.rsa, map[string]any{"kid": "ops"}, a.claims()),
			"dm",
		},
		{
			"a critical extension",
			sign(t, jwt.SigningMethodRS256, a.rsa, map[string]any{"kid": "r", "crit": []string{"exp"}}, a.claims()),
			"unauthorized",
		},
		{
			"an unencoded payload",
			sign(t, jwt.SigningMethodRS256, a.rsa, map[string]any{"kid": "r", "b64": false}, a.claims()),
			"unauthorized",
		},
		{"another person with the scope of the DM", rs(claim("sub", "jon")), "forbidden"},
		{"the second person of the DM", rs(claim("sub", "nina")), "dm"},
		{"a similar subject", rs(claim("sub", "Mira")), "forbidden"},
		{"the scope in capitals", rs(renamed(a.claims(), "scope", "SCOPE")), "forbidden"},
		{"the subject in capitals", rs(renamed(a.claims(), "sub", "Sub")), "unauthorized"},
		{"the audience in capitals", rs(renamed(a.claims(), "aud", "AUD")), "unauthorized"},
		{
			"an identity token",
			sign(t, jwt.SigningMethodRS256, a.rsa, map[string]any{"kid": "r", "typ": "id+jwt"}, a.claims()),
			"unauthorized",
		},
		{
			"a logout token",
			sign(t, jwt.SigningMethodRS256, a.rsa, map[string]any{"kid": "r", "typ": "logout+jwt"}, a.claims()),
			"unauthorized",
		},
		{
			"a list of types",
			sign(t, jwt.SigningMethodRS256, a.rsa, map[string]any{"kid": "r", "typ": []string{"id+jwt"}}, a.claims()),
			"unauthorized",
		},
		{
			"a type that is an object",
			sign(t, jwt.SigningMethodRS256, a.rsa, map[string]any{"kid": "r", "typ": map[string]any{"a": 1}}, a.claims()),
			"unauthorized",
		},
		{
			"a list of keys",
			sign(t, jwt.SigningMethodRS256, a.rsa, map[string]any{"kid": []string{"r"}}, a.claims()),
			"unauthorized",
		},
		{
			"another algorithm than the key's",
			sign(t, jwt.SigningMethodPS256, a.rsa, map[string]any{"kid": "r"}, a.claims()),
			"unauthorized",
		},
		{"an end beyond all time", rs(claim("exp", 1e300)), "unauthorized"},
		{"a scope that is a list", rs(claim("scope", []string{"yamo:dm"})), "unauthorized"},
		{"a subject with a zero byte", rs(claim("sub", "mira\x00")), "forbidden"},
		{"a subject that is blank", rs(claim("sub", " ")), "forbidden"},
		{"a scope with another space", rs(claim("scope", "yamo:dm\u00a0yamo:group:club")), "forbidden"},
		{"a group in a path", rs(claim("scope", "yamo:group:../private")), "forbidden"},
		{
			"changed",
			parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"scope":"yamo:dm"}`)) + "." + parts[2],
			"unauthorized",
		},
		{"cut", good[:len(good)-2], "unauthorized"},
		{"nonsense", "a.b.c", "unauthorized"},
		{"empty", "", "unauthorized"},
	}
	for _, test := range tests {
		c, err := verifier.Authenticate(t.Context(), test.token)
		got := c.Tenant.Audience.String()
		switch {
		case errors.Is(err, ErrForbidden):
			got = "forbidden"
		case errors.Is(err, ErrUnauthorized):
			got = "unauthorized"
		case err != nil:
			t.Errorf("%s: %v", test.name, err)
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		if err != nil {
			continue
		}
		if c.Tenant.Workspace != "/w" || c.Tenant.AgentID != "kate" {
			t.Errorf("%s: tenant %+v, want kate's of /w", test.name, c.Tenant)
		}
		if c.Expires.IsZero() {
			t.Errorf("%s: it does not expire", test.name)
		}
		if !strings.HasPrefix(c.Key, "oauth:") {
			t.Errorf("%s: key %q, want oauth:…", test.name, c.Key)
		}
	}
	// Any client can send tokens with unknown keys; the issuer is asked again for one of them, not for each.
	before := a.fetched.Load()
	for range 5 {
		_, _ = verifier.Authenticate(t.Context(),
			sign(t, jwt.SigningMethodRS256, stranger, map[string]any{"kid": rand.Text()}, a.claims()))
	}
	if n := a.fetched.Load() - before; n > 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
}

// One person's programs are several clients, and two tokens of one program are one.
func TestOAuthClients(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "", "/.well-known/openid-configuration")
	verifier := open(t, OAuthOptions{
		Issuer: a.issuer(), Audience: resource, Subjects: []string{"mira", "jon", `mira","laptop`},
	})
	key := func(subject, client string) string {
		t.Helper()
		c := a.claims()
		c["sub"], c["client_id"], c["jti"] = subject, client, rand.Text()
		who, err := verifier.Authenticate(t.Context(), sign(t, jwt.SigningMethodRS256, a.rsa, map[string]any{"kid": "r"}, c))
		if err != nil {
			t.Fatal(err)
		}
		return who.Key
	}
	first, second := key("mira", "laptop"), key("mira", "laptop")
	if first != second {
		t.Error("a fresh token is another client")
	}
	for _, other := range [][2]string{{"mira", "phone"}, {"jon", "laptop"}, {`mira","laptop`, ""}} {
		if key("mira", "laptop") == key(other[0], other[1]) {
			t.Errorf("%q is taken for mira's laptop", other)
		}
	}
}

func TestIssuersThatAreRefused(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "", "/.well-known/openid-configuration")
	redirecting := httptest.NewServer(http.RedirectHandler(a.URL+"/keys", http.StatusFound))
	t.Cleanup(redirecting.Close)
	for want, o := range map[string]OAuthOptions{
		"must begin with https":      {Issuer: "http://login.example"},
		"must be a URL such as":      {Issuer: "login.example"},
		"keys: \"http://":            {Issuer: a.issuer(), JWKS: "http://login.example/keys"},
		"another issuer":             {Issuer: a.URL + "/"},
		"redirects are not followed": {Issuer: a.issuer(), JWKS: redirecting.URL},
		"status 404":                 {Issuer: a.URL + "/elsewhere"},
	} {
		o.Logger = slog.New(slog.DiscardHandler)
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := NewOAuth(ctx, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
		cancel()
	}
}

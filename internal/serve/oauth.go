package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// OAuthOptions say whose tokens are accepted besides the operator's own.
type OAuthOptions struct {
	Issuer   string // as it stands in the tokens
	Audience string // what stands in them for this server
	JWKS     string // the URL of the issuer's keys; "": asked of the issuer
	Logger   *slog.Logger
	// Tenant is what every token opens, but for the audience, which its scope decides.
	Tenant Tenant
}

// OAuth verifies access tokens that an authorization server has signed (RFC 9068).
type OAuth struct {
	options OAuthOptions
	keys    keyfunc.Keyfunc
	parser  *jwt.Parser
}

const (
	// clockSkew is how far the issuer's clock may be off.
	clockSkew = 30 * time.Second
	// keysEvery is how often the issuer's keys are fetched again, and unknownKeyEvery how often at most because
	// a token names a key that is not among them: anybody can send such tokens.
	keysEvery       = time.Hour
	unknownKeyEvery = time.Minute
	issuerTime      = 10 * time.Second
	maxDocument     = 1 << 20
)

// algorithms are the signatures that are accepted. None of them is made with a secret that this server has too,
// and "none" is none of them.
var algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// NewOAuth fetches the issuer's keys, and goes on doing so until ctx is done.
func NewOAuth(ctx context.Context, o OAuthOptions) (*OAuth, error) {
	client := &http.Client{
		Timeout:   issuerTime,
		Transport: bounded{http.DefaultTransport},
		// SECURITY: the operator has named who is asked; nobody else gets to be.
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("it redirects") },
	}
	if err := checkIssuerURL(o.Issuer); err != nil {
		return nil, fmt.Errorf("oauth issuer: %w", err)
	}
	if o.JWKS == "" {
		var err error
		if o.JWKS, err = discover(ctx, client, o.Issuer); err != nil {
			return nil, fmt.Errorf("oauth issuer %s: %w", o.Issuer, err)
		}
	}
	if err := checkIssuerURL(o.JWKS); err != nil {
		return nil, fmt.Errorf("oauth keys: %w", err)
	}
	failing := false
	keys, err := keyfunc.NewDefaultOverrideCtx(ctx, []string{o.JWKS}, keyfunc.Override{
		Client: client, HTTPTimeout: issuerTime, NoErrorReturnFirstHTTPReq: &failing, RefreshInterval: keysEvery,
		RefreshUnknownKID: rate.NewLimiter(rate.Every(unknownKeyEvery), 1),
		RateLimitWaitMax:  time.Second,
		RefreshErrorHandlerFunc: func(string) func(context.Context, error) {
			return func(ctx context.Context, err error) {
				o.Logger.WarnContext(ctx, "fetch the keys of the authorization server", slog.Any("error", err))
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("oauth issuer %s: keys: %w", o.Issuer, err)
	}
	return &OAuth{options: o, keys: keys, parser: jwt.NewParser(
		// SECURITY: the token does not choose how it is verified.
		jwt.WithValidMethods(algorithms),
		jwt.WithIssuer(o.Issuer),
		jwt.WithAudience(o.Audience),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(clockSkew),
	)}, nil
}

// claims are what is read of a token.
type claims struct {
	jwt.RegisteredClaims
	Scope    string `json:"scope"` // RFC 8693 §4.2
	Scp      any    `json:"scp"`   // the same as some servers write it: a string or a list
	ClientID string `json:"client_id"`
}

// Authenticate is for HTTPOptions.
func (o *OAuth) Authenticate(ctx context.Context, text string) (Client, error) {
	var c claims
	parsed, err := o.parser.ParseWithClaims(text, &c, o.keys.KeyfuncCtx(ctx))
	if err != nil || c.Subject == "" {
		return Client{}, ErrUnauthorized
	}
	// SECURITY: an identity token, or one for another purpose, may have the right audience by accident.
	if kind, ok := parsed.Header["typ"].(string); ok && !acceptedType(kind) {
		return Client{}, ErrUnauthorized
	}
	who, ok := audienceOf(c.scopes())
	if !ok {
		return Client{}, ErrForbidden
	}
	tenant := o.options.Tenant
	tenant.Audience = who
	key, err := json.Marshal([]string{o.options.Issuer, c.Subject, c.ClientID})
	if err != nil {
		return Client{}, fmt.Errorf("name a client: %w", err)
	}
	return Client{Key: "oauth:" + string(key), Tenant: tenant, Expires: c.ExpiresAt.Add(clockSkew)}, nil
}

// acceptedType reports whether a token of this type may be an access token (RFC 9068 §2.1; many servers say "JWT").
func acceptedType(kind string) bool {
	kind = strings.TrimPrefix(strings.ToLower(kind), "application/")
	return kind == "at+jwt" || kind == "jwt"
}

func (c claims) scopes() []string {
	list := strings.Fields(c.Scope)
	switch scp := c.Scp.(type) {
	case string:
		list = append(list, strings.Fields(scp)...)
	case []any:
		for _, each := range scp {
			if s, ok := each.(string); ok {
				list = append(list, s)
			}
		}
	}
	return list
}

// audienceOf is whom the scopes are for. Without one of this program's there is nobody; a DM's beside a group's is
// the group's, and of two groups there is no choosing.
func audienceOf(scopes []string) (audience.Audience, bool) {
	dm, group := false, ""
	for _, scope := range scopes {
		if scope == "yamo:dm" {
			dm = true
			continue
		}
		name, ok := strings.CutPrefix(scope, "yamo:group:")
		if !ok {
			continue
		}
		if name == "" || group != "" && group != name {
			return audience.Audience{}, false
		}
		group = name
	}
	switch {
	case group != "":
		// SECURITY: what is in doubt is a group.
		who, err := audience.Group(group)
		return who, err == nil
	case dm:
		return audience.DM(), true
	default:
		return audience.Audience{}, false
	}
}

// discover asks the issuer where its keys are (RFC 8414 §3, else OpenID Connect Discovery §4).
func discover(ctx context.Context, client *http.Client, issuer string) (string, error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return "", err
	}
	path := strings.TrimSuffix(u.Path, "/")
	var problems []error
	for _, place := range []string{"/.well-known/oauth-authorization-server" + path, path + "/.well-known/openid-configuration"} {
		at := *u
		at.Path = place
		keys, err := keysFrom(ctx, client, at.String(), issuer)
		if err == nil {
			return keys, nil
		}
		problems = append(problems, err)
	}
	return "", errors.Join(problems...)
}

func keysFrom(ctx context.Context, client *http.Client, place, issuer string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return "", err
	}
	answer, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: status %d", place, answer.StatusCode)
	}
	var document struct {
		Issuer string `json:"issuer"`
		JWKS   string `json:"jwks_uri"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&document); err != nil {
		return "", fmt.Errorf("%s: %w", place, err)
	}
	if document.Issuer != issuer || document.JWKS == "" {
		return "", fmt.Errorf("%s: it is not about this issuer, or does not say where the keys are", place)
	}
	return document.JWKS, nil
}

// checkIssuerURL refuses what could be answered by somebody else.
func checkIssuerURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%q: a URL, as https://login.example.org", text)
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(hostName(u.Host))) {
		return fmt.Errorf("%q: it begins with https://", text)
	}
	return nil
}

// bounded reads no more of an answer than a document may have.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, maxDocument), answer.Body}
	}
	return answer, err
}

package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// OAuthOptions configure which authorization server's tokens are accepted.
type OAuthOptions struct {
	Issuer   string // expected issuer claim; a URL
	Audience string // expected audience claim
	JWKS     string // URL of the issuer's keys; "" asks the issuer's metadata
	// Subjects are the subject claims that may open the DM. Tokens of others open a group at most.
	Subjects []string
	Logger   *slog.Logger
	// Tenant is the tenant of every token, except for its Audience, which the token's scope determines.
	Tenant Tenant
}

// OAuth verifies access tokens signed by an authorization server (RFC 9068).
type OAuth struct {
	options OAuthOptions
	keys    keyfunc.Keyfunc
	parser  *jwt.Parser
}

const (
	// clockSkew is the allowed difference between the issuer's clock and this machine's.
	clockSkew = 30 * time.Second
	// refreshInterval is how often the issuer's keys are fetched. A token with an unknown key fetches them too, but
	// only once per unknownKeyInterval, because anyone can send such tokens.
	refreshInterval    = time.Hour
	unknownKeyInterval = time.Minute
	issuerTimeout      = 10 * time.Second
	maxDocument        = 1 << 20 // bytes
)

// algorithms are the accepted signature algorithms. All are asymmetric, and "none" is not among them.
var algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// NewOAuth fetches the issuer's keys, and refreshes them in the background until ctx is done. It fails if the URLs
// are not https (or loopback), or if the keys cannot be fetched.
func NewOAuth(ctx context.Context, o OAuthOptions) (*OAuth, error) {
	client := &http.Client{
		Timeout:   issuerTimeout,
		Transport: bounded{http.DefaultTransport.(*http.Transport).Clone()},
		// SECURITY: keys come only from the host that the operator configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("redirects are not followed") },
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
		Client: client, HTTPTimeout: issuerTimeout, NoErrorReturnFirstHTTPReq: &failing,
		RefreshInterval:   refreshInterval,
		RefreshUnknownKID: rate.NewLimiter(rate.Every(unknownKeyInterval), 1),
		RateLimitWaitMax:  time.Second,
		RefreshErrorHandlerFunc: func(string) func(context.Context, error) {
			return func(ctx context.Context, err error) {
				o.Logger.WarnContext(ctx, "cannot fetch the keys of the authorization server", slog.Any("error", err))
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("oauth issuer %s: keys: %w", o.Issuer, err)
	}
	return &OAuth{options: o, keys: keys, parser: jwt.NewParser(
		// SECURITY: the token must not choose how it is verified.
		jwt.WithValidMethods(algorithms),
		jwt.WithIssuer(o.Issuer),
		jwt.WithAudience(o.Audience),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(clockSkew),
	)}, nil
}

// claims are the claims of a token that matter here.
type claims struct {
	jwt.RegisteredClaims
	Scope    string `json:"scope"` // RFC 8693 §4.2
	Scp      any    `json:"scp"`   // the same, as some servers write it: a string or a list
	ClientID string `json:"client_id"`
}

// claimNames are the JSON names of the fields of claims.
var claimNames = []string{"iss", "sub", "aud", "exp", "nbf", "iat", "jti", "scope", "scp", "client_id"}

// UnmarshalJSON implements json.Unmarshaler.
//
// SECURITY: encoding/json also takes "SCOPE" for "scope". An issuer that lets its clients add claims under other names
// would let them choose their scope and subject.
func (c *claims) UnmarshalJSON(data []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return !slices.Contains(claimNames, name) })
	exact, err := json.Marshal(all)
	if err != nil {
		return err
	}
	type plain claims // without this method
	return json.Unmarshal(exact, (*plain)(c))
}

// Authenticate verifies a token and returns its client. The error is ErrUnauthorized or ErrForbidden.
func (o *OAuth) Authenticate(ctx context.Context, text string) (Client, error) {
	var c claims
	parsed, err := o.parser.ParseWithClaims(text, &c, o.keys.KeyfuncCtx(ctx))
	if err != nil || c.Subject == "" {
		return Client{}, ErrUnauthorized
	}
	// SECURITY: an ID token, or one for another purpose, may have the expected audience by accident.
	if kind, ok := parsed.Header["typ"]; ok && !acceptedType(kind) {
		return Client{}, ErrUnauthorized
	}
	if !plainHeader(parsed.Header) || !o.verifies(ctx, parsed.Header) {
		return Client{}, ErrUnauthorized
	}
	who, ok := audienceOf(c.scopes())
	if !ok {
		return Client{}, ErrForbidden
	}
	// SECURITY: there is one DM, which belongs to the persons that the operator named, and not to everyone who has an
	// account at the issuer.
	if who.IsDM() && !slices.Contains(o.options.Subjects, c.Subject) {
		o.options.Logger.WarnContext(ctx, "refused a token for the direct conversation: its subject is not in oauth_subject",
			slog.String("subject", c.Subject))
		return Client{}, ErrForbidden
	}
	tenant := o.options.Tenant
	tenant.Audience = who
	key, err := json.Marshal([]string{o.options.Issuer, c.Subject, c.ClientID})
	if err != nil {
		return Client{}, fmt.Errorf("encode client key: %w", err)
	}
	return Client{Key: "oauth:" + string(key), Tenant: tenant, Expires: c.ExpiresAt.Add(clockSkew)}, nil
}

// plainHeader reports whether the header asks for nothing but an ordinary signature.
//
// SECURITY: RFC 7515 §4.1.11: a token with a critical extension that is not understood must be rejected; b64 (RFC
// 7797) changes what is signed.
func plainHeader(header map[string]any) bool {
	_, critical := header["crit"]
	_, unencoded := header["b64"]
	return !critical && !unencoded
}

// verifies reports whether the key that the header names is one for verifying signatures (RFC 7517 §4.2 and §4.3).
func (o *OAuth) verifies(ctx context.Context, header map[string]any) bool {
	kid, _ := header["kid"].(string)
	key, err := o.keys.Storage().KeyRead(ctx, kid)
	if err != nil {
		return false
	}
	m := key.Marshal()
	return (m.USE == "" || m.USE == jwkset.UseSig) &&
		(len(m.KEYOPS) == 0 || slices.Contains(m.KEYOPS, jwkset.KeyOpsVerify))
}

// acceptedType reports whether a token of this type may be an access token (RFC 9068 §2.1; many servers use "JWT"). A
// type that is no text is none.
func acceptedType(typ any) bool {
	kind, _ := typ.(string)
	kind = strings.TrimPrefix(strings.ToLower(kind), "application/")
	return kind == "at+jwt" || kind == "jwt"
}

// scopes returns the token's scopes, from both claims. Only spaces separate them (RFC 6749 §3.3).
func (c claims) scopes() []string {
	list := strings.Split(c.Scope, " ")
	switch scp := c.Scp.(type) {
	case string:
		list = append(list, strings.Split(scp, " ")...)
	case []any:
		for _, each := range scp {
			if s, ok := each.(string); ok {
				list = append(list, s)
			}
		}
	}
	return list
}

// audienceOf returns the audience that the scopes grant. It is not ok without a scope of this program, or with those
// of two groups. Scopes for both the DM and a group grant the group.
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
		// SECURITY: if in doubt, it is a group.
		who, err := audience.Group(group)
		return who, err == nil
	case dm:
		return audience.DM(), true
	default:
		return audience.Audience{}, false
	}
}

// discover returns the URL of the issuer's keys, from its metadata (RFC 8414 §3, else OpenID Connect Discovery §4).
func discover(ctx context.Context, client *http.Client, issuer string) (string, error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return "", err
	}
	path := strings.TrimSuffix(u.Path, "/")
	var errs []error
	for _, wellKnown := range []string{
		"/.well-known/oauth-authorization-server" + path,
		path + "/.well-known/openid-configuration",
	} {
		metadata := *u
		metadata.Path = wellKnown
		keys, err := keysFrom(ctx, client, metadata.String(), issuer)
		if err == nil {
			return keys, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

// keysFrom returns the URL of the keys from one metadata document.
func keysFrom(ctx context.Context, client *http.Client, metadata, issuer string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, metadata, nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: status %d", metadata, response.StatusCode)
	}
	var document struct {
		Issuer string `json:"issuer"`
		JWKS   string `json:"jwks_uri"`
	}
	if err := json.NewDecoder(response.Body).Decode(&document); err != nil {
		return "", fmt.Errorf("%s: %w", metadata, err)
	}
	// SECURITY: RFC 8414 §3.3: metadata of another issuer must not be used.
	if document.Issuer != issuer {
		return "", fmt.Errorf("%s: metadata of another issuer, %q", metadata, document.Issuer)
	}
	if document.JWKS == "" {
		return "", fmt.Errorf("%s: no jwks_uri", metadata)
	}
	return document.JWKS, nil
}

// checkIssuerURL rejects URLs whose answer another host could forge.
func checkIssuerURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%q: must be a URL such as https://login.example.org", text)
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !IsLoopback(u.Hostname())) {
		return fmt.Errorf("%q: must begin with https://", text)
	}
	return nil
}

// bounded limits the size of responses to maxDocument.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, maxDocument), response.Body}
	}
	return response, err
}

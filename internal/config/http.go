package config

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/serve"
)

// HTTP is how the server is reached over HTTP, and by whom. None of it has an effect over stdio.
type HTTP struct {
	Listen          string   // address and port
	Tokens          string   // a file, "" for the user's own: see TokenFile
	TLSCert, TLSKey string   // files, "" for none
	BehindProxy     bool     // the operator confirms that a proxy handles TLS
	PublicURL       string   // scheme, host and path that clients use; "" if they use Listen
	Hosts, Origins  []string // accepted values of the headers Host and Origin, besides the usual ones
	AnonymousGroup  bool     // a client without a token is the group
	OAuthIssuer     string   // "" to accept the operator's own tokens only
	OAuthAudience   string   // "" for the public URL with /mcp
	OAuthJWKS       string   // a URL, "" to discover it from the issuer's metadata
	OAuthSubjects   []string // whose tokens may open the DM
	CallsPerMinute  int      // of each token
	ConcurrentCalls int      // of each token
}

// HTTPSettings are the settings of --transport http.
var HTTPSettings = []Setting{
	spec[string]{
		Name: "listen", initial: "127.0.0.1:7420", help: "http: address and port to listen on",
		more:  "An address that other machines can reach requires TLS or `--behind-proxy`",
		field: func(c *Config) *string { return &c.HTTP.Listen },
		valid: func(address string) error {
			if _, _, err := net.SplitHostPort(address); err != nil {
				return fmt.Errorf("%q is not an address and a port, such as 127.0.0.1:7420", address)
			}
			return nil
		},
	},
	spec[string]{
		Name: "tokens", shown: "tokens.json in the user's configuration folder", help: "http: token file",
		field: func(c *Config) *string { return &c.HTTP.Tokens },
	},
	spec[string]{
		Name: "tls-cert", help: "http: TLS certificate file (PEM)",
		field: func(c *Config) *string { return &c.HTTP.TLSCert },
	},
	spec[string]{
		Name: "tls-key", help: "http: TLS key file (PEM)",
		field: func(c *Config) *string { return &c.HTTP.TLSKey },
	},
	spec[bool]{
		Name: "behind-proxy", help: "http: a proxy in front of this server handles TLS",
		field: func(c *Config) *bool { return &c.HTTP.BehindProxy },
	},
	spec[string]{
		Name: "public-url", help: "http: URL at which clients reach this server, such as https://memory.example.org",
		field: func(c *Config) *string { return &c.HTTP.PublicURL },
		valid: func(text string) error {
			if text == "" {
				return nil
			}
			u, err := url.Parse(text)
			if err != nil || u.Host == "" || u.RawQuery != "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
				return fmt.Errorf("%q is not a URL such as https://memory.example.org, without a query", text)
			}
			return nil
		},
	},
	spec[[]string]{
		Name: "allow-host", help: "http: further names of this host, besides localhost and the host of --public-url",
		more:  "Separate several with commas",
		field: func(c *Config) *[]string { return &c.HTTP.Hosts },
		valid: func(hosts []string) error {
			for _, name := range hosts {
				if strings.ContainsAny(name, "/* ") {
					return fmt.Errorf("%q is not a host name such as memory.example.org", name)
				}
			}
			return nil
		},
	},
	spec[[]string]{
		Name: "allow-origin", help: "http: web origins that may use this server, such as https://app.example.org",
		more:  "Separate several with commas",
		field: func(c *Config) *[]string { return &c.HTTP.Origins },
		valid: func(origins []string) error {
			for _, origin := range origins {
				u, err := url.Parse(origin)
				if err != nil || u.Host == "" || u.Scheme == "" || u.Path != "" {
					return fmt.Errorf("%q is not an origin such as https://app.example.org, without a path", origin)
				}
			}
			return nil
		},
	},
	spec[bool]{
		Name: "allow-anonymous-group", help: "http: serve clients without a token as the group; loopback addresses only",
		field: func(c *Config) *bool { return &c.HTTP.AnonymousGroup },
	},
	spec[string]{
		Name: "oauth-issuer", help: "http: authorization server whose tokens are accepted as well",
		more: "Its scope `yamo:dm` opens a direct conversation for the subjects of `--oauth-subject`, `yamo:group:NAME` " +
			"a group",
		field: func(c *Config) *string { return &c.HTTP.OAuthIssuer },
	},
	spec[string]{
		Name: "oauth-audience", help: "http: expected audience claim of these tokens, if not the public URL with /mcp",
		field: func(c *Config) *string { return &c.HTTP.OAuthAudience },
	},
	spec[string]{
		Name: "oauth-jwks", help: "http: URL of the authorization server's keys, if it does not announce one",
		field: func(c *Config) *string { return &c.HTTP.OAuthJWKS },
	},
	spec[[]string]{
		Name: "oauth-subject", help: "http: subjects (claim sub) whose tokens may open the direct conversation",
		more: "Separate several with commas. Without one, the authorization server's tokens open groups only; a refused " +
			"subject is named on stderr",
		field: func(c *Config) *[]string { return &c.HTTP.OAuthSubjects },
	},
	spec[int]{
		Name: "calls-per-minute", initial: serve.DefaultCallsPerMinute,
		help:  "http: maximum number of requests per minute and token",
		field: func(c *Config) *int { return &c.HTTP.CallsPerMinute },
	},
	spec[int]{
		Name: "concurrent-calls", initial: serve.DefaultConcurrentCalls,
		help:  "http: maximum number of concurrent calls per token",
		field: func(c *Config) *int { return &c.HTTP.ConcurrentCalls },
	},
}

// IsHTTP reports whether the flag is of a setting that has an effect with --transport http only.
func IsHTTP(flag string) bool {
	return slices.ContainsFunc(HTTPSettings, func(s Setting) bool { return s.Flag() == flag })
}

// Tokens is the setting of the token file, which `yamo-mcp token` has too. Both must find the same file, so that a
// revocation reaches the servers that run.
const Tokens Name = "tokens"

// Check reports settings that contradict each other, or that would leave a server open to strangers. It is for the
// transport http: with stdio they have no effect.
func (h HTTP) Check() error {
	host, _, err := net.SplitHostPort(h.Listen)
	if err != nil {
		return err
	}
	// SECURITY: traffic over a network is encrypted, or the operator has confirmed that a proxy does it.
	// Names other than localhost do not count as loopback, whatever they resolve to: a resolver can change its answer. An
	// empty host means every interface.
	loopback := host == "localhost" || net.ParseIP(host) != nil && net.ParseIP(host).IsLoopback()
	switch {
	case (h.TLSCert == "") != (h.TLSKey == ""):
		return errors.New("TLS requires both --tls-cert and --tls-key")
	case !loopback && h.TLSCert == "" && !h.BehindProxy:
		return fmt.Errorf("listen %q: other machines can reach this address, so it requires --tls-cert and --tls-key, "+
			"or --behind-proxy if a proxy handles TLS", h.Listen)
	// SECURITY: requests with an unknown Host header are refused against DNS rebinding, so that without a name of this
	// server every remote request would be.
	case !loopback && h.PublicURL == "" && len(h.Hosts) == 0:
		return fmt.Errorf("listen %q: set the host name that clients use with --public-url or --allow-host", h.Listen)
	// SECURITY: a proxy on this machine makes every stranger look like a loopback client.
	case h.AnonymousGroup && (!loopback || h.BehindProxy):
		return errors.New("--allow-anonymous-group requires a loopback address and no proxy")
	// SECURITY: tokens that the issuer made for other services are not accepted: clients request theirs for the public
	// URL.
	case h.OAuthIssuer != "" && h.PublicURL == "":
		return errors.New("--oauth-issuer requires --public-url, which clients request tokens for")
	case h.OAuthIssuer == "" && (h.OAuthAudience != "" || h.OAuthJWKS != "" || len(h.OAuthSubjects) > 0):
		return errors.New("--oauth-audience, --oauth-jwks and --oauth-subject require --oauth-issuer")
	case h.CallsPerMinute < 1 || h.ConcurrentCalls < 1:
		return errors.New("--calls-per-minute and --concurrent-calls must be 1 or more")
	}
	return nil
}

// Certificate loads the TLS certificate and its key, nil if none is set: then Check has made sure that the address is a
// loopback address or a proxy handles TLS. Clients need TLS 1.2 or later.
func (h HTTP) Certificate(getenv func(string) string) (*tls.Config, error) {
	if h.TLSCert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(Expand(h.TLSCert, getenv), Expand(h.TLSKey, getenv))
	if err != nil {
		return nil, fmt.Errorf("TLS: %w (--tls-cert and --tls-key name a certificate and its key, both PEM)", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

package config

import (
	"cmp"
	"fmt"
	"net/url"

	"golang.org/x/net/http/httpproxy"

	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/llm"
)

// Destinations are the addresses that this configuration sends texts or requests to, each with what is sent, in the
// form "embedder openai: https://api.openai.com/v1 (memories, passages of files and queries)". A proxy that the
// environment names is part of the address. With the defaults there are none.
func (c Config) Destinations(getenv func(string) string) []string {
	proxy := proxies(getenv)
	var all []string
	add := func(what, sent string, addresses ...string) {
		for _, address := range addresses {
			all = append(all, fmt.Sprintf("%s: %s (%s)", what, shown(address, proxy), sent))
		}
	}
	if c.Embedder.Provider != Local {
		for _, address := range names(c.Embedder.Addresses) { // "" without one
			add("embedder "+c.Embedder.Provider, "memories, passages of files and queries",
				cmp.Or(address, embed.UsualAddress(c.Embedder.Provider)))
		}
	}
	if c.LLM.Provider != noLLM {
		add("language model "+c.LLM.Provider, "memories to reflect on",
			cmp.Or(c.LLM.Address, llm.UsualAddress(c.LLM.Provider)))
	}
	if c.Session.Transport == OverHTTP && c.HTTP.OAuthIssuer != "" {
		add("OAuth issuer", "requests for its keys", c.HTTP.OAuthIssuer)
		if c.HTTP.OAuthJWKS != "" {
			add("keys of the OAuth issuer", "requests for them", c.HTTP.OAuthJWKS)
		}
	}
	return all
}

// shown is an address as it may be read by anyone, and the proxy on the way to it.
//
// SECURITY: a password or a key that the operator has put into an address is in no log and reaches no model.
func shown(address string, proxy func(*url.URL) (*url.URL, error)) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "an address that is not valid"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	by, err := proxy(u)
	switch {
	case err != nil:
		return u.String() + " by a proxy whose address is not valid"
	case by != nil:
		return u.String() + " by the proxy " + by.Host
	}
	return u.String()
}

// proxies returns the proxy of an address, nil for none, by the rules of Go's HTTP client, which all requests use.
func proxies(getenv func(string) string) func(*url.URL) (*url.URL, error) {
	either := func(name, other string) string { return cmp.Or(getenv(name), getenv(other)) }
	environment := httpproxy.Config{
		HTTPProxy: either("HTTP_PROXY", "http_proxy"), HTTPSProxy: either("HTTPS_PROXY", "https_proxy"),
		NoProxy: either("NO_PROXY", "no_proxy"), CGI: getenv("REQUEST_METHOD") != "",
	}
	return environment.ProxyFunc()
}

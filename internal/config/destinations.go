package config

import (
	"fmt"
	"strings"
)

// Destinations are the addresses that this configuration sends texts or requests to, each with what is sent, in the
// form "embedder: https://api.openai.com (memories and queries)". With the defaults there are none.
func (c Config) Destinations() []string {
	var all []string
	add := func(what, sent string, addresses ...string) {
		for _, address := range addresses {
			all = append(all, fmt.Sprintf("%s: %s (%s)", what, strings.TrimSpace(address), sent))
		}
	}
	if c.Embedder.Provider != Local {
		add("embedder "+c.Embedder.Provider, "memories, passages of files and queries", named(c.Embedder.Addresses)...)
	}
	if c.LLM.Provider != noLLM {
		add("language model "+c.LLM.Provider, "memories to reflect on", named(c.LLM.Address)...)
	}
	if c.Session.Transport == OverHTTP && c.HTTP.OAuthIssuer != "" {
		add("OAuth issuer", "requests for its keys", c.HTTP.OAuthIssuer)
	}
	return all
}

// named are the addresses of a provider, its own one if the operator gave none.
func named(addresses string) []string {
	if addresses == "" {
		return []string{"its usual address"}
	}
	return names(addresses)
}

package main

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/yamo-protocol/yamo-mcp/internal/assets"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
)

// remembered is how many texts keep their vectors in memory (RFC-0011 §7.1).
const remembered = 1000

// embedderOptions say what makes vectors (RFC-0011 §7).
type embedderOptions struct {
	provider   string
	model      string
	dimensions int
	addresses  string
	keyEnv     string // the name of the environment variable with the API key
}

// localProvider is the model on this machine.
const localProvider = "local"

var providers = []string{localProvider, "openai", "ollama", "cohere"}

// embedderSettings are serve's settings of the embedder, which every command has that may need vectors.
var embedderSettings = []setting{"embedder", "embedding-model", "embedding-dimensions", "embedding-url", "embedding-key-env"}

func (o *embedderOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.provider, "embedder", localProvider, "what makes vectors: "+strings.Join(providers, ", "))
	flags.StringVar(&o.model, "embedding-model", "", "of openai, ollama or cohere: the model, else the provider's usual one")
	flags.IntVar(&o.dimensions, "embedding-dimensions", 0, "of a model that is not well-known: how many its vectors have")
	flags.StringVar(&o.addresses, "embedding-url", "", "of openai, ollama or cohere: where it is, else the provider's own; others to fall back on after commas")
	flags.StringVar(&o.keyEnv, "embedding-key-env", "", "the name of the environment variable that holds the API key")
}

// open returns the embedder with a memory of what it was asked, and what closes it. The memory is one audience's: whoever
// is answered faster than somebody else would learn that a text was asked for before.
func (o embedderOptions) open(getenv func(string) string, logger *slog.Logger) (mesh.Embedder, func() error, error) {
	embedder, closeEmbedder, err := o.connect(getenv, logger)
	if err != nil {
		return nil, nil, err
	}
	return embed.Cached(embedder, remembered), closeEmbedder, nil
}

// connect returns the embedder, which has neither loaded a model nor connected to anything, and what closes it.
//
// Without a provider's answer searches match words: the local model is not put in a remote one's place, as RFC-0011
// §7.1 has it, because no vector of one model can be compared with those of another. Other addresses of the
// same model can (embed.Chain).
//
// SECURITY: memories and queries leave the machine here, and only to a provider that the operator named.
func (o embedderOptions) connect(getenv func(string) string, logger *slog.Logger) (embed.Embedder, func() error, error) {
	if !slices.Contains(providers, o.provider) {
		return nil, nil, setting("embedder").wrong("embedder %q: it is one of %s", o.provider, strings.Join(providers, ", "))
	}
	if o.provider == localProvider {
		if o.model != "" || o.dimensions != 0 || o.addresses != "" || o.keyEnv != "" {
			return nil, nil, setting("embedder").wrong("embedder local: it has one model and no address; name the provider that the other settings are for, one of %s", strings.Join(providers[1:], ", "))
		}
		local := embed.NewLocal(embed.Options{Locate: func() (assets.Paths, error) { return assets.Locate(getenv) }})
		return local, local.Close, nil
	}
	key, err := apiKey{"embedder", "embedding-key-env"}.read(getenv, o.provider, o.keyEnv, o.addresses)
	if err != nil {
		return nil, nil, err
	}
	var chain []embed.Provider
	for address := range strings.SplitSeq(o.addresses, ",") {
		address = strings.TrimSpace(address)
		remote, err := embed.NewRemote(embed.RemoteOptions{Provider: o.provider, BaseURL: address, Name: o.model, Dim: o.dimensions, APIKey: key})
		if err != nil {
			return nil, nil, fmt.Errorf("%w (--embedding-url, --embedding-model and --embedding-dimensions)", err)
		}
		name := o.provider
		if address != "" {
			name += " at " + address
		}
		chain = append(chain, embed.Provider{Name: name, Embedder: remote})
	}
	return embed.NewChain(logger, chain[0], chain[1:]...), func() error { return nil }, nil
}

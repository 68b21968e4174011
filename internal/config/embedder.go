package config

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/assets"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
)

// CachedTexts is the number of texts whose vectors a session keeps in memory (RFC-0011 §7.1): about 1.5 MB with the
// local model.
const CachedTexts = 1000

// Embedder is the program that computes vectors (RFC-0011 §7). With the provider Local the other fields must be empty:
// Connect refuses them.
type Embedder struct {
	Provider   string // Local, or the API that a remote service has
	Model      string // "" for the provider's usual one; of Local, a folder, or a model that setup installs
	Dimensions int    // 0 if the model's are known
	Addresses  string // separated by commas, the fallbacks after the first; "" for the provider's own
	KeyEnv     string // the name of the environment variable with the API key
}

// Local is the provider on this machine: all-MiniLM-L6-v2, or another model in a folder, with ONNX Runtime, which
// `yamo-mcp setup` installs. No text leaves the machine.
const Local = "local"

var embedders = []string{Local, "openai", "ollama", "cohere"}

// EmbedderSettings are the settings of the embedder. Every command that may need vectors has them.
var EmbedderSettings = []Setting{
	spec[string]{
		Name: "embedder", initial: Local, help: "provider of embedding vectors: " + strings.Join(embedders, ", "),
		more:  "`openai` is any service with the same API. With a provider other than `local`, texts leave this machine",
		field: func(c *Config) *string { return &c.Embedder.Provider },
		valid: oneOf(embedders...),
	},
	spec[string]{
		Name: "embedding-model", help: "model of a remote embedder, or name or folder of a local model, if not the usual one",
		more: "The usual ones are `text-embedding-3-small`, `nomic-embed-text` and `embed-multilingual-v3.0`; " +
			"for local models see below",
		field: func(c *Config) *string { return &c.Embedder.Model },
	},
	spec[int]{
		Name: "embedding-dimensions", help: "number of dimensions of the vectors, if the model is not well known",
		field: func(c *Config) *int { return &c.Embedder.Dimensions },
	},
	spec[string]{
		Name: "embedding-url", list: true,
		help:  "address of a remote embedder, if not its usual one; with fallbacks after commas",
		more:  "Fallbacks are tried in order and must serve the same model",
		field: func(c *Config) *string { return &c.Embedder.Addresses },
	},
	spec[string]{
		Name: "embedding-key-env", help: "name of the environment variable with the embedder's API key",
		more:  "Without an address, `OPENAI_API_KEY` or `CO_API_KEY` unless another is named",
		field: func(c *Config) *string { return &c.Embedder.KeyEnv },
	},
}

// Open returns the embedder with a cache of CachedTexts, and the function that closes it. It fails as Connect does.
//
// SECURITY: the cache is for one audience. If audiences shared it, a caller could learn from a fast answer that another
// audience had asked for the same text.
func (e Embedder) Open(getenv func(string) string, logger *slog.Logger) (index.Embedder, func() error, error) {
	embedder, closeEmbedder, err := e.Connect(getenv, logger)
	if err != nil {
		return nil, nil, err
	}
	return embed.Cached(embedder, CachedTexts), closeEmbedder, nil
}

// Connect returns the embedder and the function that closes it. It neither loads a model nor opens a connection, so
// that a server starts at once and without a network; it fails for settings that contradict each other, and for a key
// that is named but not set.
//
// When a remote provider fails, searches match words: the local model is not its fallback, unlike RFC-0011 §7.1,
// because vectors of different models cannot be compared. Other addresses of the same model are (embed.Chain).
//
// SECURITY: memories and queries leave the machine here, and only to a provider that the operator named.
func (e Embedder) Connect(getenv func(string) string, logger *slog.Logger) (embed.Embedder, func() error, error) {
	if e.Provider == Local {
		// The operator who names a remote model but no provider believes that it is used. Searching with another model
		// without a word would be worse than not starting.
		if e.Dimensions != 0 || e.Addresses != "" || e.KeyEnv != "" || e.Model != "" && !e.namesFolder() {
			return nil, nil, Name("embedder").Errorf("embedder: local has no address, and its model is the absolute path of "+
				"a folder or %s; name the provider that the other embedding settings are for: %s",
				strings.Join(assets.Pinned().FolderNames(), ", "), strings.Join(embedders[1:], ", "))
		}
		options := embed.Options{Locate: func() (assets.Paths, error) { return assets.Locate(getenv) }}
		if e.Model != "" {
			var err error
			if options.Folder, err = e.openFolder(getenv); err != nil {
				return nil, nil, Name("embedding-model").Errorf("embedding model: %w", err)
			}
		}
		local := embed.NewLocal(options)
		return local, local.Close, nil
	}
	key, err := apiKey{"embedder", "embedding-key-env"}.read(getenv, e.Provider, e.KeyEnv, e.Addresses)
	if err != nil {
		return nil, nil, err
	}
	var chain []embed.Provider
	// Without addresses there is one name, "", which is the provider's own address: the chain has at least one link.
	for _, address := range names(e.Addresses) {
		remote, err := embed.NewRemote(embed.RemoteOptions{
			Provider: e.Provider, BaseURL: address, Name: e.Model, Dim: e.Dimensions, APIKey: key,
		})
		if err != nil {
			return nil, nil, fmt.Errorf("%w (--embedding-url, --embedding-model and --embedding-dimensions)", err)
		}
		name := e.Provider
		if address != "" {
			name += " at " + address
		}
		chain = append(chain, embed.Provider{Name: name, Embedder: remote})
	}
	return embed.NewChain(logger, chain[0], chain[1:]...), func() error { return nil }, nil
}

// namesFolder reports whether the model is a folder, or one that `yamo-mcp setup --model` installs into a folder.
func (e Embedder) namesFolder() bool {
	return filepath.IsAbs(e.Model) || slices.Contains(assets.Pinned().FolderNames(), e.Model)
}

// openFolder opens the local model that is named.
func (e Embedder) openFolder(getenv func(string) string) (*embed.Folder, error) {
	if filepath.IsAbs(e.Model) {
		folder, err := embed.OpenFolder(filepath.Clean(e.Model))
		if err != nil {
			err = fmt.Errorf("%w; it must be a folder with tokenizer.json, onnx/model.onnx and config.json, "+
				"as sentence-transformers writes them", err)
		}
		return folder, err
	}
	dir, err := assets.FolderDir(getenv, e.Model)
	if err != nil {
		return nil, err
	}
	folder, err := embed.OpenFolder(dir)
	if err != nil {
		err = fmt.Errorf("%w; run `yamo-mcp setup --model %s`", err, e.Model)
	}
	return folder, err
}

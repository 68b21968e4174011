package embed

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/remote"
)

// RemoteOptions configure a provider on the network. There is no default provider: the operator names
// one.
type RemoteOptions struct {
	Provider string        // "openai" (and everything that speaks its protocol), "ollama" or "cohere"
	BaseURL  string        // empty: the provider's own address
	Name     string        // of the model; empty: the provider's default
	Dim      int           // of the model's vectors; may be 0 for the models whose number is known
	APIKey   string        // sent as a bearer token; empty: none
	Batch    int           // texts per request; 0 means 96, cohere's limit
	Timeout  time.Duration // of one request; 0 means 30 s
	// Pause waits between two attempts; nil means a timer.
	Pause func(ctx context.Context, d time.Duration) error
}

// Remote is an Embedder that calls a provider over HTTP.
type Remote struct {
	options  RemoteOptions
	api      api
	model    Model
	provider *remote.Provider
}

// api is what differs between the providers.
type api struct {
	base    string // default base URL
	path    string
	model   string         // default model
	dims    map[string]int // of well-known models
	request func(model string, texts []string) any
	// vectors reads the answer to n texts; the order is that of the texts.
	vectors func(body []byte, n int) ([][]float32, error)
}

// UsualAddress is the address of a provider for which the operator gave none, "" of one that is not known.
func UsualAddress(provider string) string { return apis[provider].base }

// maxText is how many bytes of a text are sent: no more tokens than the 8,191 that openai accepts.
const maxText = 8_000

// NewRemote returns the provider that o names. It connects to nothing until the first Embed.
func NewRemote(o RemoteOptions) (*Remote, error) {
	a, ok := apis[o.Provider]
	if !ok {
		return nil, fmt.Errorf("embedding provider %q is not known: use local, openai, ollama or cohere", o.Provider)
	}
	o.BaseURL = cmp.Or(o.BaseURL, a.base)
	provider, err := remote.New(remote.Options{BaseURL: o.BaseURL, APIKey: o.APIKey, Timeout: o.Timeout, Pause: o.Pause})
	if err != nil {
		return nil, fmt.Errorf("embedding provider %s: %w", o.Provider, err)
	}
	o.Name = cmp.Or(o.Name, a.model)
	o.Dim = cmp.Or(o.Dim, a.dims[o.Name])
	if o.Dim <= 0 {
		return nil, fmt.Errorf("embedding provider %s: give the number of dimensions of model %s", o.Provider, o.Name)
	}
	model := Model{o.Name, o.Dim}
	if o.Batch <= 0 {
		o.Batch = 96
	}
	return &Remote{o, a, model, provider}, nil
}

// Model returns the configured model.
func (r *Remote) Model() Model { return r.model }

// Embed implements Embedder. A request that is answered 429 or 5xx is repeated twice. Of a long text the first
// 8,000 bytes are sent.
func (r *Remote) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	all := make([][]float32, 0, len(texts))
	for start := 0; start < len(texts); start += r.options.Batch {
		batch := make([]string, 0, r.options.Batch)
		for _, text := range texts[start:min(start+r.options.Batch, len(texts))] {
			if strings.TrimSpace(text) == "" {
				text = "." // the providers refuse an empty text; any constant will do
			}
			batch = append(batch, beginning(text))
		}
		vectors, err := r.batch(ctx, batch)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.options.Provider, err)
		}
		all = append(all, vectors...)
	}
	return all, nil
}

// batch embeds up to one request's number of texts. It checks what it got: a provider that returns another number of
// vectors, or vectors of another length, would put them next to the wrong memories.
func (r *Remote) batch(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := r.provider.Post(ctx, r.api.path, r.api.request(r.model.Name, texts))
	if err != nil {
		return nil, err
	}
	vectors, err := r.api.vectors(body, len(texts))
	if err != nil {
		return nil, fmt.Errorf("answer not understood: %w", err)
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("%d vectors for %d texts", len(vectors), len(texts))
	}
	for _, v := range vectors {
		if len(v) != r.model.Dim {
			return nil, fmt.Errorf("a vector has %d dimensions, the configured model %s has %d", len(v), r.model.Name,
				r.model.Dim)
		}
		if err := normalize(v); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// beginning is as much of text as is sent.
func beginning(text string) string {
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

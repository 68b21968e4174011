package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
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

// Remote is an Embedder behind an HTTP interface.
type Remote struct {
	options RemoteOptions
	api     api
	model   Model
	client  *http.Client
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

const (
	attempts    = 3
	maxResponse = 64 << 20
	maxPause    = 20 * time.Second
	// maxText is how many bytes of a text are sent: no more tokens than the 8,191 that openai accepts.
	maxText = 8_000
)

// NewRemote returns the provider that o names. It connects to nothing until the first Embed.
func NewRemote(o RemoteOptions) (*Remote, error) {
	a, ok := apis[o.Provider]
	if !ok {
		return nil, fmt.Errorf("embedding provider %q is not known: use local, openai, ollama or cohere", o.Provider)
	}
	if o.BaseURL == "" {
		o.BaseURL = a.base
	}
	if u, err := url.Parse(o.BaseURL); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("embedding provider %s: the base URL must begin with http:// or https://", o.Provider)
	}
	// SECURITY: a key is not shown to whoever listens on the way.
	if u, _ := url.Parse(o.BaseURL); o.APIKey != "" && u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, fmt.Errorf("embedding provider %s: an API key is sent over https:// alone, except to this machine", o.Provider)
	}
	if o.Name == "" {
		o.Name = a.model
	}
	if o.Dim == 0 {
		o.Dim = a.dims[o.Name]
	}
	if o.Dim <= 0 {
		return nil, fmt.Errorf("embedding provider %s: give the number of dimensions of model %s", o.Provider, o.Name)
	}
	model := Model{o.Name, o.Dim}
	if o.Batch <= 0 {
		o.Batch = 96
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Pause == nil {
		o.Pause = pause
	}
	return &Remote{o, a, model, &http.Client{
		Timeout: o.Timeout,
		// SECURITY: texts and the key go to the configured host and are not carried on elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
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

func (r *Remote) batch(ctx context.Context, texts []string) ([][]float32, error) {
	payload, err := json.Marshal(r.api.request(r.model.Name, texts))
	if err != nil {
		return nil, err
	}
	body, err := r.post(ctx, payload)
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
			return nil, fmt.Errorf("a vector has %d dimensions, the configured model %s has %d", len(v), r.model.Name, r.model.Dim)
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

// statusError is an answer other than 200. The body is left out: it may repeat the texts.
type statusError struct {
	code  int
	after time.Duration // what Retry-After asks for
}

func (e *statusError) Error() string {
	return fmt.Sprintf("answered %d %s", e.code, http.StatusText(e.code))
}

func (e *statusError) temporary() bool { return e.code == http.StatusTooManyRequests || e.code >= 500 }

func (r *Remote) post(ctx context.Context, payload []byte) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		body, err := r.postOnce(ctx, payload)
		var status *statusError
		if !errors.As(err, &status) || !status.temporary() || attempt == attempts {
			return body, err
		}
		wait := max(status.after, time.Duration(attempt)*500*time.Millisecond)
		if err := r.options.Pause(ctx, min(wait, maxPause)); err != nil {
			return nil, err
		}
	}
}

func (r *Remote) postOnce(ctx context.Context, payload []byte) ([]byte, error) {
	address := strings.TrimSuffix(r.options.BaseURL, "/") + r.api.path
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(payload))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if r.options.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+r.options.APIKey)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // opened for reading
	if resp.StatusCode != http.StatusOK {
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return nil, &statusError{resp.StatusCode, time.Duration(seconds) * time.Second}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxResponse {
		return nil, fmt.Errorf("answer is larger than %d MB", maxResponse>>20)
	}
	return body, nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Package remote speaks to the model providers that an operator configured: JSON over HTTP.
//
// The invariant: what is sent goes to the configured address and nowhere else, and neither it nor the key
// nor what comes back is in an error.
package remote

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
)

const (
	attempts    = 3
	maxResponse = 64 << 20
	maxPause    = 20 * time.Second
)

// Options are how to reach a provider.
type Options struct {
	BaseURL string        // http:// or https://
	APIKey  string        // sent as a bearer token; empty: none
	Timeout time.Duration // of one request; 0 means 30 s
	// Pause waits between two attempts; nil means a timer.
	Pause func(ctx context.Context, d time.Duration) error
}

// Provider is the HTTP interface of a provider. It is safe for concurrent use.
type Provider struct {
	options Options
	client  *http.Client
}

// New returns the provider at o. It connects to nothing until the first Post.
func New(o Options) (*Provider, error) {
	u, err := url.Parse(o.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("the base URL must begin with http:// or https://")
	}
	// SECURITY: a key is not shown to whoever listens on the way.
	if o.APIKey != "" && u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, errors.New("an API key is sent over https:// alone, except to this machine")
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Pause == nil {
		o.Pause = pause
	}
	return &Provider{o, &http.Client{
		Timeout: o.Timeout,
		// SECURITY: texts and the key go to the configured host and are not carried on elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
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

// Post sends request as JSON to path, below the base URL, and returns the body of the answer. A request
// that is answered 429 or 5xx is repeated twice; any other status than 200 is an error.
func (p *Provider) Post(ctx context.Context, path string, request any) ([]byte, error) {
	payload, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		body, err := p.post(ctx, path, payload)
		var status *statusError
		if !errors.As(err, &status) || !status.temporary() || attempt == attempts {
			return body, err
		}
		wait := max(status.after, time.Duration(attempt)*500*time.Millisecond)
		if err := p.options.Pause(ctx, min(wait, maxPause)); err != nil {
			return nil, err
		}
	}
}

func (p *Provider) post(ctx context.Context, path string, payload []byte) ([]byte, error) {
	address := strings.TrimSuffix(p.options.BaseURL, "/") + path
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(payload))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if p.options.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+p.options.APIKey)
	}
	resp, err := p.client.Do(req)
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

// Package remote calls the model providers that an operator configured: JSON over HTTP.
//
// Invariant: requests go to the configured host and nowhere else. Errors contain neither the request, nor the key,
// nor the response.
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
	maxResponse = 64 << 20 // bytes
	maxPause    = 20 * time.Second
)

// Options describe a provider.
type Options struct {
	BaseURL string        // http:// or https://
	APIKey  string        // sent as a bearer token; "" sends none
	Timeout time.Duration // of one request; 0 is 30 s
	// Pause waits between two attempts; nil uses a timer.
	Pause func(ctx context.Context, d time.Duration) error
}

// Provider is a client of a provider's HTTP API. It is safe for concurrent use.
type Provider struct {
	options Options
	client  *http.Client
}

// New returns a client for the provider. It makes no connection. The error names the invalid option.
func New(o Options) (*Provider, error) {
	u, err := url.Parse(o.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("the base URL must begin with http:// or https://")
	}
	// SECURITY: a password or a key in the address would be in command lines and process lists.
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the base URL must have no user name, password or query: " +
			"name the environment variable that holds the key")
	}
	// SECURITY: over plain HTTP anyone on the network path could read the key.
	if o.APIKey != "" && u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, errors.New("an API key is sent only over https://, except to this machine")
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Pause == nil {
		o.Pause = pause
	}
	return &Provider{o, &http.Client{
		Timeout: o.Timeout,
		// Not the process's default transport: others that share it can close its connections during a request.
		Transport: http.DefaultTransport.(*http.Transport).Clone(),
		// SECURITY: a redirect would send the texts and the key to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// loopback reports whether host is this machine.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// statusError is a response status other than 200. It omits the body, which may repeat the texts.
type statusError struct {
	code  int
	after time.Duration // from Retry-After, 0 without it
}

func (e *statusError) Error() string {
	return fmt.Sprintf("answered %d %s", e.code, http.StatusText(e.code))
}

func (e *statusError) temporary() bool { return e.code == http.StatusTooManyRequests || e.code >= 500 }

// Post sends request as JSON to path, which is appended to the base URL, and returns the response's body of at most
// 64 MiB. A request that fails with status 429 or 5xx is repeated up to twice; any other status than 200 is an error.
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

// post sends one request and returns the body of the answer, of up to maxResponse bytes. Another status than 200 is a
// *statusError.
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
		return nil, fmt.Errorf("the response is larger than %d MiB", maxResponse>>20)
	}
	return body, nil
}

// pause waits for d, or returns ctx's error if that ends first.
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

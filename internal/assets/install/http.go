package install

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"
)

// errTooLarge ends a download that is larger than what it claims to be.
var errTooLarge = errors.New("refused: larger than the pinned file")

// get downloads rawURL into the new file dst, at most limit bytes. The proxy environment is honoured.
func (in *installer) get(ctx context.Context, rawURL, dst string, limit int64) error {
	u, err := url.Parse(rawURL)
	if err != nil {
		return err
	}
	if in.dead[u.Host] {
		return errors.New("skipped: did not answer before")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// One timer bounds each step on the way to the first byte: connecting, a proxy's answer, TLS, the
	// header, and the same for each redirect.
	silent := fmt.Errorf("gave up: no answer within %s", in.Timeouts.Connect)
	waiting := time.AfterFunc(in.Timeouts.Connect, func() { cancel(silent) })
	defer waiting.Stop()
	step := func() { waiting.Reset(in.Timeouts.Connect) }
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:          func(string) { step() },
		ConnectDone:      func(string, string, error) { step() },
		TLSHandshakeDone: func(tls.ConnectionState, error) { step() },
		WroteRequest:     func(httptrace.WroteRequestInfo) { step() },
	}), http.MethodGet, rawURL, nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		in.dead[u.Host] = true
		if errors.Is(context.Cause(ctx), silent) {
			return silent
		}
		return noAnswer(err)
	}
	waiting.Stop()
	defer resp.Body.Close() //nolint:errcheck // opened for reading
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", resp.Status)
	}
	if resp.ContentLength > limit {
		return errTooLarge
	}
	f, err := createPublic(dst)
	if err != nil {
		return &localError{err}
	}
	// A timer that every read sets back ends a download that stalls.
	stalled := fmt.Errorf("gave up: no data for %s", in.Timeouts.Stall)
	timer := time.AfterFunc(in.Timeouts.Stall, func() { cancel(stalled) })
	defer timer.Stop()
	bar := in.progress(u.Host, resp.ContentLength)
	body := readerFunc(func(p []byte) (int, error) {
		n, err := resp.Body.Read(p)
		timer.Reset(in.Timeouts.Stall)
		bar.add(n)
		return n, err
	})
	n, err := io.Copy(diskWriter{f}, io.LimitReader(body, limit+1))
	bar.finish()
	if closeErr := f.Close(); err == nil && closeErr != nil {
		err = &localError{closeErr}
	}
	switch {
	case errors.Is(context.Cause(ctx), stalled):
		return stalled
	case err != nil:
		return fmt.Errorf("download: %w", err)
	case n > limit:
		return errTooLarge
	}
	return nil
}

// noAnswer shortens the error of a request that got no answer.
func noAnswer(err error) error {
	if uerr, ok := errors.AsType[*url.Error](err); ok {
		err = uerr.Err
	}
	return fmt.Errorf("no answer: %w", err)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

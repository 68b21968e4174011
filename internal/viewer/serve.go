package viewer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/viewer/guard"
)

const (
	arrival   = 20 * time.Second // of a request
	stopping  = 5 * time.Second  // how long requests under way may take when the server ends
	idleCheck = time.Second
)

// Serve serves the pages on a loopback listener, which it closes, until ctx is done or no page was used for idle. It
// calls ready, when the browser can be opened, with the one-time link to the page with the path first.
func (s *Site) Serve(ctx context.Context, l net.Listener, first string, idle time.Duration, ready func(string)) error {
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok || !address.IP.IsLoopback() {
		// SECURITY: the pages show everything, and the link goes over plain HTTP.
		return errors.Join(fmt.Errorf("%s is not an address of this machine only", l.Addr()), l.Close())
	}
	g := guard.New(l.Addr().String(), first, time.Now)
	srv := &http.Server{
		Handler: g.Wrap(s), ReadHeaderTimeout: arrival, ReadTimeout: arrival, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(s.Logger.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	ready(g.Link())
	ticker := time.NewTicker(idleCheck)
	defer ticker.Stop()
	for {
		select {
		case err := <-failed:
			return fmt.Errorf("serve the pages: %w", err)
		case <-ticker.C:
			if g.Idle() < idle {
				continue
			}
		case <-ctx.Done():
		}
		// A new context: ctx may be done already.
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopping)
		defer cancel()
		if err := srv.Shutdown(end); err != nil {
			return errors.Join(fmt.Errorf("end the pages: %w", err), srv.Close())
		}
		return nil
	}
}

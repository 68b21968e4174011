package serve

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
)

// lease is a request or stream under way. It ends when its client's token does.
type lease struct {
	ctx    context.Context
	client auth.Client
	call   bool // the server waits for its end before it stops, for up to Drain
	cancel context.CancelFunc
	end    func()
}

// leases are all requests and streams under way.
type leases struct {
	mu      sync.Mutex
	open    map[*lease]struct{}
	calls   int
	changed chan struct{} // closed and replaced when a call ends
}

func newLeases() *leases {
	return &leases{open: map[*lease]struct{}{}, changed: make(chan struct{})}
}

// add registers a request or stream that is served.
func (l *leases) add(one *lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[one] = struct{}{}
	if one.call {
		l.calls++
	}
}

// remove ends a lease, and wakes those who wait for the calls to end.
func (l *leases) remove(one *lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.open[one]; !ok {
		return
	}
	delete(l.open, one)
	if one.call {
		l.calls--
		// Closing wakes all waiters; a channel with a value would wake one.
		close(l.changed)
		l.changed = make(chan struct{})
	}
}

// wait returns when no call is under way or ctx is done, with the number of remaining calls.
func (l *leases) wait(ctx context.Context) int {
	for {
		l.mu.Lock()
		calls, changed := l.calls, l.changed
		l.mu.Unlock()
		if calls == 0 {
			return 0
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return calls
		}
	}
}

// cancel cancels the leases of stale clients.
func (l *leases) cancel(stale func(auth.Client) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for one := range l.open {
		if stale(one.client) {
			one.cancel()
		}
	}
}

// begin returns a lease for a message, or rejects the request if the client has reached a limit.
func (f *front) begin(
	w http.ResponseWriter, r *http.Request, c auth.Client, message posted, in *session,
) (*lease, bool) {
	if message.listens() {
		return f.stream(w, r, c, in)
	}
	end := func() {}
	if message.request() {
		var ok bool
		if end, ok = f.quotas.begin(c.Key, calling, time.Now()); !ok {
			tooMany(w, time.Second, "too many calls are under way with this token: wait for one to end")
			return nil, false
		}
	}
	ctx := r.Context()
	if in != nil {
		// Before protocol 2026-07-28, a lost connection cancels nothing: the client may reconnect for the response.
		ctx = context.WithoutCancel(ctx)
	}
	return f.lease(ctx, c, message.request(), in, end), true
}

// stream returns a lease for a stream that stays open, or rejects the request.
func (f *front) stream(w http.ResponseWriter, r *http.Request, c auth.Client, in *session) (*lease, bool) {
	end, ok := f.quotas.begin(c.Key, streaming, time.Now())
	if !ok {
		tooMany(w, time.Minute, "too many streams are open with this token: close one")
		return nil, false
	}
	return f.lease(r.Context(), c, false, in, end), true
}

// lease returns a lease whose context ends with parent, the session, if any, and the server.
func (f *front) lease(parent context.Context, c auth.Client, call bool, in *session, end func()) *lease {
	ctx, cancel := context.WithCancel(parent)
	// A context has one parent; the others are joined to it by these functions, which end removes again.
	stops := []func() bool{context.AfterFunc(f.base, cancel)}
	if in != nil {
		stops = append(stops, context.AfterFunc(in.ctx, cancel))
	}
	l := &lease{ctx: ctx, client: c, call: call, cancel: cancel}
	l.end = sync.OnceFunc(func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
		end()
		f.leases.remove(l)
	})
	f.leases.add(l)
	return l
}

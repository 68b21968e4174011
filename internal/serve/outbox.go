package serve

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// outbox delivers the notifications of one request, such as progress and log messages, before its response.
// mcp-go drops those that are still queued when it sends the response (TestTrailingProgressArrives).
type outbox struct {
	ctx     context.Context
	deliver func(mcp.JSONRPCNotification) // sends a notification, or returns when ctx is done
	written func(n int)                   // waits until n are on the wire, or ctx is done; nil: deliver is enough

	mu      sync.Mutex
	started bool
	queue   chan mcp.JSONRPCNotification
	settled chan int // number of notifications delivered before a mark
}

// mark is the method of the entry that settle adds to the queue. No notification has this method.
const mark = "\x00settled"

// newOutbox returns the queue of one client's notifications. It is bounded: a client that does not read must not fill
// the memory.
func newOutbox(ctx context.Context, deliver func(mcp.JSONRPCNotification), written func(int)) *outbox {
	return &outbox{
		ctx: ctx, deliver: deliver, written: written,
		queue: make(chan mcp.JSONRPCNotification, 100), settled: make(chan int),
	}
}

// NotificationChannel implements server.ClientSession.
func (o *outbox) NotificationChannel() chan<- mcp.JSONRPCNotification {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.started {
		o.started = true
		// Only with the first notification: most requests have none, and need no goroutine.
		go o.run()
	}
	return o.queue
}

// run delivers notifications in order until the request ends.
func (o *outbox) run() {
	delivered := 0
	for {
		select {
		case n := <-o.queue:
			if n.Method == mark {
				select {
				case o.settled <- delivered:
				case <-o.ctx.Done():
					return
				}
				continue
			}
			o.deliver(n)
			delivered++
		case <-o.ctx.Done():
			return
		}
	}
}

// settle waits until all notifications so far were delivered and written.
func (o *outbox) settle() {
	o.mu.Lock()
	started := o.started
	o.mu.Unlock()
	if !started {
		return // no notifications
	}
	select {
	// Through the same queue, so that the mark comes after everything that was sent before.
	case o.queue <- mcp.JSONRPCNotification{Notification: mcp.Notification{Method: mark}}:
	case <-o.ctx.Done():
		return
	}
	select {
	case n := <-o.settled:
		if o.written != nil {
			o.written(n)
		}
	case <-o.ctx.Done():
	}
}

// settler is a session with an outbox.
type settler interface{ settle() }

// settleCalls holds back each tool's response until its notifications are on the wire.
func settleCalls(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := next(ctx, request)
		if s, ok := server.ClientSessionFromContext(ctx).(settler); ok {
			s.settle()
		}
		return result, err
	}
}

package serve

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// outbox carries the notifications that belong to one request: its progress, its log messages. mcp-go passes
// them to the stream beside the answer and forgets what has not arrived when the answer goes out; what a
// tool has said through an outbox is on the stream before the tool's answer is.
type outbox struct {
	ctx     context.Context
	deliver func(mcp.JSONRPCNotification) // hands on, or gives up when ctx is done
	written func(n int)                   // waits until n were written, or ctx is done; nil: delivered is enough

	mu      sync.Mutex
	started bool
	queue   chan mcp.JSONRPCNotification
	settled chan int // how many were delivered before a mark
}

// mark is in the queue where a tool has ended. No notification has this method.
const mark = "\x00settled"

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
		go o.run()
	}
	return o.queue
}

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

// settle returns when what was said so far has arrived.
func (o *outbox) settle() {
	o.mu.Lock()
	started := o.started
	o.mu.Unlock()
	if !started {
		return // nothing was said
	}
	select {
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

// settler is a session whose notifications go through an outbox.
type settler interface{ settle() }

// settleCalls lets a tool's answer go out after its notifications.
func settleCalls(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := next(ctx, request)
		if s, ok := server.ClientSessionFromContext(ctx).(settler); ok {
			s.settle()
		}
		return result, err
	}
}

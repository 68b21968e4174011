package resources

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/watch"
)

const (
	// firstDelay is the delay of a client's first notification, so that it gets the response to its initialize, or
	// the acknowledgement of its subscriptions/listen, before any notification.
	firstDelay = 50 * time.Millisecond
	// retryDelay is the delay before a notification is repeated that found a client's queue full.
	retryDelay = 250 * time.Millisecond
	// maxSubscriptions is the maximum number of URIs per client; further subscriptions are never notified.
	maxSubscriptions = 1000
	// maxURI is the maximum length of a subscribed URI in bytes; URIs of files are shorter.
	maxURI = 2 << 10
)

// notifier notifies the clients of one audience's server of changes.
//
// There are two kinds of clients. Before protocol 2026-07-28 a client is a session: it gets all changes of the
// list, and changes of files that it has named with resources/subscribe. Since then it is a stream, opened with
// subscriptions/listen, and gets what it has requested there. mcp-go stores neither's subscriptions: it
// acknowledges any URI and leaves the rest to hooks.
type notifier struct {
	server   *server.MCPServer
	view     *workspace.View
	watcher  *watch.Watcher
	log      *slog.Logger
	onChange func(context.Context)

	ctx  context.Context // of the background work
	stop context.CancelFunc
	done sync.WaitGroup

	mu       sync.Mutex
	running  bool
	sessions map[string]*client // by session ID
	streams  map[*client]struct{}
	startup  [sha256.Size]byte // hash of the last startup text
	wake     chan struct{}
}

// client is a receiver of notifications.
type client struct {
	send  func(method string, params map[string]any) error
	ready time.Time // no notifications before this time

	list    bool            // wants changes of the list
	uris    map[string]bool // the subscribed URIs, and whether a notification is pending
	listDue bool            // a notification of the list is pending
}

// Notify notifies the clients of s when the files that v may see change, with notifications/resources/list_changed
// and notifications/resources/updated. s must be a server for only v's audience, created with server.WithHooks, and
// must not serve yet. onChange, unless nil, is called after each change, with a context that stop ends. Watching
// begins with the first client. stop returns when nothing more will be sent; s remains usable.
func Notify(
	s *server.MCPServer, v *workspace.View, o watch.Options, onChange func(context.Context),
) (stop func(), err error) {
	hooks := s.GetHooks()
	if hooks == nil {
		return nil, errors.New("watch resources: the server has no hooks")
	}
	// Set here, so that the server announces notifications only where they are sent.
	server.WithResourceCapabilities(true, true)(s)
	n := &notifier{
		server: s, view: v, watcher: watch.New(v, o), log: o.Logger, onChange: onChange,
		sessions: map[string]*client{}, streams: map[*client]struct{}{}, wake: make(chan struct{}, 1),
	}
	n.log = cmp.Or(n.log, slog.New(slog.DiscardHandler))
	n.ctx, n.stop = context.WithCancel(context.Background())
	hooks.AddAfterInitialize(func(ctx context.Context, _ any, _ *mcp.InitializeRequest, _ *mcp.InitializeResult) {
		n.addSession(ctx)
	})
	hooks.AddOnUnregisterSession(func(_ context.Context, session server.ClientSession) {
		n.removeSession(session.SessionID())
	})
	hooks.AddAfterSubscribe(func(ctx context.Context, _ any, request *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		n.subscribe(ctx, request.Params.URI)
	})
	hooks.AddAfterUnsubscribe(func(ctx context.Context, _ any, request *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
		n.unsubscribe(ctx, request.Params.URI)
	})
	hooks.AddBeforeSubscriptionsListen(func(ctx context.Context, id any, request *mcp.SubscriptionsListenRequest) {
		n.listen(ctx, id, request.Params.Notifications)
	})
	return func() {
		n.mu.Lock()
		n.stop() // start does nothing after this
		n.mu.Unlock()
		n.done.Wait()
	}, nil
}

// start starts watching, once. n.mu is held.
func (n *notifier) start() {
	if n.running || n.ctx.Err() != nil {
		return
	}
	n.running = true
	n.watcher.Scan() // clients are notified of changes after this
	n.startup = n.render()
	n.done.Go(func() {
		n.watcher.Run(n.ctx, func(change watch.Change) {
			n.changed(change)
			if n.onChange != nil {
				n.onChange(n.ctx)
			}
		})
	})
	n.done.Go(n.deliver)
}

// addSession adds a session that was initialized.
func (n *notifier) addSession(ctx context.Context) {
	session := server.ClientSessionFromContext(ctx)
	if session == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.start()
	n.session(session.SessionID())
}

// session returns the client of a session, and creates it if it is new. n.mu is held.
func (n *notifier) session(id string) *client {
	c, ok := n.sessions[id]
	if !ok {
		c = &client{list: true, ready: time.Now().Add(firstDelay), uris: map[string]bool{}}
		c.send = func(method string, params map[string]any) error {
			return n.server.SendNotificationToSpecificClient(id, method, params)
		}
		n.sessions[id] = c
	}
	return c
}

// removeSession forgets a session that ended, with its subscriptions.
func (n *notifier) removeSession(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c, ok := n.sessions[id]; ok {
		delete(n.sessions, id)
		n.forget(c)
	}
}

// subscribe notes that the session of ctx wants to know of changes of the resource uri. Polling starts with the first
// subscription.
func (n *notifier) subscribe(ctx context.Context, uri string) {
	session := server.ClientSessionFromContext(ctx)
	if session == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.start()
	n.follow(n.session(session.SessionID()), uri)
}

// unsubscribe ends a subscription; one that does not exist is no error.
func (n *notifier) unsubscribe(ctx context.Context, uri string) {
	session := server.ClientSessionFromContext(ctx)
	if session == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if c, ok := n.sessions[session.SessionID()]; ok {
		n.unfollow(c, uri)
	}
}

// listen adds a stream until ctx is done.
func (n *notifier) listen(ctx context.Context, id any, wanted mcp.SubscriptionFilter) {
	session := server.ClientSessionFromContext(ctx)
	if session == nil || id == nil {
		return
	}
	c := &client{list: wanted.ResourcesListChanged, ready: time.Now().Add(firstDelay), uris: map[string]bool{}}
	// A stream of its own: SendNotificationToSpecificClient knows sessions only.
	channel := session.NotificationChannel()
	c.send = func(method string, params map[string]any) error {
		if ctx.Err() != nil { // the stream has ended, and is about to be forgotten
			return nil
		}
		select {
		case channel <- mcp.JSONRPCNotification{
			JSONRPC: mcp.JSONRPC_VERSION,
			Notification: mcp.Notification{Method: method, Params: mcp.NotificationParams{
				Meta: map[string]any{mcp.MetaKeySubscriptionID: id}, AdditionalFields: params,
			}},
		}:
			return nil
		// Never wait for a client: n.mu is held, and one that does not read would stop all the others.
		default:
			return server.ErrNotificationChannelBlocked
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.start()
	for _, uri := range wanted.ResourceSubscriptions {
		n.follow(c, uri)
	}
	n.streams[c] = struct{}{}
	context.AfterFunc(ctx, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.streams, c)
		n.forget(c)
	})
}

// follow subscribes c to uri. n.mu is held.
func (n *notifier) follow(c *client, uri string) {
	// SECURITY: these are kept as long as the client is connected, so their number and length are limited.
	if _, ok := c.uris[uri]; ok || len(c.uris) >= maxSubscriptions || len(uri) > maxURI {
		return
	}
	c.uris[uri] = false
	// SECURITY: the view treats a name that the audience may not see like one that does not exist, now and in every
	// later scan.
	if name, ok := resourceuri.ParseFile(uri); ok {
		n.watcher.Follow(name)
	}
}

// unfollow undoes follow. n.mu is held.
func (n *notifier) unfollow(c *client, uri string) {
	if _, ok := c.uris[uri]; !ok {
		return
	}
	delete(c.uris, uri)
	if name, ok := resourceuri.ParseFile(uri); ok {
		n.watcher.Unfollow(name)
	}
}

// forget unsubscribes c from everything. n.mu is held.
func (n *notifier) forget(c *client) {
	for uri := range c.uris {
		n.unfollow(c, uri)
	}
}

// clients returns all clients in no particular order. n.mu is held.
func (n *notifier) clients() []*client {
	all := make([]*client, 0, len(n.sessions)+len(n.streams))
	for _, c := range n.sessions {
		all = append(all, c)
	}
	for c := range n.streams {
		all = append(all, c)
	}
	return all
}

// changed marks the notifications of a change as pending, for every client.
func (n *notifier) changed(change watch.Change) {
	uris := make([]string, 0, len(change.Names)+1)
	for _, name := range change.Names {
		uris = append(uris, resourceuri.File(name))
	}
	startup := n.render()
	n.mu.Lock()
	defer n.mu.Unlock()
	// The startup text changes with the day as well, without any change of a file; it is compared at each change only.
	if startup != n.startup {
		n.startup = startup
		uris = append(uris, resourceuri.Startup)
	}
	for _, c := range n.clients() {
		c.listDue = c.listDue || change.List && c.list
		for _, uri := range uris {
			if _, ok := c.uris[uri]; ok {
				c.uris[uri] = true
			}
		}
	}
	select {
	// One pending signal is enough: flush looks at every client.
	case n.wake <- struct{}{}:
	default:
	}
}

// render returns the hash of the startup text.
func (n *notifier) render() [sha256.Size]byte {
	text, _, err := n.view.Startup()
	if err != nil {
		text = "" // a client that reads the resource gets the error
	}
	return sha256.Sum256([]byte(text))
}

// deliver sends pending notifications until n.ctx is done.
func (n *notifier) deliver() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-n.ctx.Done():
			return
		case <-n.wake:
		case <-timer.C:
		}
		if rest := n.flush(time.Now()); rest > 0 {
			timer.Reset(rest)
		}
	}
}

// flush sends the pending notifications. It returns the delay after which to call it again for the rest, 0 if none
// remain.
func (n *notifier) flush(now time.Time) (rest time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.clients() {
		if !c.due() {
			continue
		}
		wait := c.ready.Sub(now)
		if wait <= 0 {
			err := c.notify()
			if err == nil {
				continue
			}
			n.log.Debug("notify a client later", "error", err)
			wait = retryDelay
		}
		if rest == 0 || wait < rest {
			rest = wait
		}
	}
	return rest
}

// due reports whether notifications are pending.
func (c *client) due() bool {
	if c.listDue {
		return true
	}
	for _, due := range c.uris {
		if due {
			return true
		}
	}
	return false
}

// notify sends the pending notifications in a fixed order. After an error the unsent ones remain pending.
func (c *client) notify() error {
	if c.listDue {
		if err := c.send(mcp.MethodNotificationResourcesListChanged, nil); err != nil {
			return err
		}
		c.listDue = false
	}
	var uris []string
	for uri, due := range c.uris {
		if due {
			uris = append(uris, uri)
		}
	}
	// Maps have no order, and tests compare transcripts.
	slices.Sort(uris)
	for _, uri := range uris {
		if err := c.send(mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri}); err != nil {
			return err
		}
		c.uris[uri] = false
	}
	return nil
}

package resources

import (
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
	// breath is how long a client hears nothing after it came, so that the answer to what it asked for
	// (initialize, or the acknowledgement of subscriptions/listen) is the first it hears.
	breath = 50 * time.Millisecond
	// again is when a notification is tried again that found a client's queue full.
	again = 250 * time.Millisecond
	// maxSubscriptions is how many URIs one client may follow; what it asks for beyond stays silent.
	maxSubscriptions = 1000
	// maxURI is how many bytes a URI may have that is followed; a file's has fewer.
	maxURI = 2 << 10
)

// notifier tells the clients of one audience's server about changes.
//
// There are two kinds of clients. Before protocol 2026-07-28 a client is a session: it hears of changes to the
// list unasked and of files it has named with resources/subscribe. Since then it is a stream, opened by
// subscriptions/listen, and hears what it asked for there and nothing else. mcp-go keeps neither's
// subscriptions: it acknowledges any URI and leaves the rest to hooks.
type notifier struct {
	server  *server.MCPServer
	view    *workspace.View
	watcher *watch.Watcher
	log     *slog.Logger
	also    func(context.Context)

	ctx  context.Context // ends run
	stop context.CancelFunc
	done sync.WaitGroup

	mu       sync.Mutex
	running  bool
	sessions map[string]*client // by session id
	streams  map[*client]struct{}
	startup  [sha256.Size]byte // of the startup text, when last looked at
	wake     chan struct{}
}

// client is somebody who is told.
type client struct {
	send  func(method string, params map[string]any) error
	ready time.Time // not before

	list    bool            // it hears of changes to the list
	uris    map[string]bool // it hears of these, and whether it is still to be told
	listDue bool            // it is still to be told of a change to the list
}

// Notify tells the clients of s when the files that v may see change: notifications/resources/list_changed
// and notifications/resources/updated. s must have been made with server.WithHooks for v's audience alone,
// and Notify be called before it serves. also, unless nil, is called after each change, with a context that
// stop ends. Nothing is watched before the first client comes. stop waits until no more is sent; s stays
// usable.
func Notify(s *server.MCPServer, v *workspace.View, o watch.Options, also func(context.Context)) (stop func(), err error) {
	hooks := s.GetHooks()
	if hooks == nil {
		return nil, errors.New("watch resources: the server was made without hooks")
	}
	server.WithResourceCapabilities(true, true)(s)
	n := &notifier{
		server: s, view: v, watcher: watch.New(v, o), log: o.Logger, also: also,
		sessions: map[string]*client{}, streams: map[*client]struct{}{}, wake: make(chan struct{}, 1),
	}
	if n.log == nil {
		n.log = slog.New(slog.DiscardHandler)
	}
	n.ctx, n.stop = context.WithCancel(context.Background())
	hooks.AddAfterInitialize(func(ctx context.Context, _ any, _ *mcp.InitializeRequest, _ *mcp.InitializeResult) { n.greet(ctx) })
	hooks.AddOnUnregisterSession(func(_ context.Context, session server.ClientSession) { n.leave(session.SessionID()) })
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
		n.stop() // no work is started from here on
		n.mu.Unlock()
		n.done.Wait()
	}, nil
}

// start begins to watch, unless that has been done. n.mu is held.
func (n *notifier) start() {
	if n.running || n.ctx.Err() != nil {
		return
	}
	n.running = true
	n.watcher.Scan() // what comes after this is news
	n.startup = n.render()
	n.done.Go(func() {
		n.watcher.Run(n.ctx, func(change watch.Change) {
			n.changed(change)
			if n.also != nil {
				n.also(n.ctx)
			}
		})
	})
	n.done.Go(n.deliver)
}

// greet takes in a session that was initialized.
func (n *notifier) greet(ctx context.Context) {
	session := server.ClientSessionFromContext(ctx)
	if session == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.start()
	n.session(session.SessionID())
}

// session is the client of a session, made if there is none. n.mu is held.
func (n *notifier) session(id string) *client {
	c, ok := n.sessions[id]
	if !ok {
		c = &client{list: true, ready: time.Now().Add(breath), uris: map[string]bool{}}
		c.send = func(method string, params map[string]any) error {
			return n.server.SendNotificationToSpecificClient(id, method, params)
		}
		n.sessions[id] = c
	}
	return c
}

func (n *notifier) leave(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c, ok := n.sessions[id]; ok {
		delete(n.sessions, id)
		n.forget(c)
	}
}

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

// listen takes in a stream, for as long as ctx lasts.
func (n *notifier) listen(ctx context.Context, id any, wanted mcp.SubscriptionFilter) {
	session := server.ClientSessionFromContext(ctx)
	if session == nil || id == nil {
		return
	}
	c := &client{list: wanted.ResourcesListChanged, ready: time.Now().Add(breath), uris: map[string]bool{}}
	channel := session.NotificationChannel()
	c.send = func(method string, params map[string]any) error {
		select {
		case channel <- mcp.JSONRPCNotification{
			JSONRPC: mcp.JSONRPC_VERSION,
			Notification: mcp.Notification{Method: method, Params: mcp.NotificationParams{
				Meta: map[string]any{mcp.MetaKeySubscriptionID: id}, AdditionalFields: params,
			}},
		}:
			return nil
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
	// SECURITY: what a client names here is kept as long as it stays.
	if _, ok := c.uris[uri]; ok || len(c.uris) >= maxSubscriptions || len(uri) > maxURI {
		return
	}
	c.uris[uri] = false
	// SECURITY: for a name that the audience may not see, the view answers as for one that does not
	// exist, now and whenever it is looked at.
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

// clients are all, in no order. n.mu is held.
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

// changed notes what every client is to be told of a change.
func (n *notifier) changed(change watch.Change) {
	uris := make([]string, 0, len(change.Names)+1)
	for _, name := range change.Names {
		uris = append(uris, resourceuri.File(name))
	}
	startup := n.render()
	n.mu.Lock()
	defer n.mu.Unlock()
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
	case n.wake <- struct{}{}:
	default:
	}
}

// render is what yamo://startup says, hashed.
func (n *notifier) render() [sha256.Size]byte {
	text, err := n.view.Startup()
	if err != nil {
		text = "" // reading it says why
	}
	return sha256.Sum256([]byte(text))
}

// deliver sends what is due, until n.ctx is done.
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

// flush sends what is due and returns when to try again what could not be sent, 0 for never.
func (n *notifier) flush(now time.Time) (rest time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.clients() {
		if !c.due() {
			continue
		}
		wait := c.ready.Sub(now)
		if wait <= 0 {
			err := c.tell()
			if err == nil {
				continue
			}
			n.log.Debug("a client is told later", "error", err)
			wait = again
		}
		if rest == 0 || wait < rest {
			rest = wait
		}
	}
	return rest
}

// due reports whether there is something to tell c.
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

// tell sends c what is due, in a fixed order. What was not sent when it fails stays due.
func (c *client) tell() error {
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
	slices.Sort(uris)
	for _, uri := range uris {
		if err := c.send(mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri}); err != nil {
			return err
		}
		c.uris[uri] = false
	}
	return nil
}

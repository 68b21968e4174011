package serve

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// Tenant is what has a server of its own: disjoint sessions, caches and broadcasts.
type Tenant struct {
	Workspace string
	AgentID   string
	Audience  audience.Audience
}

// Client is whoever sends requests, as far as a token says.
type Client struct {
	// Key tells clients apart: sessions belong to it and limits are counted for it. It is no secret.
	Key     string
	Tenant  Tenant
	Expires time.Time // zero: never
	// Valid says whether what the client was let in with is still good; nil: as long as Expires says.
	Valid func() error
}

// ErrUnauthorized and ErrForbidden are Authenticate's answers to a token that opens nothing, and to one that
// is good but has no scope for this server.
var (
	ErrUnauthorized = errors.New("unauthorized")
	ErrForbidden    = errors.New("forbidden")
)

// good says whether the client may go on.
func (c Client) good(now time.Time) bool {
	if !c.Expires.IsZero() && !now.Before(c.Expires) {
		return false
	}
	return c.Valid == nil || c.Valid() == nil
}

// lowered is the client as the headers ask for it: a DM may speak for a group, and that is all there is.
func (c Client) lowered(header http.Header, to audience.Audience) Client {
	values := header.Values(connectionHeader)
	if len(values) == 0 || !c.Tenant.Audience.IsDM() {
		return c // SECURITY: nothing raises a group, and nothing moves one to another.
	}
	for _, value := range values {
		if value != "dm" {
			// SECURITY: a value that is not exactly "dm" means a group, misspelt ones too.
			c.Tenant.Audience = to
			return c
		}
	}
	return c
}

// connectionHeader lowers a DM's token to a group for one request.
const connectionHeader = "X-YAMO-Connection"

type clientKey struct{}

// SECURITY: the client is in the context of the request itself, put there before anything else runs: mcp-go
// calls its context functions for some routes only.
func withClient(ctx context.Context, c Client) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

func clientFrom(ctx context.Context) (Client, bool) {
	c, ok := ctx.Value(clientKey{}).(Client)
	return c, ok
}

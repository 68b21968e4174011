// Package auth decides who sends a request over HTTP: it verifies bearer tokens, the operator's own and those of an
// OAuth authorization server, and maps each to a Client.
//
// Invariant: the audience comes from the token's record or its scope, decided by the operator. A client can only lower
// it, from the direct conversation to a group (see Client.Lowered).
package auth

import (
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// Errors of Authenticate functions. ErrUnauthorized is for tokens that are malformed, unknown, revoked or expired;
// ErrForbidden for valid tokens without a scope for this server.
var (
	ErrUnauthorized = errors.New("unauthorized")
	ErrForbidden    = errors.New("forbidden")
)

// ConnectionHeader is the HTTP header that lowers one request of a DM's token to a group.
const ConnectionHeader = "X-YAMO-Connection"

// Tenant identifies an MCP server. Tenants share no sessions, caches or notifications.
type Tenant struct {
	Workspace string
	AgentID   string
	Audience  audience.Audience
}

// Client is the sender of requests, as identified by its token.
type Client struct {
	// Key identifies the client: sessions belong to it and limits are counted for it. It is not a secret.
	Key     string
	Tenant  Tenant
	Expires time.Time // zero means never
	// Valid returns an error once the token is no longer valid, for example revoked. If it is nil, only Expires counts.
	Valid func() error
}

// Active reports whether the client's token is neither expired nor revoked.
func (c Client) Active(now time.Time) bool {
	if !c.Expires.IsZero() && !now.Before(c.Expires) {
		return false
	}
	return c.Valid == nil || c.Valid() == nil
}

// Lowered returns the client with the audience that the ConnectionHeader requests: a DM may ask to be the group
// called group. Every other request is ignored.
func (c Client) Lowered(header http.Header, group audience.Audience) Client {
	values := header.Values(ConnectionHeader)
	if len(values) == 0 || !c.Tenant.Audience.IsDM() {
		return c // SECURITY: nothing turns a group into a DM or into another group.
	}
	for _, value := range values {
		if value != "dm" {
			// SECURITY: every value but exactly "dm" means a group, including misspelt ones.
			c.Tenant.Audience = group
			return c
		}
	}
	return c
}

// IsLoopback reports whether a host name or IP address is this machine's own and reachable only from it.
func IsLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

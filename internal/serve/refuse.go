package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// refusalCode is the JSON-RPC error code of requests that the transport rejects.
const refusalCode = -32000

// header is an HTTP header of a refusal.
type header struct{ name, value string }

// retryAfter returns the Retry-After header, in whole seconds and at least one.
func retryAfter(wait time.Duration) header {
	seconds := int((wait + time.Second - 1) / time.Second)
	return header{"Retry-After", strconv.Itoa(max(seconds, 1))}
}

// refuse rejects a request before it reaches an MCP server. The body is a JSON-RPC error without an ID, which
// clients show.
func refuse(w http.ResponseWriter, status int, reason string, headers ...header) {
	refuseWith(w, status, refusalCode, reason, headers...)
}

// refuseWith is refuse with a JSON-RPC error code.
func refuseWith(w http.ResponseWriter, status, code int, reason string, headers ...header) {
	for _, h := range headers {
		w.Header().Set(h.name, h.value)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(mcp.JSONRPCError{ // fails if the client has gone
		JSONRPC: mcp.JSONRPC_VERSION,
		Error:   mcp.NewJSONRPCErrorDetails(code, reason, nil),
	})
}

// challenge returns the WWW-Authenticate header of a 401 or 403 (RFC 6750 §3, RFC 9728 §5.1).
func challenge(problem, scope, metadata string) header {
	parts := []string{`realm="` + Name + `"`}
	for _, p := range []header{{"error", problem}, {"scope", scope}, {"resource_metadata", metadata}} {
		if p.value != "" {
			parts = append(parts, fmt.Sprintf("%s=%q", p.name, p.value))
		}
	}
	return header{"WWW-Authenticate", "Bearer " + strings.Join(parts, ", ")}
}

// bearer returns the token of a request, "" if it has none. problem is the OAuth error code of a malformed
// Authorization header.
func bearer(r *http.Request) (token, problem string) {
	values := r.Header.Values("Authorization")
	switch len(values) {
	case 0:
		return "", ""
	case 1:
	// Two headers: a proxy may check the first and the server use the second.
	default:
		return "", "invalid_request"
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if !ok || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", "invalid_request"
	}
	return token, ""
}

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

// refusalCode is the JSON-RPC code of what the transport itself refuses.
const refusalCode = -32000

// header is one that goes with a refusal.
type header struct{ name, value string }

// retryAfter says when to come again, in whole seconds and at least one.
func retryAfter(wait time.Duration) header {
	seconds := int((wait + time.Second - 1) / time.Second)
	return header{"Retry-After", strconv.Itoa(max(seconds, 1))}
}

// refuse answers a request that does not reach a server of an audience, in the form that clients show: a
// JSON-RPC error to no request in particular.
func refuse(w http.ResponseWriter, status int, reason string, headers ...header) {
	refuseWith(w, status, refusalCode, reason, headers...)
}

func refuseWith(w http.ResponseWriter, status, code int, reason string, headers ...header) {
	for _, h := range headers {
		w.Header().Set(h.name, h.value)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(mcp.JSONRPCError{ // the client may have gone
		JSONRPC: mcp.JSONRPC_VERSION,
		Error:   mcp.NewJSONRPCErrorDetails(code, reason, nil),
	})
}

// challenge is what a 401 or 403 tells a client about how to be let in (RFC 6750 §3, RFC 9728 §5.1).
func challenge(problem, scope, metadata string) header {
	parts := []string{`realm="` + Name + `"`}
	for _, p := range []header{{"error", problem}, {"scope", scope}, {"resource_metadata", metadata}} {
		if p.value != "" {
			parts = append(parts, fmt.Sprintf("%s=%q", p.name, p.value))
		}
	}
	return header{"WWW-Authenticate", "Bearer " + strings.Join(parts, ", ")}
}

// bearer is the token of a request. problem is why there is none although there is a header for it.
func bearer(r *http.Request) (token, problem string) {
	values := r.Header.Values("Authorization")
	switch len(values) {
	case 0:
		return "", ""
	case 1:
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

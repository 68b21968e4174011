package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
)

// posted is a message of a POST, with what the transport must know of it. It is decoded as mcp-go does, so
// that both interpret it the same way.
type posted struct {
	data   []byte
	id     json.RawMessage
	method string
	answer bool // it answers a request of the server
	modern bool // it uses protocol 2026-07-28 or later
}

// request reports whether the message will get a response.
func (p posted) request() bool { return p.method != "" && len(p.id) > 0 && string(p.id) != "null" }

// listens reports whether the message opens a stream of notifications.
func (p posted) listens() bool {
	return p.request() && p.method == string(mcp.MethodSubscriptionsListen)
}

// receive reads the message of a client's POST, or rejects the request.
func (f *front) receive(w http.ResponseWriter, r *http.Request, c auth.Client) (posted, bool) {
	// SECURITY: browsers let any web page send text/plain anywhere, but JSON only after a preflight request.
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" || len(r.Header.Values("Content-Type")) != 1 {
		refuse(w, http.StatusUnsupportedMediaType, "the content type must be application/json")
		return posted{}, false
	}
	// SECURITY: messages may be long and arrive slowly; without a limit one client's could exhaust the memory.
	end, ok := f.quotas.begin(c.Key, arriving, time.Now())
	if !ok {
		tooMany(w, time.Second, "too many messages are arriving with this token: wait for one to arrive")
		return posted{}, false
	}
	defer end()
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, f.options.MaxBody)) // ServeHTTP set the deadline
	if err == nil {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the connection is used again
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		refuse(w, http.StatusRequestEntityTooLarge,
			"the message exceeds the maximum of "+size(tooLarge.Limit)+": send less at once")
		return posted{}, false
	}
	if err != nil {
		refuse(w, http.StatusRequestTimeout, "the message did not arrive in time", header{"Connection", "close"})
		return posted{}, false
	}
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '[' {
		refuseWith(w, http.StatusBadRequest, mcp.INVALID_REQUEST, "batches are not accepted: send one message at a time")
		return posted{}, false
	}
	p, err := parsePosted(data, r.Header.Get(mcp.HeaderProtocolVersion))
	if err != nil {
		refuseWith(w, http.StatusBadRequest, mcp.PARSE_ERROR, "the message is not a JSON object")
		return posted{}, false
	}
	return p, true
}

// parsePosted parses a message. version is the protocol version from the header, "" without it.
func parsePosted(data []byte, version string) (posted, error) {
	var head struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return posted{}, err
	}
	var meta struct {
		Params struct {
			Meta *mcp.Meta `json:"_meta"`
		} `json:"params"`
	}
	declared := ""
	// Params of an unexpected form are mcp-go's to refuse; here they only declare no version.
	if json.Unmarshal(data, &meta) == nil {
		declared = meta.Params.Meta.ProtocolVersion()
	}
	return posted{
		data: data, id: head.ID, method: head.Method,
		answer: head.Method == "" && head.ID != nil && (head.Result != nil || head.Error != nil),
		modern: mcp.IsModernProtocol(version) || mcp.IsModernProtocol(declared),
	}, nil
}

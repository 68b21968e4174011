package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// requests are those that were read and not answered yet, by key. A client that uses an id twice at
// once is answered twice.
type requests struct {
	mu      sync.Mutex
	open    map[string]int
	changed chan struct{} // closed and replaced when one is answered
}

func newRequests() *requests {
	return &requests{open: map[string]int{}, changed: make(chan struct{})}
}

func (r *requests) add(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[key]++
}

func (r *requests) answered(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[key]--; r.open[key] <= 0 {
		delete(r.open, key)
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *requests) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, times := range r.open {
		n += times
	}
	return n
}

// wait returns when the request of that key is answered ("": when all are) or ctx is done.
func (r *requests) wait(ctx context.Context, key string) {
	for {
		r.mu.Lock()
		waiting := r.open[key] > 0 || key == "" && len(r.open) > 0
		changed := r.changed
		r.mu.Unlock()
		if !waiting {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// requestKey returns the key and method of a message that mcp-go will answer under its id, "" for any
// other. A subscription is answered when the session ends: nothing waits for it.
func requestKey(data []byte) (key, method string) {
	var message struct { // what mcp-go decodes, so that both agree on what is a request
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		ID      any    `json:"id"`
		Result  any    `json:"result"`
	}
	if json.Unmarshal(data, &message) != nil || message.Method == "" || message.Result != nil ||
		message.Method == string(mcp.MethodSubscriptionsListen) {
		return "", ""
	}
	return idKey(message.ID), message.Method
}

// answerKey returns the key of the request that a message answers, "" if it is no answer. It reads no
// further than to the result.
func answerKey(data []byte) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return ""
	}
	key, answers := "", false
	for dec.More() && (key == "" || !answers) {
		name, err := dec.Token()
		if err != nil {
			return ""
		}
		if answers = answers || name == "result" || name == "error"; answers && key != "" {
			return key
		}
		var value any
		if dec.Decode(&value) != nil {
			return ""
		}
		if name == "id" {
			key = idKey(value)
		}
	}
	if !answers {
		return ""
	}
	return key
}

func idKey(id any) string {
	switch v := id.(type) {
	case string:
		return "s" + v
	case float64:
		return "n" + strconv.FormatFloat(v, 'g', -1, 64)
	default:
		return ""
	}
}

// output writes messages to the client, one at a time, and notes which requests they answer.
type output struct {
	mu   sync.Mutex // mcp-go writes its own requests and its answers under different locks
	w    io.Writer
	open *requests
	stop context.CancelCauseFunc // ends the reading
}

// writeError is why the client cannot be written to.
type writeError struct{ err error }

func (e *writeError) Error() string { return "write: " + e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }

// Write writes one message.
func (o *output) Write(message []byte) (int, error) {
	o.mu.Lock()
	n, err := o.w.Write(message)
	o.mu.Unlock()
	if err != nil {
		o.stop(&writeError{err})
	}
	if key := answerKey(message); key != "" {
		o.open.answered(key)
	}
	return n, err
}

// tooLong answers a message that was too long to be read.
func (o *output) tooLong(l line, most int) error {
	id := json.RawMessage(l.data)
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	message, err := json.Marshal(mcp.JSONRPCError{
		JSONRPC: mcp.JSONRPC_VERSION,
		ID:      mcp.NewRequestId(id),
		Error:   mcp.NewJSONRPCErrorDetails(mcp.INVALID_REQUEST, fmt.Sprintf("the message is longer than the %d bytes allowed: send less at a time", most), nil),
	})
	if err != nil {
		return fmt.Errorf("encode answer to a message that is too long: %w", err)
	}
	o.mu.Lock()
	_, err = o.w.Write(append(message, '\n'))
	o.mu.Unlock()
	if err != nil {
		o.stop(&writeError{err})
	}
	return nil // the next read sees the stop
}

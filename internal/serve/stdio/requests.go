package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// requests counts the requests that were read and not answered yet, by key. A client that uses an ID twice
// at the same time gets two responses.
type requests struct {
	mu      sync.Mutex
	open    map[string]int
	changed chan struct{} // closed and replaced when a request is answered
}

func newRequests() *requests {
	return &requests{open: map[string]int{}, changed: make(chan struct{})}
}

// add registers a request.
func (r *requests) add(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[key]++
}

// answered removes a request that was answered, and wakes those who wait for it. A client may use an ID twice.
func (r *requests) answered(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[key]--; r.open[key] <= 0 {
		delete(r.open, key)
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// count returns the number of requests without an answer.
func (r *requests) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, times := range r.open {
		n += times
	}
	return n
}

// wait returns when the request with the key is answered (with "", when all are) or ctx is done.
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

// requestKey returns the key and method of a message that mcp-go will answer, "" for all others. A
// subscription is answered only at the end of the session, so nothing waits for it.
func requestKey(data []byte) (key, method string) {
	var message struct { // as mcp-go decodes it, so that both agree on what is a request
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

// answerKey returns the key of the request that a message answers, "" if it is not a response. It does not
// decode the result, which may be large.
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

// idKey returns the key of a JSON-RPC ID: the string "1" and the number 1 differ.
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

// output writes messages to the client and records which requests they answer. It serializes the writes:
// mcp-go writes its own requests and its responses under different locks.
type output struct {
	mu   sync.Mutex
	w    io.Writer
	open *requests
	stop context.CancelCauseFunc // stops the reading

	began atomic.Int64 // when the write under way began, in Unix nanoseconds; 0 without one
}

// writeError is a failure to write to the client.
type writeError struct{ err error }

func (e *writeError) Error() string { return "write: " + e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }

// Write implements io.Writer. mcp-go calls it once per message.
func (o *output) Write(message []byte) (int, error) {
	n, err := o.send(message)
	if err != nil {
		o.stop(&writeError{err})
	}
	if key := answerKey(message); key != "" {
		o.open.answered(key)
	}
	return n, err
}

// send writes a message.
func (o *output) send(message []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.began.Store(time.Now().UnixNano())
	defer o.began.Store(0)
	return o.w.Write(message)
}

// stalled returns a channel that is closed when, after ending is done, a write takes longer than limit. It stops
// looking when over is closed.
func (o *output) stalled(ending context.Context, over <-chan struct{}, limit time.Duration) <-chan struct{} {
	found := make(chan struct{})
	context.AfterFunc(ending, func() {
		ended := time.Now()
		tick := time.NewTicker(max(limit/20, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			began := o.began.Load()
			if began != 0 && time.Since(time.Unix(0, began)) > limit && time.Since(ended) > limit {
				close(found)
				return
			}
		}
	})
	return found
}

// tooLong answers a message that is longer than maxLine bytes.
func (o *output) tooLong(l line, maxLine int) error {
	id := json.RawMessage(l.data)
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	message, err := json.Marshal(mcp.JSONRPCError{
		JSONRPC: mcp.JSONRPC_VERSION,
		ID:      mcp.NewRequestId(id),
		Error: mcp.NewJSONRPCErrorDetails(mcp.INVALID_REQUEST,
			fmt.Sprintf("the message exceeds the maximum of %d bytes: send less at a time", maxLine), nil),
	})
	if err != nil {
		return fmt.Errorf("encode error response: %w", err)
	}
	_, err = o.send(append(message, '\n'))
	if err != nil {
		o.stop(&writeError{err})
	}
	return nil // stop makes the next read fail
}

package serve

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// writeTimeout is how long a client may take to read what is written to it.
	writeTimeout = time.Minute
	// stall is the same once the server is to stop.
	stall = 3 * time.Second
)

// recorder is a response writer that records status and events. Streams have no timeout as a whole, but each
// write has one.
type recorder struct {
	http.ResponseWriter
	control *http.ResponseController
	ending  context.Context // done once the server is to stop
	origin  string          // the origin whose pages may read the response, "" for none
	begun   func()          // called when a stream of events begins; nil for nothing

	wire sync.Mutex // held during writes

	mu      sync.Mutex
	status  int
	stream  bool          // the response is a stream of server-sent events
	partial bool          // an event is not written completely yet
	events  int           // events written completely
	changed chan struct{} // closed and replaced when events increases
}

func record(ending context.Context, w http.ResponseWriter) *recorder {
	return &recorder{
		ResponseWriter: w, control: http.NewResponseController(w), ending: ending, changed: make(chan struct{}),
	}
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	r.wire.Lock()
	defer r.wire.Unlock()
	r.mu.Lock()
	begins := r.status == 0 && strings.HasPrefix(r.Header().Get("Content-Type"), "text/event-stream")
	if r.status == 0 {
		r.status = status
		r.stream = begins
	}
	r.mu.Unlock()
	if begins && r.begun != nil {
		r.begun()
	}
	// SECURITY: mcp-go allows every web page to read its event streams (TestStreamsAreNotForEveryPage).
	r.Header().Del("Access-Control-Allow-Origin")
	if r.origin != "" {
		r.Header().Set("Access-Control-Allow-Origin", r.origin)
	}
	r.Header().Set("X-Content-Type-Options", "nosniff")
	if r.Header().Get("Cache-Control") == "" {
		r.Header().Set("Cache-Control", "no-store")
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	if r.code() == 0 {
		r.WriteHeader(http.StatusOK)
	}
	r.wire.Lock()
	defer r.wire.Unlock()
	defer r.limitWrite()()
	n, err := r.ResponseWriter.Write(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	// An event ends with an empty line; a comment written before that would become a part of it.
	r.partial = !bytes.HasSuffix(p, []byte("\n\n"))
	if err == nil && bytes.HasPrefix(p, []byte("event: message\n")) {
		r.events++
		close(r.changed)
		r.changed = make(chan struct{})
	}
	return n, err
}

// Flush implements http.Flusher. mcp-go streams only to writers that do.
func (r *recorder) Flush() {
	r.wire.Lock()
	defer r.wire.Unlock()
	defer r.limitWrite()()
	_ = r.control.Flush()
}

// limitWrite sets the deadline of a write until done is called, an earlier one when the server is to stop. A deadline
// that stays would end an idle stream over HTTP/2.
func (r *recorder) limitWrite() (done func()) {
	limit := func(after time.Duration) { // fails only for writers of tests
		_ = r.control.SetWriteDeadline(time.Now().Add(after))
	}
	limit(writeTimeout)
	limited := make(chan struct{})
	stop := context.AfterFunc(r.ending, func() {
		defer close(limited)
		limit(stall)
	})
	return func() {
		if !stop() {
			<-limited // the response must not be used after its handler
		}
		_ = r.control.SetWriteDeadline(time.Time{})
	}
}

// keepAlive writes a comment to the response at intervals while it is a stream of events, until stop is called.
// mcp-go does so only for streams of a GET (TestPostsAreKeptAlive).
func (r *recorder) keepAlive(every time.Duration) (stop func()) {
	ended := false // r.wire is held
	var timer *time.Timer
	r.wire.Lock()
	defer r.wire.Unlock()
	timer = time.AfterFunc(every, func() {
		r.wire.Lock()
		defer r.wire.Unlock()
		if ended {
			return
		}
		timer.Reset(every)
		if !r.between() {
			return
		}
		defer r.limitWrite()()
		if _, err := r.ResponseWriter.Write([]byte(": the stream is open\n\n")); err == nil {
			_ = r.control.Flush() // the request's context shows when the client has gone
		}
	})
	return func() {
		r.wire.Lock()
		defer r.wire.Unlock()
		ended = true
		timer.Stop()
	}
}

// between reports whether the response is a stream of events and no event is partly written.
func (r *recorder) between() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stream && !r.partial
}

// Unwrap implements what http.ResponseController expects.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// code returns the response's status, 0 if nothing was written yet.
func (r *recorder) code() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// wrote returns the number of events written, and a channel that is closed when the number changes.
func (r *recorder) wrote() (int, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events, r.changed
}

// buffered is a response that is written only when it is complete.
type buffered struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func newBuffered() *buffered { return &buffered{header: http.Header{}} }

// Header implements http.ResponseWriter.
func (h *buffered) Header() http.Header { return h.header }

// WriteHeader implements http.ResponseWriter.
func (h *buffered) WriteHeader(status int) {
	if h.status == 0 {
		h.status = status
	}
}

// Write implements http.ResponseWriter.
func (h *buffered) Write(p []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	return h.body.Write(p)
}

// writeTo writes the response to w.
func (h *buffered) writeTo(w http.ResponseWriter) {
	maps.Copy(w.Header(), h.header)
	if h.status != 0 {
		w.WriteHeader(h.status)
	}
	_, _ = w.Write(h.body.Bytes()) // the client may have gone
}

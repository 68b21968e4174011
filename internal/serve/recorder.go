package serve

import (
	"bytes"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// stalled is how long a client may take to take in what is written to it.
const stalled = time.Minute

// recorder is a response that notes what becomes of it. Streams have no write timeout, but each write has.
type recorder struct {
	http.ResponseWriter
	control *http.ResponseController
	origin  string // the web page that may read the response, "" for none

	wire sync.Mutex // held while something is written

	mu      sync.Mutex
	status  int
	stream  bool          // of events
	partial bool          // an event is begun and not ended
	events  int           // server-sent events that were written whole
	changed chan struct{} // closed and replaced when events grows
}

func record(w http.ResponseWriter) *recorder {
	return &recorder{ResponseWriter: w, control: http.NewResponseController(w), changed: make(chan struct{})}
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	r.wire.Lock()
	defer r.wire.Unlock()
	r.mu.Lock()
	if r.status == 0 {
		r.status = status
		r.stream = strings.HasPrefix(r.Header().Get("Content-Type"), "text/event-stream")
	}
	r.mu.Unlock()
	// SECURITY: mcp-go lets every web page read its event streams, unless told which.
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
	defer r.hurry()()
	n, err := r.ResponseWriter.Write(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.partial = !bytes.HasSuffix(p, []byte("\n\n"))
	if err == nil && bytes.HasPrefix(p, []byte("event: message\n")) {
		r.events++
		close(r.changed)
		r.changed = make(chan struct{})
	}
	return n, err
}

// Flush implements http.Flusher, which is how mcp-go knows that it can stream.
func (r *recorder) Flush() {
	r.wire.Lock()
	defer r.wire.Unlock()
	defer r.hurry()()
	_ = r.control.Flush()
}

// hurry bounds what is written until relax is called. A bound that stays would end a silent stream over HTTP/2.
func (r *recorder) hurry() (relax func()) {
	_ = r.control.SetWriteDeadline(time.Now().Add(stalled)) // a writer without deadlines is a test's
	return func() { _ = r.control.SetWriteDeadline(time.Time{}) }
}

// beat writes a comment every so often while the response is a stream of events, until stop is called: mcp-go keeps
// only the streams of a GET alive.
func (r *recorder) beat(every time.Duration) (stop func()) {
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
		defer r.hurry()()
		if _, err := r.ResponseWriter.Write([]byte(": the stream is open\n\n")); err == nil {
			_ = r.control.Flush() // whoever has gone is noticed elsewhere
		}
	})
	return func() {
		r.wire.Lock()
		defer r.wire.Unlock()
		ended = true
		timer.Stop()
	}
}

// between reports whether the response is a stream of events, none of which is half written.
func (r *recorder) between() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stream && !r.partial
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) code() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// wrote returns how many events were written, and what is closed when it is more.
func (r *recorder) wrote() (int, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events, r.changed
}

// held is a response that is written when all of it is there.
type held struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func hold() *held { return &held{header: http.Header{}} }

// Header implements http.ResponseWriter.
func (h *held) Header() http.Header { return h.header }

// WriteHeader implements http.ResponseWriter.
func (h *held) WriteHeader(status int) {
	if h.status == 0 {
		h.status = status
	}
}

// Write implements http.ResponseWriter.
func (h *held) Write(p []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	return h.body.Write(p)
}

// release writes it to w.
func (h *held) release(w http.ResponseWriter) {
	maps.Copy(w.Header(), h.header)
	if h.status != 0 {
		w.WriteHeader(h.status)
	}
	_, _ = w.Write(h.body.Bytes()) // the client may have gone
}

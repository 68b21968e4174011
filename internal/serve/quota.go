package serve

import (
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// DefaultCallsPerMinute is the maximum number of requests per minute and token.
	DefaultCallsPerMinute = 600
	// DefaultConcurrentCalls is the maximum number of calls under way per token.
	DefaultConcurrentCalls = 16
	maxStreams             = 32               // open streams per client
	maxSessions            = 64               // sessions per client and server
	quotaLifetime          = 10 * time.Minute // of an unused quota
)

// quotas count what each client uses. The limits apply to a token as a whole, not to each audience it asks for.
type quotas struct {
	perMinute  int
	concurrent int

	mu       sync.Mutex
	byClient map[string]*quota
}

// quota is what one client has used.
type quota struct {
	limiter *rate.Limiter
	inUse   [3]int // by use
	last    time.Time
}

// use is a kind of thing of which a client may have a limited number at a time.
type use int

const (
	arriving use = iota // messages that are being read
	calling
	streaming
)

func newQuotas(perMinute, concurrent int) *quotas {
	return &quotas{perMinute: perMinute, concurrent: concurrent, byClient: map[string]*quota{}}
}

// get returns the quota of a client. q.mu is held.
func (q *quotas) get(key string, now time.Time) *quota {
	u, ok := q.byClient[key]
	if !ok {
		// A host requests a dozen lists at once when it starts, so bursts of a quarter of the limit are allowed.
		u = &quota{limiter: rate.NewLimiter(rate.Limit(float64(q.perMinute)/60), max(q.perMinute/4, 1))}
		q.byClient[key] = u
	}
	u.last = now
	return u
}

// pace counts one request against the client's rate limit. wait is 0, or how long the client must wait.
func (q *quotas) pace(key string, now time.Time) (wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.get(key, now).limiter.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		// A refused request does not count: a client that tries again too early is not refused for longer.
		r.CancelAt(now)
	}
	return wait
}

// begin counts a use until end is called. It is not ok if the client has reached the limit.
func (q *quotas) begin(key string, what use, now time.Time) (end func(), ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	u, limit := q.get(key, now), q.concurrent
	if what == streaming {
		limit = maxStreams
	}
	if u.inUse[what] >= limit {
		return nil, false
	}
	u.inUse[what]++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		u.inUse[what]--
	}, true
}

// prune deletes the quotas of clients without recent requests; their limiters would be full again.
func (q *quotas) prune(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for key, u := range q.byClient {
		if u.inUse == [3]int{} && now.Sub(u.last) > quotaLifetime {
			delete(q.byClient, key)
		}
	}
}

// tooMany rejects a request that exceeds a limit.
func tooMany(w http.ResponseWriter, wait time.Duration, reason string) {
	// SECURITY: otherwise each refused request would leave an open connection.
	refuse(w, http.StatusTooManyRequests, reason, retryAfter(wait), header{"Connection", "close"})
}

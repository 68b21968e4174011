package serve

import (
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// DefaultCallsPerMinute is how many requests a minute one token may send.
	DefaultCallsPerMinute = 600
	// DefaultConcurrentCalls is how many calls of one token may be under way.
	DefaultConcurrentCalls = 16
	maxStreams             = 32 // open streams of one client
	maxSessions            = 64 // sessions of one client with one server
	forgotten              = 10 * time.Minute
)

// quotas count what each client uses. The limits are a token's, whatever audience it asks for.
type quotas struct {
	perMinute  int
	concurrent int

	mu sync.Mutex
	of map[string]*quota
}

type quota struct {
	limiter *rate.Limiter
	inUse   [3]int // by use
	last    time.Time
}

// use is what a client can have several of at once.
type use int

const (
	arriving use = iota // messages that are being read
	calling
	streaming
)

func newQuotas(perMinute, concurrent int) *quotas {
	return &quotas{perMinute: perMinute, concurrent: concurrent, of: map[string]*quota{}}
}

// get returns the quota of a client. q.mu is held.
func (q *quotas) get(key string, now time.Time) *quota {
	u, ok := q.of[key]
	if !ok {
		// A host asks for a dozen lists at once when it starts: a quarter of the minute may come in one burst.
		u = &quota{limiter: rate.NewLimiter(rate.Limit(float64(q.perMinute)/60), max(q.perMinute/4, 1))}
		q.of[key] = u
	}
	u.last = now
	return u
}

// pace takes one message of the client's minute. If there is none left it says when to come again.
func (q *quotas) pace(key string, now time.Time) (wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.get(key, now).limiter.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// begin counts a use, and says whether the client may have it. end uncounts it.
func (q *quotas) begin(key string, what use, now time.Time) (end func(), ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	u, most := q.get(key, now), q.concurrent
	if what == streaming {
		most = maxStreams
	}
	if u.inUse[what] >= most {
		return nil, false
	}
	u.inUse[what]++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		u.inUse[what]--
	}, true
}

// prune forgets clients that have not come for a while; a limiter is full again by then.
func (q *quotas) prune(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for key, u := range q.of {
		if u.inUse == [3]int{} && now.Sub(u.last) > forgotten {
			delete(q.of, key)
		}
	}
}

// tooMany refuses a request that is over a limit.
func tooMany(w http.ResponseWriter, wait time.Duration, reason string) {
	refuse(w, http.StatusTooManyRequests, reason, retryAfter(wait))
}

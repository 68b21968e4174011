// Package cache keeps the results of recent searches (RFC-0011 §5.1 step 5).
package cache

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// MaxAge is how long a result is used; size is the number of results that are kept (RFC-0011 §5.1 step 5).
const (
	MaxAge = 5 * time.Minute
	size   = 500
)

// Cache keeps the results of searches. It belongs to one audience and ranking, and is safe for concurrent use.
type Cache struct {
	mu    sync.Mutex
	state string // of the compartments whose answers these are
	list  *simplelru.LRU[string, answer]

	used, asked int
}

// Stats counts the use of a cache since it was created (RFC-0011 §4.1 getCacheStats).
type Stats struct {
	Answers int // in the cache now
	Hits    int // searches answered from it
	Misses  int // searches that could have been
}

// Stats returns the counts of the cache's use.
func (a *Cache) Stats() Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Stats{Answers: a.list.Len(), Hits: a.used, Misses: a.asked - a.used}
}

// New returns an empty cache.
func New() *Cache {
	list, err := simplelru.NewLRU[string, answer](size, nil)
	if err != nil {
		panic(err) // the size is positive
	}
	return &Cache{list: list}
}

// Result is what a search found.
type Result struct {
	Hits     []record.Hit
	Standing []record.Hit // instructions and preferences that apply
	More     int          // memories about as close to a broad question as Hits
}

// clone returns a copy whose lists the caller may change.
func (r Result) clone() Result {
	r.Hits, r.Standing = slices.Clone(r.Hits), slices.Clone(r.Standing)
	return r
}

// answer is the result of a search, and when it was found.
type answer struct {
	Result
	at time.Time
}

// Find returns what find returns, or returned up to MaxAge ago for the same request and the same memories. Once a
// memory is added, revised or deleted, by any process, no earlier result is used. The caller has synced the
// compartments, and every memory has its vector.
//
// SECURITY: the request is part of the key, so the caller has redacted it: the cache must not contain what the ledger
// may not.
func (a *Cache) Find(
	among []rank.Source, request any, now func() time.Time, find func() (Result, error),
) (Result, error) {
	key, err := json.Marshal(request)
	if err != nil {
		return Result{}, fmt.Errorf("cache a search: %w", err)
	}
	state := stateOf(among)
	if known, ok := a.get(state, string(key), now()); ok {
		return known, nil
	}
	found, err := find()
	if err != nil {
		return Result{}, err
	}
	// Another goroutine may have changed the memories meanwhile; then it is not known which state the answer is of.
	if stateOf(among) == state {
		a.put(state, string(key), answer{found.clone(), now()})
	}
	return found, nil
}

// get returns the result of a request that is younger than MaxAge. All results go when the memories have changed: none
// of them can be found again, because the state does not repeat.
func (a *Cache) get(state, key string, now time.Time) (Result, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state != state {
		a.list.Purge()
		a.state = state
	}
	known, ok := a.list.Get(key)
	ok = ok && now.Sub(known.at) < MaxAge
	if a.asked++; ok {
		a.used++
	}
	return known.clone(), ok
}

// put keeps a result, unless the memories have changed since it was looked for.
func (a *Cache) put(state, key string, found answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state == state {
		a.list.Add(key, found)
	}
}

// stateOf returns a string that changes with every memory that is added, revised or deleted. Documents are only
// ever added, so their number together with that of the live ones does not repeat; a reopened compartment has
// another address.
func stateOf(among []rank.Source) string {
	var b strings.Builder
	for _, source := range among {
		s := source.Snapshot()
		fmt.Fprintf(&b, "%p %d %d %d\n", source.Projection, len(s.Docs), s.Live, s.Changes())
		s.Release()
	}
	return b.String()
}

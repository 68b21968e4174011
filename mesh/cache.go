package mesh

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

// RFC-0011 §5.1 step 5.
const (
	cacheAge  = 5 * time.Minute
	cacheSize = 500
)

// searchCache keeps what searches found. It belongs to one View, so to one audience and ranking.
type searchCache struct {
	mu    sync.Mutex
	state string // of the compartments whose answers these are
	list  *simplelru.LRU[string, answer]

	used, asked int
}

// CacheStats counts the use of a view's cache of answers since it was opened (RFC-0011 §4.1 getCacheStats).
type CacheStats struct {
	Answers int // in the cache now
	Hits    int // searches answered from it
	Misses  int // searches that could have been
}

// CacheStats returns the counts of the cache of answers. The vectors of queries are cached by the Embedder.
func (m Maintenance) CacheStats() CacheStats {
	a := m.view.answers
	a.mu.Lock()
	defer a.mu.Unlock()
	return CacheStats{Answers: a.list.Len(), Hits: a.used, Misses: a.asked - a.used}
}

func newSearchCache() *searchCache {
	list, err := simplelru.NewLRU[string, answer](cacheSize, nil)
	if err != nil {
		panic(err) // the size is positive
	}
	return &searchCache{list: list}
}

type answer struct {
	hits []record.Hit
	at   time.Time
}

// hits returns what find returns, or returned up to cacheAge ago for the same request and the same memories. Once a
// memory is added, revised or deleted, by any process, no earlier answer is used. The caller has synced the
// compartments, and every memory has its vector. query is q's, redacted, with the time that it names today: the key
// must not hold what the ledger may not.
func (a *searchCache) hits(
	among []rank.Source, query string, q SearchRequest, now func() time.Time, find func() ([]record.Hit, error),
) ([]record.Hit, error) {
	q.Query = query
	key, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("cache a search: %w", err)
	}
	state := stateOf(among)
	if known, ok := a.get(state, string(key), now()); ok {
		return known, nil
	}
	hits, err := find()
	if err != nil {
		return nil, err
	}
	// Another goroutine may have changed the memories meanwhile; then it is not known which state the answer is of.
	if stateOf(among) == state {
		a.put(state, string(key), answer{slices.Clone(hits), now()})
	}
	return hits, nil
}

func (a *searchCache) get(state, key string, now time.Time) ([]record.Hit, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state != state {
		a.list.Purge()
		a.state = state
	}
	known, ok := a.list.Get(key)
	ok = ok && now.Sub(known.at) < cacheAge
	if a.asked++; ok {
		a.used++
	}
	return slices.Clone(known.hits), ok
}

func (a *searchCache) put(state, key string, found answer) {
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

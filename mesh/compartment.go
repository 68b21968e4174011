package mesh

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/ledger"
)

// Operations of the ledger's entries (RFC-0011 §2.3's operation types).
const (
	opRetain = "retain"
	opRecall = "recall"
	opLesson = "lesson"
)

// compartment is one physically separate store: its ledger, the projection of it that this process
// holds in memory, and its index of vectors. The ledger is the truth; the rest is derived from it.
type compartment struct {
	visibility Visibility
	ledger     *ledger.Ledger
	index      *index

	mu       sync.RWMutex // guards what follows; only apply writes
	docs     []*Record    // every memory, in ledger order: its position is its document number
	byText   map[[sha256.Size]byte]int
	patterns map[string]int // lesson pattern -> its best lesson
	last     map[string]int // session -> its latest document
	keywords *keyword.Index
}

func newCompartment(v Visibility, l *ledger.Ledger, ix *index) *compartment {
	return &compartment{
		visibility: v,
		ledger:     l,
		index:      ix,
		byText:     map[[sha256.Size]byte]int{},
		patterns:   map[string]int{},
		last:       map[string]int{},
		keywords:   keyword.New(),
	}
}

// sync takes in what any process has appended since the last call.
func (c *compartment) sync(ctx context.Context) error {
	if err := c.ledger.Sync(ctx, c.apply); err != nil {
		return fmt.Errorf("read the %s ledger: %w", c.visibility, err)
	}
	return nil
}

// apply adds one ledger entry to the projection. Other operations than those of memories change nothing
// here.
func (c *compartment) apply(e ledger.Entry) error {
	if e.Erased || (e.Op != opRetain && e.Op != opLesson) {
		return nil
	}
	r := new(Record)
	if err := json.Unmarshal(e.Data, r); err != nil {
		return fmt.Errorf("ledger entry %d: %w", e.Seq, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	doc := len(c.docs)
	c.docs = append(c.docs, r)
	c.index.vectors.Track(r.ID)
	if r.Lesson != nil {
		best, ok := c.patterns[r.Lesson.PatternID]
		if !ok || c.docs[best].Lesson.RuleConfidence < r.Lesson.RuleConfidence {
			c.patterns[r.Lesson.PatternID] = doc
		}
	} else if key := r.scope(); c.byText[key] == 0 {
		c.byText[key] = doc + 1
	}
	predecessor := -1
	if r.SessionID != "" {
		if before, ok := c.last[r.SessionID]; ok {
			predecessor = before
		}
		c.last[r.SessionID] = doc
	}
	c.keywords.Add(r.Content, predecessor)
	return nil
}

// twin is the memory with the same text in the same scope as r, nil if there is none.
func (c *compartment) twin(r *Record) *Record {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if doc := c.byText[r.scope()]; doc > 0 {
		return c.docs[doc-1]
	}
	return nil
}

// lesson is the best lesson of a pattern, nil if there is none.
func (c *compartment) lesson(pattern string) *Record {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if doc, ok := c.patterns[pattern]; ok {
		return c.docs[doc]
	}
	return nil
}

// lessons are the best lessons of all patterns, in ledger order.
func (c *compartment) lessons() []*Record {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var best []*Record
	for doc, r := range c.docs {
		if r.Lesson != nil && c.patterns[r.Lesson.PatternID] == doc {
			best = append(best, r)
		}
	}
	return best
}

// count is how many memories there are.
func (c *compartment) count() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.docs)
}

// append writes what prepare drafts, after the fsync if durable. prepare runs under the ledger's lock,
// with everything taken in that any process has written: what it decides holds.
func (c *compartment) append(ctx context.Context, durable bool, prepare func(now time.Time) (ledger.Draft, bool, error)) error {
	write := c.ledger.Append
	if !durable {
		write = c.ledger.AppendRelaxed
	}
	_, err := write(ctx, c.apply, func(now time.Time) ([]ledger.Draft, error) {
		draft, wanted, err := prepare(now)
		if err != nil || !wanted {
			return nil, err
		}
		return []ledger.Draft{draft}, nil
	})
	if err != nil {
		return fmt.Errorf("write to the %s ledger: %w", c.visibility, err)
	}
	return nil
}

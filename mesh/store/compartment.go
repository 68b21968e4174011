// Package store has the compartments of the memory: the ledger of each, and the projection of it that a process holds
// in memory.
//
// The ledger is the truth and the projection is derived from it: only entries change it. Everything that reads a
// projection does so through a Snapshot, which holds its read lock.
package store

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

// Operations of the ledger's entries, in addition to ledger.OpDelete. Those of the first group are RFC-0011 §2.3's and
// have a block; the others have none.
const (
	OpRetain     = "retain"
	OpRecall     = "recall"
	OpLesson     = "lesson"
	OpReflect    = "reflect"
	OpSynthesize = "synthesize"

	OpHeritage = "heritage"

	OpRevise   = "revise"   // a record.Revision, whose id it has
	OpUpdate   = "update"   // a record.Memory without its content: the fields that the memory has from now on
	OpSighting = "sighting" // a record.Record without an id, whose text repeats the memory
	OpSeparate = "separate" // a record.Separation
	OpAccesses = "accesses" // record.Accesses, by the id of a memory: what was counted elsewhere before an import
	// Both carry the skill's id, so that erasing a skill erases every text it had and its feedback.
	OpSkill         = "skill"
	OpSkillFeedback = "skill_feedback"

	// OpRescan precedes the deletions and the entries written again of a rescan, in one write, and has its receipt.
	OpRescan = "rescan"
)

// Compartment is one physically separate store: a ledger and its projection. It is safe for concurrent use.
type Compartment struct {
	*Projection
	Image  string       // file from which the projection is restored, "" for none; set before the first use
	Logger *slog.Logger // set before the first use

	ledger *ledger.Ledger
	once   sync.Once    // restores the image
	imaged atomic.Int64 // number of the last entry in the image, 0 for none

	useless atomic.Bool // the image could not be used
	begun   atomic.Bool // entries were applied by an earlier call
}

// New returns the compartment called name, whose documents have their vectors in vectors. It reads nothing yet.
// retention is how long a lesson is active.
func New(name record.Visibility, l *ledger.Ledger, vectors *vector.Set, retention time.Duration) *Compartment {
	p := NewProjection(name, vectors)
	p.Retention = retention
	return &Compartment{Projection: p, Logger: slog.New(slog.DiscardHandler), ledger: l}
}

// Sync applies what any process has appended to the ledger since the last call. An error that is a *ledger.CorruptError
// leaves the entries before the damage applied; with ledger.ErrReplaced the compartment must be opened again.
func (c *Compartment) Sync(ctx context.Context) error {
	c.start(ctx)
	err := c.ledger.Sync(ctx, c.apply)
	c.begun.Store(c.begun.Load() || err == nil)
	if err == nil {
		c.dropUseless(ctx)
	}
	return c.explain("read", err)
}

// ErrRescanned means that a process has rescanned the ledger. It is a ledger.ErrReplaced.
var ErrRescanned = fmt.Errorf("the ledger was rescanned: %w", ledger.ErrReplaced)

// apply applies an entry. After a rescan by any process it returns ErrRescanned: what is in memory has the earlier
// text, and would count again what was written again.
func (c *Compartment) apply(e ledger.Entry) error {
	if e.Op == OpRescan && c.begun.Load() {
		return ErrRescanned
	}
	return c.Projection.apply(e)
}

// Prepare decides what is written. It runs under the ledger's lock, after everything that other processes wrote was
// applied: a check made before, such as "no memory has this text yet", could be outdated by the time of the write.
// It may be called a second time and must not keep s.
type Prepare func(s *Snapshot, now time.Time) ([]ledger.Draft, error)

// drafts gives prepare a snapshot. The ledger applies entries before it calls this and after, never during: a write
// lock on the projection would wait for the snapshot forever.
func (c *Compartment) drafts(prepare Prepare) func(time.Time) ([]ledger.Draft, error) {
	return func(now time.Time) ([]ledger.Draft, error) {
		c.begun.Store(true)
		s := c.Snapshot()
		defer s.Release()
		return prepare(s, now)
	}
}

// Append writes what prepare drafts, applies it and returns after the fsync. A crash may leave the first few of several
// drafts, never others. Without drafts it writes nothing.
func (c *Compartment) Append(ctx context.Context, prepare Prepare) error {
	c.start(ctx)
	_, err := c.ledger.Append(ctx, c.apply, c.drafts(prepare))
	return c.explain("write to", err)
}

// AppendRelaxed is Append without the fsync, for entries that the caller is not promised: a power failure may lose
// them.
func (c *Compartment) AppendRelaxed(ctx context.Context, prepare Prepare) error {
	c.start(ctx)
	_, err := c.ledger.AppendRelaxed(ctx, c.apply, c.drafts(prepare))
	return c.explain("write to", err)
}

// Erase removes the content of all entries with the ids of the drafts from the ledger and appends the drafts, which are
// deletions. What is on disk outside of the ledger is for the caller to remove.
func (c *Compartment) Erase(ctx context.Context, prepare Prepare) error {
	_, err := c.erase(ctx, c.ledger.Erase, prepare)
	return err
}

// Rewrite is Erase for drafts that begin with one of OpRescan and have entries to write again after the deletions. When
// they are on disk made is true and the error ErrRescanned: the compartment must be opened again.
func (c *Compartment) Rewrite(ctx context.Context, prepare Prepare) (made bool, err error) {
	return c.erase(ctx, c.ledger.Rewrite, prepare)
}

// erase erases what prepare drafts deletions of with one of the ledger's methods. It reports whether anything was.
func (c *Compartment) erase(ctx context.Context, erase func(
	context.Context, func(ledger.Entry) error, func(time.Time) ([]ledger.Draft, error),
) ([]ledger.Entry, error), prepare Prepare,
) (made bool, err error) {
	c.start(ctx)
	drafts := c.drafts(prepare)
	entries, err := erase(ctx, c.apply, func(now time.Time) ([]ledger.Draft, error) {
		list, err := drafts(now)
		if err != nil || len(list) == 0 || c.Image == "" {
			return list, err
		}
		// SECURITY: the image has the content too. It goes first, under the lock that a new one needs, so that no crash
		// leaves it.
		if err := c.removeImage(); err != nil {
			return nil, err
		}
		c.imaged.Store(0)
		return list, nil
	})
	return len(entries) > 0, c.explain("erase from", err)
}

// explain adds to err what was being done, and to which ledger.
func (c *Compartment) explain(doing string, err error) error {
	if err != nil {
		return fmt.Errorf("%s the %s ledger: %w", doing, c.Visibility, err)
	}
	return nil
}

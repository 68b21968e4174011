// Package store has the compartments of the memory: the ledger of each, and the projection of it that a process holds in
// memory.
//
// The ledger is the truth and the projection is derived from it: only entries change it. Everything that reads a
// projection does so through a Snapshot, which holds its read lock.
package store

import (
	"context"
	"fmt"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

// Operations of the ledger's entries beside ledger.OpDelete. Those of RFC-0011 §2.3 have a block, the others have none.
const (
	OpRetain     = "retain"
	OpRecall     = "recall"
	OpLesson     = "lesson"
	OpReflect    = "reflect"
	OpSynthesize = "synthesize"

	OpHeritage = "heritage"
	// Both carry the skill's id, so that erasing a skill erases every text it had and its feedback.
	OpSkill         = "skill"
	OpSkillFeedback = "skill_feedback"
)

// Compartment is one physically separate store: a ledger and its projection. It is safe for concurrent use.
type Compartment struct {
	*Projection
	ledger *ledger.Ledger
}

// New returns the compartment called name. It reads nothing yet. retention is how long a lesson is active.
func New(name record.Visibility, l *ledger.Ledger, vectors *vector.Set, retention time.Duration) *Compartment {
	p := NewProjection(name, vectors)
	p.Retention = retention
	return &Compartment{Projection: p, ledger: l}
}

// Sync reads what any process has appended since the last call.
func (c *Compartment) Sync(ctx context.Context) error {
	return c.explain("read", c.ledger.Sync(ctx, c.apply))
}

// Prepare decides, under the ledger's lock, what is written. s has everything that any process has written, so what is
// decided with it holds. It may be called again, and must not keep s.
type Prepare func(s *Snapshot, now time.Time) ([]ledger.Draft, error)

func (c *Compartment) drafts(prepare Prepare) func(time.Time) ([]ledger.Draft, error) {
	return func(now time.Time) ([]ledger.Draft, error) {
		s := c.Snapshot()
		defer s.Release()
		return prepare(s, now)
	}
}

// Append writes what prepare drafts and returns after the fsync. Without drafts it writes nothing.
func (c *Compartment) Append(ctx context.Context, prepare Prepare) error {
	_, err := c.ledger.Append(ctx, c.apply, c.drafts(prepare))
	return c.explain("write to", err)
}

// AppendRelaxed is Append without the fsync.
func (c *Compartment) AppendRelaxed(ctx context.Context, prepare Prepare) error {
	_, err := c.ledger.AppendRelaxed(ctx, c.apply, c.drafts(prepare))
	return c.explain("write to", err)
}

// Erase takes the content of the entries with the ids of the drafts out of the ledger and appends the drafts.
func (c *Compartment) Erase(ctx context.Context, prepare Prepare) error {
	_, err := c.ledger.Erase(ctx, c.apply, c.drafts(prepare))
	return c.explain("erase from", err)
}

func (c *Compartment) explain(doing string, err error) error {
	if err != nil {
		return fmt.Errorf("%s the %s ledger: %w", doing, c.Visibility, err)
	}
	return nil
}

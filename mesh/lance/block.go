package lance

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Block is one row of yamo_blocks (RFC-0011 §2.3), the ledger's blocks as a table. Empty strings are null
// where the RFC allows null.
type Block struct {
	ID        string
	AgentID   string
	Operation string // one of Operations
	Text      string // the block's wire format
	Timestamp time.Time
	Hash      string // of Text, SHA-256
	PrevHash  string
	Metadata  string // a JSON object; empty is stored, and read back, as {}
}

// Operations are the values operation_type may have.
var Operations = []string{"retain", "recall", "reflect", "synthesize", "lesson"}

var blocks = &table[Block]{
	name: blockTable,
	fields: func(int) []arrow.Field {
		return []arrow.Field{
			keyField("id"), textField("agent_id"), keyField("operation_type"), keyField("yamo_text"),
			timeField("timestamp", false), textField("block_hash"), textField("prev_hash"), textField("metadata"),
		}
	},
	id: func(b *Block) string { return b.ID },
	check: func(b *Block, _ int) error {
		if !slices.Contains(Operations, b.Operation) {
			return fmt.Errorf("%w operation_type %q: one of %q", ErrInvalid, b.Operation, Operations)
		}
		t := rowTimes{created: b.Timestamp}
		if err := t.check(b.ID, b.Metadata); err != nil {
			return err
		}
		return checkText("agent_id", b.AgentID, "yamo_text", b.Text, "block_hash", b.Hash, "prev_hash", b.PrevHash, "metadata", b.Metadata)
	},
	append: func(rb *array.RecordBuilder, b *Block) {
		t := rowTimes{created: b.Timestamp}
		if t.created.IsZero() {
			t.created = idTime(b.ID)
		}
		rb.Field(0).(*array.StringBuilder).Append(b.ID)
		putText(rb.Field(1), b.AgentID)
		rb.Field(2).(*array.StringBuilder).Append(b.Operation)
		rb.Field(3).(*array.StringBuilder).Append(b.Text)
		putTime(rb.Field(4), t.created)
		putText(rb.Field(5), b.Hash)
		putText(rb.Field(6), b.PrevHash)
		putText(rb.Field(7), t.pack(b.ID, b.Metadata))
	},
	decode: func(r row) (Block, error) {
		t, metadata := unpackTimes(r.text("id"), r.text("metadata"))
		return Block{
			ID: r.text("id"), AgentID: r.text("agent_id"), Operation: r.text("operation_type"), Text: r.text("yamo_text"),
			Timestamp: t.created, Hash: r.text("block_hash"), PrevHash: r.text("prev_hash"), Metadata: metadata,
		}, nil
	},
}

// AddBlocks adds the blocks whose ids are not in the table yet. The caller holds the index lock.
func (db *DB) AddBlocks(ctx context.Context, rows []Block) error { return blocks.add(ctx, db, rows) }

// DeleteBlocks removes blocks whose content was deleted, as DeleteMemories does.
func (db *DB) DeleteBlocks(ctx context.Context, ids []string) error {
	return blocks.remove(ctx, db, ids)
}

// Blocks yields every block, in no particular order, as AllMemories does.
func (db *DB) Blocks(ctx context.Context) iter.Seq2[Block, error] { return blocks.all(ctx, db, false) }

// Skill is one row of synthesized_skills (RFC-0011 §2.4).
type Skill struct {
	ID        string
	Name      string
	Intent    string
	Text      string    // the skill's YAMO definition
	Vector    []float32 // of Intent; see Memory.Vector
	Metadata  string    // a JSON object: reliability, use_count, last_used, created_at
	CreatedAt time.Time // zero on writing: the time in ID
}

var skills = &table[Skill]{
	name: skillTable,
	fields: func(dim int) []arrow.Field {
		return []arrow.Field{
			keyField("id"), keyField("name"), keyField("intent"), keyField("yamo_text"), vectorField(dim),
			keyField("metadata"), timeField("created_at", false),
		}
	},
	id: func(s *Skill) string { return s.ID },
	check: func(s *Skill, dim int) error {
		if err := checkVector(s.Vector, dim); err != nil {
			return err
		}
		t := rowTimes{created: s.CreatedAt}
		if err := t.check(s.ID, s.Metadata); err != nil {
			return err
		}
		return checkText("name", s.Name, "intent", s.Intent, "yamo_text", s.Text, "metadata", s.Metadata)
	},
	append: func(b *array.RecordBuilder, s *Skill) {
		t := rowTimes{created: s.CreatedAt}
		if t.created.IsZero() {
			t.created = idTime(s.ID)
		}
		for i, v := range []string{s.ID, s.Name, s.Intent, s.Text} {
			b.Field(i).(*array.StringBuilder).Append(v)
		}
		putVector(b.Field(4), s.Vector)
		b.Field(5).(*array.StringBuilder).Append(t.pack(s.ID, s.Metadata))
		putTime(b.Field(6), t.created)
	},
	decode: func(r row) (Skill, error) {
		v, err := r.vector()
		t, metadata := unpackTimes(r.text("id"), r.text("metadata"))
		return Skill{
			ID: r.text("id"), Name: r.text("name"), Intent: r.text("intent"), Text: r.text("yamo_text"),
			Vector: v, Metadata: metadata, CreatedAt: t.created,
		}, err
	},
}

// AddSkills adds the skills whose ids are not in the table yet. The caller holds the index lock.
func (db *DB) AddSkills(ctx context.Context, rows []Skill) error { return skills.add(ctx, db, rows) }

// DeleteSkills removes skills, as DeleteMemories does. A changed skill is deleted and added again.
func (db *DB) DeleteSkills(ctx context.Context, ids []string) error {
	return skills.remove(ctx, db, ids)
}

// Skills yields every skill, in no particular order, as AllMemories does.
func (db *DB) Skills(ctx context.Context, withVector bool) iter.Seq2[Skill, error] {
	return skills.all(ctx, db, withVector)
}

package lance

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/lancedb/lancedb-go/pkg/contracts"
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
		return checkText("agent_id", b.AgentID, "yamo_text", b.Text, "block_hash", b.Hash, "prev_hash", b.PrevHash,
			"metadata", b.Metadata)
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

// BlocksByID returns the blocks with these ids, in the order of ids.
func (db *DB) BlocksByID(ctx context.Context, ids []string) ([]Block, error) {
	return blocks.byID(ctx, db, ids, false)
}

// hashPattern is a SHA-256 in hexadecimal digits.
var hashPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// BlocksAfter returns the blocks whose PrevHash is one of hashes, each a SHA-256 in hexadecimal digits, in no
// particular order.
func (db *DB) BlocksAfter(ctx context.Context, hashes []string) (found []Block, err error) {
	for chunk := range slices.Chunk(hashes, idBatch) {
		for _, hash := range chunk {
			if !hashPattern.MatchString(hash) {
				return nil, fmt.Errorf("%w hash %q", ErrInvalid, hash)
			}
		}
		where := "prev_hash IN ('" + strings.Join(chunk, "','") + "')"
		err := db.use(ctx, blocks.name, func(h *handle) error {
			if h == nil {
				return nil
			}
			rows, err := blocks.query(ctx, h, contracts.QueryConfig{Columns: blocks.columns(false), Where: where})
			found = append(found, rows...)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read table %s: %w", blocks.name, err)
		}
	}
	return found, nil
}

// Blocks yields every block, in no particular order, as AllMemories does.
func (db *DB) Blocks(ctx context.Context) iter.Seq2[Block, error] { return blocks.rows(ctx, db, false) }

// BlockCount returns the number of rows in yamo_blocks.
func (db *DB) BlockCount(ctx context.Context) (int, error) { return count(ctx, db, blockTable) }

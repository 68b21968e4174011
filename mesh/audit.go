package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
)

// audit copies the ledger's blocks into the table yamo_blocks (RFC-0011 §2.3). It belongs to whoever
// holds the index lock.
//
// A row's block_hash is the SHA-256 of its text. Its prev_hash is the hash of the ledger entry before
// it, whose own hash is in the metadata as entry_hash: a chain over block_hash alone would break with
// the first erased block, and would let anybody who guesses an erased text confirm the guess. Entries
// that erase have no row, the RFC having no operation for them, nor have those that were erased.
type audit struct {
	options ledger.Options
	path    string // remembers how far the table is
	reader  *ledger.Ledger
	seq     int64 // the last entry the reader has given
}

// mark is the content of audit.path. It is believed as long as the tables have so many rows.
type mark struct {
	Seq  int64 `json:"seq"`  // entries up to here are in the table
	Rows int   `json:"rows"` // of yamo_blocks
}

func newAudit(dir string, o ledger.Options) *audit {
	return &audit{options: o, path: filepath.Join(dir, "blocks.json")}
}

// reset makes the next flush start over.
func (a *audit) reset() error {
	a.reader = nil
	if err := os.Remove(a.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("reset the audit table: %w", err)
	}
	return nil
}

// flush brings the table up to date and reports whether rows were deleted.
func (a *audit) flush(ctx context.Context, tables *lance.DB) (erased bool, err error) {
	defer func() {
		if err != nil {
			a.reader = nil
		}
	}()
	rows, err := tables.BlockCount(ctx)
	if err != nil {
		return false, err
	}
	m := a.read()
	if m.Rows != rows {
		m, a.reader = mark{}, nil
	}
	if a.reader == nil {
		a.reader, a.seq = ledger.New(a.options), 0
	}
	var w blockWriter
	err = a.reader.Sync(ctx, func(e ledger.Entry) error {
		a.seq = e.Seq
		if e.Seq <= m.Seq {
			return nil
		}
		return w.take(ctx, tables, e)
	})
	if err != nil {
		return false, fmt.Errorf("copy blocks: %w", err)
	}
	if err := w.write(ctx, tables); err != nil {
		return false, err
	}
	if a.seq <= m.Seq {
		return false, nil
	}
	if rows, err = tables.BlockCount(ctx); err != nil {
		return false, err
	}
	return w.erased, a.write(mark{Seq: a.seq, Rows: rows})
}

// read returns the mark, the zero value if there is none that can be read.
func (a *audit) read() mark {
	var m mark
	raw, err := os.ReadFile(a.path)
	if err != nil || json.Unmarshal(raw, &m) != nil {
		return mark{}
	}
	return m
}

func (a *audit) write(m mark) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	temp := a.path + ".tmp"
	if err := os.WriteFile(temp, raw, 0o600); err != nil {
		return fmt.Errorf("note the audit table's state: %w", err)
	}
	if err := os.Rename(temp, a.path); err != nil {
		return fmt.Errorf("note the audit table's state: %w", err)
	}
	return nil
}

// blockWriter collects rows and writes them in large fragments.
type blockWriter struct {
	rows   []lance.Block
	delete []string
	erased bool
}

func (w *blockWriter) take(ctx context.Context, tables *lance.DB, e ledger.Entry) error {
	if e.Op == ledger.OpDelete {
		w.rows = slices.DeleteFunc(w.rows, func(b lance.Block) bool { return b.ID == e.ID })
		w.delete = append(w.delete, e.ID)
		return nil
	}
	if e.Block == "" || !slices.Contains(lance.Operations, e.Op) {
		return nil
	}
	row, err := auditRow(e)
	if err != nil {
		return err
	}
	if w.rows = append(w.rows, row); len(w.rows) < tableChunk {
		return nil
	}
	return w.write(ctx, tables)
}

// auditRow is an entry as a row: the record's id if it is about one, else an id made of time and number.
func auditRow(e ledger.Entry) (lance.Block, error) {
	meta, err := json.Marshal(map[string]any{"seq": e.Seq, "entry_hash": e.Hash})
	if err != nil {
		return lance.Block{}, err
	}
	row := lance.Block{
		ID: e.ID, Operation: e.Op, Text: e.Block, Timestamp: e.Time, Hash: e.BlockHash(), PrevHash: e.PrevHash, Metadata: string(meta),
	}
	if row.ID == "" {
		row.ID = fmt.Sprintf("block_%d_%06x", e.Time.UnixMilli(), e.Seq)
	}
	var record struct {
		AgentID string `json:"agent_id"`
	}
	if e.Data != nil && json.Unmarshal(e.Data, &record) == nil {
		row.AgentID = record.AgentID
	}
	return row, nil
}

func (w *blockWriter) write(ctx context.Context, tables *lance.DB) error {
	if err := tables.AddBlocks(ctx, w.rows); err != nil {
		return err
	}
	w.rows = nil
	if len(w.delete) == 0 {
		return nil
	}
	if err := tables.DeleteBlocks(ctx, w.delete); err != nil {
		return err
	}
	w.delete, w.erased = nil, true
	return nil
}

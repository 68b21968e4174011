package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/atomicfile"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// blocks copies the ledger's blocks into the table yamo_blocks (RFC-0011 §2.3). The holder of the index lock
// owns it.
//
// A row's block_hash is the SHA-256 of its text, and its prev_hash the block_hash of the row before it, in the order of
// the ledger; the hash of its entry is in the metadata as entry_hash. The chain is over the rows that there are: when a
// block is erased, the row after it is chained to the one before, so that no hash lets a reader who guesses the erased
// text confirm the guess.
//
// A deletion is a row too. RFC-0011 has no operation type for it, but marks a failed retain by a status in the metadata
// (§8.2); so a deletion is a retain with the status "deleted". What was erased has no row any more.
type blocks struct {
	options ledger.Options
	path    string // of the file with the mark
	reader  *ledger.Ledger
	seq     int64 // the last entry the reader has given
	erasure int64 // the last deletion among them
}

// mark is how far the table is, the content of blocks.path. It is valid as long as the table has that number of rows.
type mark struct {
	Format int   `json:"format"` // blocksFormat; with another one the rows are written again
	Seq    int64 `json:"seq"`    // entries up to here are in the table
	Rows   int   `json:"rows"`   // of yamo_blocks
	// Last is the block_hash of the last row.
	Last string `json:"last,omitempty"`
	// Compacted is the last deletion after which the tables were compacted.
	Compacted int64 `json:"compacted,omitempty"`
}

// blocksFormat is increased when a version of the program writes rows differently.
const blocksFormat = 3

func newBlocks(dir string, o ledger.Options) *blocks {
	return &blocks{options: o, path: filepath.Join(dir, "blocks.json")}
}

// reset makes the next flush write every row again.
func (b *blocks) reset() error {
	b.reader = nil
	if err := os.Remove(b.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("reset yamo_blocks: %w", err)
	}
	return nil
}

// flush brings the table up to date. It reports whether the ledger has deletions after which no process has compacted
// the tables.
func (b *blocks) flush(ctx context.Context, tables *lance.DB) (erased bool, err error) {
	defer func() {
		if err != nil {
			b.reader = nil
		}
	}()
	rows, err := tables.BlockCount(ctx)
	if err != nil {
		return false, err
	}
	m := b.read()
	if m.Format != blocksFormat && rows > 0 {
		if err := clearBlocks(ctx, tables); err != nil {
			return false, err
		}
		rows = 0
	}
	// Another number of rows: the table was deleted, or a process ended between writing rows and the mark. Reading the
	// whole ledger again is safe, because AddBlocks skips rows that are there.
	if m.Format != blocksFormat || m.Rows != rows {
		m, b.reader = mark{}, nil
	}
	if b.reader == nil {
		b.reader, b.seq, b.erasure = ledger.New(b.options), 0, 0
	}
	w := blockWriter{last: m.Last}
	err = b.reader.Sync(ctx, func(e ledger.Entry) error {
		b.seq = e.Seq
		if e.Op == ledger.OpDelete {
			b.erasure = e.Seq
		}
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
	// SECURITY: not what this call has deleted decides, but the ledger: a process may have ended, or failed, between
	// deleting rows and compacting.
	erased = b.erasure > m.Compacted
	if b.seq <= m.Seq {
		return erased, nil
	}
	if rows, err = tables.BlockCount(ctx); err != nil {
		return false, err
	}
	next := mark{Format: blocksFormat, Seq: b.seq, Rows: rows, Last: w.last, Compacted: m.Compacted}
	return erased, b.write(next)
}

// compacted notes that the tables were compacted after every deletion that flush has read.
func (b *blocks) compacted() error {
	m := b.read()
	if m.Compacted >= b.erasure {
		return nil
	}
	m.Compacted = b.erasure
	return b.write(m)
}

// clearBlocks deletes every row.
func clearBlocks(ctx context.Context, tables *lance.DB) error {
	var ids []string
	for b, err := range tables.Blocks(ctx) {
		if err != nil {
			return err
		}
		ids = append(ids, b.ID)
	}
	return tables.DeleteBlocks(ctx, ids)
}

// read returns the mark, the zero value if the file is missing or damaged.
func (b *blocks) read() mark {
	var m mark
	raw, err := atomicfile.Read(b.path)
	if err != nil || json.Unmarshal(raw, &m) != nil {
		return mark{}
	}
	return m
}

// write replaces the mark atomically. It needs no fsync: a lost mark costs time only.
func (b *blocks) write(m mark) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteCache(b.path, raw); err != nil {
		return fmt.Errorf("note yamo_blocks's state: %w", err)
	}
	return nil
}

// blockWriter collects rows and writes them in large fragments.
type blockWriter struct {
	rows   []lance.Block
	delete []string
	last   string // block_hash of the last row that was written
}

// take adds an entry's row, and for a deletion drops the rows of what it erased.
func (w *blockWriter) take(ctx context.Context, tables *lance.DB, e ledger.Entry) error {
	if e.Op == ledger.OpDelete {
		gone := blocksOf(e.ID)
		w.rows = slices.DeleteFunc(w.rows, func(b lance.Block) bool { return slices.Contains(gone, b.ID) })
		w.delete = append(w.delete, gone...)
	}
	if !hasRow(e) {
		return nil
	}
	row, err := blockRow(e)
	if err != nil {
		return err
	}
	if w.rows = append(w.rows, row); len(w.rows) < tableChunk {
		return nil
	}
	return w.write(ctx, tables)
}

// hasRow reports whether an entry has a row: those with a block, of an operation that the RFC's column allows.
func hasRow(e ledger.Entry) bool {
	return e.Block != "" && (e.Op == ledger.OpDelete || slices.Contains(lance.Operations, e.Op))
}

// blockID is RFC-0011 §1.1's YAMO_BLOCK_ID. That of a record's block has the record's time and random digits, so that
// it is known when the record is erased; any other has the entry's time and number.
func blockID(e ledger.Entry) string {
	if _, rest, ok := strings.Cut(e.ID, "_"); ok && e.Op != ledger.OpDelete {
		return "yamo_" + e.Op + "_" + rest
	}
	op := e.Op
	if op == ledger.OpDelete {
		op = store.OpRetain
	}
	return fmt.Sprintf("yamo_%s_%d_%06x", op, e.Time.UnixMilli(), e.Seq)
}

// blocksOf returns the ids that the blocks of a record may have: a deletion does not tell which operation made it.
func blocksOf(id string) []string {
	ids := make([]string, len(lance.Operations))
	for i, op := range lance.Operations {
		ids[i] = blockID(ledger.Entry{Op: op, ID: id})
	}
	return ids
}

// blockRow converts an entry to a row (RFC-0011 §2.3).
func blockRow(e ledger.Entry) (lance.Block, error) {
	about := map[string]any{"seq": e.Seq, "entry_hash": e.Hash}
	if e.ID != "" {
		about["record_id"] = e.ID
	}
	row := lance.Block{
		ID: blockID(e), Operation: e.Op, Text: e.Block, Timestamp: e.Time, Hash: e.BlockHash(),
	}
	if e.Op == ledger.OpDelete {
		row.Operation, about["status"] = store.OpRetain, "deleted"
	}
	meta, err := json.Marshal(about)
	if err != nil {
		return lance.Block{}, err
	}
	row.Metadata = string(meta)
	var record struct {
		AgentID string `json:"agent_id"`
	}
	if e.Data != nil && json.Unmarshal(e.Data, &record) == nil {
		row.AgentID = record.AgentID
	}
	return row, nil
}

// write adds the collected rows and then deletes those whose entries were erased.
func (w *blockWriter) write(ctx context.Context, tables *lance.DB) error {
	if len(w.delete) > 0 {
		if err := w.unchain(ctx, tables); err != nil {
			return err
		}
		w.delete = nil
	}
	for i := range w.rows {
		w.rows[i].PrevHash = w.last
		w.last = w.rows[i].Hash
	}
	if err := tables.AddBlocks(ctx, w.rows); err != nil {
		return err
	}
	w.rows = nil
	return nil
}

// unchain deletes rows, and chains those after them to those before.
func (w *blockWriter) unchain(ctx context.Context, tables *lance.DB) error {
	gone, err := tables.BlocksByID(ctx, w.delete)
	if err != nil || len(gone) == 0 {
		return err
	}
	before, ids := map[string]string{}, make([]string, len(gone)) // the hash before, by that of a deleted row
	for i, row := range gone {
		before[row.Hash], ids[i] = row.PrevHash, row.ID
	}
	previous := func(hash string) string {
		for range gone { // two rows with the same text must not make it endless
			prev, deleted := before[hash]
			if !deleted {
				break
			}
			hash = prev
		}
		return hash
	}
	after, err := tables.BlocksAfter(ctx, slices.Collect(maps.Keys(before)))
	if err != nil {
		return err
	}
	after = slices.DeleteFunc(after, func(row lance.Block) bool { return slices.Contains(ids, row.ID) })
	for i := range after {
		after[i].PrevHash = previous(after[i].PrevHash)
		ids = append(ids, after[i].ID)
	}
	w.last = previous(w.last)
	return errors.Join(tables.DeleteBlocks(ctx, ids), tables.AddBlocks(ctx, after))
}

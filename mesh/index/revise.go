package index

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// revise deletes the rows that a heritage, an update, a revision, accesses or a rescan have outdated; addRows writes
// them again. It reports whether one of them had what a rescan has redacted. The caller holds the index lock.
func (ix *Index) revise(ctx context.Context) (redacted bool, err error) {
	revised := ix.c.TakeRevised()
	redacted, err = ix.reviseRows(ctx, revised)
	if err != nil {
		ix.c.ReturnRevised(revised)
	}
	return redacted, err
}

// reviseRows compares the rows with what they should be: another process may have written them already.
func (ix *Index) reviseRows(ctx context.Context, revised map[string]struct{}) (redacted bool, err error) {
	var ids, changed []string
	for id := range revised {
		// One without a row is written with its present state anyway.
		if doc, ok := ix.c.Doc(id); ok && ix.present.has(doc) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return false, nil
	}
	rows, err := ix.Tables.Memories(ctx, ids, false)
	if err != nil {
		return false, err
	}
	s := ix.c.Snapshot()
	defer s.Release()
	for _, row := range rows {
		r := s.Find(row.ID)
		if r == nil {
			continue
		}
		want, err := memoryRow(r, nil, s.Past(r.ID))
		if err != nil {
			return false, err
		}
		a := s.Accesses(row.ID)
		if row.Content != want.Content || row.HeritageChain != want.HeritageChain || row.Metadata != want.Metadata ||
			!equal(row.ImportanceScore, want.ImportanceScore) || !row.LastAccessed.Equal(a.Last) || row.AccessCount == nil &&
			a.Count > 0 ||
			row.AccessCount != nil && *row.AccessCount != a.Count {
			changed = append(changed, row.ID)
			redacted = redacted || r.Redacted != 0
		}
	}
	if len(changed) == 0 {
		return false, nil
	}
	if err := ix.Tables.DeleteMemories(ctx, changed); err != nil {
		return false, err
	}
	for _, id := range changed {
		if doc, ok := s.Doc(id); ok {
			ix.present.remove(doc)
		}
	}
	return redacted, nil
}

// heritageChain returns the value of the column heritage_chain (RFC-0011 §2.2), JSON, "" without a heritage.
func heritageChain(r *record.Record) (string, error) {
	if r.Heritage == nil {
		return "", nil
	}
	chain, err := json.Marshal(r.Heritage)
	if err != nil {
		return "", fmt.Errorf("heritage of %s: %w", r.ID, err)
	}
	return string(chain), nil
}

// accessCount returns the value of the column access_count, nil (null) without any.
func accessCount(a record.Accesses) *int32 {
	if a.Count == 0 {
		return nil
	}
	return &a.Count
}

func equal(a, b *float32) bool { return a == b || a != nil && b != nil && *a == *b }

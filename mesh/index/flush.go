package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

const (
	restoreChunk = 500    // vectors read from LanceDB at once
	tableChunk   = 10_000 // rows written to LanceDB at once: one fragment
)

// restore reads vectors that the file lacks from LanceDB, which takes a tenth of the time that making them again takes.
// It does so once for each time that the file was lost. The caller holds the index lock.
func (ix *Index) restore(ctx context.Context) error {
	epoch := ix.c.Vectors.Epoch()
	if epoch == ix.restored {
		return nil
	}
	rows, err := ix.Tables.Count(ctx)
	if rows > 0 && err == nil {
		_, lacking := ix.c.Vectors.Missing(0)
		ids, _ := Missing(ix.c.Projection, lacking)
		// SECURITY: a row may have the vector of what a rescan has redacted since.
		ids = slices.DeleteFunc(ids, func(id string) bool { return strings.Contains(id, "#") })
		for len(ids) > 0 && err == nil {
			chunk := ids[:min(len(ids), restoreChunk)]
			ids = ids[len(chunk):]
			err = ix.restoreSome(ctx, chunk)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, other := errors.AsType[*lance.ModelError](err); err != nil && !other {
		ix.log.Warn("vectors cannot be read from the memory index; making them again", "error", err)
	}
	ix.restored = epoch
	return nil
}

// restoreSome takes the vectors of the memories called ids from LanceDB, which is cheaper than embedding them again.
func (ix *Index) restoreSome(ctx context.Context, ids []string) error {
	rows, err := ix.Tables.Memories(ctx, ids, true)
	if err != nil || len(rows) == 0 {
		return err
	}
	found, vectors := make([]string, len(rows)), make([][]float32, len(rows))
	for i, r := range rows {
		found[i], vectors[i] = r.ID, r.Vector
	}
	return ix.keep(found, vectors)
}

// flush brings LanceDB in line with the ledger: what has a vector and is not there is written, what was deleted is
// removed from the disk, and small fragments are merged when there are many. A damaged table, or one of another model,
// is made again, once there are vectors to fill it with. The caller holds the index lock and has synced the compartment
// since it got it, so that no process writes what another has deleted.
func (ix *Index) flush(ctx context.Context) error {
	if ix.displaced(ctx) {
		return nil
	}
	return ix.flushAll(ctx)
}

// displaced reports whether vectors or tables are another model's, and none was made with this one yet. Then they are
// kept: the settings may be wrong, or the provider may not answer.
func (ix *Index) displaced(ctx context.Context) bool {
	_, err := ix.Tables.Count(ctx)
	_, other := errors.AsType[*lance.ModelError](err)
	return (other || ix.c.Vectors.OfAnotherModel()) && ix.Pending() == ix.count()
}

// flushAll is flush even if that removes the vectors of another model.
func (ix *Index) flushAll(ctx context.Context) error {
	ix.mu.Lock()
	ix.dirty = false // first, so that a change during the flush sets it again
	ix.mu.Unlock()
	err := ix.tryFlush(ctx)
	other, _ := errors.AsType[*lance.ModelError](err)
	if other != nil {
		// The vectors in the tables cannot be compared with those that searches use now.
		ix.log.Warn("the embedding model was changed; making the memory index again", "from", other.Have, "to", other.Want)
	}
	if errors.Is(err, lance.ErrDamaged) {
		ix.log.Warn("the memory index is damaged; making it again from the ledger")
	}
	if other != nil || errors.Is(err, lance.ErrDamaged) {
		if err = ix.drop(ctx); err == nil {
			err = ix.tryFlush(ctx)
		}
	}
	if err != nil {
		ix.stale()
		return fmt.Errorf("write the memory index: %w", err)
	}
	return nil
}

// drop deletes the tables. The caller holds the index lock.
func (ix *Index) drop(ctx context.Context) error {
	ix.present, ix.skillsAt = nil, -1
	return errors.Join(ix.blocks.reset(), ix.Tables.Drop(ctx))
}

// tryFlush brings the tables in line with the ledger: memories, skills, blocks, in this order. After an error it is not
// known what the table has, so the next flush reads it again.
func (ix *Index) tryFlush(ctx context.Context) error {
	defer ix.Tables.Filled()
	removed, err := ix.reconcile(ctx)
	if err != nil {
		ix.present = nil
		return err
	}
	if err := ix.c.Vectors.Prune(); err != nil {
		return err
	}
	pruned, err := ix.flushSkills(ctx)
	if err != nil {
		return err
	}
	erased, err := ix.blocks.flush(ctx, ix.Tables)
	if err != nil {
		return err
	}
	ix.unflushed = 0
	stats, err := ix.Tables.Stats(ctx)
	if err != nil {
		return err
	}
	// SECURITY: what was deleted must be gone from the disk, not only from results.
	if !removed && !pruned && !erased && !stats.Fragmented() {
		return nil
	}
	if err := ix.Tables.Compact(ctx); err != nil {
		return err
	}
	return ix.blocks.compacted()
}

// reconcile makes memory_entries hold exactly the live memories that have a vector. ix.present is what
// the table holds unless another process has written to it, which the number of its rows shows.
func (ix *Index) reconcile(ctx context.Context) (removed bool, err error) {
	for fresh := false; ; fresh = true {
		if ix.present == nil {
			if ix.present, err = ix.readPresent(ctx); err != nil {
				return removed, err
			}
		}
		gone, err := ix.removeRows(ctx)
		removed = removed || gone
		if err != nil {
			return removed, err
		}
		redacted, err := ix.revise(ctx)
		removed = removed || redacted
		if err != nil {
			return removed, err
		}
		if err := ix.addRows(ctx); err != nil {
			return removed, err
		}
		rows, err := ix.Tables.Count(ctx)
		if err != nil {
			return removed, err
		}
		// The only sign that another process has written: then the ids are read again, once. A second difference is a
		// fault of LanceDB, which reading again would not cure.
		if rows == ix.present.rows() {
			return removed, nil
		}
		if fresh {
			return removed, fmt.Errorf("memory_entries has %d rows after writing %d", rows, ix.present.rows())
		}
		ix.present = nil
	}
}

// removeRows deletes the rows of memories that are not there any more.
func (ix *Index) removeRows(ctx context.Context) (bool, error) {
	s := ix.c.Snapshot()
	outdated := ix.present.outdated(s)
	s.Release()
	if outdated {
		var err error
		if ix.present, err = ix.readPresent(ctx); err != nil {
			return false, err
		}
	}
	gone := ix.present.strangers
	if len(gone) == 0 {
		return false, nil
	}
	if err := ix.Tables.DeleteMemories(ctx, slices.Collect(maps.Keys(gone))); err != nil {
		return false, err
	}
	clear(gone)
	return true, nil
}

// addRows writes the missing rows, in large fragments.
func (ix *Index) addRows(ctx context.Context) error {
	type lacking struct {
		doc      int
		record   *record.Record
		accesses record.Accesses
		past     *record.Revision
	}
	var list []lacking
	s := ix.c.Snapshot()
	for doc, d := range s.Docs {
		if d.Deleted || ix.present.has(doc) || !ix.c.Vectors.Has(doc) {
			continue
		}
		id := s.ID(doc)
		if latest, _ := s.Doc(id); latest == doc { // a row has one of two documents with one id
			list = append(list, lacking{doc, s.Record(doc), s.Accesses(id), s.Past(id)})
		}
	}
	// The snapshot is released first: LanceDB takes seconds for a chunk, and writers would wait for it.
	s.Release()
	for len(list) > 0 {
		chunk := list[:min(len(list), tableChunk)]
		list = list[len(chunk):]
		rows, docs := make([]lance.Memory, 0, len(chunk)), make([]int, 0, len(chunk))
		for _, l := range chunk {
			v := ix.c.Vectors.Vector(l.doc)
			if v == nil {
				continue // deleted meanwhile, or the file was lost
			}
			row, err := memoryRow(l.record, v, l.past)
			if err != nil {
				return err
			}
			row.AccessCount, row.LastAccessed = accessCount(l.accesses), l.accesses.Last
			rows, docs = append(rows, row), append(docs, l.doc)
		}
		if err := ix.Tables.AddMemories(ctx, rows); err != nil {
			return err
		}
		for _, doc := range docs {
			ix.present.add(doc)
		}
	}
	return nil
}

// memoryRow converts a record to a row of memory_entries (RFC-0011 §2.2). The metadata repeats the columns under the
// names of §2.1, where readers of schema V1 look for them. The schema has no column for past, the revision that made
// the memory a past one, so it is in the metadata too.
func memoryRow(r *record.Record, v []float32, past *record.Revision) (lance.Memory, error) {
	meta := map[string]any{}
	maps.Copy(meta, r.Metadata)
	for key, value := range map[string]string{
		"type": r.Type, "source": r.Source, "rationale": r.Rationale, "hypothesis": r.Hypothesis,
		"skill_name": r.Skill, "session_id": r.SessionID, "project": r.Project,
	} {
		if value != "" {
			meta[key] = value
		}
	}
	if len(r.Tags) > 0 {
		meta["tags"] = r.Tags
	}
	if r.Lesson != nil {
		meta["lesson"] = r.Lesson
	}
	if r.Reflection != nil {
		meta["reflection"] = r.Reflection
	}
	if past != nil {
		meta["superseded_at"] = past.At.UTC().Format(time.RFC3339Nano)
		if past.New != "" {
			meta["superseded_by"] = past.New
		}
	}
	raw, err := json.Marshal(meta)
	if err != nil {
		return lance.Memory{}, fmt.Errorf("metadata of %s: %w", r.ID, err)
	}
	row := lance.Memory{
		ID: r.ID, Vector: v, Content: r.Content, Metadata: string(raw), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		SessionID: r.SessionID, AgentID: r.AgentID, MemoryType: r.Type, ImportanceScore: r.Importance, SourceSkillID: r.Skill,
	}
	if r.Lesson != nil {
		row.LessonPatternID = r.Lesson.PatternID
	}
	row.HeritageChain, err = heritageChain(r)
	return row, err
}

// Purge removes what was deleted from the vectors' file and LanceDB, and from the disk. It waits for the index lock.
func (ix *Index) Purge(ctx context.Context) error {
	return ix.Do(ctx, func() error {
		if err := ix.c.Sync(ctx); err != nil {
			return err
		}
		// SECURITY: the vectors of another model are of what was deleted, too.
		return ix.flushAll(ctx)
	})
}

package index

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/yamo-protocol/yamo-mcp/internal/atomicfile"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
)

// Rebuild deletes the vectors and tables and makes them again from the ledger, or continues an interrupted rebuild
// for the same model. report is called with the number of memories done, before each batch. Rebuild holds the index
// lock.
func (ix *Index) Rebuild(ctx context.Context, report func(done, total int)) error {
	return ix.Do(ctx, func() error {
		if err := ix.c.Sync(ctx); err != nil {
			return err
		}
		if err := ix.beginRebuild(ctx); err != nil {
			return fmt.Errorf("clear the %s index: %w", ix.c.Visibility, err)
		}
		ix.skills.clear()
		for {
			left := ix.lacking()
			total := ix.count()
			report(total-left, total)
			n, err := ix.embed(ctx)
			if err != nil {
				return err
			}
			if n > 0 {
				continue
			}
			// What was stored meanwhile is embedded as well, before the tables are written and the note is removed.
			if err := ix.c.Sync(ctx); err != nil {
				return err
			}
			if ix.lacking() == 0 {
				if err := ix.EmbedSkills(ctx); err != nil {
					return err
				}
				return errors.Join(ix.flush(ctx), os.Remove(ix.rebuilding))
			}
		}
	})
}

// beginRebuild deletes the vectors and tables, unless a rebuild for this model has already: then the file that notes
// it is still there.
func (ix *Index) beginRebuild(ctx context.Context) error {
	m := ix.embedder.Model()
	note := fmt.Sprintf("%s %d\n", m.Name, m.Dim)
	if begun, err := atomicfile.Read(ix.rebuilding); err == nil && string(begun) == note {
		return nil
	}
	if err := errors.Join(ix.c.Vectors.Clear(), ix.drop(ctx)); err != nil {
		return err
	}
	return atomicfile.WriteCache(ix.rebuilding, []byte(note))
}

// Compact brings the tables up to date with the ledger, as far as there are vectors, merges their fragments, and
// removes what was deleted from the disk. It returns the tables' state before and after.
func (ix *Index) Compact(ctx context.Context) (before, after lance.Stats, err error) {
	err = ix.Do(ctx, func() error {
		before, after, err = ix.compact(ctx)
		return err
	})
	return before, after, err
}

// compact writes what is pending and then removes what was deleted from the files. It returns the tables' sizes before
// and after.
func (ix *Index) compact(ctx context.Context) (before, after lance.Stats, err error) {
	if err := errors.Join(ix.c.Sync(ctx), ix.c.Vectors.Refresh()); err != nil {
		return before, after, err
	}
	if before, err = ix.Tables.Stats(ctx); err != nil {
		return before, after, err
	}
	if err := errors.Join(ix.flush(ctx), ix.Tables.Compact(ctx)); err != nil {
		return before, after, err
	}
	after, err = ix.Tables.Stats(ctx)
	return before, after, err
}

// count returns the number of memories.
func (ix *Index) count() int {
	s := ix.c.Snapshot()
	defer s.Release()
	return s.Live
}

package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Report is what Check found in one compartment.
type Report struct {
	Compartment record.Visibility `json:"compartment"`
	Memories    int               `json:"memories"` // in the ledger
	Vectors     int               `json:"vectors"`  // of these memories, in the flat file
	Rows        int               `json:"rows"`     // of these memories, in memory_entries
	Blocks      int               `json:"blocks"`   // in the ledger
	BlockRows   int               `json:"block_rows"`
	Skills      int               `json:"skills"` // in the ledger
	SkillRows   int               `json:"skill_rows"`
	// Problems is what `index rebuild` repairs, and a damaged ledger, which it does not. What is not indexed yet is no
	// problem, see Behind.
	Problems []string `json:"problems"`
}

// Behind reports whether something is not indexed yet. The background work will do it.
func (r Report) Behind() bool {
	return r.Vectors < r.Memories || r.Rows < r.Memories || r.BlockRows < r.Blocks || r.SkillRows < r.Skills
}

// Problem adds a problem, unless it is already there.
func (r *Report) Problem(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.Problems, text) { // the tables have several readers
		r.Problems = append(r.Problems, text)
	}
}

// Count adds the problem "n what", unless n is 0.
func (r *Report) Count(n int, what string) {
	if n > 0 {
		r.Problem("%d %s", n, what)
	}
}

// Check compares vectors and tables with the ledger, row by row, and changes nothing. report is called with the rows
// read.
func (ix *Index) Check(ctx context.Context, r *Report, report func(done, total int)) error {
	return ix.Do(ctx, func() error {
		if err := ix.c.Sync(ctx); err != nil {
			return err
		}
		r.Memories = ix.count()
		err := errors.Join(ix.checkVectors(r), ix.checkRows(ctx, r, report))
		if err == nil {
			err = errors.Join(ix.checkBlocks(ctx, r), ix.checkSkills(ctx, r))
		}
		ix.mu.Lock()
		ix.dirty = false // Sync has set it, and Close would write what is missing
		ix.mu.Unlock()
		return err
	})
}

// checkVectors reads the flat file.
func (ix *Index) checkVectors(r *Report) error {
	a, err := ix.c.Vectors.Audit()
	if err != nil {
		r.Problem("vectors: %v", err)
		return nil
	}
	m := ix.embedder.Model()
	if !a.Matches(m.Name, m.Dim) {
		r.Problem("the vectors were made with model %q (%d dimensions), but %q (%d dimensions) is configured",
			a.Model, a.Dimension, m.Name, m.Dim)
		return nil
	}
	r.Count(a.Damaged, "vectors are damaged")
	r.Count(a.Orphans, "vectors are of no memory")
	if err := ix.c.Vectors.Refresh(); err != nil {
		return err
	}
	missing := ix.lacking()
	r.Vectors = r.Memories - missing
	return nil
}

// vectorTolerance is the maximum difference of two copies of a vector's component: LanceDB returns it as a decimal.
const vectorTolerance = 1e-5

// checkRows reads memory_entries.
func (ix *Index) checkRows(ctx context.Context, r *Report, report func(done, total int)) error {
	total, err := ix.Tables.Count(ctx)
	if err != nil {
		return r.tableProblem(err)
	}
	read, twice, strangers, otherText, otherVector := 0, 0, 0, 0, 0
	seen := map[string]bool{}
	for row, err := range ix.Tables.AllMemories(ctx, true) {
		if err != nil {
			return r.tableProblem(err)
		}
		if read++; read%tableProgress == 0 {
			report(read, total)
		}
		// A snapshot for each row: one for the whole table would keep writers waiting until the check ends.
		var mine *record.Record
		s := ix.c.Snapshot()
		doc, known := s.Doc(row.ID)
		if known {
			mine = s.Record(doc)
		}
		s.Release()
		switch {
		case seen[row.ID]:
			twice++
		case mine == nil:
			strangers++
		case row.Content != mine.Content:
			otherText++
		case !ix.same(doc, row.Vector):
			otherVector++
		}
		if mine != nil && !seen[row.ID] {
			r.Rows++
		}
		seen[row.ID] = true
	}
	report(total, total)
	r.Count(twice, "rows of memory_entries are there twice")
	r.Count(strangers, "rows of memory_entries are of no memory")
	r.Count(otherText, "rows of memory_entries have another text than the ledger")
	r.Count(otherVector, "rows of memory_entries have another vector than the flat file")
	return nil
}

// tableProgress is the number of rows between two calls of report.
const tableProgress = 500

// same reports whether the flat file has this vector for document doc, or none.
func (ix *Index) same(doc int, vector []float32) bool {
	mine := ix.c.Vectors.Vector(doc)
	if mine == nil {
		return true
	}
	// Every comparison with NaN is false, so a damaged component makes them unequal.
	return slices.EqualFunc(mine, vector, func(a, b float32) bool { return math.Abs(float64(a-b)) < vectorTolerance })
}

// tableProblem adds the reason why LanceDB's tables cannot be read, if `index rebuild` repairs it, and returns any
// other error.
func (r *Report) tableProblem(err error) error {
	var model *lance.ModelError
	switch {
	case errors.As(err, &model):
		r.Problem("the tables were made with model %v, but %v is configured", model.Have, model.Want)
	case errors.Is(err, lance.ErrDamaged):
		r.Problem("the tables are damaged")
	case errors.Is(err, lance.ErrForeign):
		r.Problem("%v", lance.ErrForeign)
	default:
		return err
	}
	return nil
}

// checkBlocks compares yamo_blocks with the ledger, which it reads again: the projection does not keep blocks.
func (ix *Index) checkBlocks(ctx context.Context, r *Report) error {
	want := map[string]string{} // hash of the text by id
	err := ledger.New(ix.blocks.options).Sync(ctx, func(e ledger.Entry) error {
		if e.Op == ledger.OpDelete {
			// An erased block has no text to compare with, and must have no row.
			for _, id := range blocksOf(e.ID) {
				delete(want, id)
			}
		}
		if hasRow(e) {
			row, err := blockRow(e)
			if err != nil {
				return err
			}
			want[row.ID] = row.Hash
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.Blocks = len(want)
	strangers, others := 0, 0
	for row, err := range ix.Tables.Blocks(ctx) {
		if err != nil {
			return r.tableProblem(err)
		}
		hash, known := want[row.ID]
		switch {
		case !known:
			strangers++
		case hash != row.Hash:
			others++
		}
		if known {
			r.BlockRows++
		}
	}
	r.Count(strangers, "rows of yamo_blocks are not in the ledger")
	r.Count(others, "rows of yamo_blocks have another hash than the ledger's block")
	return nil
}

// checkSkills compares synthesized_skills with the skills. A row with an older text is behind, and no problem.
func (ix *Index) checkSkills(ctx context.Context, r *Report) error {
	s := ix.c.Snapshot()
	defer s.Release()
	r.Skills = s.Skills.Len()
	strangers := 0
	for row, err := range ix.Tables.Skills(ctx, false) {
		if err != nil {
			return r.tableProblem(err)
		}
		switch state := s.Skills.Find(row.ID); {
		case state == nil:
			strangers++
		case state.Text == row.Text:
			r.SkillRows++
		}
	}
	r.Count(strangers, "rows of synthesized_skills are of no skill")
	return nil
}

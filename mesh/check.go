package mesh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// IndexReport is what CheckIndex found in one compartment.
type IndexReport struct {
	Compartment record.Visibility `json:"compartment"`
	Memories    int               `json:"memories"` // in the ledger
	Vectors     int               `json:"vectors"`  // of these memories, in the flat file
	Rows        int               `json:"rows"`     // of these memories, in memory_entries
	Blocks      int               `json:"blocks"`   // in the ledger
	BlockRows   int               `json:"block_rows"`
	Skills      int               `json:"skills"` // in the ledger
	SkillRows   int               `json:"skill_rows"`
	// Problems is what `index rebuild` mends, and a damaged ledger, which it does not. What is merely not indexed yet
	// is none.
	Problems []string `json:"problems"`
}

// Behind reports whether something is not indexed yet.
func (r IndexReport) Behind() bool {
	return r.Vectors < r.Memories || r.Rows < r.Memories || r.BlockRows < r.Blocks || r.SkillRows < r.Skills
}

func (r *IndexReport) problem(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.Problems, text) { // the tables have several readers
		r.Problems = append(r.Problems, text)
	}
}

// count notes a problem that n things have, if there are any.
func (r *IndexReport) count(n int, what string) {
	if n > 0 {
		r.problem("%d %s", n, what)
	}
}

// CheckIndex compares the vectors and tables of every compartment the audience may see with the ledger, row by row,
// and changes nothing. report, which may be nil, is called with the rows read. The error is for what keeps it from
// reading; what is wrong with the data is in the reports, in the order private (or the group's own), shared,
// the groups by name.
func (v *View) CheckIndex(ctx context.Context, report func(compartment string, done, total int)) ([]IndexReport, error) {
	if report == nil {
		report = func(string, int, int) {}
	}
	names, err := v.visible()
	if err != nil {
		return nil, err
	}
	var reports []IndexReport
	for _, name := range names {
		r := IndexReport{Compartment: name, Problems: []string{}}
		err := v.with(ctx, name, func(c *compartment) error {
			r = IndexReport{Compartment: name, Problems: []string{}}
			return v.checkIndex(ctx, c, &r, func(done, total int) { report(string(name), done, total) })
		})
		if corrupt, ok := errors.AsType[*ledger.CorruptError](err); ok {
			r.problem("the ledger is damaged at line %d (`yamo-mcp ledger verify` says more)", corrupt.Line)
		} else if err != nil {
			return nil, fmt.Errorf("check the %s index: %w", name, err)
		}
		reports = append(reports, r)
	}
	return reports, nil
}

func (v *View) checkIndex(ctx context.Context, c *compartment, r *IndexReport, report func(done, total int)) error {
	if err := c.sync(ctx); err != nil {
		return err
	}
	if c.visibility == record.Private { // what a group has no part of
		if err := v.files.check(ctx, r); err != nil {
			return err
		}
	}
	if dir, _ := v.folder(c.visibility); c.untouched() && !exists(filepath.Join(dir, "vectors.f32")) && !exists(filepath.Join(dir, "lance")) {
		return nil // nothing is created by looking
	}
	return c.index.locked(ctx, func() error {
		if err := c.sync(ctx); err != nil {
			return err
		}
		r.Memories = c.count()
		err := errors.Join(c.index.checkVectors(r), c.index.checkRows(ctx, c, r, report))
		if err == nil {
			err = errors.Join(c.index.checkBlocks(ctx, v.ledgerOptions(c.visibility), r), c.index.checkSkills(ctx, c, r))
		}
		c.index.mu.Lock()
		c.index.dirty = false // or closing the view would write what is lacking
		c.index.mu.Unlock()
		return err
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// checkVectors reads the flat file.
func (ix *index) checkVectors(r *IndexReport) error {
	a, err := ix.vectors.Audit()
	if err != nil {
		r.problem("vectors: %v", err)
		return nil
	}
	m := ix.embedder.Model()
	if !a.Matches(m.Name, m.Dim) {
		r.problem("the vectors were made with model %q (%d dimensions), but %q (%d dimensions) is configured", a.Model, a.Dimension, m.Name, m.Dim)
		return nil
	}
	r.count(a.Damaged, "vectors are damaged")
	r.count(a.Orphans, "vectors are of no memory")
	if err := ix.vectors.Refresh(); err != nil {
		return err
	}
	missing := ix.lacking()
	r.Vectors = r.Memories - missing
	return nil
}

// vectorTolerance is what the two copies of a vector's component may differ by: LanceDB returns it as a decimal.
const vectorTolerance = 1e-5

// checkRows reads memory_entries.
func (ix *index) checkRows(ctx context.Context, c *compartment, r *IndexReport, report func(done, total int)) error {
	total, err := ix.tables.Count(ctx)
	if err != nil {
		return r.tableProblem(err)
	}
	read, twice, strangers, otherText, otherVector := 0, 0, 0, 0, 0
	seen := map[string]bool{}
	for row, err := range ix.tables.AllMemories(ctx, true) {
		if err != nil {
			return r.tableProblem(err)
		}
		if read++; read%tableProgress == 0 {
			report(read, total)
		}
		c.mu.RLock()
		doc, known := c.byID[row.ID]
		var record *record.Record
		if known {
			record = c.docs[doc].record
		}
		c.mu.RUnlock()
		switch {
		case seen[row.ID]:
			twice++
		case record == nil:
			strangers++
		case row.Content != record.Content:
			otherText++
		case !ix.same(doc, row.Vector):
			otherVector++
		}
		if record != nil && !seen[row.ID] {
			r.Rows++
		}
		seen[row.ID] = true
	}
	report(total, total)
	r.count(twice, "rows of memory_entries are there twice")
	r.count(strangers, "rows of memory_entries are of no memory")
	r.count(otherText, "rows of memory_entries have another text than the ledger")
	r.count(otherVector, "rows of memory_entries have another vector than the flat file")
	return nil
}

// tableProgress is how many rows are read between two reports.
const tableProgress = 500

// same reports whether the flat file has this vector for document doc, or none.
func (ix *index) same(doc int, vector []float32) bool {
	mine := ix.vectors.Vector(doc)
	return mine == nil || len(mine) == len(vector) && !slices.ContainsFunc(vector, func(x float32) bool { return math.IsNaN(float64(x)) }) &&
		slices.EqualFunc(mine, vector, func(a, b float32) bool { return math.Abs(float64(a-b)) < vectorTolerance })
}

// tableProblem notes what keeps LanceDB's tables from being read, if `index rebuild` mends it.
func (r *IndexReport) tableProblem(err error) error {
	var model *lance.ModelError
	switch {
	case errors.As(err, &model):
		r.problem("the tables were made with model %v, but %v is configured", model.Have, model.Want)
	case errors.Is(err, lance.ErrDamaged):
		r.problem("the tables are damaged")
	case errors.Is(err, lance.ErrForeign):
		r.problem("%v", lance.ErrForeign)
	default:
		return err
	}
	return nil
}

// checkBlocks compares yamo_blocks with the ledger, which it reads once more.
func (ix *index) checkBlocks(ctx context.Context, o ledger.Options, r *IndexReport) error {
	want := map[string]string{} // hash of the text by id
	err := ledger.New(o).Sync(ctx, func(e ledger.Entry) error {
		if e.Op == ledger.OpDelete {
			for _, id := range blocksOf(e.ID) {
				delete(want, id)
			}
		}
		if audited(e) {
			row, err := auditRow(e)
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
	for row, err := range ix.tables.Blocks(ctx) {
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
	r.count(strangers, "rows of yamo_blocks are not in the ledger")
	r.count(others, "rows of yamo_blocks have another hash than the ledger's block")
	return nil
}

// checkSkills reads synthesized_skills. A row that an update or feedback has overtaken is behind.
func (ix *index) checkSkills(ctx context.Context, c *compartment, r *IndexReport) error {
	r.Skills = c.skillCount()
	strangers := 0
	for row, err := range ix.tables.Skills(ctx, false) {
		if err != nil {
			return r.tableProblem(err)
		}
		switch s := c.skill(row.ID); {
		case s == nil:
			strangers++
		case s.Text == row.Text:
			r.SkillRows++
		}
	}
	r.count(strangers, "rows of synthesized_skills are of no skill")
	return nil
}

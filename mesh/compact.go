package mesh

import (
	"context"
	"fmt"

	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Compacted says what Compact did to one compartment.
type Compacted struct {
	Compartment record.Visibility `json:"compartment"`
	Before      TableFiles        `json:"before"`
	After       TableFiles        `json:"after"`
}

// TableFiles is how a compartment's LanceDB tables lie on the disk.
type TableFiles struct {
	Rows      int `json:"rows"`
	Deleted   int `json:"deleted"` // rows that are deleted and still there
	Fragments int `json:"fragments"`
	Versions  int `json:"versions"`
}

// Compact brings the tables of every compartment the audience may see up to date with the ledger, as far as there are
// vectors, merges their fragments, and takes what was deleted off the disk. Untouched compartments are left out.
func (v *View) Compact(ctx context.Context) ([]Compacted, error) {
	names, err := v.visible()
	if err != nil {
		return nil, err
	}
	done := []Compacted{}
	for _, name := range names {
		err := v.with(ctx, name, func(c *compartment) error {
			if err := c.Sync(ctx); err != nil || c.untouched() {
				return err
			}
			before, after, err := c.index.Compact(ctx)
			if err == nil {
				done = append(done, Compacted{name, tableFiles(before), tableFiles(after)})
			}
			return err
		})
		if err != nil {
			return done, fmt.Errorf("compact the %s index: %w", name, err)
		}
	}
	return done, nil
}

func tableFiles(s lance.Stats) TableFiles {
	return TableFiles{Rows: s.Rows, Deleted: s.Deleted, Fragments: s.Fragments, Versions: s.Versions}
}

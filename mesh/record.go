package mesh

import (
	"io"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// newMemoryID is an id that no memory of c has. It is called while the ledger is locked, so nobody else
// can take it.
func (c *compartment) newMemoryID(now time.Time, random io.Reader) (string, error) {
	for {
		id, err := record.NewID("mem", now, random)
		if err != nil || c.find(id) == nil {
			return id, err
		}
	}
}

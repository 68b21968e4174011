package ledger_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
)

// Append returns when the entries are on disk. Erase removes the content of an entry, and the chain still verifies.
func Example() {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	ctx, key := context.Background(), make([]byte, ledger.KeySize)
	path := filepath.Join(dir, "ledger.ndjson")
	l := ledger.New(ledger.Options{
		Path: path, Name: "private", Lock: filepath.Join(dir, "lock"),
		Key: func(bool) ([]byte, error) { return key, nil },
	})

	apply := func(e ledger.Entry) error {
		fmt.Println(e.Seq, e.Op, e.ID, e.Block)
		return nil
	}
	_, err = l.Append(ctx, apply, func(time.Time) ([]ledger.Draft, error) {
		return []ledger.Draft{{Op: "retain", ID: "mem_1", Block: "a secret"}, {Op: "retain", ID: "mem_2", Block: "a fact"}},
			nil
	})
	fmt.Println("append:", err)

	_, err = l.Erase(ctx, apply, func(time.Time) ([]ledger.Draft, error) {
		return []ledger.Draft{{ID: "mem_1", Block: "deleted on request"}}, nil
	})
	fmt.Println("erase:", err)

	report, err := ledger.Verify(ctx, path, "private", key)
	fmt.Println("intact:", report.Intact(), "entries:", report.Entries, "erased:", report.Erased, err)
	// Output:
	// 1 retain mem_1 a secret
	// 2 retain mem_2 a fact
	// append: <nil>
	// 3 delete mem_1 deleted on request
	// erase: <nil>
	// intact: true entries: 3 erased: 1 <nil>
}

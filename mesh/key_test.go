package mesh

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// A lost key is never replaced by a new one, whichever audience writes first.
func TestLostKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	private := open(t, dir, audience.DM(), new(words))
	keep(t, private, record.Memory{Content: "Mara moved to Lisbon."})
	key := filepath.Join(dir, ".yamo", "key")
	saved := filepath.Join(t.TempDir(), "key")
	if err := os.Rename(key, saved); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]*View{
		"dm":    open(t, dir, audience.DM(), new(words)),
		"group": open(t, dir, group(t, "red"), new(words)),
	} {
		_, err := v.Store(t.Context(), record.Memory{Content: "The ferry leaves at nine."}, "")
		wantFault(t, err, "key of the memory is missing", "yamo-mcp ledger rekey")
		if !errors.Is(err, ledger.ErrNoKey) {
			t.Errorf("%s: %v, want ErrNoKey", name, err)
		}
	}
	if _, err := os.Lstat(key); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a new key was made: %v", err)
	}
	reports, err := open(t, dir, audience.DM(), new(words)).Maintenance().Verify(t.Context())
	if err != nil {
		t.Fatalf("verify without the key: %v", err)
	}
	if reports[0].Intact() || !reports[0].Keyless {
		t.Errorf("verify without the key: intact %t, keyless %t", reports[0].Intact(), reports[0].Keyless)
	}
	if err := os.Rename(saved, key); err != nil {
		t.Fatal(err)
	}
	keep(t, open(t, dir, audience.DM(), new(words)), record.Memory{Content: "The ferry leaves at nine."})
}

// A private ledger in a group's folder, or in the shared one, serves nothing, and the caller learns nothing of whose it
// is.
func TestLedgerOfAnotherCompartment(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"shared", "groups/red"} {
		t.Run(to, func(t *testing.T) {
			dir := t.TempDir()
			keep(t, open(t, dir, audience.DM(), new(words)), record.Memory{Content: "Mara moved to Lisbon."})
			keep(t, open(t, dir, audience.DM(), new(words)), record.Memory{Content: "Mara sold the house in Porto."})
			target := filepath.Join(dir, ".yamo", filepath.FromSlash(to), "ledger.ndjson")
			raw, err := os.ReadFile(filepath.Join(dir, ".yamo", "private", "ledger.ndjson"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(target, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			v := open(t, dir, group(t, "red"), new(words))
			found, err := v.Search(t.Context(), SearchRequest{Query: "Where does Mara live?"})
			if to == "shared" {
				if err != nil || len(found.Hits) != 0 {
					t.Errorf("found %+v, %v", found.Hits, err)
				}
				return
			}
			wantFault(t, err, "damaged at line 1", "yamo-mcp ledger verify")
			if told, ok := fault.As(err); !ok || strings.Contains(told.Error(), "private") {
				t.Errorf("the caller is told %v", told)
			}
			if !strings.Contains(err.Error(), "of private, not of group:red") {
				t.Errorf("the log does not name both: %v", err)
			}
		})
	}
}

package lance

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/google/go-cmp/cmp"
)

// schemaV1 is RFC-0011 §2.1 as another implementation wrote it.
var schemaV1 = table[Memory]{
	name: memoryTable,
	fields: func(dim int) []arrow.Field {
		return []arrow.Field{
			textField("id"), vectorField(dim), textField("content"), textField("metadata"),
			timeField("created_at", true), timeField("updated_at", true),
		}
	},
	append: func(b *array.RecordBuilder, m *Memory) {
		putText(b.Field(0), m.ID)
		putVector(b.Field(1), m.Vector)
		putText(b.Field(2), m.Content)
		putText(b.Field(3), m.Metadata)
		putTime(b.Field(4), m.CreatedAt)
		putTime(b.Field(5), m.UpdatedAt)
	},
}

// writeV1 makes a V1 database of n rows whose ids end in base 36 and whose times are not those in the ids.
func writeV1(t *testing.T, dir string, n int) []Memory {
	t.Helper()
	rng := testRNG()
	rows := make([]Memory, n)
	refs := make([]*Memory, n)
	for i := range rows {
		created := time.UnixMilli(int64(epoch + i*7919 + 31)).UTC()
		rows[i] = Memory{
			ID:     fmt.Sprintf("mem_%d_%s", epoch+i*7919, strconv.FormatInt(int64(2_000_000_000+i), 36)),
			Vector: unit(rng, testDim), Content: fmt.Sprintf("it's row %d", i),
			Metadata: fmt.Sprintf(`{"type":"global","n":%d}`, i), CreatedAt: created,
		}
		if i%3 == 0 {
			rows[i].UpdatedAt = created.Add(time.Duration(i) * time.Millisecond)
		}
		refs[i] = &rows[i]
	}
	if err := schemaV1.createIn(t.Context(), dir, memoryTable, testDim); err != nil {
		t.Fatal(err)
	}
	h, err := openTable(t.Context(), tablePath(dir, memoryTable))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(schemaV1.put(t.Context(), h, testDim, refs), h.release()); err != nil {
		t.Fatal(err)
	}
	return rows
}

func readForeign(t *testing.T, dir string) map[string]Memory {
	t.Helper()
	out := make(map[string]Memory)
	for m, err := range ForeignMemories(t.Context(), dir, true) {
		if err != nil {
			t.Fatal(err)
		}
		out[m.ID] = m
	}
	return out
}

func wantForeign(t *testing.T, dir string, want Foreign) {
	t.Helper()
	got, err := Inspect(t.Context(), dir)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("inspect: %v (-want +got):\n%s", err, diff)
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows := writeV1(t, dir, 10_000)
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	wantForeign(t, dir, Foreign{Rows: len(rows), Dimension: testDim})
	migrate := func(at time.Time) {
		t.Helper()
		if err := Migrate(t.Context(), dir, at); err != nil {
			t.Fatal(err)
		}
	}
	check := func(backup bool) {
		t.Helper()
		wantForeign(t, dir, Foreign{SchemaV2: true, Rows: len(rows), Dimension: testDim, Backup: backup})
		if got := readForeign(t, dir); !reflect.DeepEqual(byID(rows), got) {
			t.Errorf("rows (-want +got):\n%s", cmp.Diff(byID(rows), got))
		}
	}
	migrate(now)
	check(true)
	migrate(now.AddDate(0, 0, 30)) // to the hour
	wantForeign(t, dir, Foreign{SchemaV2: true, Rows: len(rows), Dimension: testDim, Backup: true})
	migrate(now.AddDate(0, 0, 31))
	check(false)
}

// Every state that an interruption can leave is completed by the next call.
func TestMigrateInterrupted(t *testing.T) {
	t.Parallel()
	for name, interrupt := range map[string]func(t *testing.T, dir string){
		"while copying": func(t *testing.T, dir string) {
			if err := os.MkdirAll(filepath.Join(tablePath(dir, migratingTable), "_versions"), 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"copied in part": func(t *testing.T, dir string) {
			if err := memories.createIn(t.Context(), dir, migratingTable, testDim); err != nil {
				t.Fatal(err)
			}
		},
		"before the renames": func(t *testing.T, dir string) {
			if err := copyToV2(t.Context(), dir, Foreign{Rows: 20, Dimension: testDim}); err != nil {
				t.Fatal(err)
			}
		},
		"between the renames": func(t *testing.T, dir string) {
			if err := copyToV2(t.Context(), dir, Foreign{Rows: 20, Dimension: testDim}); err != nil {
				t.Fatal(err)
			}
			if err := rename(tablePath(dir, memoryTable), tablePath(dir, backupTable)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			rows := writeV1(t, dir, 20)
			interrupt(t, dir)
			for range 2 {
				if err := Migrate(t.Context(), dir, time.Now()); err != nil {
					t.Fatal(err)
				}
				wantForeign(t, dir, Foreign{SchemaV2: true, Rows: 20, Dimension: testDim, Backup: true})
			}
			if diff := cmp.Diff(byID(rows), readForeign(t, dir)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := os.Stat(tablePath(dir, migratingTable)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the working copy is left: %v", err)
			}
		})
	}
}

// A database of another program is not taken for an empty index, nor written to.
func TestForeignDatabaseIsNotAdopted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeV1(t, dir, 3)
	before := tree(t, dir)
	db := openTest(t, dir, testModel)
	if _, err := db.Count(t.Context()); !errors.Is(err, ErrForeign) {
		t.Errorf("count: %v, want ErrForeign", err)
	}
	if err := db.AddMemories(t.Context(), someMemories(testRNG(), 0, 1, testDim)); !errors.Is(err, ErrForeign) {
		t.Errorf("add: %v, want ErrForeign", err)
	}
	if !maps.EqualFunc(before, tree(t, dir), func(a, b []byte) bool { return string(a) == string(b) }) {
		t.Error("its files were changed")
	}
	if _, err := Inspect(t.Context(), t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("inspect of an empty folder: %v, want fs.ErrNotExist", err)
	}
}

// Whatever a folder is called, it is a folder.
func TestFoldersAreNoAddresses(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"db", "s3:", "gs:/bucket"} {
		writeV1(t, dir, 2)
		wantForeign(t, dir, Foreign{Rows: 2, Dimension: testDim})
		if err := Migrate(t.Context(), dir, time.Now()); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

package lance

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

// damageable returns a DB's folder with 30 rows in three commits, closed, and the memory table's folder.
func damageable(t *testing.T) (dir, table string, rows []Memory) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "lance")
	db := openTest(t, dir, testModel)
	rows = someMemories(testRNG(), 0, 30, testDim)
	for at := 0; at < 30; at += 10 {
		mustAdd(t, db, rows[at:at+10])
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, tablePath(generation(t, dir), memoryTable), rows
}

func overwrite(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

var damages = map[string]func([]byte) []byte{
	"empty":     func([]byte) []byte { return nil },
	"truncated": func(b []byte) []byte { return b[:len(b)/2] },
	"one short": func(b []byte) []byte { return b[:len(b)-1] },
	"zeros":     func(b []byte) []byte { return make([]byte, len(b)) },
}

func newestManifest(t *testing.T, table string) (uint64, string) {
	t.Helper()
	all, err := versions(table)
	if err != nil || len(all) == 0 {
		t.Fatalf("versions: %v, %v", all, err)
	}
	return all[0], manifestPath(table, all[0])
}

func TestDamagedHeadIsTakenBack(t *testing.T) {
	t.Parallel()
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			dir, table, rows := damageable(t)
			_, path := newestManifest(t, table)
			overwrite(t, path, damage)
			db := openTest(t, dir, testModel)
			if diff := cmp.Diff(idsOf(rows[:20]), mustIDs(t, db)); diff != "" {
				t.Errorf("ids after recovery (-want +got):\n%s", diff)
			}
			mustAdd(t, db, rows) // what the indexer does next
			mustCompact(t, db)
			sameRows(t, rows, collect(t, db, true))
		})
	}
}

// The head's data file did not reach the disk, though its manifest did.
func TestDamagedHeadDataIsTakenBack(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"empty", "truncated"} {
		t.Run(name, func(t *testing.T) {
			dir, table, rows := damageable(t)
			version, _ := newestManifest(t, table)
			m, err := readManifest(table, version, true)
			if err != nil {
				t.Fatal(err)
			}
			newest := m.fragments[len(m.fragments)-1].data[0].path
			overwrite(t, filepath.Join(table, "data", newest), damages[name])
			db := openTest(t, dir, testModel)
			if diff := cmp.Diff(idsOf(rows[:20]), mustIDs(t, db)); diff != "" {
				t.Errorf("ids after recovery (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDamageBeyondRepair(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, dir, table string){
		"two manifests": func(t *testing.T, _, table string) {
			all, err := versions(table)
			if err != nil {
				t.Fatal(err)
			}
			overwrite(t, manifestPath(table, all[0]), damages["empty"])
			overwrite(t, manifestPath(table, all[1]), damages["truncated"])
		},
		"the only manifest": func(t *testing.T, _, table string) {
			all, err := versions(table)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range all[1:] {
				if err := os.Remove(manifestPath(table, v)); err != nil {
					t.Fatal(err)
				}
			}
			overwrite(t, manifestPath(table, all[0]), damages["empty"])
		},
		"the first data file": func(t *testing.T, _, table string) {
			version, _ := newestManifest(t, table)
			m, err := readManifest(table, version, true)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range m.fragments {
				overwrite(t, filepath.Join(table, "data", f.data[0].path), damages["empty"])
			}
		},
		"zeros in data files": func(t *testing.T, _, table string) {
			version, _ := newestManifest(t, table)
			m, err := readManifest(table, version, true)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range m.fragments {
				overwrite(t, filepath.Join(table, "data", f.data[0].path), damages["zeros"])
			}
		},
		"the inside of a data file": func(t *testing.T, _, table string) {
			version, _ := newestManifest(t, table)
			m, err := readManifest(table, version, true)
			if err != nil {
				t.Fatal(err)
			}
			overwrite(t, filepath.Join(table, "data", m.fragments[1].data[0].path), func(b []byte) []byte {
				clear(b[:len(b)-40]) // all but the footer
				return b
			})
		},
		"index record": func(t *testing.T, dir, _ string) {
			overwrite(t, filepath.Join(dir, indexName), damages["truncated"])
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, table, rows := damageable(t)
			spoil(t, dir, table)
			db := openTest(t, dir, testModel)
			if _, err := sortedIDs(t.Context(), db); !errors.Is(err, ErrDamaged) {
				t.Fatalf("ids: %v, want ErrDamaged", err)
			}
			if _, err := db.Nearest(t.Context(), rows[0].Vector, 3, Filter{}); !errors.Is(err, ErrDamaged) {
				t.Errorf("nearest: %v, want ErrDamaged", err)
			}
			if err := db.Drop(t.Context()); err != nil {
				t.Fatal("drop:", err)
			}
			mustAdd(t, db, rows)
			if diff := cmp.Diff(idsOf(rows), mustIDs(t, db)); diff != "" {
				t.Errorf("after the rebuild (-want +got):\n%s", diff)
			}
		})
	}
}

func TestManifestSaysWhatWasWritten(t *testing.T) {
	t.Parallel()
	dir, table, rows := damageable(t)
	db := openTest(t, dir, testModel)
	if err := db.DeleteMemories(t.Context(), idsOf(rows[5:12])); err != nil {
		t.Fatal(err)
	}
	version, _ := newestManifest(t, table)
	m, err := readManifest(table, version, true)
	if err != nil {
		t.Fatal(err)
	}
	var got [][2]uint64
	for _, f := range m.fragments {
		got = append(got, [2]uint64{f.rows, f.deleted})
	}
	if diff := cmp.Diff([][2]uint64{{10, 5}, {10, 2}, {10, 0}}, got); diff != "" {
		t.Errorf("rows and deleted (-want +got):\n%s", diff)
	}
	if m.rows() != 23 {
		t.Errorf("%d rows, want 23", m.rows())
	}
	for _, f := range m.files {
		if _, err := os.Stat(filepath.Join(table, f)); err != nil {
			t.Error(err)
		}
	}
}

// All four wire types of protocol buffers are skipped over by their lengths, and nothing is read past the end.
// A table of a later storage version, on which the native library panics, is an error that names the versions.
func TestStorageVersions(t *testing.T) {
	t.Parallel()
	for version, want := range map[[2]uint64]bool{{0, 0}: true, {2, 0}: true, {2, 1}: true, {2, 2}: false, {3, 0}: false} {
		m := &manifest{fragments: []fragment{{data: []dataFile{{path: "a", major: version[0], minor: version[1]}}}}}
		err := m.checkStorage()
		if (err == nil) != want || err != nil && !errors.Is(err, ErrStorage) {
			t.Errorf("version %v: %v", version, err)
		}
	}
	db := newTest(t)
	if err := db.AddMemories(t.Context(), someMemories(testRNG(), 0, 3, testDim)); err != nil {
		t.Fatal(err)
	}
	_, m, err := head(tablePath(db.Path(), memoryTable))
	if err != nil {
		t.Fatal(err)
	}
	if d := m.fragments[0].data[0]; d.major != storageMajor || d.minor > storageMinor {
		t.Errorf("a table of this program has version %d.%d", d.major, d.minor)
	}
}

func TestEachField(t *testing.T) {
	t.Parallel()
	message := []byte{
		1<<3 | 1, 1, 2, 3, 4, 5, 6, 7, 8, // field 1: 64 bits
		2<<3 | 5, 1, 2, 3, 4, // field 2: 32 bits
		3 << 3, 0xac, 0x02, // field 3: varint 300
		4<<3 | 2, 2, 'h', 'i', // field 4: bytes
	}
	type seen struct {
		Field int
		Value uint64
		Sub   string
	}
	var got []seen
	visit := func(field protowire.Number, value uint64, sub []byte) error {
		got = append(got, seen{int(field), value, string(sub)})
		return nil
	}
	if err := eachField(message, visit); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]seen{{1, 0, ""}, {2, 0, ""}, {3, 300, ""}, {4, 0, "hi"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	whole := map[int]bool{0: true, 9: true, 14: true, 17: true, len(message): true}
	for n := range len(message) + 1 {
		if err := eachField(message[:n], visit); (err == nil) != whole[n] {
			t.Errorf("the first %d bytes: %v", n, err)
		}
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte{})
	f.Add(append(bytes.Repeat([]byte{0}, 20), lanceMagic...))
	for _, seed := range manifestSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		if m, err := parseManifest(data); err == nil {
			m.rows()
		}
	})
}

// manifestSeeds returns real manifests, one with deletions.
func manifestSeeds(f *testing.F) (seeds [][]byte) {
	db := newTest(f)
	mustAdd(f, db, someMemories(testRNG(), 0, 3, testDim))
	if err := db.DeleteMemories(f.Context(), []string{memoryID(1)}); err != nil {
		f.Fatal(err)
	}
	for path, content := range tree(f, db.dir) {
		if filepath.Ext(path) == ".manifest" {
			seeds = append(seeds, content)
		}
	}
	return seeds
}

// A file that cannot be read now is no damage: nothing is deleted and no error asks for a rebuild.
func TestUnreadableIsNotDamaged(t *testing.T) {
	t.Parallel()
	dir, table, rows := damageable(t)
	_, path := newestManifest(t, table)
	aside := path + ".aside"
	if err := os.Rename(path, aside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Base(path), path); err != nil { // ELOOP, for every user
		t.Fatal(err)
	}
	db := openTest(t, dir, testModel)
	if _, err := sortedIDs(t.Context(), db); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("ids: %v, want an error that is not ErrDamaged", err)
	}
	if err := os.Rename(aside, path); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(idsOf(rows), mustIDs(t, db)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

package lance

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/where"
)

const benchDim = 384

var benchModel = ModelInfo{Name: "bench-model", Dimension: benchDim}

func benchDB(b *testing.B) *DB { return openTest(b, filepath.Join(b.TempDir(), "lance"), benchModel) }

// clustered returns rows whose vectors lie around common centres, as those of texts do.
func clustered(rng *rand.Rand, from, n int) []Memory {
	centres := rand.New(rand.NewPCG(3, 4))
	around := make([][]float32, 500)
	for i := range around {
		around[i] = unit(centres, benchDim)
	}
	rows := someMemories(rng, from, n, benchDim)
	for i := range rows {
		c := around[rng.IntN(len(around))]
		var sum float64
		for j := range rows[i].Vector {
			rows[i].Vector[j] = c[j] + 0.8*rows[i].Vector[j]
			sum += float64(rows[i].Vector[j]) * float64(rows[i].Vector[j])
		}
		scale(rows[i].Vector, sum)
		rows[i].Content = strings.Repeat("a sentence of a memory; ", 10)
		rows[i].SessionID = fmt.Sprintf("session-%d", i%10)
	}
	return rows
}

func fill(b *testing.B, db *DB, n int) []Memory {
	b.Helper()
	rows := clustered(testRNG(), 0, n)
	mustAdd(b, db, rows)
	return rows
}

func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{1, 100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			db := benchDB(b)
			rows := clustered(testRNG(), 0, n)
			at := 0
			for b.Loop() {
				for i := range rows {
					rows[i].ID = memoryID(at)
					at++
				}
				mustAdd(b, db, rows)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(at), "µs/row")
		})
	}
}

// BenchmarkFill writes an empty table in calls of 10,000 rows, as a workspace that was imported does. The time of a row
// must not grow with the table. VmHWM is the process's, so it is that of the largest table so far.
func BenchmarkFill(b *testing.B) {
	for _, n := range []int{50_000, 200_000, 1_000_000} {
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			for b.Loop() {
				db := benchDB(b)
				rows := clustered(testRNG(), 0, fragmentMax)
				for at := 0; at < n; {
					for i := range rows {
						rows[i].ID = memoryID(at)
						at++
					}
					mustAdd(b, db, rows)
				}
				mustCount(b, db, n)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/row")
			b.Log(residentMemory(b))
		})
	}
}

func BenchmarkTable(b *testing.B) {
	for _, n := range []int{5_000, 20_000, 100_000} {
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			db := benchDB(b)
			rows := fill(b, db, n)
			rng := testRNG()
			nearest := func(k int, f func() Filter) func(*testing.B) {
				return func(b *testing.B) {
					for b.Loop() {
						hits, err := db.Nearest(b.Context(), rows[rng.IntN(n)].Vector, k, f())
						if err != nil || len(hits) != k {
							b.Fatalf("%d hits, %v", len(hits), err)
						}
					}
				}
			}
			none := func() Filter { return Filter{} }
			for _, k := range []int{20, 100, 500} {
				b.Run(fmt.Sprintf("nearest/k=%d", k), nearest(k, none))
			}
			session := Filter{where.Equal("session_id", "session-3", nil)}
			b.Run("nearest/session", nearest(20, func() Filter { return session }))
			half := time.UnixMilli(int64(epoch + n/2)).UTC().Format(time.RFC3339Nano)
			since, err := where.Parse("created_at >= '" + half + "'")
			if err != nil {
				b.Fatal(err)
			}
			b.Run("nearest/since", nearest(20, func() Filter { return Filter{since} }))
			some := func(k int) []string {
				ids := make([]string, k)
				for i := range ids {
					ids[i] = memoryID((rng.IntN(n/k) * k) + i)
				}
				return ids
			}
			b.Run("ids", func(b *testing.B) {
				for b.Loop() {
					if got := mustIDs(b, db); len(got) != n {
						b.Fatal(len(got))
					}
				}
			})
			for _, vector := range []bool{false, true} {
				b.Run(fmt.Sprintf("memories=100/vector=%v", vector), func(b *testing.B) {
					for b.Loop() {
						if got, err := db.Memories(b.Context(), some(100), vector); err != nil || len(got) != 100 {
							b.Fatal(len(got), err)
						}
					}
				})
				b.Run(fmt.Sprintf("all/vector=%v", vector), func(b *testing.B) {
					for b.Loop() {
						if got := collect(b, db, vector); len(got) != n {
							b.Fatal(len(got))
						}
					}
				})
			}
			b.Run("open", func(b *testing.B) {
				for b.Loop() {
					other := Open(db.dir, benchModel, Options{})
					mustCount(b, other, n)
					if err := other.Close(); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("add=1", func(b *testing.B) {
				row := clustered(testRNG(), n, 1)
				for b.Loop() {
					row[0].ID = memoryID(n)
					n++
					mustAdd(b, db, row)
				}
			})
			b.Run("compact", func(b *testing.B) {
				for b.Loop() {
					mustAdd(b, db, clustered(testRNG(), n, 1))
					n++
					mustCompact(b, db)
				}
			})
			b.Logf("%d rows: %s", n, residentMemory(b))
		})
	}
}

// BenchmarkSmallAdds shows what 200 single rows cost a search, and what Compact gives back.
func BenchmarkSmallAdds(b *testing.B) {
	db := benchDB(b)
	rows := fill(b, db, 5_000)
	search := func(name string) {
		var size int
		files := tree(b, db.dir)
		for _, content := range files {
			size += len(content)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := db.Nearest(b.Context(), rows[7].Vector, 20, Filter{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(files)), "files")
			b.ReportMetric(float64(size)/1e6, "MB")
		})
	}
	search("before")
	for _, row := range clustered(testRNG(), 5_000, 200) {
		mustAdd(b, db, []Memory{row})
	}
	search("after200")
	start := time.Now()
	mustCompact(b, db)
	b.Logf("compaction took %v", time.Since(start).Round(time.Millisecond))
	search("compacted")
}

func residentMemory(b *testing.B) string {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "resident memory is only known on Linux"
	}
	var out []string
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS") || strings.HasPrefix(line, "VmHWM") {
			out = append(out, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(out, ", ")
}

package mesh

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// random is an embedder of random directions, with the real model's dimension, at no cost to speak of.
type random struct{}

func (random) Model() embed.Model { return embed.Model{Name: "random", Dim: 384} }

func (random) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		r := rand.New(rand.NewPCG(uint64(len(text)), uint64(text[0])+uint64(text[len(text)/2])<<8+uint64(i)<<16))
		v := make([]float32, 384)
		var sum float64
		for j := range v {
			x := r.NormFloat64()
			v[j], sum = float32(x), sum+x*x
		}
		for j := range v {
			v[j] /= float32(math.Sqrt(sum))
		}
		vectors[i] = v
	}
	return vectors, nil
}

// corpus writes memories that look like those of a chat: 8 to 40 words, some of them in almost every
// memory and most of them rare, in sessions of 20.
type corpus struct {
	r    *rand.Rand
	zipf *rand.Zipf
}

func newCorpus(seed uint64) *corpus {
	r := rand.New(rand.NewPCG(seed, 2))
	return &corpus{r, rand.NewZipf(r, 1.1, 4, 30_000)}
}

var frequent = strings.Fields("the I my we to and a you it is that was me our so of in for on really like just " +
	"think know go time good new day work")

func (c *corpus) text() string {
	words := make([]string, 8+c.r.IntN(33))
	for i := range words {
		if n := int(c.zipf.Uint64()); n < len(frequent) {
			words[i] = frequent[n]
		} else {
			words[i] = rareWord(n)
		}
	}
	return strings.Join(words, " ") + "."
}

// rareWord is the n-th of an endless vocabulary.
func rareWord(n int) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var w strings.Builder
	for n += 70; n > 0; n /= len(consonants) * len(vowels) {
		w.WriteByte(consonants[n%len(consonants)])
		w.WriteByte(vowels[n/len(consonants)%len(vowels)])
	}
	return w.String()
}

// benchView is a memory of n texts with their vectors; nothing of it is in LanceDB.
func benchView(b *testing.B, n int) *View {
	b.Helper()
	dir := b.TempDir()
	v := Open(Options{
		Dir: filepath.Join(dir, ".yamo"), Audience: audience.DM(), AgentID: "bench", Embedder: random{},
		Logger: slog.New(slog.DiscardHandler),
	})
	fillLedger(b, v, n)
	c := v.stores[record.Private]
	for {
		ids, texts := index.Missing(c.Projection, 1000)
		if len(ids) == 0 {
			break
		}
		vectors, err := random{}.Embed(b.Context(), texts)
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Vectors.Append(ids, vectors); err != nil {
			b.Fatal(err)
		}
	}
	c.index.Discard(context.Background()) // or the background work would fill LanceDB meanwhile
	return v
}

// fillLedger writes n memories in a few large appends.
func fillLedger(b *testing.B, v *View, n int) {
	b.Helper()
	c, err := v.open(v.home())
	if err != nil {
		b.Fatal(err)
	}
	texts := newCorpus(1)
	for done := 0; done < n; done += 1000 {
		err := c.Append(b.Context(), func(_ *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
			var drafts []ledger.Draft
			for i := done; i < min(n, done+1000); i++ {
				id := fmt.Sprintf("mem_%d_%06x", now.UnixMilli(), i)
				r := &record.Record{ID: id, Memory: record.Memory{
					Content: texts.text(), Type: "global",
					SessionID: fmt.Sprint("s", i/20),
				}, CreatedAt: now}
				drafts = append(drafts, ledger.Draft{Op: store.OpRetain, ID: id, Block: "agent: bench;\n", Data: r})
			}
			return drafts, nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

var sizes = []int{1_000, 10_000, 100_000, 1_000_000}

// BenchmarkSearch is the search without the embedding of the query: only the ranking, and all of it
// from the request to the recall block in the ledger.
func BenchmarkSearch(whole *testing.B) {
	queries := map[string]string{
		"usual":  "where did my " + rareWord(900) + " " + rareWord(300) + " go in " + rareWord(5000),
		"common": "I really like my good new day and think we just know time " + rareWord(31) + " " + rareWord(33),
	}
	for _, n := range sizes {
		var v *View
		for _, kind := range []string{"usual", "common"} {
			for _, lessons := range []bool{false, true} {
				whole.Run(fmt.Sprintf("%d/%s/lessons=%v", n, kind, lessons), func(b *testing.B) {
					if v == nil {
						v = benchView(whole, n)
					}
					query := SearchRequest{Query: queries[kind], IncludeLessons: lessons}
					var took []time.Duration
					b.ReportAllocs()
					for b.Loop() {
						query.Query = fmt.Sprintf("%s %d", queries[kind], len(took)) // another one each time: answers are kept
						start := time.Now()
						switch found, err := v.Search(b.Context(), query); {
						case err != nil:
							b.Fatal(err)
						case found.Pending > 0:
							b.Fatalf("found.Pending = %v, must not be > 0", found.Pending)
						case len(found.Hits) == 0:
							b.Fatalf("len(found.Hits) = %v, must not be 0", len(found.Hits))
						}
						took = append(took, time.Since(start))
					}
					report(b, took)
				})
			}
		}
	}
}

// report adds the quantiles.
func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	for name, q := range map[string]float64{"p50-µs": .5, "p95-µs": .95} {
		b.ReportMetric(float64(took[int(q*float64(len(took)-1))].Microseconds()), name)
	}
}

func BenchmarkStore(b *testing.B) {
	v := Open(Options{
		Dir: filepath.Join(b.TempDir(), ".yamo"), Audience: audience.DM(), AgentID: "bench",
		Embedder: random{},
	})
	b.Cleanup(func() { _ = v.Close(context.Background()) })
	texts := newCorpus(3)
	var took []time.Duration
	for b.Loop() {
		request := record.Memory{Content: texts.text(), SessionID: "s"}
		start := time.Now()
		if _, err := v.Store(b.Context(), request, ""); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	report(b, took)
}

// BenchmarkOpen is what a process pays before its first search: reading the ledger and the vectors, without and with
// an image. On a busy machine compare the processor's time, cpu-ms.
func BenchmarkOpen(whole *testing.B) {
	for _, n := range sizes {
		var first *View
		for _, from := range []string{"ledger", "image"} {
			whole.Run(fmt.Sprintf("%d/%s", n, from), func(b *testing.B) {
				if first == nil {
					first = benchView(whole, n)
				}
				image := filepath.Join(first.Dir, "private", "start.image")
				if from == "image" {
					if err := first.stores[record.Private].Save(b.Context()); err != nil || !exists(image) {
						b.Fatal("no image", err)
					}
				} else if err := os.RemoveAll(image); err != nil {
					b.Fatal(err)
				}
				var v *View
				before, start := heap(), processorTime(b)
				for b.Loop() {
					v = readAll(b, first.Options, n)
				}
				b.ReportMetric(float64((processorTime(b)-start).Milliseconds())/float64(b.N), "cpu-ms")
				b.ReportMetric(float64(heap()-before)/1e6, "heap-MB")
				runtime.KeepAlive(v)
			})
		}
	}
}

// heap returns the bytes that are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// readAll opens a memory of n memories and reads everything that a search needs.
func readAll(b *testing.B, o Options, n int) *View {
	b.Helper()
	v := Open(o)
	c, err := v.open(record.Private)
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Sync(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := c.Vectors.Refresh(); err != nil {
		b.Fatal(err)
	}
	if _, missing := c.Vectors.Missing(0); missing > 0 || c.count() != n {
		b.Fatalf("%d memories, %d without a vector", c.count(), missing)
	}
	return v
}

// processorTime is what the process has used of all processors.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

package mesh

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// BenchmarkMemory prints one table of what a memory of each size costs (docs/benchmarks.md). Memories have vectors of
// random directions, which cost a search what others do; queries and ingested texts are embedded by the real model.
// It is one benchmark whose iterations are its own: run it with -benchtime 1x.
func BenchmarkMemory(b *testing.B) {
	local := embed.NewLocal(embed.Options{})
	b.Cleanup(func() { _ = local.Close() })
	if _, err := local.Embed(b.Context(), []string{"load the model"}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		rows := [][]string{{
			"memories", "search p50", "p95", "embed the query p50", "recall@20", "store p50", "p95",
			"resident",
		}}
		for _, n := range sizes {
			rows = append(rows, measure(b, local, n))
		}
		through, raw := ingestion(b, local)
		b.Log(aligned(rows) + fmt.Sprintf("ingestion: %.1f texts/s, the model by itself %.1f texts/s: %.2f\n", through, raw,
			through/raw))
	}
	b.ReportMetric(0, "ns/op") // the time of a round is meaningless
}

// measure is one row. Searches and embeddings take turns, so that both meet the same machine.
func measure(b *testing.B, local *embed.Local, n int) []string {
	b.Helper()
	v := benchView(b, n)
	texts := newCorpus(uint64(n))
	var searches, embeds, stores []time.Duration
	found, wanted := 0, 0
	for i := range 200 {
		query := texts.text()
		start := time.Now()
		vectors, err := local.Embed(b.Context(), []string{query})
		if err != nil {
			b.Fatal(err)
		}
		embeds = append(embeds, time.Since(start))
		start = time.Now()
		switch got, err := v.Search(b.Context(), SearchRequest{Query: query}); {
		case err != nil:
			b.Fatal(err)
		case got.Pending > 0:
			b.Fatalf("got.Pending = %v, must not be > 0", got.Pending)
		case len(got.Hits) == 0:
			b.Fatalf("len(got.Hits) = %v, must not be 0", len(got.Hits))
		}
		searches = append(searches, time.Since(start))
		if i < 20 {
			hit, of := recall(v.stores[record.Private], vectors[0])
			found, wanted = found+hit, wanted+of
		}
	}
	debug.FreeOSMemory()
	memory := resident(b)
	for range 200 {
		start := time.Now()
		if _, err := v.Store(b.Context(), record.Memory{Content: texts.text()}, ""); err != nil {
			b.Fatal(err)
		}
		stores = append(stores, time.Since(start))
	}
	v.stores[record.Private].index.Discard(context.Background())
	return []string{
		strconv.Itoa(n), quantile(searches, .5), quantile(searches, .95), quantile(embeds, .5),
		fmt.Sprintf("%.2f", float64(found)/float64(wanted)),
		quantile(stores, .5), quantile(stores, .95), fmt.Sprintf("%.0f MB", memory),
	}
}

// recall is how many of the 20 memories nearest to a query by float64 arithmetic the vector part has among its 20.
func recall(c *compartment, query []float32) (found, wanted int) {
	best := func(score func(doc int) float64) []int {
		docs := make([]int, c.count())
		scores := make([]float64, len(docs))
		for doc := range docs {
			docs[doc], scores[doc] = doc, score(doc)
		}
		slices.SortFunc(docs, func(a, b int) int { return int(math.Copysign(1, scores[b]-scores[a])) })
		return docs[:20]
	}
	cosines := c.Vectors.Cosines(query, nil)
	have := best(func(doc int) float64 { return float64(cosines[doc]) })
	for _, doc := range best(func(doc int) (sum float64) {
		for j, x := range c.Vectors.Vector(doc) {
			sum += float64(x) * float64(query[j])
		}
		return sum
	}) {
		if wanted++; slices.Contains(have, doc) {
			found++
		}
	}
	return found, wanted
}

// ingestion is how many texts a second get from StoreFiles to their vectors, compared with only the model on the same
// texts.
func ingestion(b *testing.B, local *embed.Local) (through, raw float64) {
	b.Helper()
	const n = 960
	texts := newCorpus(7)
	requests, list := make([]record.Memory, n), make([]string, n)
	for i := range requests {
		list[i] = texts.text()
		requests[i].Content = list[i]
	}
	v := Open(Options{
		Dir: filepath.Join(b.TempDir(), ".yamo"), Audience: audience.DM(), AgentID: "bench",
		Embedder: local,
	})
	defer func() { _ = v.Close(context.Background()) }()
	start := time.Now()
	if _, err := v.StoreFiles(b.Context(), requests); err != nil {
		b.Fatal(err)
	}
	if err := v.Maintenance().Settle(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	through = n / time.Since(start).Seconds()
	start = time.Now()
	for chunk := range slices.Chunk(list, index.EmbedBatch) {
		if _, err := local.Embed(b.Context(), chunk); err != nil {
			b.Fatal(err)
		}
	}
	return through, n / time.Since(start).Seconds()
}

func quantile(took []time.Duration, q float64) string {
	slices.Sort(took)
	return fmt.Sprintf("%.1f ms", float64(took[int(q*float64(len(took)-1))].Microseconds())/1000)
}

// resident is this process's resident memory in 10^6 bytes, with the loaded model.
func resident(b *testing.B) float64 {
	b.Helper()
	runtime.GC()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return math.NaN() // not Linux
	}
	pages, err := strconv.Atoi(string(bytes.Fields(data)[1]))
	if err != nil {
		b.Fatal(err)
	}
	return float64(pages*os.Getpagesize()) / 1e6
}

func aligned(rows [][]string) string {
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, 3, ' ', tabwriter.AlignRight)
	text.WriteString("\n")
	for _, row := range rows {
		for _, cell := range row {
			_, _ = fmt.Fprintf(w, "%s\t", cell)
		}
		_, _ = fmt.Fprintln(w)
	}
	_ = w.Flush()
	return text.String()
}

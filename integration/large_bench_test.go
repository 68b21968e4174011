package integration

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// directions embeds a text as a random direction that it determines, in the name of the real model, which would take
// hours for a million texts.
type directions struct{}

func (directions) Model() embed.Model { return embed.LocalModel }

func (directions) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		h := fnv.New64a()
		_, _ = h.Write([]byte(text)) // never fails
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		v, sum := make([]float32, embed.LocalModel.Dim), 0.
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

// longChore is the i-th of texts with 30 words on average, most of them rare.
func longChore(i int) string {
	r := rand.New(rand.NewPCG(uint64(i), 2))
	var b strings.Builder
	b.WriteString(chore(i))
	for range r.IntN(40) {
		n := int(math.Exp(r.Float64() * 10)) // 22,000 words, by Zipf's law
		b.WriteByte(' ')
		for raw := binary.AppendUvarint(nil, uint64(n)); len(raw) > 0; raw = raw[1:] {
			b.WriteByte("bdfgklmnprstvzhj"[raw[0]&15])
			b.WriteString([]string{"a", "e", "i", "o", "u", "ai", "ou", "ei"}[raw[0]>>4&7])
		}
	}
	return b.String()
}

// BenchmarkLargeServer is what the process of a server holds with 100,000 and with 1,000,000 memories: when it has
// answered one search, after 200, and half a minute later, when the first garbage was collected and the tables were
// compared with the ledger; then after 200 more, and at most. Its iterations are its own: run it with -benchtime 1x.
func BenchmarkLargeServer(b *testing.B) {
	for b.Loop() {
		rows := [][]string{{
			"memories", "first search", "resident", "after 200 searches", "30 s later", "200 more", "at most",
		}}
		for _, n := range []int{100_000, 1_000_000} {
			rows = append(rows, largeServer(b, n))
		}
		b.ReportMetric(0, "ns/op") // the time of a round is meaningless
		b.Log(table(b, rows))
	}
}

// largeServer returns a row of the table.
func largeServer(b *testing.B, n int) []string {
	b.Helper()
	workspace := sample(b)
	grow(b, workspace, n)
	s := connect(b, launch{workspace: workspace})
	held := func(line string) string { return fmt.Sprintf("%.0f MB", statusMB(b, s.cmd.Process.Pid, line)) }
	search := func(from, count int) {
		for i := range count {
			s.search(fmt.Sprintf("Who worked in %s with the %s, and was it %s?", places[i%10], things[i/10%10],
				longChore(2*n+from+i)), nil)
		}
	}
	start := time.Now()
	search(0, 1)
	row := []string{fmt.Sprint(n), fmt.Sprintf("%.1f s", time.Since(start).Seconds()), held("VmRSS:")}
	search(1, 199)
	row = append(row, held("VmRSS:"))
	time.Sleep(30 * time.Second)
	row = append(row, held("VmRSS:"))
	search(200, 200)
	row = append(row, held("VmRSS:"), held("VmHWM:"))
	s.end()
	return row
}

// grow gives a workspace n memories, with their vectors, tables and image.
func grow(b *testing.B, workspace string, n int) {
	b.Helper()
	v := mesh.Open(mesh.Options{
		Dir: filepath.Join(workspace, ".yamo"), Audience: audience.DM(), AgentID: "kate", Embedder: directions{},
	})
	for done := 0; done < n; done += 5_000 {
		memories := make([]record.Memory, 5_000)
		for i := range memories {
			memories[i] = record.Memory{Content: longChore(done + i), SessionID: fmt.Sprint("s", (done+i)/20)}
		}
		if _, err := v.StoreFiles(b.Context(), memories); err != nil {
			b.Fatal(err)
		}
	}
	if err := v.Maintenance().Settle(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	if err := v.Close(context.WithoutCancel(b.Context())); err != nil {
		b.Fatal(err)
	}
}

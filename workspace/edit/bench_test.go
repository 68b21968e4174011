package edit

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// BenchmarkEdit is an edit until it is acknowledged: in the record and in the file, both on disk.
func BenchmarkEdit(b *testing.B) {
	d := newFixture(b, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		q := request("MEMORY.md", grammar.ReplaceSection, "Plans", fmt.Sprintf("plan %d", i))
		begin := time.Now()
		d.edit(e, q)
		times = append(times, time.Since(begin))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkReplay makes files again from their edits: a MEMORY.md of 12,000 characters from 2,000, and a profile,
// whose Change Log grows with each, from 200.
func BenchmarkReplay(b *testing.B) {
	edits := map[string]int{"MEMORY.md": 2000, partFile: 200}
	memory := memoryText + "\n## More\n\n" +
		strings.Repeat("- 2026-01-02: The tomatoes want water in the morning, not at noon.\n", 180)
	texts := map[string]string{"MEMORY.md": memory, partFile: grammar.New(partFile, "2026-01-02T03:04:05Z")}
	for name, section := range map[string]string{"MEMORY.md": "Plans", partFile: "Role"} {
		b.Run(path.Base(name), func(b *testing.B) {
			d := newFixture(b, map[string]string{name: texts[name]})
			e := d.open()
			for i := range edits[name] {
				d.edit(e, request(name, grammar.ReplaceSection, section, fmt.Sprintf("Keeps watch, for the %dth time, at the "+
					"door of the house by the sea.", i)))
			}
			for b.Loop() {
				switch r, err := e.replay(b.Context(), name, ""); {
				case err != nil:
					b.Fatal(err)
				case r.Drift != nil:
					b.Fatal("drift:", r.Drift.Rationale)
				case r.Text != d.read(name):
					b.Fatal("the replayed text is not the file's")
				}
			}
			b.ReportMetric(float64(edits[name]*b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

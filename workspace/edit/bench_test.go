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
	d := newDesk(b, map[string]string{"MEMORY.md": memoryText})
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

// BenchmarkReplay makes files again from 2,000 edits: a MEMORY.md of 12,000 characters, and a profile whose
// Change Log grows with each edit.
func BenchmarkReplay(b *testing.B) {
	const edits = 2000
	memory := memoryText + "\n## More\n\n" + strings.Repeat("- 2026-01-02: The tomatoes want water in the morning, not at noon.\n", 180)
	d := newDesk(b, map[string]string{"MEMORY.md": memory, partFile: grammar.New(partFile, "2026-01-02T03:04:05Z")})
	e := d.open()
	for name, section := range map[string]string{"MEMORY.md": "Plans", partFile: "Role"} {
		for i := range edits {
			d.edit(e, request(name, grammar.ReplaceSection, section, fmt.Sprintf("Keeps watch, for the %dth time, at the door of the house by the sea.", i)))
		}
	}
	for _, name := range []string{"MEMORY.md", partFile} {
		b.Run(path.Base(name), func(b *testing.B) {
			for b.Loop() {
				if r, err := e.replay(b.Context(), name, ""); err != nil || r.Drift != nil || r.Text != d.read(name) {
					b.Fatal(r.Drift, err)
				}
			}
			b.ReportMetric(edits*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

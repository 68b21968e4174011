package integration

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"text/tabwriter"
	"time"
)

// What a host notices of the server, and what was aimed at on an idle development machine.
//
// It is one benchmark whose iterations are its own: a round is 20 starts and 1,000 memories.
func BenchmarkServer(b *testing.B) {
	for b.Loop() {
		var starts []float64 // ms
		var memory []float64 // MB
		for range 20 {
			workspace := sample(b)
			serverBinary(b) // not a part of the first start
			start := time.Now()
			s := connect(b, launch{workspace: workspace})
			starts = append(starts, milliseconds(time.Since(start)))
			readEverything(s) // no embedding in it
			memory = append(memory, residentMB(b, s.cmd.Process.Pid))
			s.end()
		}
		s := connect(b, launch{workspace: sample(b)})
		var stores, searches []float64
		for i := range 1000 {
			start := time.Now()
			s.store(chore(i), nil)
			stores = append(stores, milliseconds(time.Since(start)))
		}
		if got := s.search("warm up", nil); got.Semantic != "on" {
			b.Fatalf("semantic search is %s: are the assets installed?", got.Semantic)
		}
		for i := range 200 {
			start := time.Now()
			s.search(fmt.Sprintf("Who worked in %s with the %s, and was it round %d?", places[i%10], things[i/10%10], i), nil)
			searches = append(searches, milliseconds(time.Since(start)))
		}
		loaded := residentMB(b, s.cmd.Process.Pid)
		var edits []float64
		for i := range 200 {
			start := time.Now()
			call[map[string]any](s, "workspace_edit", map[string]any{
				"file":      "MEMORY.md",
				"section":   "Bench",
				"op":        "append_item",
				"items":     []string{chore(i)},
				"rationale": "measured",
				"create":    true,
			})
			edits = append(edits, milliseconds(time.Since(start)))
		}
		s.end()
		b.ReportMetric(0, "ns/op") // the time of a round is meaningless
		b.Log(table(b, [][]string{
			{"", "p50", "p95", "aim"},
			{"process start to the answer to initialize", ms(starts, 50), ms(starts, 95), "100 ms"},
			{"resident memory before the first embedding", mb(memory, 50), mb(memory, 95), "60 MB"},
			{"memory_store, acknowledged, to 1,000", ms(stores, 50), ms(stores, 95), ""},
			{"memory_search, warm, in 1,000", ms(searches, 50), ms(searches, 95), ""},
			{"workspace_edit, acknowledged, to 200", ms(edits, 50), ms(edits, 95), "10 ms"},
			{"resident memory after the searches", fmt.Sprintf("%.0f MB", loaded), "", ""},
		}))
		b.ReportMetric(percentile(starts, 50), "initialize-ms")
		b.ReportMetric(percentile(memory, 50), "idle-MB")
		b.ReportMetric(percentile(stores, 50), "store-ms")
		b.ReportMetric(percentile(searches, 50), "search-ms")
		b.ReportMetric(percentile(edits, 50), "edit-ms")
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func ms(values []float64, percent int) string {
	return fmt.Sprintf("%.1f ms", percentile(values, percent))
}

func mb(values []float64, percent int) string {
	return fmt.Sprintf("%.0f MB", percentile(values, percent))
}

// percentile is the smallest value that so many percent of the values do not exceed.
func percentile(values []float64, percent int) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)*percent+99)/100-1]
}

// residentMB is how much memory a process has in use, in 10^6 bytes.
func residentMB(b *testing.B, pid int) float64 {
	b.Helper()
	return statusMB(b, pid, "VmRSS:")
}

// statusMB is the size in a line of a process's status, in 10^6 bytes.
func statusMB(b *testing.B, pid int, line string) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if os.IsNotExist(err) {
		b.Skip("resident memory is read from /proc, which is Linux's")
	}
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := bytes.Cut(status, []byte(line))
	fields := bytes.Fields(after)
	if len(fields) == 0 {
		b.Fatalf("no %s in %s", line, status)
	}
	kib, err := strconv.Atoi(string(fields[0]))
	if err != nil {
		b.Fatal(err)
	}
	return float64(kib) * 1024 / 1e6
}

func table(b *testing.B, rows [][]string) string {
	b.Helper()
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, 3, ' ', tabwriter.AlignRight)
	text.WriteString("\n")
	for _, row := range rows {
		for _, cell := range row {
			fmt.Fprintf(w, "%s\t", cell)
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	return text.String()
}

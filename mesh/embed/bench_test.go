package embed

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// residentMB reads this process's resident memory; 0 where there is no /proc.
func residentMB() float64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseFloat(strings.Fields(string(data))[1], 64)
	return pages * float64(os.Getpagesize()) / 1e6
}

// cpuSeconds is the processor time this process has used. On a shared machine it is more reliable than the clock.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// words returns a text of about n tokens, different for each seed.
func words(n, seed int) string {
	vocabulary := strings.Fields("garden harbor window memory deploy coffee budget sister winter meeting server " +
		"violin planet recipe ticket doctor bridge camera school market")
	var b strings.Builder
	for i := range n - 2 {
		b.WriteString(vocabulary[(seed*7+i*(seed%5+1)+i*i)%len(vocabulary)])
		b.WriteByte(' ')
	}
	return b.String()
}

// BenchmarkLocalLoad is the first Embed of a process's embedder, and the memory it takes. Run it by itself:
// memory that an earlier model has freed hides in the second figure.
func BenchmarkLocalLoad(b *testing.B) {
	requireAssets(b)
	for b.Loop() {
		runtime.GC()
		before := residentMB()
		l := NewLocal(Options{})
		if _, err := l.Embed(b.Context(), []string{"hello"}); err != nil {
			b.Fatal(err)
		}
		after := residentMB()
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(before, "MB-before")
		b.ReportMetric(after, "MB-loaded")
	}
}

// BenchmarkLocalEmbed embeds texts of one length in calls of several sizes, with several token budgets.
func BenchmarkLocalEmbed(b *testing.B) {
	requireAssets(b)
	for _, budget := range []int{128, 256, 512, 1024, 4096} {
		l := NewLocal(Options{BatchTokens: budget})
		for _, tokens := range []int{20, 200} {
			for _, call := range []int{1, 8, 32} {
				b.Run(fmt.Sprintf("budget=%d/tokens=%d/call=%d", budget, tokens, call), func(b *testing.B) {
					texts := make([]string, call)
					for i := range texts {
						texts[i] = words(tokens, i)
					}
					if _, err := l.Embed(b.Context(), texts); err != nil {
						b.Fatal(err)
					}
					start, cpu, n := time.Now(), cpuSeconds(), 0
					for b.Loop() {
						if _, err := l.Embed(b.Context(), texts); err != nil {
							b.Fatal(err)
						}
						n += call
					}
					b.ReportMetric(float64(n)/time.Since(start).Seconds(), "texts/s")
					b.ReportMetric(float64(n)/(cpuSeconds()-cpu), "texts/cpu-s")
					b.ReportMetric(residentMB(), "MB")
				})
			}
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

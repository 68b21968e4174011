package when

import (
	"strings"
	"testing"
	"time"
)

// A long text without a period is one sentence, which must not be read again for each phrase that may be in it.
func BenchmarkInText(b *testing.B) {
	now := time.Date(2026, 11, 20, 14, 30, 0, 0, time.UTC)
	for name, text := range map[string]string{
		"words":   strings.Repeat("the quick brown fox jumps over the lazy dog ", 1500),
		"phrases": strings.Repeat("took in 3 weeks ", 4000),
		"days":    strings.Repeat("3 May, ", 9000),
		"short":   "On 17 November we moved the database to Porto, which Ana had planned.",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				InText(text, now)
			}
		})
	}
}

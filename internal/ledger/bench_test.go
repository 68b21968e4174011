package ledger

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// benchDraft is an entry of about 1 KB, as a memory is.
func benchDraft(i int) Draft {
	return Draft{
		Op: "retain", ID: fmt.Sprintf("mem_1767323045678_%06x", i), Block: strings.Repeat("  key;value of the block;\n", 8),
		Data: map[string]any{"content": strings.Repeat("what was said ", 15), "tags": []string{"a", "b"}, "importance": 0.5},
	}
}

// benchLedger is a ledger with n entries.
func benchLedger(b *testing.B, n int) Options {
	b.Helper()
	opt := testOptions(b.TempDir())
	l := New(opt)
	for i := 0; i < n; i += 1000 {
		_, err := l.Append(b.Context(), nil, func(time.Time) ([]Draft, error) {
			var ds []Draft
			for j := range min(1000, n-i) {
				ds = append(ds, benchDraft(i+j))
			}
			return ds, nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return opt
}

func BenchmarkAppend(b *testing.B) {
	for _, relaxed := range []bool{false, true} {
		b.Run(fmt.Sprintf("relaxed=%t", relaxed), func(b *testing.B) {
			l := New(benchLedger(b, 1))
			write := l.Append
			if relaxed {
				write = l.AppendRelaxed
			}
			for i := 0; b.Loop(); i++ {
				if _, err := write(b.Context(), nil, drafts(benchDraft(i))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSync(b *testing.B) {
	const lines = 100_000
	opt := benchLedger(b, lines)
	b.Run("100k", func(b *testing.B) {
		b.SetBytes(fileSize(b, opt.Path))
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			if err := New(opt).Sync(b.Context(), func(Entry) error { n++; return nil }); err != nil || n != lines {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("nothing new", func(b *testing.B) {
		l := New(opt)
		if err := l.Sync(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := l.Sync(b.Context(), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("verify 100k", func(b *testing.B) {
		for b.Loop() {
			r, err := Verify(b.Context(), opt.Path, "private", testKey)
			if err != nil || !r.Intact() {
				b.Fatal(r, err)
			}
			if r.Entries != lines {
				b.Fatalf("%d entries, want %d", r.Entries, lines)
			}
		}
	})
	b.Run("erase in 100k", func(b *testing.B) {
		l := New(opt)
		for i := 0; b.Loop(); i++ {
			if _, err := l.Erase(b.Context(), nil, drafts(Draft{ID: benchDraft(i).ID})); err != nil {
				b.Fatal(err)
			}
		}
	})
}

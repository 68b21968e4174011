package install

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// bar draws a download's progress on a terminal; a nil bar draws nothing.
type bar struct{ b *progressbar.ProgressBar }

// progress starts a bar for size bytes (-1: unknown), or prints a line that a download begins.
func (in *installer) progress(host string, size int64) *bar {
	if !in.Terminal {
		in.printf("  %s: downloading\n", host)
		return nil
	}
	return &bar{progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(in.Out),
		progressbar.OptionSetDescription("  "+host),
		progressbar.OptionShowBytes(true),
		progressbar.OptionSetWidth(24),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

func (b *bar) add(n int) {
	if b != nil {
		_ = b.b.Add(n) // a bar that cannot be drawn is no reason to stop
	}
}

func (b *bar) finish() {
	if b != nil {
		_ = b.b.Clear()
	}
}

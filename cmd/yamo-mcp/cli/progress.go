package cli

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress shows one progress bar at a time, on a terminal only: in a log it would be one line for each step. It is for
// stderr, since stdout has the answer. It is not safe for concurrent use.
type Progress struct {
	out  io.Writer
	name string
	bar  *progressbar.ProgressBar // nil while none is shown
}

// NewProgress returns a Progress that draws on out.
func NewProgress(out io.Writer) *Progress { return &Progress{out: out} }

// Unknown is a total that is not known: the bar counts only.
const Unknown = -1

// Show sets the bar called name to done of total, which may be Unknown. A bar of another name is removed first.
func (p *Progress) Show(name string, done, total int) {
	if !IsTerminal(p.out) {
		return
	}
	if p.bar == nil || p.name != name {
		// A bar that stays would share its line with the next one.
		p.End()
		p.name = name
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription(name),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionClearOnFinish(),
			// Drawn by Show only, and not more often than anyone can see.
			progressbar.OptionSetSpinnerChangeInterval(0), progressbar.OptionThrottle(50*time.Millisecond))
	}
	_ = p.bar.Set(done) // a terminal that cannot be drawn on is no reason to stop
}

// End removes the bar.
func (p *Progress) End() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

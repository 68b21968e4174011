package cli

import (
	"fmt"
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
	rate measured
}

// basis is how long work is measured before its rate and the time that it still needs are shown.
const basis = 2 * time.Second

// measured is the progress since the first call of Show for a bar.
type measured struct {
	since time.Time
	first int // what was done then: an interrupted run has done it before
}

// left returns the time that total needs from now on in words, "" while there is no basis for it.
func (m measured) left(now time.Time, done, total int) string {
	passed := now.Sub(m.since)
	if passed < basis || done <= m.first || total < done {
		return ""
	}
	rest := time.Duration(float64(passed) / float64(done-m.first) * float64(total-done))
	return fmt.Sprintf(" (about %s left)", max(rest, time.Second).Round(time.Second))
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
		p.name, p.rate = name, measured{time.Now(), done}
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription(name),
			progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(),
			// Its own estimate divides by the time since the first tick, which is almost none.
			progressbar.OptionSetPredictTime(false),
			// Drawn by Show only, and not more often than anyone can see.
			progressbar.OptionSetSpinnerChangeInterval(0), progressbar.OptionThrottle(50*time.Millisecond))
	}
	_ = p.bar.Set(done) // a terminal that cannot be drawn on is no reason to stop
	// After Set, since both draw and the first to do so wins.
	if left := p.rate.left(time.Now(), done, total); left != "" {
		p.bar.Describe(name + left)
	}
}

// End removes the bar.
func (p *Progress) End() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

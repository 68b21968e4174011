package main

import (
	"io"

	"github.com/schollz/progressbar/v3"
)

// progress draws one bar after the other, on a terminal only.
type progress struct {
	out      io.Writer
	terminal bool
	name     string
	bar      *progressbar.ProgressBar
}

func newProgress(out io.Writer) *progress { return &progress{out: out, terminal: isTerminal(out)} }

func (p *progress) show(name string, done, total int) {
	if !p.terminal {
		return
	}
	if p.bar == nil || p.name != name {
		p.end()
		p.name = name
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription(name),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionClearOnFinish())
	}
	_ = p.bar.Set(done) // a terminal that cannot be drawn on is no reason to stop
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

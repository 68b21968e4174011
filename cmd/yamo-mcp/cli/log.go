package cli

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"
)

// NewLogger logs to w: as colored text if w is a terminal, as JSON lines otherwise. level is debug, info or warn: there
// is none above warn, so that the notice about an assumed audience cannot be turned off. Hosts collect stderr, and
// their logs are easier to search as JSON.
func NewLogger(w io.Writer, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, err
	}
	if IsTerminal(w) {
		return slog.New(tint.NewTextHandler(w, &tint.Options{Level: l, TimeFormat: time.TimeOnly})), nil
	}
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l})), nil
}

// NewServerLogger is NewLogger for a program that runs for long, and does not wait for w: many hosts do not read what a
// server logs, and a full pipe must not stop it. flush writes what is left, for at most a second.
func NewServerLogger(w io.Writer, level string) (logger *slog.Logger, flush func(), err error) {
	if IsTerminal(w) {
		logger, err = NewLogger(w, level)
		return logger, func() {}, err
	}
	q := newQueue(w)
	logger, err = NewLogger(q, level)
	return logger, func() { q.close(time.Second) }, err
}

// maxQueued is the maximum size of lines that wait to be written, in bytes.
const maxQueued = 1 << 20

// queue writes lines to a writer in the background. Those for which there is no room are counted and lost.
type queue struct {
	w    io.Writer
	wake chan struct{} // has an element while there may be something to write
	done chan struct{} // closed when the writing has ended

	mu     sync.Mutex
	lines  [][]byte
	size   int // of lines, and of those being written
	lost   int
	closed bool
}

func newQueue(w io.Writer) *queue {
	q := &queue{w: w, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go q.run()
	return q
}

// Write implements io.Writer. It never fails, and waits for nothing.
func (q *queue) Write(line []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.size+len(line) > maxQueued {
		q.lost++
		return len(line), nil
	}
	q.lines, q.size = append(q.lines, bytes.Clone(line)), q.size+len(line)
	q.notify()
	return len(line), nil
}

// notify wakes run. q.mu is held.
func (q *queue) notify() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// run writes until the queue is closed and empty.
func (q *queue) run() {
	defer close(q.done)
	for {
		q.mu.Lock()
		lines, lost, closed := q.lines, q.lost, q.closed
		q.lines, q.lost = nil, 0
		q.mu.Unlock()
		if len(lines) == 0 && lost == 0 {
			if closed {
				return
			}
			<-q.wake
			continue
		}
		size := 0
		for _, line := range lines {
			_, _ = q.w.Write(line) // there is nowhere else to report it
			size += len(line)
		}
		if lost > 0 {
			_, _ = fmt.Fprintf(q.w, `{"time":%q,"level":"WARN","msg":"log lines were lost, because stderr was not read",`+
				`"lines":%d}`+"\n", time.Now().Format(time.RFC3339Nano), lost)
		}
		q.mu.Lock()
		q.size -= size
		q.mu.Unlock()
	}
}

// close waits until everything is written, for at most patience. Later lines are lost.
func (q *queue) close(patience time.Duration) {
	q.mu.Lock()
	q.closed = true
	q.notify()
	q.mu.Unlock()
	select {
	case <-q.done:
	case <-time.After(patience):
	}
}

// PrintError prints a line to stderr, for at most a second: a host may not read it.
func PrintError(line string) {
	q := newQueue(os.Stderr)
	_, _ = q.Write([]byte(line + "\n"))
	q.close(time.Second)
}

// IsTerminal reports whether w, an io.Reader or io.Writer, is a terminal.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

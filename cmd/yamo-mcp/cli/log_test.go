package cli

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// gate is a writer that waits until it is open.
type gate struct {
	open chan struct{}

	mu   sync.Mutex
	text bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.Write(p)
}

func (g *gate) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.String()
}

// A server's log waits for nobody, has a bounded size, and tells how many lines were lost.
func TestServerLoggerDoesNotWait(t *testing.T) {
	t.Parallel()
	w := &gate{open: make(chan struct{})}
	logger, flush, err := NewServerLogger(w, "info")
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	logger.Info("first")
	for range 2 * maxQueued / 1000 {
		logger.Info("many", "text", strings.Repeat("x", 1000))
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("logging took %v", took)
	}
	close(w.open)
	flush()
	text := w.String()
	if !strings.Contains(text, `"msg":"first"`) || !strings.Contains(text, `"msg":"log lines were lost`) {
		t.Errorf("the beginning is missing, or what was lost: %.300s … %s", text, text[max(0, len(text)-300):])
	}
	if len(text) > maxQueued+1000 {
		t.Errorf("%d bytes were kept, at most %d may be", len(text), maxQueued)
	}
}

// What is logged before the end is written, and a writer that takes nothing does not keep a program from ending.
func TestServerLoggerEnds(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	logger, flush, err := NewServerLogger(&text, "info")
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		logger.Info("line")
	}
	flush()
	if n := strings.Count(text.String(), `"msg":"line"`); n != 500 {
		t.Errorf("%d lines, want 500", n)
	}
	shut := &gate{open: make(chan struct{})}
	defer close(shut.open)
	if logger, flush, err = NewServerLogger(shut, "info"); err != nil {
		t.Fatal(err)
	}
	logger.Info("line")
	begun := time.Now()
	if flush(); time.Since(begun) > 10*time.Second {
		t.Errorf("the end took %v", time.Since(begun))
	}
}

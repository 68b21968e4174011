package install

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/assets"
)

func TestTwoAtOnce(t *testing.T) {
	var mu sync.Mutex
	requests := 0
	waiting := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		requests++
		mu.Unlock()
		<-waiting
		_, _ = w.Write([]byte("the model"))
	})
	dir := t.TempDir()
	files := []assets.File{file("the model", fromURL(url+"/m"))}
	outs := [2]*notifying{{said: make(chan struct{})}, {said: make(chan struct{})}}
	var wg sync.WaitGroup
	for _, out := range outs {
		wg.Go(func() {
			if err := Run(context.Background(), Options{Dir: dir, Files: files, Out: out, Timeouts: patient}); err != nil {
				t.Error(err)
			}
		})
	}
	select { // one of them waits for the other
	case <-outs[0].said:
	case <-outs[1].said:
	case <-time.After(giveUp):
		t.Error("no process waited")
	}
	close(waiting)
	wg.Wait()
	if requests != 1 {
		t.Errorf("%d downloads, want 1", requests)
	}
	wantOutput(t, outs[0].b.String()+outs[1].b.String(), "waiting for it", "present", "installed")
}

// notifying is a buffer that closes said when a run reports that it waits.
type notifying struct {
	b    bytes.Buffer
	said chan struct{}
}

func (n *notifying) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "waiting") {
		close(n.said)
	}
	return n.b.Write(p)
}

func TestWaitingForTheLockCanBeInterrupted(t *testing.T) {
	dir := t.TempDir()
	unlock, err := lock(t.Context(), dir, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := Run(ctx, Options{Dir: dir, Out: &bytes.Buffer{}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v", err)
	}
}

package ledger

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
)

const childEnv = "LEDGER_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func processOptions(dir string) Options {
	opt := testOptions(dir)
	opt.Now = nil
	opt.Key = func(bool) ([]byte, error) { return LoadOrCreateKey(filepath.Join(dir, "key"), slog.Default()) }
	return opt
}

// child is a process that appends and erases until it is killed, and prints on stdout what was acknowledged.
func child(dir string) error {
	r := newReader(processOptions(dir))
	known := map[string]bool{}
	last := int64(0)
	apply := func(e Entry) error {
		if e.Seq != last+1 {
			return fmt.Errorf("entry %d delivered after %d", e.Seq, last)
		}
		last = e.Seq
		known[e.ID] = true
		return nil
	}
	for i := 0; ; i++ {
		own, common := fmt.Sprintf("own_%d_%d", os.Getpid(), i), fmt.Sprintf("common_%d", i)
		entries, err := r.Append(context.Background(), apply, func(time.Time) ([]Draft, error) {
			ids := []string{own}
			if !known[common] {
				ids = append(ids, common) // what another process has written is not written again
			}
			return retain(ids...), nil
		})
		if err != nil {
			return err
		}
		for _, e := range entries {
			if _, err := fmt.Println("stored", e.ID); err != nil {
				return err
			}
		}
		switch i % 7 {
		case 3:
			if _, err := r.Erase(context.Background(), apply, drafts(Draft{ID: own})); err != nil {
				return err
			}
			if _, err := fmt.Println("erased", own); err != nil {
				return err
			}
		case 5:
			if err := r.Sync(context.Background(), apply); err != nil {
				return err
			}
		}
	}
}

// promises are what the children said.
type promises struct {
	mu             sync.Mutex
	stored, erased []string
}

// read notes what a child says, and calls then after a number of lines, if that is not 0.
func (p *promises) read(out io.Reader, after int, then func()) error {
	lines := bufio.NewReader(out)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return nil // what has no newline was not said
		}
		if err != nil {
			return err
		}
		if n == after {
			go then()
		}
		verb, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		p.mu.Lock()
		switch verb {
		case "stored":
			p.stored = append(p.stored, id)
		case "erased":
			p.erased = append(p.erased, id)
		}
		p.mu.Unlock()
	}
}

// lifetimes starts a child n times and kills each: one at an early moment, then after it has promised more and more.
func (p *promises) lifetimes(t *testing.T, dir string, n int, random *rand.Rand) {
	for round := range n {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+dir)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Error(err)
			return
		}
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return
		}
		pause := time.Duration(random.Int64N(int64(20 * time.Millisecond)))
		kill := func() {
			time.Sleep(pause)
			_ = cmd.Process.Kill()
		}
		if round == 0 {
			go kill()
		}
		if err := p.read(out, 3*round, kill); err != nil {
			t.Error(err)
		}
		err = cmd.Wait()
		if err == nil || stderr.Len() > 0 {
			t.Errorf("a child ended by itself: %v, %s", err, stderr.String())
		}
	}
}

// Processes that write to one ledger and are killed at any moment lose nothing they were promised,
// write nothing twice, keep no content they were told is erased, and leave a chain that verifies. These are 216 kills,
// and 10,008 in full size; the moments are drawn from seeds, one for each ledger and process.
func TestProcessesKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	for ledger := range testsize.Pick(9, 417) {
		t.Run(strconv.Itoa(ledger), func(t *testing.T) { killedAtAnyMoment(t, uint64(ledger)) })
	}
}

func killedAtAnyMoment(t *testing.T, seed uint64) {
	dir := t.TempDir()
	var p promises
	var wg sync.WaitGroup
	for process := range uint64(3) {
		wg.Go(func() { p.lifetimes(t, dir, 8, rand.New(rand.NewPCG(seed, process))) })
	}
	wg.Wait()

	opt := processOptions(dir)
	r := newReader(opt)
	r.sync(t)
	r.add(t, "mem_last") // a write that was cut short does not stop later ones
	stored, erased, deleted := map[string]int{}, map[string]bool{}, 0
	for _, e := range r.got {
		if e.Op == OpDelete {
			deleted++
			continue
		}
		stored[e.ID]++
		erased[e.ID] = e.Erased
	}
	for id, n := range stored {
		if n > 1 {
			t.Errorf("%s is stored %d times", id, n)
		}
	}
	for _, id := range p.stored {
		if stored[id] == 0 {
			t.Errorf("%s was promised and is lost", id)
		}
	}
	raw := contents(t, dir)
	for _, id := range p.erased {
		if !erased[id] || strings.Contains(raw, "of "+id+`"`) {
			t.Errorf("%s was erased and is still there", id)
		}
	}
	if len(p.stored) < 50 || len(p.erased) == 0 {
		t.Errorf("only %d stored and %d erased: the children hardly lived", len(p.stored), len(p.erased))
	}
	key, err := LoadOrCreateKey(filepath.Join(dir, "key"), slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	report, err := Verify(t.Context(), opt.Path, "private", key)
	if err != nil || !report.Intact() {
		t.Errorf("verify: %+v, %v", report, err)
	}
	if report.Entries != int64(len(r.got)) {
		t.Errorf("%d entries verified, want %d", report.Entries, len(r.got))
	}
	t.Logf("%d entries, %d promised, %d erasures, %d of them promised", len(r.got), len(p.stored), deleted, len(p.erased))
}

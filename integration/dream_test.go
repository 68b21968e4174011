package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
)

// dreamer is a workspace with memories that are recalled often, as sweeps are to find it.
type dreamer struct {
	tb  testing.TB
	dir string
	ids map[string]string // of the memories, by content
}

// dreaming is a workspace of which a sweep promotes some memories, and a second one the rest.
func dreaming(t *testing.T) dreamer {
	t.Helper()
	d := dreamer{t, sample(t), map[string]string{}}
	s := connect(t, launch{workspace: d.dir})
	for i := range 12 {
		content := fmt.Sprintf("Mira keeps tool number %d of %s in drawer %d", i, newCanary(fmt.Sprint(i)).secret, i*7)
		d.ids[content] = s.store(content, nil).ID
	}
	for content := range d.ids {
		s.search(content, map[string]any{"type": "global"})
	}
	s.end()
	return d
}

// copied is the same workspace at another place.
func (d dreamer) copied(t *testing.T) dreamer {
	t.Helper()
	from := d.dir
	d.tb, d.dir = t, filepath.Join(t.TempDir(), "kate")
	if err := os.CopyFS(d.dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d dreamer) command(args ...string) *exec.Cmd {
	cmd := exec.Command(serverBinary(d.tb), append(args, "--workspace", d.dir)...)
	cmd.Env = launch{}.environment()
	return cmd
}

func (d dreamer) output(args ...string) string {
	d.tb.Helper()
	cmd := d.command(args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		d.tb.Fatalf("%q: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

var dreamThresholds = []string{"dream", "--dream-min-score", "0.1", "--dream-min-hits", "1", "--dream-min-days", "1"}

// settled sweeps until nothing is left to promote, and checks that everything was promoted once, and that all books
// agree.
func (d dreamer) settled() {
	d.tb.Helper()
	for sweeps := 1; !strings.HasSuffix(d.output(dreamThresholds...), "nothing promoted\n"); sweeps++ {
		if sweeps > 2 {
			d.tb.Fatal("two sweeps do not promote everything")
		}
	}
	text := d.read("MEMORY.md")
	diary := d.read("DREAMS.md")
	for content, id := range d.ids {
		if n := len(regexp.MustCompile(
			`(?m)^- [-0-9]+: `+regexp.QuoteMeta(content)+` _\(score=0\.[0-9]{2}, hits=[0-9]+, days=1\)_$`,
		).FindAllString(text, -1)); n != 1 {
			d.tb.Errorf("%q is in MEMORY.md %d times", content, n)
		}
		if n := strings.Count(diary, id); n != 1 {
			d.tb.Errorf("%s is in DREAMS.md %d times", id, n)
		}
	}
	if n := strings.Count(text, "_(score="); n != len(d.ids) {
		d.tb.Errorf("MEMORY.md has %d promoted items of %d", n, len(d.ids))
	}
	// The record of edits.
	var events []struct {
		ID       string   `json:"event_id"`
		Op       string   `json:"op"`
		RefersTo string   `json:"refers_to"`
		Evidence []string `json:"evidence_refs"`
	}
	if err := json.Unmarshal([]byte(d.output("history", "MEMORY.md", "--json")), &events); err != nil {
		d.tb.Fatal(err)
	}
	undone, promoted := map[string]bool{}, map[string]int{}
	for _, e := range events {
		undone[e.RefersTo] = undone[e.RefersTo] || e.Op == "undone"
	}
	for _, e := range events {
		for _, token := range e.Evidence {
			if !undone[e.ID] {
				promoted[token]++
			}
		}
	}
	if len(promoted) != len(d.ids) {
		d.tb.Errorf("the record has %d promoted memories of %d", len(promoted), len(d.ids))
	}
	for token, n := range promoted {
		if n != 1 {
			d.tb.Errorf("%s was promoted %d times", token, n)
		}
	}
	d.output("record", "verify")
	for _, name := range []string{"MEMORY.md", "DREAMS.md"} {
		if replayed := d.output("replay", name); replayed != d.read(name) {
			d.tb.Errorf("%s is\n%s\nand is replayed as\n%s", name, d.read(name), replayed)
		}
	}
	s := connect(d.tb, launch{workspace: d.dir})
	stats := call[struct {
		Promoted int   `json:"memories_promoted"`
		Last     int64 `json:"last_dream_ts"`
	}](s, "my_stats", nil)
	s.end()
	headings := regexp.MustCompile(`(?m)^## Dreamed ([0-9-]{10} [0-9:]{5}) UTC$`).FindAllStringSubmatch(text, -1)
	last, err := time.Parse("2006-01-02 15:04", headings[len(headings)-1][1])
	if err != nil {
		d.tb.Fatal(err)
	}
	if stats.Promoted != len(d.ids) {
		d.tb.Errorf("my_stats: %d promoted, want %d", stats.Promoted, len(d.ids))
	}
	if stats.Last != last.Unix() {
		d.tb.Errorf("my_stats: the last dream was at %d, want %d", stats.Last, last.Unix())
	}
}

func (d dreamer) read(name string) string {
	d.tb.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		d.tb.Fatal(err)
	}
	return string(data)
}

// killedAt starts a sweep and kills it when it has changed something in the workspace's folders n times. It reports
// whether the sweep came to its end before.
func (d dreamer) killedAt(n int) (ended bool) {
	d.tb.Helper()
	w, err := fsnotify.NewWatcher()
	if err != nil {
		d.tb.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	for _, folder := range []string{".", ".yamo/private", ".yamo/locks"} {
		if err := w.Add(filepath.Join(d.dir, folder)); err != nil {
			d.tb.Fatal(err)
		}
	}
	cmd := d.command(dreamThresholds...)
	if err := cmd.Start(); err != nil {
		d.tb.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case err := <-done:
			if err != nil {
				d.tb.Fatal(err)
			}
			return true
		case <-w.Events:
			if n--; n == 0 {
				_ = cmd.Process.Kill()
				return <-done == nil
			}
		}
	}
}

// Wherever a sweep is killed, the next ones promote each memory once, and all books agree.
func TestKilledSweepsPromoteOnce(t *testing.T) {
	t.Parallel()
	step := testsize.Pick(3, 1) // all changes, or one of three
	origin := dreaming(t)
	killed := 0
	// On a busy machine a sweep can end before the news of its n-th change arrives here, so it is tried again.
	for n, attempts := 1, 0; attempts < 5; attempts++ {
		d := origin.copied(t)
		if d.killedAt(n) {
			continue
		}
		killed++
		d.killedAt(1 + n/2) // also the one that tidies up
		d.settled()
		if t.Failed() {
			t.Fatalf("after a kill at change %d", n)
		}
		n, attempts = n+step, -1
	}
	if killed*step < 8 {
		t.Errorf("only %d sweeps were killed", killed)
	}
}

// Sweeps of several processes at once, some of which are killed, promote each memory once.
func TestSweepsOfSeveralProcesses(t *testing.T) {
	t.Parallel()
	rounds := testsize.Pick(4, 8)
	random := rand.New(rand.NewPCG(7, 11))
	origin := dreaming(t)
	for round := range rounds {
		d := origin.copied(t)
		var sweeps sync.WaitGroup
		for i := range 3 {
			cmd := d.command(dreamThresholds...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if round%2 == 1 && i > 0 {
				time.AfterFunc(time.Duration(random.IntN(300))*time.Millisecond, func() { _ = cmd.Process.Kill() })
			}
			sweeps.Go(func() {
				if err := cmd.Wait(); err != nil && round%2 == 0 {
					t.Error(err)
				}
			})
		}
		sweeps.Wait()
		d.settled()
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

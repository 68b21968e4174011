package embed

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/assets"
)

// reference is one row of testdata/reference.json.
type reference struct {
	Name   string
	Text   string
	Tokens int // with the two framing tokens, before truncation
	Vector []float32
}

//go:embed testdata/reference.json
var referenceJSON []byte

func references(t *testing.T) []reference {
	t.Helper()
	var rows []reference
	if err := json.Unmarshal(referenceJSON, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// shared is one loaded model for all tests that need no state of their own.
var shared = sync.OnceValue(func() *Local { return NewLocal(Options{}) })

// requireAssets fails, and does not skip: a build whose vectors were not compared is not tested.
func requireAssets(t testing.TB) assets.Paths {
	t.Helper()
	paths, err := assets.Locate(os.Getenv)
	if err != nil {
		t.Fatalf("%v\nthe tests need the real model: run make setup", err)
	}
	return paths
}

func difference(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	var most float64
	for i := range a {
		most = max(most, math.Abs(float64(a[i]-b[i])))
	}
	return most
}

func TestLocalAgreesWithSentenceTransformers(t *testing.T) {
	requireAssets(t)
	rows := references(t)
	var texts []string
	for _, r := range rows {
		texts = append(texts, r.Text)
	}
	together, err := shared().Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	var worst float64
	for i, r := range rows {
		t.Run(r.Name, func(t *testing.T) {
			single, err := shared().Embed(t.Context(), []string{r.Text})
			if err != nil {
				t.Fatal(err)
			}
			for how, v := range map[string][]float32{"alone": single[0], "in a batch": together[i]} {
				d := difference(v, r.Vector)
				if d > 1e-4 {
					t.Errorf("%s: differs by %g", how, d)
				}
				worst = max(worst, d)
			}
			tok, _, err := shared().loaded()
			if err != nil {
				t.Fatal(err)
			}
			ids, err := tok.encode(r.Text)
			if err != nil {
				t.Fatal(err)
			}
			if len(ids) != r.Tokens {
				t.Errorf("%d tokens, want %d", len(ids), r.Tokens)
			}
		})
	}
	t.Logf("largest difference %.1e", worst)
}

// SECURITY: a caller of one lane does not wait for a batch of another one; callers of the same do.
func TestLanes(t *testing.T) {
	requireAssets(t)
	first, second := shared().Lane(), shared().Lane()
	first.turn <- struct{}{} // a batch is running
	if _, err := second.Embed(t.Context(), []string{"a text"}); err != nil {
		t.Error(err)
	}
	waiting, stop := context.WithCancel(t.Context())
	stop()
	if _, err := first.Embed(waiting, []string{"another text"}); !errors.Is(err, context.Canceled) {
		t.Errorf("in the same lane: %v", err)
	}
	<-first.turn
	if _, err := first.Embed(t.Context(), []string{"another text"}); err != nil {
		t.Error(err)
	}
}

func TestLocalUnitLengthInOrder(t *testing.T) {
	requireAssets(t)
	rng := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for range 60 {
		texts = append(texts, strings.Repeat("word and number ", rng.IntN(30))+fmt.Sprint(rng.IntN(1000)))
	}
	vectors, err := shared().Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 17, 59} {
		one, err := shared().Embed(t.Context(), texts[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(one[0], vectors[i]); d > 1e-5 {
			t.Errorf("vector %d is not that of text %d: differs by %g", i, i, d)
		}
	}
	for i, v := range vectors {
		var sum float64
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Errorf("vector %d has squared length %v", i, sum)
		}
	}
}

// A NUL must not hide what follows it, and broken UTF-8 must not crash.
func TestLocalOddTexts(t *testing.T) {
	requireAssets(t)
	texts := []string{"the cat\x00 sleeps", "the cat sleeps", "the cat", "bro\xffken \xc3", strings.Repeat("\x00", 9)}
	v, err := shared().Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if d := difference(v[0], v[1]); d > 1e-5 {
		t.Errorf("a NUL changed the vector by %g", d)
	}
	if d := difference(v[0], v[2]); d < 1e-3 {
		t.Errorf("the text was cut at its NUL")
	}
}

// Only the first 256 tokens count, however the text is tokenized: from its head, or whole because its
// head is mostly spaces.
func TestLocalTruncation(t *testing.T) {
	requireAssets(t)
	words := strings.Repeat("seven wise men went to sea in a bowl ", 40)
	spaced := strings.Repeat(" ", 2*headBytes) + words
	han := strings.Repeat("海", 400)
	texts := []string{
		words, words + strings.Repeat("and more ", 10000), spaced,
		han, han + strings.Repeat("山", 20000),
	}
	v, err := shared().Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]int{{0, 1}, {0, 2}, {3, 4}} {
		if d := difference(v[pair[0]], v[pair[1]]); d > 1e-5 {
			t.Errorf("texts %v differ by %g", pair, d)
		}
	}
}

func TestLocalLoadsNothingBeforeUse(t *testing.T) {
	located := 0
	l := NewLocal(Options{Locate: func() (assets.Paths, error) {
		located++
		return assets.Paths{}, assets.ErrMissing
	}})
	if got := l.Model(); got != (Model{"all-MiniLM-L6-v2", 384}) {
		t.Errorf("Model = %v", got)
	}
	if v, err := l.Embed(t.Context(), nil); v != nil || err != nil {
		t.Errorf("Embed(nil) = %v, %v", v, err)
	}
	if located != 0 {
		t.Fatal("the files were looked for before there was a text to embed")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestLocalWithoutAssetsThenWith(t *testing.T) {
	paths := requireAssets(t)
	missing := true
	l := NewLocal(Options{Locate: func() (assets.Paths, error) {
		if missing {
			return assets.Paths{}, fmt.Errorf("model %w", assets.ErrMissing)
		}
		return paths, nil
	}})
	_, err := l.Embed(t.Context(), []string{"x"})
	if !errors.Is(err, ErrNoAssets) || !strings.Contains(err.Error(), "yamo-mcp setup") {
		t.Errorf("Embed: %v, want ErrNoAssets that names the command", err)
	}
	missing = false
	if _, err := l.Embed(t.Context(), []string{"x"}); err != nil {
		t.Errorf("Embed after the installation: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Embed(t.Context(), []string{"x"}); !errors.Is(err, ErrClosed) {
		t.Errorf("Embed after Close: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestLocalDamagedAssets(t *testing.T) {
	paths := requireAssets(t)
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("not what it should be"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*assets.Paths){
		"tokenizer": func(p *assets.Paths) { p.Tokenizer = bad },
		"model":     func(p *assets.Paths) { p.Model = bad },
	} {
		t.Run(name, func(t *testing.T) {
			p := paths
			change(&p)
			l := NewLocal(Options{Locate: func() (assets.Paths, error) { return p, nil }})
			defer l.Close() //nolint:errcheck // a test
			_, err := l.Embed(t.Context(), []string{"x"})
			if err == nil || !strings.Contains(err.Error(), "load the") {
				t.Errorf("err = %v, want what could not be loaded", err)
			}
			if errors.Is(err, ErrNoAssets) {
				t.Errorf("%v counts as not installed", err)
			}
		})
	}
}

func TestLocalCancel(t *testing.T) {
	requireAssets(t)
	if _, err := shared().Embed(t.Context(), []string{"warm up"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := shared().Embed(ctx, []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	// A caller that waits for its turn can be cancelled too.
	shared().turn <- struct{}{}
	defer func() { <-shared().turn }()
	ctx, cancel = context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := shared().Embed(ctx, []string{"x"})
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// Several embedders start at once and are used from several goroutines: the library's global state
// must be set up once.
func TestLocalConcurrent(t *testing.T) {
	requireAssets(t)
	want, err := shared().Embed(t.Context(), []string{"the same"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 2 {
		l := NewLocal(Options{Threads: 1})
		for range 3 {
			wg.Go(func() {
				got, err := l.Embed(context.Background(), []string{"the same", "and another"})
				if err != nil {
					t.Error(err)
					return
				}
				if d := difference(got[0], want[0]); d > 1e-5 {
					t.Errorf("differs by %g", d)
				}
			})
		}
		t.Cleanup(func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// stdout carries protocol, so the native libraries must stay silent, in success and in failure. The test
// runs itself as a process whose whole output can be compared.
func TestLocalPrintsNothing(t *testing.T) {
	paths := requireAssets(t)
	if os.Getenv("EMBED_SILENT") != "" {
		bad := filepath.Join(t.TempDir(), "bad.onnx") // passes the reader of names, not the library
		if err := os.WriteFile(bad, testModel(), 0o600); err != nil {
			t.Fatal(err)
		}
		broken := paths
		broken.Model = bad
		if _, err := NewLocal(Options{Locate: func() (assets.Paths, error) { return broken, nil }}).Embed(t.Context(),
			[]string{"x"}); err == nil {
			t.Error("a broken model was loaded")
		}
		if _, err := shared().Embed(t.Context(), []string{"x"}); err != nil {
			t.Error(err)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestLocalPrintsNothing$") // #nosec G204 -- this test itself
	cmd.Env = append(os.Environ(), "EMBED_SILENT=1")
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "PASS\n" {
		t.Errorf("%v, printed %q", err, out)
	}
}

func TestBatches(t *testing.T) {
	for _, test := range []struct {
		name    string
		lengths []int
		budget  int
		want    [][]int
	}{
		{"none", nil, 100, nil},
		{"sorted, within the budget", []int{10, 8, 9}, 30, [][]int{{1, 2, 0}}},
		{"budget counts the padding", []int{10, 8, 9}, 29, [][]int{{1, 2}, {0}}},
		{"one may exceed it", []int{200, 3}, 100, [][]int{{1}, {0}}},
		{"similar lengths only", []int{4, 10, 9, 8}, 1000, [][]int{{0, 3, 2}, {1}}},
		{"equal lengths stay in order", []int{5, 5, 5}, 10, [][]int{{0, 1}, {2}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var sequences [][]int64
			for _, n := range test.lengths {
				sequences = append(sequences, make([]int64, n))
			}
			if diff := cmp.Diff(test.want, batches(sequences, test.budget)); diff != "" {
				t.Error(diff)
			}
		})
	}
	many := make([][]int64, 3*maxBatch-1)
	if got := len(batches(many, 1<<20)); got != 3 {
		t.Errorf("%d batches for %d short texts, want 3", got, len(many))
	}
}

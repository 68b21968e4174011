package mesh

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(jobEnv); job != "" {
		if err := child(job, os.Getenv(dirEnv)); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if local.model != nil {
		code = max(code, exitCode(local.model.Close()))
	}
	os.Exit(code)
}

func exitCode(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

var local struct {
	once  sync.Once
	model *embed.Local
	err   error
}

// model is the real model, loaded once for all tests.
func model(t testing.TB) index.Embedder {
	t.Helper()
	local.once.Do(func() {
		local.model = embed.NewLocal(embed.Options{})
		_, local.err = local.model.Embed(context.Background(), []string{"ready"})
	})
	if local.err != nil {
		t.Fatalf("%v: run make setup", local.err)
	}
	return local.model
}

// giveUp is how long a test waits for what must happen.
const giveUp = 2 * time.Minute

const wordsDim = 64

// words is an embedder for tests that are not about meaning: a text's vector is the sum of its words'
// random ones. It counts texts, and can be told to fail or to be slow.
type words struct {
	texts atomic.Int64
	fail  atomic.Pointer[error]
	delay time.Duration
}

func (w *words) Model() embed.Model { return embed.Model{Name: "words", Dim: wordsDim} }

func (w *words) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if err := w.fail.Load(); err != nil {
		return nil, *err
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		select {
		case <-time.After(w.delay):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		vectors[i] = wordVector(text)
	}
	w.texts.Add(int64(len(texts)))
	return vectors, nil
}

func wordVector(text string) []float32 {
	v := make([]float32, wordsDim)
	for _, word := range strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(word))
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		for i := range v {
			v[i] += float32(r.NormFloat64())
		}
	}
	v[0] += 1e-3 // a text without words has a direction too
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func group(t testing.TB, name string) audience.Audience {
	t.Helper()
	a, err := audience.Group(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// open opens dir's memory and closes it with the test.
func open(t testing.TB, dir string, a audience.Audience, e index.Embedder) *View {
	t.Helper()
	v := Open(Options{Dir: filepath.Join(dir, ".yamo"), Audience: a, AgentID: "tester", Embedder: e, Logger: testLog(t)})
	t.Cleanup(func() {
		if err := v.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return v
}

func testLog(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

type testWriter struct{ testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// keep stores m, in the audience's own compartment unless another is given.
func keep(t testing.TB, v *View, m record.Memory, to ...record.Visibility) Stored {
	t.Helper()
	s, err := v.Store(context.Background(), m, append(to, "")[0])
	if err != nil {
		t.Fatalf("store: %v", err)
	}
	return s
}

func search(t testing.TB, v *View, q SearchRequest) Found {
	t.Helper()
	found, err := v.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("search %q: %v", q.Query, err)
	}
	return found
}

// settle waits until everything v sees has its vector and its row.
func settle(t testing.TB, v *View) {
	t.Helper()
	ctx := context.Background()
	stores, _, err := v.compartments(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range stores {
		if c.untouched() {
			continue
		}
		err := c.index.Update(ctx)
		if err != nil {
			t.Fatalf("settle %s: %v", c.Visibility, err)
		}
	}
}

func contents(hits []record.Hit) []string {
	list := make([]string, len(hits))
	for i, h := range hits {
		list[i] = h.Content
	}
	return list
}

// wantFault fails unless err is a fault whose text has all of parts.
func wantFault(t testing.TB, err error, parts ...string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok {
		t.Errorf("error %v, want a fault with %q", err, parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(f.Error(), part) {
			t.Errorf("fault %q lacks %q", f.Error(), part)
		}
	}
}

// onDisk lists the files below dir that hold text.
func onDisk(t testing.TB, dir, text string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file
		}
		if strings.Contains(string(raw), text) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// tree lists everything below dir.
func tree(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func logger(w *strings.Builder) *slog.Logger {
	return slog.New(slog.NewTextHandler(&lockedWriter{w: w}, nil))
}

type lockedWriter struct {
	mu sync.Mutex
	w  *strings.Builder
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

package lance

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The test binary, started with this variable, is another process over the folder it names. It reads
// commands from standard input and answers each with one line.
const childEnv = "LANCE_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := child(dir, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func child(dir string, in io.Reader, out io.Writer) error {
	db := Open(dir, testModel, Options{})
	ctx := context.Background()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var answer any
		var err error
		var from, n int
		switch command, rest, _ := strings.Cut(lines.Text(), " "); command {
		case "add":
			if _, err = fmt.Sscan(rest, &from, &n); err == nil {
				err = db.AddMemories(ctx, someMemories(testRNG(), from, n, testDim))
			}
		case "delete":
			err = db.DeleteMemories(ctx, strings.Fields(rest))
		case "compact":
			err = db.Compact(ctx)
		case "ids":
			answer, err = sortedIDs(ctx, db)
		default:
			err = errors.ErrUnsupported
		}
		if err != nil {
			return err
		}
		line, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\n", line); err != nil {
			return err
		}
	}
	return errors.Join(lines.Err(), db.Close())
}

// process is a running child.
type process struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
}

func startChild(t *testing.T, dir string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), exe)
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Error("child:", err)
		}
	})
	return p
}

func (p *process) do(format string, args ...any) string {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		p.t.Fatal(err)
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatal("child:", err)
	}
	return line
}

func (p *process) ids() (ids []string) {
	p.t.Helper()
	if err := json.Unmarshal([]byte(p.do("ids")), &ids); err != nil {
		p.t.Fatal(err)
	}
	return ids
}

// Each process sees at its next read what the other has written, deleted and compacted.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "lance")
	db := openTest(t, dir, testModel)
	other := startChild(t, dir)
	same := func(want []string) {
		t.Helper()
		if diff := cmp.Diff(want, mustIDs(t, db)); diff != "" {
			t.Fatalf("this process (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, other.ids()); diff != "" {
			t.Fatalf("the other process (-want +got):\n%s", diff)
		}
	}
	var want []string
	add := func(from, n int) {
		for i := from; i < from+n; i++ {
			want = append(want, memoryID(i))
		}
	}
	if got := other.ids(); len(got) != 0 {
		t.Fatalf("ids before the first write: %q", got)
	}
	for i := range 30 { // quick alternation: commits within one tick of the file system's clock
		if i%2 == 0 {
			mustAdd(t, db, someMemories(testRNG(), i*5, 6, testDim)) // the sixth is the other's first
		} else {
			other.do("add %d 6", i*5)
		}
		add(i*5, 5)
		same(append(slices.Clone(want), memoryID((i+1)*5)))
	}
	want = append(want, memoryID(150))
	other.do("compact")
	same(want)
	other.do("delete %s", strings.Join(want[:7], " "))
	same(want[7:])
	mustCompact(t, db)
	same(want[7:])
	other.do("add 500 3")
	want = want[7:]
	add(500, 3)
	same(want)
	if err := db.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	same([]string{})
	other.do("add 0 2")
	same([]string{memoryID(0), memoryID(1)})
}

// The ids that a fill keeps are not taken for those of a table that another process, or a deletion, has changed since.
func TestFillAmongOtherChanges(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "lance")
	db := openTest(t, dir, testModel)
	other := startChild(t, dir)
	rows := someMemories(testRNG(), 0, 9_000, testDim)
	known := func(want int) {
		t.Helper()
		h, err := db.table(t.Context(), memoryTable)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(h.ids); got != want {
			t.Errorf("%d ids are kept, want %d", got, want)
		}
		if err := h.release(); err != nil {
			t.Error(err)
		}
	}
	mustAdd(t, db, rows[:3_000])
	mustAdd(t, db, rows[2_000:5_000])
	mustAdd(t, db, rows[4_990:5_010]) // a few, too
	known(5_010)
	other.do("add 5010 3")
	mustAdd(t, db, rows[:6_000])
	known(6_000)
	if err := db.DeleteMemories(t.Context(), idsOf(rows[10:20])); err != nil {
		t.Fatal(err)
	}
	known(0)
	mustAdd(t, db, rows[:6_500])
	mustCompact(t, db)
	known(0)
	other.do("add 6500 20")
	mustAdd(t, db, rows)
	db.Filled()
	known(0)
	want := idsOf(rows)
	if diff := cmp.Diff([][]string{want, want}, [][]string{mustIDs(t, db), other.ids()}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	mustCount(t, db, len(rows))
}

// Two processes that find the same damaged head do not take each other's commits back.
func TestTwoProcessesRecover(t *testing.T) {
	t.Parallel()
	dir, table, rows := damageable(t)
	_, path := newestManifest(t, table)
	overwrite(t, path, damages["empty"])
	other := startChild(t, dir)
	db := openTest(t, dir, testModel)
	read := make(chan []string)
	go func() { read <- other.ids() }()
	got := mustIDs(t, db)
	if diff := cmp.Diff([][]string{idsOf(rows[:20]), idsOf(rows[:20])}, [][]string{got, <-read}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	mustAdd(t, db, rows)
	if diff := cmp.Diff(idsOf(rows), other.ids()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A table that was dropped and made again with the same number of commits is not taken for the old one.
func TestDropAndRebuildIsNoticed(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	reader := openTest(t, db.dir, testModel)
	for i := range 3 {
		mustAdd(t, db, someMemories(testRNG(), i, 1, testDim))
		if diff := cmp.Diff([]string{memoryID(i)}, mustIDs(t, reader)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if err := db.Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// sortedIDs returns the ids in the table, each once.
func sortedIDs(ctx context.Context, db *DB) (ids []string, err error) {
	err = db.IDs(ctx, func() func(string) {
		ids = []string{}
		return func(id string) { ids = append(ids, id) }
	})
	slices.Sort(ids)
	return slices.Compact(ids), err
}

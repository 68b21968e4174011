package mesh

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// The test binary runs itself again as another process over the same workspace: jobEnv names the job.
const (
	jobEnv = "MESH_TEST_JOB"
	dirEnv = "MESH_TEST_DIR"
)

// child does one job in dir.
func child(job, dir string) error {
	ctx := context.Background()
	v := Open(Options{
		Dir: filepath.Join(dir, ".yamo"), Audience: audience.DM(), AgentID: "child", Embedder: new(words),
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	switch job {
	case "serve": // "store TEXT" and "search TEXT", a line each, answered by a line
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			verb, text, _ := strings.Cut(lines.Text(), " ")
			answer, err := serve(ctx, v, verb, text)
			if err != nil {
				return err
			}
			fmt.Println(answer)
		}
	case "distill":
		for range 100 {
			l, err := v.Distill(ctx, sampleLesson())
			if err != nil {
				return err
			}
			fmt.Println(l.LessonID)
		}
	case "cycle":
		if _, err := v.RunCycle(ctx, false); err != nil {
			return err
		}
	case "ingest":
		if err := ingestChild(ctx, v); err != nil {
			return err
		}
	case "flood": // until killed: the text of each acknowledged memory
		for i := 0; ; i++ {
			text := fmt.Sprintf("process %d noted item %d", os.Getpid(), i)
			if _, err := v.Store(ctx, record.Memory{Content: text, SessionID: "flood"}, ""); err != nil {
				return err
			}
			fmt.Println(text)
		}
	}
	return v.Close(ctx)
}

func serve(ctx context.Context, v *View, verb, text string) (string, error) {
	if verb == "store" {
		s, err := v.Store(ctx, record.Memory{Content: text}, "")
		return s.ID, err
	}
	found, err := v.Search(ctx, SearchRequest{Query: text})
	return fmt.Sprint(found.Pending, " ", strings.Join(contents(found.Hits), "|")), err
}

func command(t *testing.T, job, dir string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), jobEnv+"="+job, dirEnv+"="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

// peer is another process that serves dir.
type peer struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func startPeer(t *testing.T, dir string) *peer {
	t.Helper()
	cmd := command(t, "serve", dir)
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
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("peer: %v", err)
		}
	})
	return &peer{in, bufio.NewReader(out)}
}

func (p *peer) ask(t *testing.T, line string) string {
	t.Helper()
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		t.Fatal(err)
	}
	answer, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(answer)
}

func TestTwoProcessesSeeEachOthersMemoriesAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := startPeer(t, dir), startPeer(t, dir)
	for i := range 10 {
		from, to := a, b
		if i%2 == 1 {
			from, to = b, a
		}
		text := fmt.Sprintf("the violin number%d is in the attic", i)
		id := from.ask(t, "store "+text)
		if again := to.ask(t, "store "+text); again != id {
			t.Errorf("the same text stored by another process is %s, want %s", again, id)
		}
		answer := to.ask(t, fmt.Sprintf("search where is number%d?", i))
		pending, hits, _ := strings.Cut(answer, " ")
		if first, _, _ := strings.Cut(hits, "|"); first != text || pending != "0" {
			t.Errorf("round %d: found %q first with %s pending, want %q", i, first, pending, text)
		}
	}
	v := open(t, dir, audience.DM(), new(words))
	if _, err := v.Get(t.Context(), "mem_0_000000"); err == nil {
		t.Error("an id that is not there was found")
	}
	if n := v.stores[record.Private].count(); n != 10 {
		t.Errorf("%d memories, want 10", n)
	}
}

func TestTwoProcessesLearnALessonOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	type result struct {
		out []byte
		err error
	}
	results := make(chan result)
	for range 2 {
		cmd := command(t, "distill", dir)
		go func() {
			out, err := cmd.Output()
			results <- result{out, err}
		}()
	}
	var ids []string
	for range 2 {
		r := <-results
		if r.err != nil {
			t.Fatal(r.err)
		}
		ids = append(ids, strings.Fields(string(r.out))...)
	}
	if len(ids) != 200 {
		t.Fatalf("%d answers, want 200", len(ids))
	}
	slices.Sort(ids)
	if distinct := slices.Compact(ids); len(distinct) != 1 {
		t.Errorf("the pattern was learned %d times: %v", len(distinct), distinct)
	}
	v := open(t, dir, audience.DM(), new(words))
	found := search(t, v, SearchRequest{Query: "migrations rollback plan", Type: "lesson", IncludeLessons: true})
	if len(found.Hits) != 1 || len(found.Lessons) != 1 {
		t.Errorf("%d lesson memories and %d lessons found, want one of each", len(found.Hits), len(found.Lessons))
	}
}

func TestKilledProcessesLoseNothingAcknowledged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rounds := testsize.Pick(3, 6)
	var acked []string
	for round := range rounds {
		cmd := command(t, "flood", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		read, begun := make(chan []string), make(chan struct{})
		begin := sync.OnceFunc(func() { close(begun) })
		go func() {
			defer begin()
			var texts []string
			for lines := bufio.NewReader(out); ; {
				line, err := lines.ReadString('\n')
				if err != nil {
					begin()
					read <- texts // a line without its end was not promised
					return
				}
				if texts = append(texts, strings.TrimSpace(line)); len(texts) == 10 {
					begin()
				}
			}
		}()
		<-begun
		time.Sleep(time.Duration(round) * 377 * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		acked = append(acked, <-read...)
		_ = cmd.Wait() // killed, as it should be
	}
	if len(acked) < rounds*10 {
		t.Fatalf("only %d memories were acknowledged", len(acked))
	}
	v := open(t, dir, audience.DM(), new(words))
	for i := 0; i < len(acked); i += 1 + len(acked)/60 {
		found := search(t, v, SearchRequest{Query: acked[i], Limit: 1})
		if len(found.Hits) != 1 || found.Hits[0].Content != acked[i] {
			t.Fatalf("%q was acknowledged and is not found: %q", acked[i], contents(found.Hits))
		}
	}
	known := map[string]bool{}
	c := v.stores[record.Private]
	snapshot := c.Snapshot()
	for r := range snapshot.Memories() {
		known[r.Content] = true
	}
	docs := len(snapshot.Docs)
	snapshot.Release()
	for _, text := range acked {
		if !known[text] {
			t.Errorf("%q was acknowledged and is lost", text)
		}
	}
	settle(t, v)
	if rows, err := c.index.Tables.Count(t.Context()); err != nil || rows != docs {
		t.Errorf("%d rows in LanceDB (%v), %d memories", rows, err, docs)
	}
	reports, err := v.Maintenance().Verify(t.Context())
	switch {
	case err != nil:
		t.Fatal(err)
	case len(reports) != 2:
		t.Errorf("len(reports) = %v, want 2", len(reports))
	case !reports[0].Intact():
		t.Error("reports[0].Intact() is false")
	case reports[0].Entries < int64(len(acked)):
		t.Errorf("reports[0].Entries = %v, must not be < int64(len(acked))", reports[0].Entries)
	}
}

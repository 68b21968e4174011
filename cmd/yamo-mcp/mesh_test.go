package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/yamo-protocol/yamo-mcp/mesh/lance/lancetest"
)

// capture is a script command: `capture NAME regexp` sets the variable NAME to the first group of regexp in the last
// program's stdout.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME regexp")
	}
	pattern, err := regexp.Compile(args[1])
	ts.Check(err)
	found := pattern.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) != 2 {
		ts.Fatalf("stdout does not match %s", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// foreignDatabase is a script command: `foreign DIR N` makes a LanceDB database of schema V1 with N memories.
func foreignDatabase(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: foreign DIR N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(lancetest.WriteV1(context.Background(), ts.MkAbs(args[0]), lancetest.Rows(n)))
}

// logged is what a program writes to stderr, where background work logs beside what is told to the person.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// meshRun runs a mesh command in a workspace, without an embedding model.
func meshRun(ctx context.Context, workspace string, args ...string) (stdout, stderr string, err error) {
	env := map[string]string{"YAMO_WORKSPACE": workspace, "YAMO_CACHE": filepath.Join(workspace, "no-model")}
	var out bytes.Buffer
	var errs logged
	getenv := func(name string) string { return env[name] }
	err = run(ctx, append([]string{"mesh"}, args...), getenv, strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), err
}

const manyFiles = 5000

// writeNotes fills a folder with small files, each of its own text, and returns it.
func writeNotes(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	for i := range manyFiles {
		folder := filepath.Join(dir, fmt.Sprintf("%02d", i%50))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			tb.Fatal(err)
		}
		text := fmt.Sprintf("# Note %d\n\nThe lamp in room %d is broken since week %d.\n", i, i, i%52)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("note-%d.md", i)), []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// breaker is a context that ends in the middle of the work, when the ledger at path has grown.
type breaker struct {
	context.Context
	path string
}

// Err implements context.Context.
func (b breaker) Err() error {
	if info, err := os.Stat(b.path); err == nil && info.Size() > 100_000 {
		return context.Canceled
	}
	return b.Context.Err()
}

func TestIngestManyFilesGoesOnAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	workspace, notes := t.TempDir(), writeNotes(t)
	for name, data := range map[string]string{
		"empty.md": " \n", "binary.md": "a\x00b", "latin1.md": "caf\xe9", "photo.jpg": "x", ".hidden.md": "x",
		"twin.md": "# Note 7\n\nThe lamp in room 7 is broken since week 7.\n", "huge.md": strings.Repeat("word ", 1<<18),
	} {
		if err := os.WriteFile(filepath.Join(notes, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/hosts", filepath.Join(notes, "link.md")); err != nil {
		t.Fatal(err)
	}
	interrupted := breaker{t.Context(), filepath.Join(workspace, ".yamo", "private", "ledger.ndjson")}
	_, _, err := meshRun(interrupted, workspace, "ingest-dir", notes, "--recursive")
	message := regexp.MustCompile(`^interrupted after \d+ of 5005 files; run the command again to continue$`)
	if err == nil || !message.MatchString(err.Error()) {
		t.Fatalf("interrupted: %v", err)
	}
	stdout, _, err := meshRun(t.Context(), workspace, "stats")
	if err != nil {
		t.Fatalf("after the interrupt: %v", err)
	}
	lacks(t, stdout, "Total Memories: 0\n", "Total Memories: 5000\n")
	stdout, stderr, err := meshRun(t.Context(), workspace, "ingest-dir", "--recursive", notes)
	if err != nil {
		t.Fatal(err)
	}
	wantTail := `
[MemoryMesh] Left out 1 file of other extensions
[MemoryMesh] Skipped .hidden.md: hidden file
[MemoryMesh] Skipped binary.md: not UTF-8 text
[MemoryMesh] Skipped empty.md: empty
[MemoryMesh] Skipped huge.md: larger than 1048576 bytes
[MemoryMesh] Skipped latin1.md: not UTF-8 text
[MemoryMesh] Skipped link.md: not a regular file
`
	var ingested, files, unchanged, skips int
	const format = "[MemoryMesh] Ingested %d of %d files, %d unchanged, %d skipped"
	if _, err := fmt.Sscanf(stdout, format, &ingested, &files, &unchanged, &skips); err != nil {
		t.Fatalf("%v\n%s", err, stdout)
	}
	if ingested == 0 || ingested >= manyFiles {
		t.Errorf("%d files were left after the interrupt", ingested)
	}
	if ingested+unchanged != manyFiles+1 {
		t.Errorf("%d ingested and %d unchanged, want %d in all", ingested, unchanged, manyFiles+1)
	}
	if files != 5007 || skips != 6 {
		t.Errorf("%d files and %d skipped, want 5007 and 6", files, skips)
	}
	contains(t, stdout, wantTail)
	if !strings.Contains(stderr, "Not indexed yet: the local embedding model is not installed") {
		t.Errorf("stderr: %s", stderr)
	}
	stdout, _, err = meshRun(t.Context(), workspace, "ingest-dir", "--recursive", notes, "--json")
	if err != nil || !strings.HasPrefix(stdout, `{"files":5007,"ingested":0,"replaced":0,"unchanged":5001,`) {
		t.Errorf("again: %v\n%s", err, stdout)
	}
	stdout, _, err = meshRun(t.Context(), workspace, "stats")
	if err != nil || !strings.Contains(stdout, "Total Memories: 5000\n") {
		t.Errorf("stats: %v\n%s", err, stdout)
	}
	if _, _, err := meshRun(t.Context(), workspace, "ingest-dir", filepath.Join(notes, "missing")); err == nil {
		t.Error("a folder that does not exist was ingested")
	}
}

func TestMeshErrorIsOneLine(t *testing.T) {
	t.Parallel()
	noEnv := func(string) string { return "" }
	err := run(t.Context(), []string{"mesh", "search"}, noEnv, strings.NewReader(""), io.Discard, io.Discard)
	want := `[MemoryMesh Error] "search" requires a query (see yamo-mcp mesh search --help)`
	if got := errorLine(err); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	err = run(t.Context(), []string{"index", "mesh"}, noEnv, strings.NewReader(""), io.Discard, io.Discard)
	if got := errorLine(err); !strings.HasPrefix(got, "yamo-mcp: unknown command") {
		t.Errorf("got %q", got)
	}
}

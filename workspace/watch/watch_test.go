package watch_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/watch"
)

// folder is a workspace on disk.
type folder struct {
	t   *testing.T
	dir string
	ws  *workspace.Workspace

	mu  sync.Mutex
	now time.Time
}

func newFolder(t *testing.T) *folder {
	t.Helper()
	f := &folder{t: t, dir: t.TempDir(), now: time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)}
	var err error
	f.ws, err = workspace.Open(f.dir, workspace.WithClock(func() time.Time {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.now
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.ws.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// write creates or replaces the file called name in one step, so that no look finds it half written.
func (f *folder) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		f.t.Fatal(err)
	}
	whole := filepath.Join(f.t.TempDir(), "whole")
	if err := os.WriteFile(whole, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(whole, path); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) remove(name string) {
	f.t.Helper()
	if err := os.Remove(filepath.Join(f.dir, filepath.FromSlash(name))); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) nextDay() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.AddDate(0, 0, 1)
}

func group(t *testing.T, name string) audience.Audience {
	t.Helper()
	a, err := audience.Group(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func check(t *testing.T, what string, got watch.Change, list bool, names ...string) {
	t.Helper()
	if diff := cmp.Diff(watch.Change{Names: names, List: list}, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestScan(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.write("SOUL.md", "one")
	f.write("memory/2026-02-13.md", "yesterday")
	f.write("memory/2020-01-01.md", "old")
	w := watch.New(f.ws.View(audience.DM()), watch.Options{})
	check(t, "first look", w.Scan(), false)
	check(t, "second look", w.Scan(), false)
	f.write("SOUL.md", "another")
	check(t, "edit", w.Scan(), false, "SOUL.md")
	f.write("MEMORY.md", "x")
	f.write("memory/2020-01-01.md", "older")
	check(t, "new file; an old log that no client follows", w.Scan(), true, "MEMORY.md")
	f.remove("SOUL.md")
	check(t, "removal", w.Scan(), true, "SOUL.md")

	w.Follow("memory/2020-01-01.md")
	w.Follow("memory/2020-01-01.md")
	w.Follow("memory/2019-01-01.md")
	check(t, "following", w.Scan(), false)
	f.write("memory/2020-01-01.md", "oldest!")
	f.write("memory/2019-01-01.md", "new")
	check(t, "followed files", w.Scan(), false, "memory/2019-01-01.md", "memory/2020-01-01.md")
	w.Unfollow("memory/2019-01-01.md")
	w.Unfollow("memory/2020-01-01.md")
	w.Unfollow("nothing")
	f.remove("memory/2019-01-01.md")
	f.remove("memory/2020-01-01.md")
	check(t, "one is followed still", w.Scan(), false, "memory/2020-01-01.md")

	f.nextDay()
	f.nextDay()
	check(t, "yesterday's log has left the list and not changed", w.Scan(), true)
}

// Following begins with the file as it is, not as it was at the last look.
func TestFollowLooksAtOnce(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	w := watch.New(f.ws.View(audience.DM()), watch.Options{})
	w.Scan()
	f.write("memory/2020-01-01.md", "x")
	w.Follow("memory/2020-01-01.md")
	check(t, "nothing since", w.Scan(), false)
	f.write("memory/2020-01-01.md", "xy")
	check(t, "edit", w.Scan(), false, "memory/2020-01-01.md")
}

// A group learns of its own files, whatever names it follows.
func TestGroup(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.write("SOUL.md", "one")
	w := watch.New(f.ws.View(group(t, "book-club")), watch.Options{})
	w.Scan()
	private := []string{
		"MEMORY.md", "USER.md", "notes/a.md", "memory/2026-02-14.md", "memory/2026-02-14-group-hiking.md", "BOOTSTRAP.md",
		"HEARTBEAT.md",
	}
	for _, name := range private {
		w.Follow(name)
		f.write(name, "secret")
	}
	check(t, "private files appear", w.Scan(), false)
	for _, name := range private {
		f.remove(name)
	}
	check(t, "private files go", w.Scan(), false)
	f.write("SOUL.md", "changed")
	f.write("memory/2026-02-14-group-book-club.md", "ours")
	check(t, "own files", w.Scan(), true, "SOUL.md", "memory/2026-02-14-group-book-club.md")
}

// run starts w and returns its changes.
func run(t *testing.T, w *watch.Watcher) <-chan watch.Change {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	changes := make(chan watch.Change, 100)
	var done sync.WaitGroup
	w.Scan()
	done.Go(func() { w.Run(ctx, func(c watch.Change) { changes <- c }) })
	t.Cleanup(func() {
		stop()
		done.Wait()
	})
	return changes
}

// expect waits for the change of name.
func expect(t *testing.T, changes <-chan watch.Change, name string) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	for {
		select {
		case c := <-changes:
			if strings.Contains(strings.Join(c.Names, "\n"), name) {
				return
			}
		case <-deadline:
			t.Fatalf("no word of %s", name)
		}
	}
}

// In a DM the system's events tell of a change long before the next poll or rescan.
func TestRunDM(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	w := watch.New(f.ws.View(audience.DM()), watch.Options{Poll: time.Hour, Rescan: time.Hour, Settle: time.Millisecond})
	w.Follow("memory/imports/old.md")
	f.write("memory/imports/old.md", "x")
	changes := run(t, w)
	// The first watches may come after this write, but they come before the scan that follows it.
	time.Sleep(100 * time.Millisecond)
	f.write("SOUL.md", "x")
	expect(t, changes, "SOUL.md")
	f.write("notes/a.md", "in a folder that was not there")
	expect(t, changes, "notes/a.md")
	time.Sleep(100 * time.Millisecond)
	f.write("notes/b.md", "x")
	expect(t, changes, "notes/b.md")
	f.write("memory/imports/old.md", "followed, in a subfolder")
	expect(t, changes, "memory/imports/old.md")
	f.write("new.tmp", "saved as editors save")
	if err := os.Rename(filepath.Join(f.dir, "new.tmp"), filepath.Join(f.dir, "SOUL.md")); err != nil {
		t.Fatal(err)
	}
	expect(t, changes, "SOUL.md")
	if err := os.RemoveAll(filepath.Join(f.dir, "notes")); err != nil {
		t.Fatal(err)
	}
	expect(t, changes, "notes/b.md")
}

// A group is polled.
func TestRunGroup(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	w := watch.New(f.ws.View(group(t, "book-club")), watch.Options{Poll: 10 * time.Millisecond, Rescan: time.Hour})
	changes := run(t, w)
	f.write("MEMORY.md", "private")
	f.write("SOUL.md", "x")
	expect(t, changes, "SOUL.md")
	f.write("MEMORY.md", "private and longer")
	select {
	case c := <-changes:
		t.Errorf("a group heard %v", c)
	case <-time.After(100 * time.Millisecond):
	}
}

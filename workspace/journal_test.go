package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

func content(t *testing.T, w *Workspace, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func add(t *testing.T, j *Journal, title, text string) string {
	t.Helper()
	logged, err := j.Append(t.Context(), title, text)
	if err != nil {
		t.Fatal(err)
	}
	return logged.Name
}

func TestJournal(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"USER.md": "**Timezone:** Europe/Oslo"})
	now := valentine
	w.now = func() time.Time { return now }
	first := w.View(audience.DM()).Journal()
	if name := add(t, first, "", "one"); name != "memory/2026-02-14.md" {
		t.Errorf("logged to %s", name)
	}
	now = now.Add(5 * time.Minute)
	second := w.View(audience.DM()).Journal()
	add(t, first, "Decision", "two\n- a list")
	add(t, second, "", "three")
	add(t, second, "", "four")
	add(t, first, "", "five")
	want := "# Memory — 2026-02-14\n\n## Session [13:00]\n\none\n\n### Decision\n\ntwo\n- a list\n\n" +
		"## Session [13:05]\n\nthree\n\nfour\n\n## Session [13:00]\n\nfive\n"
	if got := content(t, w, "memory/2026-02-14.md"); got != want {
		t.Errorf("log is\n%s\nwant\n%s", got, want)
	}
	for name, mode := range map[string]os.FileMode{"memory": 0o700 | os.ModeDir, "memory/2026-02-14.md": 0o600} {
		if info, err := os.Stat(filepath.Join(w.dir, name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	now = now.Add(11 * time.Hour) // past midnight for the user
	if name := add(t, first, "", "six"); name != "memory/2026-02-15.md" ||
		content(t, w, name) != "# Memory — 2026-02-15\n\n## Session [00:05]\n\nsix\n" {
		t.Errorf("the next day: %s\n%s", name, content(t, w, name))
	}
}

// The text of a log stays, byte for byte, also when a person or a killed process left it odd.
func TestJournalKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	for _, old := range []string{
		"# Mine\r\n\r\nno line end", "torn \xff", "\n\n", "## Session [12:00]\nx\n", strings.Repeat("long line ", 20_000),
	} {
		w := folderOf(t, map[string]string{"memory/2026-02-14.md": old})
		add(t, w.View(audience.DM()).Journal(), "", "new")
		got, ok := strings.CutPrefix(content(t, w, "memory/2026-02-14.md"), old)
		end := "\n"
		if strings.Contains(old, "\r\n") {
			end = "\r\n"
		}
		switch {
		case !ok:
			t.Errorf("after %.20q: ok = false", old)
		case !strings.HasSuffix(got, end+"new"+end):
			t.Errorf("after %.20q: %q does not end in %q", old, got, end+"new"+end)
		case strings.Count(got, "\n") != strings.Count(got, end):
			t.Errorf("after %.20q: strings.Count(got, \"\\n\") = %v, want %v", old, strings.Count(got, "\n"),
				strings.Count(got, end))
		}
		if want := old != "## Session [12:00]\nx\n"; strings.Contains(got, "## Session [12:00]") != want {
			t.Errorf("after %.20q: block begun %t, want %t", old, !want, want)
		}
	}
}

func TestGroupJournal(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"memory/2026-02-14.md": "private", "USER.md": "**Timezone:** Asia/Tokyo"})
	w.now = func() time.Time { return valentine.Add(8 * time.Hour) }
	a := w.View(group(t, "a"))
	if name := add(t, a.Journal(), "", "hello"); name != "memory/2026-02-14-group-a.md" { // the machine's day
		t.Errorf("logged to %s", name)
	}
	if data, err := a.Read("memory/2026-02-14-group-a.md"); err != nil ||
		!strings.Contains(string(data), "## Session [20:00]\n\nhello\n") {
		t.Errorf("group reads %q, %v", data, err)
	}
	if got := content(t, w, "memory/2026-02-14.md"); got != "private" {
		t.Errorf("the DM's log is now %q", got)
	}
	if _, err := w.View(audience.DM()).Read("memory/2026-02-14-group-a.md"); err != nil {
		t.Errorf("a DM cannot read the group's log: %v", err)
	}
}

func TestJournalRefuses(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"MEMORY.md": "x", "memory/x": ""})
	if err := os.Symlink("../MEMORY.md", filepath.Join(w.dir, "memory/2026-02-14.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(w.dir, "MEMORY.md"),
		filepath.Join(w.dir, "memory/2026-02-14-group-a.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(w.dir, "memory/2026-02-14-group-b.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, who := range []audience.Audience{audience.DM(), group(t, "a"), group(t, "b")} {
		if _, err := w.View(who).Journal().Append(t.Context(), "", "x"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v appends to what is not a plain file: %v", who, err)
		}
	}
	if got := content(t, w, "MEMORY.md"); got != "x" {
		t.Errorf("MEMORY.md is now %q", got)
	}
	j := w.View(group(t, "c")).Journal()
	for _, text := range []string{"", " \n\t\n", "\x00\x1b", strings.Repeat("x", MaxLogText+1)} {
		if _, err := j.Append(t.Context(), "", text); err == nil {
			t.Errorf("text %.10q was logged", text)
		}
	}
	if _, err := os.Stat(filepath.Join(w.dir, "memory/2026-02-14-group-c.md")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused text made a file: %v", err)
	}
}

func TestJournalWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	w := folderOf(t, map[string]string{"memory/2026-02-14.md": "x\n"})
	file, err := os.Open(filepath.Join(w.dir, "memory/2026-02-14.md"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := w.View(audience.DM()).Journal().Append(ctx, "", "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while another holds the lock: %v", err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	add(t, w.View(audience.DM()).Journal(), "", "mine")
}

// Two processes append 1,000 entries each, one of them killed now and then: what was acknowledged is there
// once, whole, and nothing is torn.
func TestJournalAcrossProcesses(t *testing.T) {
	if dir := os.Getenv("YAMO_TEST_JOURNAL"); dir != "" {
		journalWriter(t, dir)
		return
	}
	w := folderOf(t, nil)
	const each = 1000
	acked := make(chan string, 4*each)
	run := func(who string, kill bool) error {
		for next := 0; next < each; {
			cmd := exec.Command(os.Args[0], "-test.run=^TestJournalAcrossProcesses$", "-test.v=false")
			cmd.Env = append(os.Environ(), "YAMO_TEST_JOURNAL="+w.dir, "YAMO_TEST_WHO="+who,
				fmt.Sprintf("YAMO_TEST_FROM=%d", next))
			out, err := cmd.StdoutPipe()
			if err != nil {
				return err
			}
			if err := cmd.Start(); err != nil {
				return err
			}
			read := 0
			for {
				var ack string
				if n, err := fmt.Fscanln(out, &ack); n != 1 || err != nil {
					break
				}
				if !strings.HasPrefix(ack, who) {
					break // the test binary's own words
				}
				acked <- ack
				next++
				if read++; kill && read == 90 {
					if err := cmd.Process.Kill(); err != nil {
						return err
					}
				}
			}
			if err := cmd.Wait(); err != nil && !kill {
				return err
			}
			next++ // the killed one may have written an entry without telling: never reuse its number
		}
		return nil
	}
	errs := make(chan error, 2)
	go func() { errs <- run("a", false) }()
	go func() { errs <- run("b", true) }()
	for range 2 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	close(acked)
	log := content(t, w, "memory/2026-02-14.md")
	counted := map[string]int{}
	whole := regexp.MustCompile(`(?m)^([ab][0-9]+) begin\n(?:x+\n)end ([ab][0-9]+)$`)
	for _, m := range whole.FindAllStringSubmatch(log, -1) {
		if m[1] == m[2] {
			counted[m[1]]++
		}
	}
	n := 0
	for ack := range acked {
		if n++; counted[ack] != 1 {
			t.Errorf("%s was acknowledged and is in the log %d times", ack, counted[ack])
		}
	}
	if begun := strings.Count(log, " begin\n"); begun != len(counted) || n < each+each/2 {
		t.Errorf("%d entries begin, %d are whole, %d were acknowledged", begun, len(counted), n)
	}
	if strings.Count(log, "# Memory — ") != 1 {
		t.Error("the title is there more than once")
	}
}

func journalWriter(t *testing.T, dir string) {
	from := 0
	if _, err := fmt.Sscan(os.Getenv("YAMO_TEST_FROM"), &from); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir).View(audience.DM()).Journal()
	for i := from; i < 1000; i++ {
		id := fmt.Sprintf("%s%d", os.Getenv("YAMO_TEST_WHO"), i)
		add(t, j, "", id+" begin\n"+string(bytes.Repeat([]byte("x"), 300))+"\nend "+id)
		fmt.Println(id)
	}
}

// A group's log of one day has a maximum, which a DM's has not. On the next day there is room again.
func TestGroupLogIsLimited(t *testing.T) {
	t.Parallel()
	w := folderOf(t, nil)
	now := time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)
	w.now = func() time.Time { return now }
	line := strings.Repeat("x", MaxLogText)
	add := func(who audience.Audience) error {
		_, err := w.View(who).Journal().Append(t.Context(), "", line)
		return err
	}
	size := func(name string) int64 {
		info, err := os.Stat(filepath.Join(w.dir, "memory", name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	red := group(t, "red")
	for i := range 2 * MaxGroupLog / MaxLogText {
		if err := add(audience.DM()); err != nil {
			t.Fatalf("the DM's addition %d: %v", i, err)
		}
		if err := add(red); err != nil && (!errors.Is(err, ErrFullLog) || i < MaxGroupLog/MaxLogText-1) {
			t.Fatalf("the group's addition %d: %v", i, err)
		}
	}
	if n := size("2026-02-14-group-red.md"); n > MaxGroupLog || n < MaxGroupLog-2*MaxLogText {
		t.Errorf("the group's log has %d bytes", n)
	}
	if n := size("2026-02-14.md"); n < 2*MaxGroupLog {
		t.Errorf("the DM's log has %d bytes", n)
	}
	now = now.AddDate(0, 0, 1)
	if err := add(red); err != nil {
		t.Errorf("on the next day: %v", err)
	}
}

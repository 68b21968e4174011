package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A clock that goes back, as after a dead battery or in a restored machine, loses nothing and brings nothing back: what
// was corrected stays corrected although the correction has an earlier date, every memory is there once, and a process
// that kept running, with the later time, agrees with one of the earlier time.
func TestClockGoesBack(t *testing.T) {
	t.Parallel()
	clock := ofAnotherDay(t)
	h := launch{workspace: filepath.Join(t.TempDir(), "agent"), program: clock.program}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(h.program, append(args, "--workspace", h.workspace)...)
		cmd.Env = h.environment()
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, output)
		}
		return string(output)
	}
	day := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	clock.set(day)
	init := exec.Command(h.program, "init", h.workspace, "--yes", "--name", "Ida", "--user", "Marta", "--timezone", "UTC")
	if output, err := init.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	const where = "Where does Ana live?"
	first := func(s *session) string {
		t.Helper()
		found := s.search(where, memoriesOnly).Results
		if len(found) == 0 {
			t.Fatal("nothing is found")
		}
		return found[0].Content
	}
	later := connect(t, h) // keeps its time, with which it keeps running
	lisbon := later.store("Ana lives in Lisbon, near the botanical garden.", nil)
	gate := later.store("The garden gate code is kept under the blue pot.", nil)
	curate := func(s *session, item string) (event string) {
		t.Helper()
		return call[struct {
			EventID string `json:"event_id"`
		}](s, "curate_memory", map[string]any{
			"section": "People", "add": []string{item}, "rationale": "Marta said so",
		}).EventID
	}
	curate(later, "Ana is a botanist")

	clock.set(day.AddDate(0, 0, -9))
	earlier := connect(t, h)
	porto := earlier.store("Ana lives in Porto, near the bridge.", map[string]any{"supersedes": []string{lisbon.ID}})
	for name, s := range map[string]*session{"with the earlier time": earlier, "with the later time": later} {
		if got := first(s); !strings.Contains(got, "Porto") {
			t.Errorf("%s, after the correction the first result is %q", name, got)
		}
	}
	braga := later.store("Ana lives in Braga, near the cathedral.", map[string]any{"supersedes": []string{porto.ID}})
	if got := first(earlier); !strings.Contains(got, "Braga") {
		t.Errorf("a correction of the process with the later time is not seen: %q", got)
	}
	again := earlier.store("The garden gate code is kept under the blue pot.", map[string]any{"tags": []string{"garden"}})
	if again.ID != gate.ID {
		t.Errorf("the same text is stored twice: %s and %s", gate.ID, again.ID)
	}
	last := curate(earlier, "Ana has a cat called Urze")
	call[map[string]any](earlier, "log_append", map[string]any{"text": "Marta reset the clock."})
	earlier.end()
	later.end()

	run("dream", "--dry-run")
	run("undo", last)
	page, err := os.ReadFile(filepath.Join(h.workspace, "MEMORY.md"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(page); !strings.Contains(text, "Ana is a botanist") || strings.Contains(text, "Urze") {
		t.Errorf("after the last edit was undone, MEMORY.md is:\n%s", text)
	}
	verifyLedgers(t, h.workspace)
	for id, want := range map[string]string{gate.ID: "blue pot", braga.ID: "Braga"} {
		if got := exported(t, h.workspace)[id]; len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s is %q, want one with %q", id, got, want)
		}
	}
	// A year later the clock is right again.
	clock.set(day.AddDate(1, 0, 0))
	s := connect(t, h)
	if got := first(s); !strings.Contains(got, "Braga") {
		t.Errorf("a year later the first result is %q", got)
	}
	s.end()
	run("record", "verify")
	verifyLedgers(t, h.workspace)
}

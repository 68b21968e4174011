package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

var builtOtherDay struct {
	once sync.Once
	err  error
}

// otherDay is the program with a clock that a test sets: one for all tests of a run, under another name for each.
type otherDay struct {
	tb      testing.TB
	program string
}

// ofAnotherDay returns the program with the machine's clock, until it is set.
func ofAnotherDay(t *testing.T) otherDay {
	t.Helper()
	folder, err := builtFolder()
	if err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(folder, "of-another-day")
	builtOtherDay.once.Do(func() {
		const shift = "-X github.com/yamo-protocol/yamo-mcp/internal/sysclock.shift=beside"
		build := exec.Command("go", "build", "-ldflags", shift, "-o", linked,
			"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp")
		if output, err := build.CombinedOutput(); err != nil {
			builtOtherDay.err = err
			t.Logf("%s", output)
		}
	})
	if builtOtherDay.err != nil {
		t.Fatalf("build the program of another day: %v", builtOtherDay.err)
	}
	program := filepath.Join(t.TempDir(), "yamo-mcp")
	if err := os.Link(linked, program); err != nil {
		t.Fatal(err)
	}
	return otherDay{t, program}
}

// set lets it be the time now in every process of the program that starts from here on.
func (o otherDay) set(now time.Time) {
	o.tb.Helper()
	if err := os.WriteFile(o.program+".clock", []byte(time.Until(now).String()), 0o600); err != nil {
		o.tb.Fatal(err)
	}
}

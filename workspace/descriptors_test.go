package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// A process without free file descriptors does not take its workspace for one that was never initialized.
func TestStateWithoutDescriptors(t *testing.T) {
	dir := os.Getenv("YAMO_TEST_NO_DESCRIPTORS")
	if dir == "" {
		dir = t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, SoulFile), []byte("I am.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestStateWithoutDescriptors$")
		cmd.Env = append(os.Environ(), "YAMO_TEST_NO_DESCRIPTORS="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	w, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	view := w.View(audience.DM())
	if got := view.State(); got != Ready {
		t.Fatalf("before: %v", got)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 1, Max: 1}); err != nil {
		t.Fatal(err)
	}
	if got := view.State(); got != Ready {
		t.Errorf("without descriptors: %v", got)
	}
}

package integration

import (
	"os/exec"
	"strings"
	"testing"
)

// A search on a full disk has found what it has found: that its index cannot be written is no failure of it.
func TestSearchOnAFullDisk(t *testing.T) {
	t.Parallel()
	workspace, disk := sample(t), t.TempDir()
	const filled = `mount -t tmpfs -o size=8m tmpfs "$1" && cp -r "$0/." "$1" &&
		{ cat /dev/zero > "$1/fill" 2> /dev/null; shift; exec "$@"; }`
	wrapper := []string{"unshare", "--map-root-user", "--mount", "sh", "-c", filled, workspace, disk}
	try := exec.Command(wrapper[0], append(wrapper[1:], "true")...)
	if output, err := try.CombinedOutput(); err != nil {
		t.Skipf("this machine cannot mount a folder for a test: %v: %s", err, output)
	}
	for _, content := range []string{"The ferry leaves at nine.", "Mara likes oolong."} {
		launch{workspace: workspace}.look(t, club, "mesh", "store", "--content", content)
	}
	out := launch{workspace: disk, wrapper: wrapper}.look(t, club, "search", "when does the ferry leave")
	if !strings.Contains(out, "The ferry leaves at nine.") {
		t.Errorf("a search on a full disk finds %q", out)
	}
}

package integration

import (
	"os/exec"
	"strings"
	"testing"
)

// On a read-only disk everything that was stored is found, and what cannot be written says why.
func TestReadOnlyWorkspace(t *testing.T) {
	t.Parallel()
	workspace := sample(t)
	const mounted = `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"`
	wrapper := []string{"unshare", "--map-root-user", "--mount", "sh", "-c", mounted, workspace}
	try := exec.Command(wrapper[0], append(wrapper[1:], "true")...)
	if output, err := try.CombinedOutput(); err != nil {
		t.Skipf("this machine cannot mount a folder for a test: %v: %s", err, output)
	}
	for _, group := range []string{"", club} {
		s := connect(t, launch{workspace: workspace, group: group})
		s.store("The ferry leaves at nine.", nil)
		s.end()
		s = connect(t, launch{workspace: workspace, group: group, wrapper: wrapper})
		// What has no vector yet cannot get one: it is found by its words.
		found := call[answer](s, "memory_search", map[string]any{"query": "When does the ferry leave?"})
		if len(found.Results) == 0 || found.Results[0].Content != "The ferry leaves at nine." {
			t.Errorf("%q finds %+v", group, found.Results)
		}
		var refused toolResult
		s.request("tools/call", map[string]any{
			"name": "memory_store", "arguments": map[string]any{"content": "It is late."},
		}).decode(t, &refused)
		if !refused.IsError || !strings.Contains(refused.text(), "the workspace is read-only") {
			t.Errorf("%q stores on a read-only disk: %s", group, refused.text())
		}
		if _, stderr := s.end(); strings.Contains(stderr, workspace) {
			t.Errorf("%q: stderr names the folder: %s", group, stderr)
		}
	}
}

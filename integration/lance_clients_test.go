package integration

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/integration/thirdparty"
)

// lanceClient is LanceDB's own client, whose storage versions are later than those of the program's library.
const lanceClient = "lancedb==0.40.0"

// LanceDB's client opens the folder that `mesh stats` prints, reads and searches the memories, and can follow the
// chain of yamo_blocks. Tables that it writes are imported, or refused with the version to write them in.
func TestLanceClients(t *testing.T) {
	t.Parallel()
	interpreter, env := thirdparty.Python(t, lanceClient)
	workspace, written := sample(t), t.TempDir()
	facts := []string{"The ladder is in the red shed.", "The anchor weighs forty kilos.", "Marta keeps the spare key."}
	for _, fact := range facts {
		commandIn(t, workspace, "mesh", "store", "--content", fact)
	}
	commandIn(t, workspace, "index", "rebuild") // a stored memory is in the table when it has a vector
	_, path, found := strings.Cut(commandIn(t, workspace, "mesh", "stats"), "DB Path: ")
	if !found {
		t.Fatal("mesh stats prints no path")
	}
	path, _, _ = strings.Cut(path, "\n")

	script, err := filepath.Abs(filepath.Join("testdata", "tables.py"))
	if err != nil {
		t.Fatal(err)
	}
	client := exec.Command(interpreter, script, path, written)
	client.Env = env
	var stdout, stderr bytes.Buffer
	client.Stdout, client.Stderr = &stdout, &stderr
	if err := client.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var got struct {
		Memories, Nearest []string
		Last              string
		Chain             []struct{ Hash, Prev string }
	}
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, &stdout)
	}
	slices.Sort(got.Memories)
	slices.Sort(facts)
	if diff := cmp.Diff(facts, got.Memories); diff != "" {
		t.Errorf("the client reads other memories (-stored +read):\n%s", diff)
	}
	if diff := cmp.Diff([]string{got.Last}, got.Nearest); diff != "" {
		t.Errorf("the nearest memory to one's own vector (-want +got):\n%s", diff)
	}
	if len(got.Chain) != len(facts) {
		t.Errorf("yamo_blocks has %d rows for %d memories", len(got.Chain), len(facts))
	}
	previous := ""
	for i, row := range got.Chain {
		if row.Prev != previous {
			t.Errorf("row %d of yamo_blocks follows %q, and the row before it is %q", i, row.Prev, previous)
		}
		previous = row.Hash
	}

	for version, want := range map[string]string{
		"2.0": "", "2.1": "", "2.2": "data_storage_version 2.1", "default": "data_storage_version 2.1",
	} {
		target := sample(t)
		cmd := exec.Command(serverBinary(t), "mesh", "import", filepath.Join(written, version), "--workspace", target)
		cmd.Env = launch{workspace: target}.environment()
		output, err := cmd.CombinedOutput()
		switch {
		case want == "" && err != nil:
			t.Errorf("import tables of version %s: %v\n%s", version, err, output)
		case want == "" && !strings.Contains(commandIn(t, target, "mesh", "list"), "Boat 3 of the client"):
			t.Errorf("the memories of version %s are not listed", version)
		case want != "" && (err == nil || !strings.Contains(string(output), want) ||
			strings.Contains(string(output), "goroutine")):
			t.Errorf("import tables of version %s: %v\n%s", version, err, output)
		}
	}
}

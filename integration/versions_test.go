package integration

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
)

// Commits of earlier versions of the program, which are built from the history.
const (
	sameFormat   = "d74b76be25614311fd94e4cb7b12488a558cbb4c" // writes ledgers of version 2
	formerFormat = "52e236e7fe931704eb76ead5e658e3ab2aff4811" // of version 1, without seals
)

// earlier returns the program as it was at a commit.
func earlier(t *testing.T, commit string) string {
	t.Helper()
	if !testsize.Full() {
		t.Skip("builds an earlier version, which takes minutes: only with YAMO_PROVE")
	}
	source := t.TempDir()
	in := func(dir, name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s(the whole history is needed: git fetch --unshallow)", name, args, err, output)
		}
	}
	archive := filepath.Join(source, "source.tar")
	in("..", "git", "archive", "-o", archive, commit)
	in(source, "tar", "-xf", archive)
	copyFolder(t, filepath.Join("..", "native", "lib"), filepath.Join(source, "native", "lib"))
	program := filepath.Join(source, "yamo-mcp-earlier")
	in(source, "go", "build", "-buildvcs=false", "-o", program, "./cmd/yamo-mcp")
	return program
}

// An earlier version with the same format of the ledger works beside this one: each finds what the other stores, the
// earlier one does not fail at what it does not know yet, and both verify what both have written.
func TestEarlierVersionBesideThisOne(t *testing.T) {
	t.Parallel()
	program := earlier(t, sameFormat)
	workspace := sample(t)
	former := connect(t, launch{workspace: workspace, program: program})
	now := connect(t, launch{workspace: workspace})
	want := map[string]string{} // by ID
	for i := range 10 {
		writer, reader := former, now
		if i%2 == 1 {
			writer, reader = now, former
		}
		content := fmt.Sprintf("Locker %d of the sailing club has the oars of boat %d.", i, i)
		id := writer.store(content, map[string]any{"tags": []string{tagOf(content)}}).ID
		want[id] = content
		found := reader.search(content, map[string]any{"tags": []string{tagOf(content)}}).Results
		if len(found) != 1 || found[0].ID != id {
			t.Errorf("%q is stored as %s, and the other version finds %+v", content, id, found)
		}
	}
	old := former.store("The club meets on Mondays in the boat house.", nil)
	current := now.store("The club meets on Fridays in the boat house.", map[string]any{"supersedes": []string{old.ID}})
	want[current.ID] = "The club meets on Fridays in the boat house."
	after := former.store("The key of the boat house has a red ribbon.", nil) // on a ledger with what it does not know
	want[after.ID] = "The key of the boat house has a red ribbon."
	for s, item := range map[*session]string{former: "Rui rows on Sundays", now: "Eva steers"} {
		call[map[string]any](s, "curate_memory", map[string]any{
			"section": "People", "add": []string{item}, "rationale": "the club's list",
		})
	}
	former.end()
	now.end()
	for _, program := range []string{program, serverBinary(t)} {
		for _, verify := range []string{"ledger", "record"} {
			cmd := exec.Command(program, verify, "verify", "--workspace", workspace)
			cmd.Env = launch{workspace: workspace}.environment()
			if output, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s %s verify: %v\n%s", filepath.Base(program), verify, err, output)
			}
		}
	}
	kept := exported(t, workspace)
	for id, content := range want {
		if len(kept[id]) != 1 || kept[id][0] != content {
			t.Errorf("%s is %q, want %q once", id, kept[id], content)
		}
	}
}

// An earlier version whose ledger has another format is read, and once this version has written, the earlier one says
// so, changes nothing, and goes on serving files.
func TestEarlierFormat(t *testing.T) {
	t.Parallel()
	program := earlier(t, formerFormat)
	workspace := sample(t)
	former := connect(t, launch{workspace: workspace, program: program})
	want := map[string]string{}
	for i := range 5 {
		content := fmt.Sprintf("Locker %d of the sailing club has the oars of boat %d.", i, i)
		want[former.store(content, nil).ID] = content
	}
	now := connect(t, launch{workspace: workspace}) // while the earlier one runs
	content := "The key of the boat house has a red ribbon."
	want[now.store(content, nil).ID] = content
	store := func(s *session) toolResult {
		var result toolResult
		s.request("tools/call", map[string]any{
			"name": "memory_store", "arguments": map[string]any{"content": "Rui rows on Sundays."},
		}).decode(t, &result)
		return result
	}
	restarted := connect(t, launch{workspace: workspace, program: program})
	for name, s := range map[string]*session{"running": former, "restarted": restarted} {
		if result := store(s); !result.IsError {
			t.Errorf("the %s earlier version stores into a ledger that it does not know: %s", name, result.text())
		}
		call[map[string]any](s, "who_am_i", nil)
		s.end()
	}
	if found := now.search("Where is the key of the boat house?", memoriesOnly).Results; len(found) == 0 ||
		!strings.Contains(found[0].Content, "red ribbon") {
		t.Errorf("found %+v", found)
	}
	now.end()
	verifyLedgers(t, workspace)
	kept := exported(t, workspace)
	for id, content := range want {
		if len(kept[id]) != 1 || kept[id][0] != content {
			t.Errorf("%s is %q, want %q once", id, kept[id], content)
		}
	}
}

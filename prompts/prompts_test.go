package prompts_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/prompts"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/audience"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// open opens the folder dir at a fixed time, for as long as the test runs.
func open(t *testing.T, dir string) *workspace.Workspace {
	t.Helper()
	now := time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)
	w, err := workspace.Open(dir, workspace.WithClock(func() time.Time { return now }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// startup is what the startup prompt of the folder dir says, through the protocol.
func startup(t *testing.T, dir string, who audience.Audience) string {
	t.Helper()
	w := open(t, dir)
	s := server.NewMCPServer("test", "1")
	if err := prompts.Register(s, w.View(who)); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(s.HandleMessage(context.Background(),
		json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"startup"}}`)))
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Result struct {
			Messages []struct {
				Role    string
				Content struct{ Type, Text string }
			}
		}
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Result.Messages) != 1 || answer.Result.Messages[0].Role != "user" || answer.Result.Messages[0].Content.Type != "text" {
		t.Fatalf("answer %s", raw)
	}
	return answer.Result.Messages[0].Content.Text
}

func bookClub(t *testing.T) audience.Audience {
	t.Helper()
	a, err := audience.Group("book-club")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestStartup(t *testing.T) {
	empty := t.TempDir()
	tests := map[string]struct {
		dir string
		who audience.Audience
	}{
		"kate-dm":       {"../testdata/workspaces/kate", audience.DM()},
		"kate-group":    {"../testdata/workspaces/kate", bookClub(t)},
		"newborn-dm":    {"../testdata/workspaces/newborn", audience.DM()},
		"newborn-group": {"../testdata/workspaces/newborn", bookClub(t)},
		"empty-dm":      {empty, audience.DM()},
		"empty-group":   {empty, bookClub(t)},
	}
	for name, test := range tests {
		got := startup(t, test.dir, test.who)
		path := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A group's session begins the same whatever is private in the folder.
func TestGroupStartupDependsOnPublicFilesOnly(t *testing.T) {
	public, full := t.TempDir(), t.TempDir()
	if err := os.CopyFS(full, os.DirFS("../testdata/workspaces/kate")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(full, "BOOTSTRAP.md"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"SOUL.md", "IDENTITY.md", "AGENTS.md"} {
		data, err := os.ReadFile(filepath.Join(full, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(public, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(startup(t, public, bookClub(t)), startup(t, full, bookClub(t))); diff != "" {
		t.Errorf("(-without private files +with):\n%s", diff)
	}
	if dm := startup(t, full, audience.DM()); !strings.Contains(dm, "# BOOTSTRAP\nsecret") || !strings.Contains(dm, "memory/2026-02-14.md") {
		t.Errorf("a DM's first boot is not shown: %.300s", dm)
	}
}

package prompts_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/prompts"
	"github.com/yamo-protocol/yamo-mcp/workspace/audience"
)

// rituals are the texts of the rituals' prompts, by name.
func rituals(t *testing.T, dir string, who audience.Audience) map[string]string {
	t.Helper()
	w := open(t, dir)
	s := server.NewMCPServer("test", "1")
	if err := prompts.RegisterRituals(s, w.View(who)); err != nil {
		t.Fatal(err)
	}
	ask := func(request string, result any) {
		raw, err := json.Marshal(s.HandleMessage(context.Background(), json.RawMessage(request)))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &struct{ Result any }{result}); err != nil {
			t.Fatal(err)
		}
	}
	var list struct {
		Prompts []struct{ Name, Description string }
	}
	if len(s.ListPrompts()) > 0 {
		ask(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`, &list)
	}
	texts := map[string]string{}
	for _, prompt := range list.Prompts {
		var got struct {
			Messages []struct{ Content struct{ Text string } }
		}
		ask(`{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"`+prompt.Name+`"}}`, &got)
		if len(got.Messages) != 1 || prompt.Description == "" {
			t.Fatalf("%s: %+v", prompt.Name, got)
		}
		texts[prompt.Name] = got.Messages[0].Content.Text
	}
	return texts
}

func TestGroupHasNoRituals(t *testing.T) {
	if got := rituals(t, "../testdata/workspaces/kate", bookClub(t)); len(got) != 0 {
		t.Errorf("a group is offered %q", got)
	}
}

func TestBootstrapPrompt(t *testing.T) {
	const newborn = "../testdata/workspaces/newborn"
	if diff := cmp.Diff(startup(t, newborn, audience.DM()), rituals(t, newborn, audience.DM())["bootstrap"]); diff != "" {
		t.Errorf("startup (-) and bootstrap (+) differ:\n%s", diff)
	}
	if got := rituals(t, "../testdata/workspaces/kate", audience.DM())["bootstrap"]; !strings.HasPrefix(got, "There is no first boot to do") {
		t.Errorf("in a workspace that is ready: %q", got)
	}
	if got := rituals(t, t.TempDir(), audience.DM())["bootstrap"]; !strings.HasPrefix(got, "This workspace is not initialized") {
		t.Errorf("in an empty folder: %q", got)
	}
}

// The rituals of the sample workspace, as they are.
func TestRituals(t *testing.T) {
	got := rituals(t, "../testdata/workspaces/kate", audience.DM())
	for _, name := range []string{"heartbeat", "session_save", "memory_flush"} {
		golden(t, "kate-"+name+".golden", got[name])
	}
	for name, text := range rituals(t, t.TempDir(), audience.DM()) {
		if !strings.HasPrefix(text, "This workspace is not initialized") {
			t.Errorf("%s in an empty folder: %q", name, text)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
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

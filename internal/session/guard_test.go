package session

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
)

// A client without a token is a group's, also where the environment sets dm for another server.
func TestClientGroup(t *testing.T) {
	t.Parallel()
	for connection, group := range map[string]string{"dm": "", "": "", "group": "", "dm ": "team"} {
		o := Options{Config: config.Default()}
		o.Config.Session.Connection, o.Config.Session.Group = connection, group
		who, err := o.clientGroup()
		if err != nil {
			t.Fatal(err)
		}
		if who.IsDM() {
			t.Errorf("connection %q, group %q: a client without a token is a DM", connection, group)
		}
	}
	if _, err := (Options{Config: config.Config{Session: config.Session{Group: "A b"}}}).clientGroup(); err == nil {
		t.Error("a group that cannot be is accepted")
	}
}

// counting is an embedder that counts its calls.
type counting struct {
	embed.Embedder
	calls int
}

func (c *counting) Embed(context.Context, []string) ([][]float32, error) {
	c.calls++
	return [][]float32{{1}}, nil
}

// The local model is loaded before the first client connects; a remote provider is not asked.
func TestModelIsLoadedAtStart(t *testing.T) {
	t.Parallel()
	for provider, want := range map[string]int{config.Local: 1, "ollama": 0} {
		shared := &counting{}
		o := Options{Config: config.Default(), Logger: slog.New(slog.DiscardHandler), shared: shared}
		o.Config.Embedder.Provider = provider
		<-o.loadModel(t.Context())
		if shared.calls != want {
			t.Errorf("%s: %d calls at the start, want %d", provider, shared.calls, want)
		}
	}
}

// Whether a group has session logs depends on its own folder only.
func TestGroupLogs(t *testing.T) {
	t.Parallel()
	hiking, err := audience.Group("hiking")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		files     []string
		dm, group bool
	}{
		"none":           {nil, false, false},
		"private ones":   {[]string{"a.jsonl"}, true, false},
		"another group":  {[]string{"groups/sailing/a.jsonl"}, true, false},
		"the group's":    {[]string{"groups/hiking/a.jsonl"}, true, true},
		"both":           {[]string{"a.jsonl", "groups/hiking/a.jsonl"}, true, true},
		"an empty group": {[]string{"a.jsonl", "groups/hiking/"}, true, false},
	} {
		dir := t.TempDir()
		for _, file := range test.files {
			path := filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if filepath.Base(path) == "hiking" {
				if err := os.Mkdir(path, 0o700); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for who, want := range map[audience.Audience]bool{audience.DM(): test.dm, hiking: test.group} {
			logs, err := openLogs(dir, who)
			if err != nil {
				t.Fatal(err)
			}
			if (logs != nil) != want {
				t.Errorf("%s: %s has session logs: %t, want %t", name, who, logs != nil, want)
			}
			if logs != nil {
				_ = logs.Close()
			}
		}
	}
}

// What a group is offered is written down here, and not only in a generated document.
func TestGroupTools(t *testing.T) {
	t.Parallel()
	got := map[string][]string{}
	for _, who := range []string{"", "hiking"} {
		audienceOf, err := audience.Group(who)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{
			Config: config.Default(), Getenv: func(string) string { return "" },
			Logger: slog.New(slog.DiscardHandler),
		}
		o.Config.Workspace = t.TempDir()
		o.Config.Session.Toolsets = "memory,workspace,learning"
		p, err := open(o, audienceOf)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range p.tools() {
			got[audienceOf.Group()] = append(got[audienceOf.Group()], tool.Name())
		}
		if p.memory.Quota != mesh.GroupQuota {
			t.Errorf("the quota of a group's session is %+v", p.memory.Quota)
		}
		for _, prompt := range p.prompts() {
			got[audienceOf.Group()] = append(got[audienceOf.Group()], prompt.Name)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
	offered := []string{
		"memory_store", "memory_search", "distill_lesson", "who_am_i", "log_append", "my_stats",
		"lessons", "memory_get", "memory_delete", "skills", "reflect",
		"startup", "recall", "remember", "distill", "session_save", "memory_flush",
	}
	if diff := cmp.Diff(map[string][]string{"default": offered, "hiking": offered}, got); diff != "" {
		t.Errorf("a group's tools and prompts (-want +got):\n%s", diff)
	}
}

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

// SECURITY: no audience waits for the texts of another one.
func TestAudiencesHaveQueuesOfTheirOwn(t *testing.T) {
	t.Parallel()
	o := Options{Config: config.Default(), shared: embed.NewLocal(embed.Options{})}
	first, second := o.lane(), o.lane()
	if first == o.shared || first == second {
		t.Error("two audiences have one queue")
	}
	if first.Model() != o.shared.Model() {
		t.Errorf("another model: %v", first.Model())
	}
}

// Whether a session has session logs does not depend on what is in their folder, nor on whether it exists.
func TestLogsAreOffered(t *testing.T) {
	t.Parallel()
	for name, files := range map[string][]string{
		"missing":       nil,
		"private ones":  {"a.jsonl"},
		"another group": {"groups/sailing/a.jsonl"},
		"the group's":   {"groups/hiking/a.jsonl"},
	} {
		dir := filepath.Join(t.TempDir(), "logs")
		for _, file := range files {
			path := filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o := Options{Logger: slog.New(slog.DiscardHandler)}
		o.Config.Session.Transcripts = dir
		logs, err := openLogs(o, audience.DM())
		if err != nil || logs == nil {
			t.Fatalf("%s: %v, %v", name, logs, err)
		}
		if err := logs.Close(); err != nil {
			t.Error(err)
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

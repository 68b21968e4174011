package tools

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
)

// rootsOf is a client's answer to roots/list.
type rootsOf func(ctx context.Context) ([]string, error)

func (f rootsOf) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	uris, err := f(ctx)
	if err != nil {
		return nil, err
	}
	result := &mcp.ListRootsResult{}
	for _, uri := range uris {
		result.Roots = append(result.Roots, mcp.Root{URI: uri})
	}
	return result, nil
}

// The project of a session is that of the client's roots, or else of the process. A client that does not answer holds
// up one call for a second, and no other.
func TestProjectOfASession(t *testing.T) {
	t.Parallel()
	// The view of a DM returns the context's project.
	v := mesh.Open(mesh.Options{Dir: t.TempDir(), Audience: audience.DM()})
	type answer struct {
		Project string `json:"project"`
	}
	spec := Spec{Name: "tell", Title: "t", Description: "d"}
	tell := Define(spec, func(ctx context.Context, _ struct{}) (answer, error) {
		return answer{v.Project(ctx)}, nil
	})
	identify := func(uris []string) string { return strings.TrimPrefix(strings.Join(uris, ","), "file:///") }
	var asked atomic.Int32
	for name, test := range map[string]struct {
		roots rootsOf
		want  string
	}{
		"no roots":  {nil, "here"},
		"roots":     {func(context.Context) ([]string, error) { return []string{"file:///mare"}, nil }, "mare"},
		"no folder": {func(context.Context) ([]string, error) { return nil, nil }, "here"},
		"refused":   {func(context.Context) ([]string, error) { return nil, errors.New("no") }, "here"},
		"silent": {func(context.Context) ([]string, error) {
			asked.Add(1)
			time.Sleep(rootsPatience + 500*time.Millisecond)
			return []string{"file:///late"}, nil
		}, "here"},
	} {
		projects := NewProjects(identify, func() string { return "here" })
		srv := server.NewMCPServer("test", "1")
		env := quiet()
		env.Projects = projects
		srv.AddTools(tell.Server(env))
		projects.Follow(srv)
		options := []client.ClientOption{client.WithProtocolVersion("2025-06-18")}
		if test.roots != nil {
			options = append(options, client.WithRootsHandler(test.roots))
		}
		c, err := client.NewInProcessClientWithOptions(srv, options...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		h := &host{Client: c}
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		var hello mcp.InitializeRequest
		hello.Params.ProtocolVersion = "2025-06-18"
		hello.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
		if _, err := h.Initialize(t.Context(), hello); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got, failed := h.use(t, "tell", nil); failed || !strings.Contains(got, test.want) {
				t.Errorf("%s: %q, want %q", name, got, test.want)
			}
		}
	}
	if asked.Load() != 1 {
		t.Errorf("a client that does not answer was asked %d times", asked.Load())
	}
}

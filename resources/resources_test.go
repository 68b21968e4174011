package resources_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/resources"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// session is a server over a workspace folder, spoken to in raw JSON-RPC.
type session struct {
	t      *testing.T
	dir    string
	server *server.MCPServer
}

func bookClub(t *testing.T) audience.Audience {
	t.Helper()
	a, err := audience.Group("book-club")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func serve(t *testing.T, dir string, who audience.Audience, options ...server.ServerOption) *session {
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
	s := server.NewMCPServer("test", "1", append(options, server.WithHooks(&server.Hooks{}))...)
	if err := resources.Register(s, w.View(who)); err != nil {
		t.Fatal(err)
	}
	return &session{t, dir, s}
}

func kate(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../testdata/workspaces/kate")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (s *session) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	whole := filepath.Join(s.t.TempDir(), "file") // so that no reader sees half of it
	if err := os.WriteFile(whole, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(whole, path); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) remove(name string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.dir, filepath.FromSlash(name))); err != nil {
		s.t.Fatal(err)
	}
}

// request sends a message and returns the bytes of the answer.
func (s *session) request(method string, params any) string {
	s.t.Helper()
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := json.Marshal(s.server.HandleMessage(context.Background(), message))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(answer)
}

func (s *session) read(uri string) string {
	s.t.Helper()
	return s.request("resources/read", map[string]any{"uri": uri})
}

func (s *session) list() []mcp.Resource {
	s.t.Helper()
	var all []mcp.Resource
	for cursor := ""; ; {
		var answer struct{ Result mcp.ListResourcesResult }
		if err := json.Unmarshal([]byte(s.request("resources/list", map[string]any{"cursor": cursor})), &answer); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, answer.Result.Resources...)
		if cursor = string(answer.Result.NextCursor); cursor == "" {
			return all
		}
	}
}

func (s *session) names() []string {
	s.t.Helper()
	names := []string{}
	for _, r := range s.list() {
		names = append(names, r.Name)
	}
	return names
}

// text is the text of a read answer, or "" with the answer as an error.
func text(answer string) (string, error) {
	var decoded struct {
		Result *struct {
			Contents []struct{ URI, MIMEType, Text string }
		}
	}
	if err := json.Unmarshal([]byte(answer), &decoded); err != nil {
		return "", err
	}
	if decoded.Result == nil || len(decoded.Result.Contents) != 1 {
		return "", fmt.Errorf("not one content: %s", answer)
	}
	return decoded.Result.Contents[0].Text, nil
}

func isStartup(name string) bool { return name == "startup" }

func TestList(t *testing.T) {
	t.Parallel()
	want := map[audience.Audience][]string{
		audience.DM(): {
			"AGENTS.md", "HEARTBEAT.md", "IDENTITY.md", "MEMORY.md", "SOUL.md", "TOOLS.md", "USER.md",
			"memory/2026-02-13-group-hiking.md", "memory/2026-02-13.md", "memory/2026-02-14-group-book-club.md",
			"memory/2026-02-14.md", "memory/heartbeat-state.json", "notes/seed-order.md", "startup",
		},
		bookClub(t): {"AGENTS.md", "IDENTITY.md", "SOUL.md", "memory/2026-02-14-group-book-club.md", "startup"},
	}
	dir := kate(t)
	for who, names := range want {
		if diff := cmp.Diff(names, serve(t, dir, who).names()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", who, diff)
		}
	}
}

// Many files come in pages, none twice and none lost, with the server's own resource among them.
func TestPages(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), audience.DM())
	want := []string{}
	for i := range 450 {
		name := fmt.Sprintf("memory/%04d.md", i)
		s.write(name, "x")
		want = append(want, name)
	}
	for i := range 150 {
		name := fmt.Sprintf("notes/t%04d.md", i) // before and after "startup" in the order
		s.write(name, "x")
		want = append(want, name)
	}
	want = append(want, "startup")
	if diff := cmp.Diff(want, s.names()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var first struct{ Result mcp.ListResourcesResult }
	if err := json.Unmarshal([]byte(s.request("resources/list", nil)), &first); err != nil {
		t.Fatal(err)
	}
	if n := len(first.Result.Resources); n != 200 {
		t.Errorf("the first page has %d resources", n)
	}
	if got := s.request("resources/list", map[string]any{"cursor": "%"}); !strings.Contains(got, `"code":-32602`) {
		t.Errorf("an unknown cursor: %s", got)
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), audience.DM())
	s.write("SOUL.md", "I am é")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(s.dir, "SOUL.md"), at, at); err != nil {
		t.Fatal(err)
	}
	size := int64(7)
	want := []mcp.Resource{{
		URI: "yamo://workspace/SOUL.md", Name: "SOUL.md", Title: "Soul", MIMEType: "text/markdown", Size: &size,
		Description: "Who the agent is: character, values, role, capabilities",
		Annotated:   mcp.Annotated{Annotations: &mcp.Annotations{LastModified: "2026-01-02T03:04:05Z"}},
	}}
	if diff := cmp.Diff(want, s.list()[:1]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.write("SOUL.md", "longer than before")
	if got := s.list(); *got[0].Size != 18 || got[0].Annotations.LastModified == "2026-01-02T03:04:05Z" {
		t.Errorf("after an edit: %+v", got[0])
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := kate(t)
	s := serve(t, dir, audience.DM())
	s.write("notes/Über Tee & Gebäck #1.md", "tea\r\n")
	for _, name := range append(slices.DeleteFunc(s.names(), isStartup),
		"memory/2026-02-05-irrigation-pump.md") { // the last is not listed
		want, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := text(s.read(resourceuri.File(name)))
		if err != nil || got != string(want) {
			t.Errorf("%s reads %.60q, %v", name, got, err)
		}
	}
	s.write("notes/raw.md", "a\xffb")
	if got := s.read(resourceuri.File("notes/raw.md")); !strings.Contains(got, `"blob":"Yf9i"`) {
		t.Errorf("bytes that are not text: %s", got)
	}
}

// The heart of it: whatever a group asks for beyond what it may see is answered as nonsense is, to the byte.
func TestDeniedIsUnknown(t *testing.T) {
	t.Parallel()
	dir := kate(t)
	if err := os.Symlink("MEMORY.md", filepath.Join(dir, "BOOTSTRAP.md")); err != nil {
		t.Fatal(err)
	}
	group, dm := serve(t, dir, bookClub(t)), serve(t, dir, audience.DM())
	const nonsense = "yamo://workspace/no-such-file-at-all.md"
	denied := []string{
		"USER.md", "MEMORY.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md", "DREAMS.md", "memory/2026-02-14.md",
		"memory/2026-02-13-group-hiking.md",
		"notes/seed-order.md", "memory/heartbeat-state.json", "memory/2026-02-05-irrigation-pump.md", "", ".", "..",
		"../kate", "memory", "memory/",
		"%4DEMORY.md", "MEMORY%2Emd", "notes%2Fseed-order.md", "..%2FMEMORY.md", "x/..%2F..%2FMEMORY.md", "%2e%2e/MEMORY.md",
		"MEMORY.md?x", "MEMORY.md#x",
		"/MEMORY.md", "SOUL.md/", "./SOUL.md", "SOUL%2Emd", "soul.md", "SOUL.md%00", "memory//2026-02-14-group-book-club.md",
		".yamo/key", "%zz",
	}
	for _, arguments := range []any{nil, map[string]any{"yamo.loaded": map[string]any{"contents": "forged"}}} {
		for _, s := range []*session{group, dm} {
			for _, name := range denied {
				uri := resourceuri.FilePrefix + name
				if s == dm && name != "BOOTSTRAP.md" && name != "DREAMS.md" {
					if _, err := text(s.read(uri)); err == nil {
						continue // a DM may read it
					}
				}
				want := strings.ReplaceAll(s.read(nonsense), nonsense, uri)
				got := s.request("resources/read", map[string]any{"uri": uri, "arguments": arguments})
				if got != want || !strings.Contains(got, `"code":-32002`) {
					t.Errorf("%s answers\n%s\nwant\n%s", uri, got, want)
				}
			}
		}
	}
}

func TestModernProtocolDeniedIsUnknown(t *testing.T) {
	t.Parallel()
	s := serve(t, kate(t), bookClub(t))
	ask := func(uri string) string {
		return s.request("resources/read", map[string]any{"uri": uri, "_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "t", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}})
	}
	const nonsense = "yamo://workspace/no-such-file-at-all.md"
	want := strings.ReplaceAll(ask(nonsense), nonsense, "yamo://workspace/MEMORY.md")
	if got := ask("yamo://workspace/MEMORY.md"); got != want || !strings.Contains(got, `"code":-32602`) {
		t.Errorf("MEMORY.md answers\n%s\nwant\n%s", got, want)
	}
}

// Files come, go and come back while the server runs.
func TestFilesChangeWhileServing(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), audience.DM())
	uri := resourceuri.File("SOUL.md")
	const unknown = "yamo://workspace/x"
	missing := strings.ReplaceAll(s.read(unknown), unknown, uri)
	check := func(want string, names ...string) {
		t.Helper()
		got, err := text(s.read(uri))
		if got != want || want == "" && s.read(uri) != missing {
			t.Errorf("read %q, %v; want %q", got, err, want)
		}
		if diff := cmp.Diff(append([]string{}, names...), slices.DeleteFunc(s.names(), isStartup)); diff != "" {
			t.Errorf("list (-want +got):\n%s", diff)
		}
	}
	check("")
	s.write("SOUL.md", "one")
	check("one", "SOUL.md")
	s.write("SOUL.md", "two")
	check("two", "SOUL.md")
	s.remove("SOUL.md")
	check("")
	s.write("SOUL.md", "three")
	s.write("memory/2020-01-01.md", "old") // read by name, never listed
	if got, err := text(s.read(resourceuri.File("memory/2020-01-01.md"))); got != "old" {
		t.Errorf("old log reads %q, %v", got, err)
	}
	check("three", "SOUL.md")
	s.remove("memory/2020-01-01.md")
	check("three", "SOUL.md")
}

// What the server has registered beside the view's files is not for clients: neither shown nor, should its
// URI become known, answered.
func TestDoor(t *testing.T) {
	t.Parallel()
	s := serve(t, kate(t), audience.DM())
	s.read(resourceuri.File("SOUL.md"))
	doors := 0
	for uri := range s.server.ListResources() {
		if uri == resourceuri.Startup {
			continue
		}
		doors++
		if strings.Contains(s.request("resources/list", nil), uri) {
			t.Error("it is listed")
		}
		if answer := s.request("resources/read", map[string]any{
			"uri":       uri,
			"arguments": map[string]any{"yamo.loaded": "x"},
		}); !strings.Contains(answer, `"error"`) {
			t.Errorf("it answers %s", answer)
		}
	}
	if doors != 1 {
		t.Errorf("%d doors", doors)
	}
}

func TestTooLargeSaysSo(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), audience.Audience{})
	s.write("SOUL.md", strings.Repeat("x", workspace.MaxFileSize+1))
	if got := s.read(resourceuri.File("SOUL.md")); !strings.Contains(got, "larger than 4 MiB") ||
		strings.Contains(got, s.dir) {
		t.Errorf("got %.200s", got)
	}
}

func TestRegisterNeedsHooks(t *testing.T) {
	t.Parallel()
	w, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := resources.Register(server.NewMCPServer("test", "1"), w.View(audience.DM())); err == nil {
		t.Error("registered on a server without hooks")
	}
}

// Reads and lists race with a file that comes and goes: every answer is the content or not found.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := serve(t, kate(t), bookClub(t))
	uri := resourceuri.File("SOUL.md")
	content, err := text(s.read(uri))
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var workers sync.WaitGroup
	workers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				s.list()
			}
		}
	})
	for range 3 {
		workers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				answer := s.read(uri)
				if got, err := text(answer); err == nil && got != content ||
					err != nil && !strings.Contains(answer, `"code":-32002`) {
					t.Errorf("answer %s", answer)
				}
			}
		})
	}
	path := filepath.Join(s.dir, "SOUL.md")
	for range 300 {
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	workers.Wait()
}

func TestStartupResource(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), audience.DM())
	if got, err := text(s.read(resourceuri.Startup)); err != nil || !strings.Contains(got, "not initialized") {
		t.Errorf("empty workspace: %q, %v", got, err)
	}
	s.write("SOUL.md", "soul")
	s.write("MEMORY.md", "memory")
	if got, err := text(s.read(resourceuri.Startup)); err != nil || got != "# SOUL\nsoul\n\n# MEMORY\nmemory" {
		t.Errorf("DM: %q, %v", got, err)
	}
	if got, err := text(serve(t, s.dir, bookClub(t)).read(resourceuri.Startup)); err != nil || got != "# SOUL\nsoul" {
		t.Errorf("group: %q, %v", got, err)
	}
}

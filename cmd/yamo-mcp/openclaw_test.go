package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/session"
)

// host speaks to the program as a host does, one request at a time.
type host struct {
	t      *testing.T
	in     *bufio.Writer
	out    *bufio.Reader
	stderr *bytes.Buffer
	id     int
}

func (h *host) request(method, params string) string {
	h.t.Helper()
	h.id++
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", h.id, method, params)
	if _, err := h.in.WriteString(message); err != nil {
		h.t.Fatal(err)
	}
	if err := h.in.Flush(); err != nil {
		h.t.Fatal(err)
	}
	for {
		answer, err := h.out.ReadString('\n')
		if err != nil {
			h.t.Fatalf("%s: %v\n%s", method, err, h.stderr)
		}
		if strings.Contains(answer, fmt.Sprintf(`"id":%d,`, h.id)) {
			return answer
		}
	}
}

// call calls a tool.
func (h *host) call(tool, arguments string) string {
	h.t.Helper()
	return h.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
}

// tree is every file below dir with its mode, time and content, and every folder with its mode.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Name() == session.MemoryFolder {
			return fs.SkipDir
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, dir)
		if entry.IsDir() {
			found[name] = info.Mode().String()
			return nil
		}
		data, err := os.ReadFile(path)
		found[name] = fmt.Sprintf("%v %v %q", info.Mode(), info.ModTime().UnixNano(), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The workspace of another program of this family is served as it is: a session that reads all of it,
// searches, remembers and subscribes leaves every file's bytes and time as they were.
func TestOpenClawWorkspaceIsServedUnchanged(t *testing.T) {
	t.Parallel()
	dir, logs := filepath.Join(t.TempDir(), "clawd"), filepath.Join(t.TempDir(), "sessions")
	for to, from := range map[string]string{dir: "openclaw", logs: "openclaw-sessions"} {
		if err := os.CopyFS(to, os.DirFS("../../testdata/workspaces/"+from)); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Date(2026, 2, 14, 20, 0, 0, 0, time.UTC)
	for name := range tree(t, dir) {
		if err := os.Chtimes(filepath.Join(dir, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	before, logsBefore := tree(t, dir), tree(t, logs)

	cmd := exec.Command("yamo-mcp", "serve", "--workspace", dir, "--connection", "dm", "--transcripts", logs)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	h := &host{t: t, stderr: new(bytes.Buffer)}
	cmd.Stderr = h.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	h.in, h.out = bufio.NewWriter(in), bufio.NewReader(out)

	h.request("initialize", initialization)
	var list struct {
		Result struct{ Resources []struct{ URI, Name string } }
	}
	if err := json.Unmarshal([]byte(h.request("resources/list", `{}`)), &list); err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, r := range list.Result.Resources {
		listed[r.Name] = true
		if answer := h.request("resources/read", fmt.Sprintf(`{"uri":%q}`, r.URI)); !strings.Contains(answer, `"contents"`) {
			t.Errorf("%s: %s", r.URI, answer)
		}
		h.request("resources/subscribe", fmt.Sprintf(`{"uri":%q}`, r.URI))
	}
	for name := range before {
		name = strings.TrimPrefix(name, "/")
		if strings.HasSuffix(name, ".md") && !strings.Contains(name, "/") && !listed[name] {
			t.Errorf("%s is not listed", name)
		}
		if strings.HasSuffix(name, ".md") {
			answer := h.request("resources/read", fmt.Sprintf(`{"uri":"yamo://workspace/%s"}`, name))
			if !strings.Contains(answer, `"contents"`) {
				t.Errorf("%s: %s", name, answer)
			}
		}
	}
	for _, call := range []struct{ tool, arguments, want string }{
		{"memory_search", `{"query":"when is the boiler serviced"}`, `"source":"MEMORY.md#House"`},
		{
			"memory_search", `{"query":"oak worktop of the kitchen"}`,
			`"link":"yamo://workspace/memory/imports/chatgpt/kitchen.md"`,
		},
		{
			"memory_search", `{"query":"water meter 00482"}`,
			`"source":"memory/2026-02-13-water-meter.md#Conversation Summary"`,
		},
		{"who_am_i", `{}`, `hermit crab`},
		{"memory_store", `{"content":"Noor will be on the ferry on Monday"}`, `"id":"mem_`},
		{"session_logs", `{"action":"search","query":"by hand"}`, `I ran it by hand`},
		{"session_logs", `{"action":"recent"}`, `almanac: connection refused`},
	} {
		answer := h.call(call.tool, call.arguments)
		if !strings.Contains(answer, call.want) {
			t.Errorf("%s %s\nanswers %s\nwant %s", call.tool, call.arguments, answer, call.want)
		}
		if strings.Contains(answer, `"isError":true`) {
			t.Errorf("%s %s fails: %s", call.tool, call.arguments, answer)
		}
	}
	answer := h.call("memory_search", `{"query":"lighthouses matter, counted"}`)
	if strings.Contains(answer, "lighthouses") {
		t.Errorf("a dream is found as a memory: %s", answer)
	}
	h.request("prompts/get", `{"name":"startup"}`)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, h.stderr)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("the workspace changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(logsBefore, tree(t, logs)); diff != "" {
		t.Errorf("the session logs changed (-before +after):\n%s", diff)
	}
}

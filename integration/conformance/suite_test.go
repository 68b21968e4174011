// Package conformance runs the official conformance suite of the Model Context Protocol against the real program, and
// against a server of the fixtures that most scenarios want, which is built and served by the same internal/serve.
//
// The invariant: what fails is listed in testdata with a reason on each line, and what is listed fails, always or,
// where the reason begins so, sometimes. The suite itself refuses any difference.
package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/integration/thirdparty"
	"github.com/yamo-protocol/yamo-mcp/integration/web"
)

// The suite's versions: the one that is released, for the revisions up to 2025-11-25, and the newest with scenarios
// for 2026-07-28.
const (
	released = "@modelcontextprotocol/conformance@0.1.16"
	next     = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
)

func TestProduct(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "yamo-mcp")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary,
		"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, output)
	}
	workspace := filepath.Join(t.TempDir(), "kate")
	if err := os.CopyFS(workspace, os.DirFS("../../testdata/workspaces/kate")); err != nil {
		t.Fatal(err)
	}
	server := web.Start(t, binary, nil, "--workspace", workspace, "--toolsets", "memory,workspace,learning")
	both(t, proxy(t, strings.TrimPrefix(server.URL, "http://"), server.NewToken("--connection", "dm")), "product")
}

func TestFixtures(t *testing.T) {
	both(t, proxy(t, startFixture(t), fixtureToken), "fixtures")
}

// both runs both suites against a server.
func both(t *testing.T, target, name string) {
	t.Run("0.1", func(t *testing.T) { check(t, released, target, "testdata/"+name+"-0.1.yml") })
	t.Run("0.2", func(t *testing.T) {
		check(t, next, target, "testdata/"+name+"-0.2.yml", "--spec-version", "2026-07-28")
	})
}

// check runs the suite, which must end as the expected failures say.
func check(t *testing.T, suite, target, expected string, args ...string) {
	t.Helper()
	name, _, _ := strings.Cut(strings.TrimPrefix(suite, "@"), "@")
	script := filepath.Join(thirdparty.NPM(t, suite), "@"+name, "dist", "index.js")
	args = append(
		[]string{script, "server", "--url", target + "/mcp", "--suite", "all", "--expected-failures", expected},
		args...)
	checkReasons(t, expected)
	found := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	output, err := exec.CommandContext(ctx, thirdparty.Node(t), append(args, "--output-dir", found)...).CombinedOutput()
	text := string(output)
	if _, after, ok := strings.Cut(text, "=== SUMMARY ==="); ok {
		text = after
	}
	if err != nil && !passedThisTime(t, text, expected) {
		t.Errorf("%s %v: %v\n%s\n%s", suite, args[1:], err, text, findings(t, found))
		return
	}
	t.Log(strings.Join(regexp.MustCompile(`(?m)^(Total|Passed): .*$`).FindAllString(text, -1), "; "))
}

// passedThisTime reports whether all that the suite complains of in its summary is that entries of the file of expected
// failures passed which fail sometimes.
func passedThisTime(t *testing.T, summary, file string) bool {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, stale, found := strings.Cut(summary, "Stale baseline entries")
	if !found || strings.Contains(summary, "Unexpected failures") {
		return false
	}
	for _, entry := range regexp.MustCompile(`(?m)^\s*✓ (\S+)$`).FindAllStringSubmatch(stale, -1) {
		if !regexp.MustCompile(`(?m)^\s*- ` + regexp.QuoteMeta(entry[1]) + `\s+# sometimes: `).Match(data) {
			return false
		}
	}
	return true
}

func TestPassedThisTime(t *testing.T) {
	const file = "testdata/product-0.2.yml"
	stale := "Total: 95 passed\n\x1b[31mStale baseline entries (now passing - remove from baseline):\x1b[0m\n  ✓ "
	for summary, want := range map[string]bool{
		stale + "server-stateless:sep-2575-server-sends-subscription-ack\n": true,
		stale + "tools-call-audio\n":                                        false,
		"Unexpected failures (not in baseline):\n  ✗ x\n" + stale +
			"server-stateless:sep-2575-server-sends-subscription-ack\n": false,
		"cannot find Node\n": false,
	} {
		if got := passedThisTime(t, summary, file); got != want {
			t.Errorf("%t for\n%s", got, summary)
		}
	}
}

// findings are the checks below dir that failed, and what was wrong.
func findings(t *testing.T, dir string) string {
	t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "checks.json" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var checks []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(data, &checks); err != nil {
			return err
		}
		for _, c := range checks {
			if c.Status == "FAILURE" || c.Status == "WARNING" {
				fmt.Fprintf(&text, "%s %s: %s\n", c.Status, c.ID, c.ErrorMessage)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return text.String()
}

// checkReasons checks that each expected failure has a reason.
func checkReasons(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if _, reason, ok := strings.Cut(line, "#"); strings.HasPrefix(strings.TrimSpace(line), "- ") &&
			(!ok || len(strings.TrimSpace(reason)) < 20) {
			t.Errorf("%s: no reason in %s", file, line)
		}
	}
}

// proxy adds the token to what comes, which the suite cannot, and passes everything else on as it is: Host and Origin
// too.
func proxy(t *testing.T, address, token string) string {
	t.Helper()
	target := &url.URL{Scheme: "http", Host: address}
	forward := &httputil.ReverseProxy{
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // the suite closes streams as it likes
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+token)
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The body comes first: net/http closes it when an answer begins, which may be before all of it was sent on.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the suite went away
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// listen is a listener on the loopback interface.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestProxyAddsNothingElse: what the suite tests is the server, not the proxy.
func TestProxyAddsNothingElse(t *testing.T) {
	var got *http.Request
	echo := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r }))
	defer echo.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		proxy(t, strings.TrimPrefix(echo.URL, "http://"), "secret")+"/mcp", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "evil.example"
	request.Header.Set("Origin", "http://evil.example")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if got.Host != "evil.example" {
		t.Errorf("host %q", got.Host)
	}
	for header, want := range map[string]string{
		"Origin": "http://evil.example", "Authorization": "Bearer secret", "X-Forwarded-For": "",
	} {
		if is := got.Header.Get(header); is != want {
			t.Errorf("%s: %q, want %q", header, is, want)
		}
	}
}

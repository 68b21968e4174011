package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/yamo-protocol/yamo-mcp/integration/web"
)

// dialogue sends a message and returns the answer, "" to a notification.
type dialogue func(line string) string

// Whole dialogues, in each revision of the protocol, as a DM and as a group, say the same over every transport. -update rewrites
// the server's side from what it says over stdio. META in a client's line stands for what every request of 2026-07-28 carries.
func TestTranscripts(t *testing.T) {
	for _, revision := range []string{oldest, legacy, "2025-11-25", modern} {
		file := filepath.Join("testdata", "transcripts", revision+".txtar")
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range []string{"", hiking} {
			part := "dm"
			if group != "" {
				part = "group"
			}
			at := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == part })
			for _, transport := range []string{"stdio", "http", "sse"} {
				if transport == "sse" && revision == modern {
					continue // there is none any more
				}
				t.Run(strings.Join([]string{revision, part, transport}, "/"), func(t *testing.T) {
					got := replay(t, open(t, transport, revision, group), string(archive.Files[0].Data))
					if *update && transport == "stdio" {
						archive.Files[at].Data = []byte(got)
						if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
							t.Fatal(err)
						}
					}
					if diff := cmp.Diff(strings.Split(string(archive.Files[at].Data), "\n"), strings.Split(got, "\n")); diff != "" {
						t.Errorf("%s, %s (-want +got):\n%s", file, part, diff)
					}
				})
			}
		}
	}
}

// open begins a session of a server over a fresh workspace, on a machine without a model, where scores are the same everywhere.
func open(t *testing.T, transport, revision, group string) dialogue {
	t.Helper()
	workspace := sample(t)
	if transport == "stdio" {
		return overStdio(connect(t, launch{workspace: workspace, group: group, cache: t.TempDir(), unspoken: true}))
	}
	t.Setenv("YAMO_CACHE", t.TempDir())
	server := web.Start(t, serverBinary(t), workspace, "--toolsets", "memory,workspace,learning")
	token := server.Token(t, group)
	if transport == "sse" {
		return overSSE(t, server.URL(), token)
	}
	return overHTTP(t, server.URL()+"/mcp", token, revision)
}

// replay is the server's side of a dialogue.
func replay(t *testing.T, say dialogue, client string) string {
	t.Helper()
	var answers strings.Builder
	for line := range strings.Lines(client) {
		line = strings.ReplaceAll(strings.TrimSpace(line), "META", `"_meta":{"io.modelcontextprotocol/protocolVersion":"`+modern+
			`","io.modelcontextprotocol/clientInfo":{"name":"host","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`)
		if answer := say(line); answer != "" {
			answers.WriteString(answer + "\n")
		}
	}
	return portable(t, answers.String())
}

var (
	schemas  = regexp.MustCompile(`"(?:input|output)Schema":`)
	anywhere = regexp.MustCompile(`(workspace_dir\\?":\\?")[^"\\]*`)
	version  = regexp.MustCompile(`("name":"yamo-mcp","version":)"[^"]*"`)
	stamp    = regexp.MustCompile(`\b20\d\d-\d\d-\d\d, (private|shared|group)`)
)

// portable is text without what is another on every machine and every day. Of the tools, which docs/tools.md has, names remain.
func portable(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(text) {
		if schemas.MatchString(line) {
			line = namesAlone(t, line)
		}
		out.WriteString(line)
	}
	text = normal(out.String())
	text = anywhere.ReplaceAllString(text, "${1}WORKSPACE")
	text = stamp.ReplaceAllString(text, "DAY, $1")
	return version.ReplaceAllString(text, `$1"VERSION"`)
}

// namesAlone is the answer to tools/list with the names in place of the tools.
func namesAlone(t *testing.T, line string) string {
	t.Helper()
	var answer struct {
		Result struct{ Tools []json.RawMessage }
	}
	if err := json.Unmarshal([]byte(line), &answer); err != nil {
		t.Fatal(err)
	}
	for _, tool := range answer.Result.Tools {
		var named struct{ Name string }
		if err := json.Unmarshal(tool, &named); err != nil {
			t.Fatal(err)
		}
		line = strings.Replace(line, string(tool), fmt.Sprintf("%q", named.Name), 1)
	}
	return line
}

// idOf is the id of a message as JSON, "" if it has none.
func idOf(line string) string {
	var m struct{ ID json.RawMessage }
	if json.Unmarshal([]byte(line), &m) != nil {
		return ""
	}
	return string(m.ID)
}

func overStdio(s *session) dialogue {
	return func(line string) string {
		id := idOf(line)
		if id == "" {
			s.send(line)
			return ""
		}
		answer := make(chan message, 1)
		s.mu.Lock()
		s.waiting[id] = answer
		s.mu.Unlock()
		s.send(line)
		select {
		case m := <-answer:
			return m.line
		case <-s.ended:
			s.tb.Fatalf("no answer to %s", line)
			return ""
		}
	}
}

// overHTTP speaks Streamable HTTP.
func overHTTP(t *testing.T, url, token, revision string) dialogue {
	session := ""
	return func(line string) string {
		t.Helper()
		var asked struct {
			Method string
			Params struct{ Name, URI string }
		}
		if err := json.Unmarshal([]byte(line), &asked); err != nil {
			t.Fatal(err)
		}
		headers := map[string]string{
			"Accept": "application/json, text/event-stream", "Mcp-Session-Id": session, "MCP-Protocol-Version": revision,
			"Mcp-Method": asked.Method, "Mcp-Name": asked.Params.Name + asked.Params.URI,
		}
		if revision != modern {
			delete(headers, "Mcp-Method")
			delete(headers, "Mcp-Name")
		}
		if asked.Method == "initialize" {
			delete(headers, "MCP-Protocol-Version")
		}
		answer := post(t, url, token, line, headers)
		defer answer.Body.Close() //nolint:errcheck // it was read to its end
		if id := answer.Header.Get("Mcp-Session-Id"); id != "" {
			session = id
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
			return strings.TrimSpace(string(body))
		}
		for event := range strings.Lines(string(body)) {
			if data, ok := strings.CutPrefix(strings.TrimSpace(event), "data: "); ok && idOf(data) == idOf(line) {
				return data
			}
		}
		t.Fatalf("no answer to %s in %s", line, body)
		return ""
	}
}

// overSSE speaks the transport before that: answers come on the stream that the session begins with.
func overSSE(t *testing.T, url, token string) dialogue {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/sse", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	stream, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stream.Body.Close() })
	events := bufio.NewReader(stream.Body)
	next := func() string {
		for {
			line, err := events.ReadString('\n')
			if err != nil {
				t.Fatalf("the stream ended: %v", err)
			}
			if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
				return data
			}
		}
	}
	endpoint := next()
	return func(line string) string {
		answer := post(t, url+endpoint, token, line, nil)
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusAccepted {
			t.Fatalf("%s is answered %s", line, answer.Status)
		}
		for idOf(line) != "" {
			if data := next(); idOf(data) == idOf(line) {
				return data
			}
		}
		return ""
	}
}

func post(t *testing.T, url, token, body string, headers map[string]string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

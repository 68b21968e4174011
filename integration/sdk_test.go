package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/integration/thirdparty"
)

// The official SDKs: clients not written here. These are the places with their versions.
const (
	typescriptSDK = "@modelcontextprotocol/sdk@1.32.2"
	pythonSDK     = "mcp==2.3.0"
)

// sdkSession is what testdata/client.mjs and client.py report of a session.
type sdkSession struct {
	Protocol, Instructions               string
	Tools, Resources, Templates, Prompts []string
	Connection, Stored                   string
	Found, Completed                     []string
	Refused, Soul, Recall, Updated       string
	Absent                               int
}

// The official SDKs do everything a host does, over every transport, in both eras, as a DM and as a group. They check
// what comes against the protocol's schemas and the tools' own.
func TestOfficialSDKs(t *testing.T) {
	t.Parallel()
	script := func(name string) string {
		path, err := filepath.Abs(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	typescript := func(t *testing.T, how string) *exec.Cmd {
		return exec.Command(thirdparty.Node(t), script("client.mjs"), thirdparty.NPM(t, typescriptSDK), how)
	}
	python := func(t *testing.T, how string) *exec.Cmd {
		interpreter, env := thirdparty.Python(t, pythonSDK)
		cmd := exec.Command(interpreter, script("client.py"), how)
		cmd.Env = env
		return cmd
	}
	workspace := sample(t)
	server := startHTTP(t, launch{workspace: workspace})
	tokens := map[string]string{
		"": server.NewToken("--connection", "dm"), hiking: server.NewToken("--connection", "group", "--group", hiking),
	}
	number := 0
	for _, test := range []struct {
		sdk, transport, mode, protocol string
		command                        func(*testing.T, string) *exec.Cmd
	}{
		{"typescript", "stdio", "", "", typescript},
		{"typescript", "sse", "", "", typescript},
		{"typescript", "http", "", "2025-11-25", typescript},
		{"python", "stdio", "legacy", "2025-11-25", python},
		{"python", "sse", "legacy", "2025-11-25", python},
		{"python", "http", "legacy", "2025-11-25", python},
		{"python", "stdio", "auto", modern, python},
		{"python", "http", "auto", modern, python},
	} {
		for _, group := range []string{"", hiking} {
			number++
			fact := fmt.Sprintf("Boat number %d leaves from quay %d.", number, number*7)
			t.Run(strings.Join([]string{test.sdk, test.transport, test.mode, group}, "-"), func(t *testing.T) {
				t.Parallel()
				h := launch{workspace: workspace, group: group}
				how, err := json.Marshal(map[string]any{
					"transport": test.transport, "mode": test.mode, "url": server.URL, "token": tokens[group],
					"command": serverBinary(t), "args": h.args(), "fact": fact,
					"uri": "yamo://workspace/AGENTS.md", "file": filepath.Join(workspace, "AGENTS.md"),
				})
				if err != nil {
					t.Fatal(err)
				}
				var stdout, stderr bytes.Buffer
				cmd := test.command(t, string(how))
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				if err := cmd.Run(); err != nil {
					t.Fatalf("%v\n%s", err, &stderr)
				}
				var got sdkSession
				if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
					t.Fatalf("%v: %s", err, &stdout)
				}
				checkSDKSession(t, got, group, fact, test.protocol)
			})
		}
	}
}

func checkSDKSession(t *testing.T, got sdkSession, group, fact, protocol string) {
	t.Helper()
	connection, visibility, absent := "dm", "private", -32002
	if group != "" {
		connection, visibility = "group", "group:"+group
	}
	if protocol == modern {
		absent = -32602
	}
	for _, wrong := range []struct {
		is   bool
		what string
	}{
		{got.Protocol != protocol && protocol != "", "protocol " + got.Protocol},
		{got.Connection != connection, "connection " + got.Connection},
		{got.Stored != visibility, "visibility " + got.Stored},
		{!slices.Contains(got.Found, fact), fmt.Sprintf("found %q", got.Found)},
		{!strings.Contains(got.Recall, fact), "recall: " + got.Recall},
		{!slices.Contains(got.Completed, "travel"), fmt.Sprintf("completed %q", got.Completed)},
		{!strings.Contains(got.Refused, `unknown field "colour" (valid fields: query,`), "refused: " + got.Refused},
		{!strings.Contains(got.Soul, "#"), "SOUL.md: " + got.Soul},
		{got.Absent != absent, fmt.Sprintf("an absent resource is answered %d", got.Absent)},
		{got.Updated != "yamo://workspace/AGENTS.md", "updated: " + got.Updated},
		{!strings.Contains(got.Instructions, "memory"), "instructions: " + got.Instructions},
		{len(got.Templates) == 0, "no templates"},
		{!slices.Contains(got.Tools, "memory_search"), fmt.Sprintf("tools %q", got.Tools)},
		{slices.Contains(got.Prompts, "curate") != (group == ""), fmt.Sprintf("prompts %q", got.Prompts)},
		{
			slices.Contains(got.Resources, "yamo://workspace/MEMORY.md") != (group == ""),
			fmt.Sprintf("resources %q", got.Resources),
		},
	} {
		if wrong.is {
			t.Errorf("wrong: %s", wrong.what)
		}
	}
}

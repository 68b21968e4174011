package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// patience is how long a search may wait for memories to be findable by meaning.
const patience = 60 * time.Second

// host is an MCP host: a client and the server process it has started.
type host struct {
	*client.Client
	process *os.Process
	stderr  *bytes.Buffer // read it after the end only
}

// start starts the server for one audience (group "" is a DM) and connects to it.
func start(ctx context.Context, server, workspace, group string) (*host, error) {
	args := []string{"serve", "--workspace", workspace, "--agent-id", "kate", "--connection", "dm"}
	if group != "" {
		args = []string{"serve", "--workspace", workspace, "--agent-id", "kate", "--connection", "group", "--group", group}
	}
	h := &host{stderr: new(bytes.Buffer)}
	var command *exec.Cmd
	c, err := client.NewStdioMCPClientWithOptions(server, nil, args, transport.WithCommandFunc(
		func(ctx context.Context, name string, _, args []string) (*exec.Cmd, error) {
			command = exec.CommandContext(ctx, name, args...)
			for _, key := range []string{"HOME", "PATH", "XDG_CACHE_HOME", "YAMO_CACHE"} { // and no setting
				if value, ok := os.LookupEnv(key); ok {
					command.Env = append(command.Env, key+"="+value)
				}
			}
			return command, nil
		}), transport.WithCommandStderrWriter(h.stderr))
	if err != nil {
		return nil, err
	}
	h.Client, h.process = c, command.Process
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "yamo-demo", Version: "1"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return nil, errors.Join(fmt.Errorf("initialize: %w", err), c.Close(), errors.New(h.stderr.String()))
	}
	return h, nil
}

// call calls a tool and decodes what it returns into result.
func (h *host) call(ctx context.Context, tool string, args map[string]any, result any) error {
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Arguments = tool, args
	got, err := h.CallTool(ctx, request)
	if err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	if got.IsError {
		return fmt.Errorf("%s: %v", tool, got.Content)
	}
	data, err := json.Marshal(got.StructuredContent)
	if err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	return json.Unmarshal(data, result)
}

type stored struct {
	ID         string
	Visibility string
	Redactions []struct {
		Kind  string
		Count int
	}
}

func (h *host) store(ctx context.Context, args map[string]any) (stored, error) {
	var result stored
	return result, h.call(ctx, "memory_store", args, &result)
}

type memory struct {
	ID         string
	Score      float64
	Content    string
	Visibility string
}

type answer struct {
	Results  []memory
	Semantic string
	Lessons  []struct {
		PreventativeRule string `json:"preventative_rule"`
		Severity         string
	}
}

// search asks until every memory can be found by meaning.
func (h *host) search(ctx context.Context, args map[string]any) (answer, error) {
	for deadline := time.Now().Add(patience); ; {
		var result answer
		if err := h.call(ctx, "memory_search", args, &result); err != nil {
			return result, err
		}
		switch {
		case result.Semantic == "on":
			return result, nil
		case result.Semantic == "off":
			return result, errors.New("search by meaning is off: run `yamo-mcp setup` (or `make setup`) and try again")
		case time.Now().After(deadline):
			return result, fmt.Errorf("after %v the search still answers %s", patience, result.Semantic)
		}
	}
}

// resources are the names of what the server lists, without the prefix that they share.
func (h *host) resources(ctx context.Context) ([]string, error) {
	list, err := h.ListResources(ctx, mcp.ListResourcesRequest{})
	if err != nil {
		return nil, fmt.Errorf("list resources: %w", err)
	}
	var names []string
	for _, r := range list.Resources {
		if name, ok := strings.CutPrefix(r.URI, prefix); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

const prefix = "yamo://workspace/"

// file is the text of a workspace file.
func (h *host) file(ctx context.Context, name string) (string, error) {
	request := mcp.ReadResourceRequest{}
	request.Params.URI = prefix + name
	result, err := h.ReadResource(ctx, request)
	if err != nil {
		return "", err
	}
	if len(result.Contents) == 1 {
		if text, ok := result.Contents[0].(mcp.TextResourceContents); ok {
			return text.Text, nil
		}
	}
	return "", fmt.Errorf("read %s: not one text", name)
}

// kill ends the server as nothing in it can prevent.
func (h *host) kill() error {
	err := h.process.Kill()
	_ = h.Close() // it reports that the process was killed
	return err
}

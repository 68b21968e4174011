package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// tokenLife is how long a token opens a chat's session; a new one is made after half of it.
const tokenLife = 24 * time.Hour

// memory is one server over HTTP, which all chats share.
type memory struct {
	url, program string
	chats        map[string]*chat // by group, "" is the direct conversation
}

// chat is the session of one chat.
type chat struct {
	*client.Client

	start string // what the session starts with
	made  time.Time
}

// open returns the session of a group, "" for the direct conversation. The token, and nothing else that is sent,
// decides whose session it is.
func (m *memory) open(ctx context.Context, group string) (*chat, error) {
	if c := m.chats[group]; c != nil {
		if time.Since(c.made) < tokenLife/2 {
			return c, nil
		}
		_ = c.Close()
		delete(m.chats, group)
	}
	args := []string{
		"token", "create", "--name", "gateway-" + rand.Text(), "--expires", fmt.Sprintf("%.0fh", tokenLife.Hours()),
	}
	if group == "" {
		args = append(args, "--connection", "dm")
	} else {
		args = append(args, "--connection", "group", "--group="+group)
	}
	token, err := exec.CommandContext(ctx, m.program, args...).Output()
	if err != nil {
		return nil, fmt.Errorf("create a token: %w", err)
	}
	headers := map[string]string{"Authorization": "Bearer " + strings.TrimSpace(string(token))}
	connected, err := client.NewStreamableHttpClient(m.url, transport.WithHTTPHeaders(headers))
	if err != nil {
		return nil, err
	}
	c := &chat{Client: connected, made: time.Now()}
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "gateway", Version: "1"}
	if _, err = c.Initialize(ctx, hello); err == nil {
		c.start, err = c.begin(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if m.chats == nil {
		m.chats = map[string]*chat{}
	}
	m.chats[group] = c
	return c, nil
}

// begin returns what a session of the chat starts with: who the agent is, and what it needs to know now.
func (c *chat) begin(ctx context.Context) (string, error) {
	request := mcp.CallToolRequest{}
	request.Params.Name = "who_am_i"
	result, err := c.CallTool(ctx, request)
	if err != nil {
		return "", err
	}
	self, _ := result.StructuredContent.(map[string]any)
	start, ok := self["start"].(string)
	if !ok {
		return "", errors.New("who_am_i: no start")
	}
	soul, _ := self["soul_excerpt"].(string) // the start goes on after it
	return strings.TrimSpace(soul) + "\n\n" + start, nil
}

// call calls a tool and returns its text.
func (c *chat) call(ctx context.Context, tool string, arguments map[string]any) (string, error) {
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Arguments = tool, arguments
	result, err := c.CallTool(ctx, request)
	if err != nil {
		return "", fmt.Errorf("%s: %w", tool, err)
	}
	var parts []string
	for _, content := range result.Content {
		if text, ok := mcp.AsTextContent(content); ok {
			parts = append(parts, text.Text)
		}
	}
	if result.IsError {
		return "", fmt.Errorf("%s: %s", tool, strings.Join(parts, " "))
	}
	return strings.Join(parts, "\n"), nil
}

func (m *memory) close() {
	for _, c := range m.chats {
		_ = c.Close()
	}
}

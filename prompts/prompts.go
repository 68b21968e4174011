// Package prompts offers the rituals of a session as MCP prompts. Their fixed words are in text/*.md.
//
// Its invariant: what a prompt shows of the workspace comes from the audience's workspace.View.
package prompts

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/workspace"
)

//go:embed text/*.md
var texts embed.FS

// StartupName is the name of the prompt that starts a session.
const StartupName = "startup"

// Register offers the prompts for v's audience on s, a server for that audience alone.
func Register(s *server.MCPServer, v *workspace.View) error {
	startup, err := newStartup(v)
	if err != nil {
		return err
	}
	s.AddPrompt(mcp.NewPrompt(StartupName,
		mcp.WithPromptDescription("Begin a session: who you are and what you remember, read from the workspace in the order of its startup sequence"),
	), startup.get)
	return nil
}

// startup renders the startup sequence of RFC-0009 §2.2 and, at the first boot, §6.2.
type startup struct {
	view      *workspace.View
	ready     string
	bootstrap string
}

func newStartup(v *workspace.View) (*startup, error) {
	p := &startup{view: v}
	ready := "group"
	if v.Audience().IsDM() {
		ready = "dm"
	}
	for name, text := range map[string]*string{ready: &p.ready, "bootstrap": &p.bootstrap} {
		data, err := texts.ReadFile("text/" + name + ".md")
		if err != nil {
			return nil, fmt.Errorf("prompt text: %w", err)
		}
		*text = string(data)
	}
	return p, nil
}

// get renders the files anew for each request.
func (p *startup) get(_ context.Context, _ mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	text, err := p.text()
	if err != nil {
		return nil, err
	}
	return mcp.NewGetPromptResult("Startup sequence", []mcp.PromptMessage{
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text)),
	}), nil
}

func (p *startup) text() (string, error) {
	intro := p.ready
	switch p.view.State() {
	case workspace.Uninitialized:
		return p.view.Refusal(), nil
	case workspace.Bootstrap:
		today, _ := p.view.Days()
		intro = strings.ReplaceAll(p.bootstrap, "{{today}}", today)
	}
	blocks, err := p.view.Startup()
	if err != nil {
		return "", err
	}
	return intro + "\n" + blocks, nil
}

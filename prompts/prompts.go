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

// Section is a further part of the startup prompt, in Markdown, "" if there is nothing to say. It is made
// for the audience of the server that it is given to.
type Section func(context.Context) (string, error)

// Register offers on s, a server for v's audience alone, the prompt that every session starts with. In a
// workspace that is ready, the sections follow the files.
func Register(s *server.MCPServer, v *workspace.View, sections ...Section) error {
	ready := "group"
	if v.Audience().IsDM() {
		ready = "dm"
	}
	return add(s, ritual{
		name: StartupName, title: "Startup sequence",
		description: "Begin a session: who you are and what you remember, read from the workspace in the order of its startup sequence",
		render: func(ctx context.Context, say words) (string, error) {
			switch v.State() {
			case workspace.Uninitialized:
				return v.Refusal(), nil
			case workspace.Bootstrap:
				return firstBoot(v, say)
			default:
				return withSections(ctx, v, say(ready), sections)
			}
		},
	}, ready, "bootstrap")
}

// RegisterRituals offers on s the rituals that are done with the workspace's tools. There are none in a group.
func RegisterRituals(s *server.MCPServer, v *workspace.View) error {
	// SECURITY: they show and write what a group never sees.
	if !v.Audience().IsDM() {
		return nil
	}
	err := add(s, ritual{
		name: "heartbeat", title: "Heartbeat",
		description: "Look after what is due: the checklist of HEARTBEAT.md, and when each check was last done",
		render: func(_ context.Context, say words) (string, error) {
			return whenReady(v, func() (string, error) { return heartbeat(v, say) })
		},
	}, "heartbeat")
	if err != nil {
		return err
	}
	for name, description := range map[string]string{
		"session_save": "End a session: save what it was about as a memory file",
		"memory_flush": "Before the context is compacted: save what must survive as a memory file",
	} {
		err := add(s, ritual{name: name, title: "Save to memory", description: description, render: func(_ context.Context, say words) (string, error) {
			return whenReady(v, func() (string, error) { return say(name), nil })
		}}, name)
		if err != nil {
			return err
		}
	}
	return add(s, ritual{
		name: "bootstrap", title: "First boot",
		description: "Do the first boot of a new workspace: follow BOOTSTRAP.md, then delete it",
		render: func(_ context.Context, say words) (string, error) {
			switch v.State() {
			case workspace.Uninitialized:
				return v.Refusal(), nil
			case workspace.Bootstrap:
				return firstBoot(v, say)
			default:
				return say("booted"), nil
			}
		},
	}, "bootstrap", "booted")
}

// words is the fixed text of a name.
type words func(name string) string

// ritual is a prompt without arguments whose text is rendered anew for each request.
type ritual struct {
	name, title, description string
	render                   func(context.Context, words) (string, error)
}

// add offers r, which uses the fixed texts.
func add(s *server.MCPServer, r ritual, fixed ...string) error {
	say := map[string]string{}
	for _, name := range fixed {
		data, err := texts.ReadFile("text/" + name + ".md")
		if err != nil {
			return fmt.Errorf("prompt text: %w", err)
		}
		say[name] = string(data)
	}
	s.AddPrompt(mcp.NewPrompt(r.name, mcp.WithPromptDescription(r.description)),
		func(ctx context.Context, _ mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			text, err := r.render(ctx, func(name string) string { return say[name] })
			if err != nil {
				return nil, err
			}
			return mcp.NewGetPromptResult(r.title, []mcp.PromptMessage{
				mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text)),
			}), nil
		})
	return nil
}

// whenReady is the refusal of a workspace that is not initialized, else what render returns.
func whenReady(v *workspace.View, render func() (string, error)) (string, error) {
	if refusal := v.Refusal(); refusal != "" {
		return refusal, nil
	}
	return render()
}

// heartbeat is RFC-0009 §2.7 and §2.9: what is to be done, and when it was done last.
func heartbeat(v *workspace.View, say words) (string, error) {
	tasks, checks, err := v.Heartbeat()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString(say("heartbeat") + "\n# HEARTBEAT\n")
	for _, task := range tasks {
		box := "[ ]"
		if task.Done {
			box = "[x]"
		}
		out.WriteString("- " + box + " " + task.Text + "\n")
	}
	if len(tasks) == 0 {
		out.WriteString("(empty)\n")
	}
	now := v.Now()
	out.WriteString("\n# LAST CHECKS\n" + "now: " + now.Format(checkTime) + "\n")
	for _, check := range checks {
		last := "never"
		if !check.Last.IsZero() {
			last = check.Last.In(now.Location()).Format(checkTime)
		}
		out.WriteString(check.Check + ": " + last + "\n")
	}
	return out.String(), nil
}

const checkTime = "2006-01-02 15:04 MST"

// firstBoot is RFC-0009 §6.2 with what is there.
func firstBoot(v *workspace.View, say words) (string, error) {
	today, _ := v.Days()
	return withBlocks(v, strings.ReplaceAll(say("bootstrap"), "{{today}}", today))
}

// withBlocks is intro and the startup sequence of RFC-0009 §2.2.
func withBlocks(v *workspace.View, intro string) (string, error) {
	blocks, err := v.Startup()
	if err != nil {
		return "", err
	}
	return intro + "\n" + blocks, nil
}

// withSections is withBlocks and what sections say.
func withSections(ctx context.Context, v *workspace.View, intro string, sections []Section) (string, error) {
	text, err := withBlocks(v, intro)
	if err != nil {
		return "", err
	}
	for _, section := range sections {
		more, err := section(ctx)
		if err != nil {
			return "", err
		}
		if more != "" {
			text += "\n" + more
		}
	}
	return text, nil
}

package prompts

import (
	"context"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/brief"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// Startup is the prompt that every session begins with: the files of the startup sequence (RFC-0009 §2.2), and after
// them what is in no file of it (brief.Sources.Extra).
func Startup(s brief.Sources) Prompt {
	v, ready := s.Workspace, "group"
	if v.Audience().IsDM() {
		ready = "dm"
	}
	return Prompt{
		Name: "startup", Title: "Startup sequence",
		Description: "Begin a session: who you are and what you remember, read from the workspace in the order of its " +
			"startup sequence",
		Render: func(ctx context.Context, _ map[string]string) (string, error) {
			switch v.State() {
			case workspace.Uninitialized:
				return v.Refusal(), nil
			case workspace.Bootstrap:
				return firstBoot(v)
			default:
				return withExtra(ctx, s, fixed(ready))
			}
		},
	}
}

// Bootstrap is the first boot (RFC-0009 §6.2). It is for DMs only.
func Bootstrap(v *workspace.View) Prompt {
	return Prompt{
		Name: "bootstrap", Title: "First boot",
		Description: "Do the first boot of a new workspace: follow BOOTSTRAP.md, then delete it",
		Render: func(context.Context, map[string]string) (string, error) {
			switch v.State() {
			case workspace.Uninitialized:
				return v.Refusal(), nil
			case workspace.Bootstrap:
				return firstBoot(v)
			default:
				return fixed("booted"), nil
			}
		},
	}
}

// firstBoot renders the first boot (RFC-0009 §6.2) with the existing files.
func firstBoot(v *workspace.View) (string, error) {
	today, _ := v.Days()
	blocks, _, err := v.Startup()
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(fixed("bootstrap"), "{{today}}", today) + "\n" + blocks, nil
}

// withExtra returns intro, the startup sequence of RFC-0009 §2.2, and the rest of what a session starts with.
func withExtra(ctx context.Context, s brief.Sources, intro string) (string, error) {
	blocks, skipped, err := s.Workspace.Startup()
	if err != nil {
		return "", err
	}
	extra, err := s.Extra(ctx, skipped)
	if err != nil {
		return "", err
	}
	return intro + "\n" + blocks + "\n\n" + extra, nil
}

// whenReady returns the refusal of a workspace that is not initialized, otherwise what render returns.
func whenReady(v *workspace.View, render func() (string, error)) (string, error) {
	if refusal := v.Refusal(); refusal != "" {
		return refusal, nil
	}
	return render()
}

package prompts

import (
	"context"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// Section returns a further part of the startup prompt for the server's audience, in Markdown, or "".
type Section func(context.Context) (string, error)

// Startup is the prompt that every session begins with. In a workspace that is ready, the sections follow the files.
func Startup(v *workspace.View, sections ...Section) Prompt {
	ready := "group"
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
				return withSections(ctx, v, fixed(ready), sections)
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
	return withBlocks(v, strings.ReplaceAll(fixed("bootstrap"), "{{today}}", today))
}

// withBlocks returns intro and the startup sequence of RFC-0009 §2.2.
func withBlocks(v *workspace.View, intro string) (string, error) {
	blocks, err := v.Startup()
	if err != nil {
		return "", err
	}
	return intro + "\n" + blocks, nil
}

// withSections returns withBlocks and the text of sections.
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

// whenReady returns the refusal of a workspace that is not initialized, otherwise what render returns.
func whenReady(v *workspace.View, render func() (string, error)) (string, error) {
	if refusal := v.Refusal(); refusal != "" {
		return refusal, nil
	}
	return render()
}

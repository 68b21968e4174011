// Package prompts offers the rituals of a session as MCP prompts, one function a prompt. Their fixed words are in
// text/*.md.
//
// Its invariant: what a prompt shows and what its completions offer comes from the audience's own views
// (workspace.View, mesh.View, transcript.View), and from nothing else.
package prompts

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

//go:embed text/*.md
var texts embed.FS

// maxArgument is how many characters an argument of a prompt may have.
const maxArgument = 2000

// Prompt is a text that the person chooses and the model gets, rendered again for each request.
type Prompt struct {
	Name, Title, Description string
	Arguments                []Argument
	// Render gets arguments that Arguments names and that are not blank.
	Render func(ctx context.Context, args map[string]string) (string, error)
}

// Argument is an optional part of a prompt.
type Argument struct {
	Name, Description string
	// Values are what it may sensibly be, the best first; nil: anything.
	Values func(context.Context) ([]string, error)
}

// Server is the prompt as mcp-go registers it.
func (p Prompt) Server() server.ServerPrompt {
	definition := mcp.NewPrompt(p.Name, mcp.WithPromptTitle(p.Title), mcp.WithPromptDescription(p.Description))
	for _, a := range p.Arguments {
		mcp.WithArgument(a.Name, mcp.ArgumentDescription(a.Description))(&definition)
	}
	return server.ServerPrompt{
		Prompt: definition,
		Handler: func(ctx context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			args, err := p.arguments(request.Params.Arguments)
			if err != nil {
				return nil, err
			}
			text, err := p.Render(ctx, args)
			if err != nil {
				return nil, err
			}
			return mcp.NewGetPromptResult(p.Description, []mcp.PromptMessage{
				mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text)),
			}), nil
		},
	}
}

// arguments are those given, trimmed and without the blank ones; hosts send those for fields left empty.
func (p Prompt) arguments(given map[string]string) (map[string]string, error) {
	args := map[string]string{}
	for name, value := range given {
		if !slices.ContainsFunc(p.Arguments, func(a Argument) bool { return a.Name == name }) {
			return nil, fault.New("the prompt %s has no argument of that name; %s", p.Name, p.valid())
		}
		if n := utf8.RuneCountInString(value); n > maxArgument {
			return nil, fault.New("%s: %d characters are too many; use at most %d", name, n, maxArgument)
		}
		if value = strings.TrimSpace(strings.ToValidUTF8(value, "\uFFFD")); value != "" {
			args[name] = value
		}
	}
	return args, nil
}

func (p Prompt) valid() string {
	if len(p.Arguments) == 0 {
		return "it takes none"
	}
	names := make([]string, len(p.Arguments))
	for i, a := range p.Arguments {
		names[i] = a.Name
	}
	return "valid arguments: " + strings.Join(names, ", ")
}

// fixed is the text of a name.
func fixed(name string) string {
	data, err := texts.ReadFile("text/" + name + ".md")
	if err != nil {
		panic(fmt.Sprintf("prompts: %v", err)) // the texts are part of the program
	}
	return string(data)
}

// quoted marks what somebody has typed as such: each line begins with "> ".
func quoted(text string) string {
	return "> " + strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\n> ") + "\n"
}

// oneLine is s without line breaks, its first n characters, with "…" where something was left out.
func oneLine(s string, n int) string { return text.Shorten(text.OneLine(s), n) }

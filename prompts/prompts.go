// Package prompts offers the steps of a session, such as its start and its end, as MCP prompts, one function per
// prompt. Their fixed text is in text/*.md.
//
// Its invariant: what a prompt shows and what its completions offer comes only from the audience's own views
// (workspace.View, mesh.View, transcript.View).
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

// maxArgument is the maximum number of characters of an argument.
const maxArgument = 2000

// Prompt is text that the user selects and the model gets. It is rendered for each request.
type Prompt struct {
	Name, Title, Description string
	Arguments                []Argument
	// Render gets only arguments that are named in Arguments and are not blank.
	Render func(ctx context.Context, args map[string]string) (string, error)
}

// Argument is an optional argument of a prompt.
type Argument struct {
	Name, Description string
	// Values returns the completions, best first; nil: there are none.
	Values func(context.Context) ([]string, error)
}

// Server returns the prompt and its handler for mcp-go.
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

// arguments returns the given arguments, trimmed and without the blank ones, which hosts send for empty fields.
func (p Prompt) arguments(given map[string]string) (map[string]string, error) {
	args := map[string]string{}
	// Unknown names are refused, although the protocol allows to ignore them: a misspelt topic would give a prompt about
	// something else.
	for name, value := range given {
		if !slices.ContainsFunc(p.Arguments, func(a Argument) bool { return a.Name == name }) {
			return nil, fault.New("%s: unknown argument of the prompt %s; %s", text.Shorten(text.OneLine(name), 40), p.Name,
				p.valid())
		}
		if n := utf8.RuneCountInString(value); n > maxArgument {
			return nil, fault.New("%s: %d characters are too many; use at most %d", name, n, maxArgument)
		}
		// JSON allows unpaired surrogates, which arrive as invalid UTF-8.
		if value = strings.TrimSpace(strings.ToValidUTF8(value, "\uFFFD")); value != "" {
			args[name] = value
		}
	}
	return args, nil
}

// valid names the arguments that the prompt accepts, for errors.
func (p Prompt) valid() string {
	if len(p.Arguments) == 0 {
		return "it has no arguments"
	}
	names := make([]string, len(p.Arguments))
	for i, a := range p.Arguments {
		names[i] = a.Name
	}
	return "valid arguments: " + strings.Join(names, ", ")
}

// fixed returns the text of text/NAME.md.
func fixed(name string) string {
	data, err := texts.ReadFile("text/" + name + ".md")
	if err != nil {
		panic(fmt.Sprintf("prompts: %v", err)) // the files are embedded
	}
	return string(data)
}

// quoted marks text as a quotation: each line begins with "> ".
func quoted(s string) string {
	s = text.Plain(s)
	return "> " + strings.ReplaceAll(s, "\n", "\n> ") + "\n"
}

// oneLine returns the first n characters of s without line breaks, with "…" if s was cut.
func oneLine(s string, n int) string { return text.Shorten(text.Line(s), n) }

package prompts

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxValues is the maximum number of completions in the protocol.
const maxValues = 100

// Completer completes the arguments of a server's prompts. It is a server.PromptCompletionProvider.
type Completer []Prompt

// CompletePromptArgument returns the values that begin with what is typed, case-insensitively. A prompt or argument
// that does not exist has no completions, like an argument that takes any text.
func (c Completer) CompletePromptArgument(ctx context.Context, prompt string, argument mcp.CompleteArgument,
	_ mcp.CompleteContext,
) (*mcp.Completion, error) {
	found := &mcp.Completion{Values: []string{}}
	for _, p := range c {
		for _, a := range p.Arguments {
			if p.Name != prompt || a.Name != argument.Name || a.Values == nil {
				continue
			}
			values, err := a.Values(ctx)
			if err != nil {
				return nil, err
			}
			for _, value := range values {
				if !strings.HasPrefix(strings.ToLower(value), strings.ToLower(argument.Value)) {
					continue
				}
				// Counted beyond the maximum: total and hasMore tell the host that typing more letters helps.
				if found.Total++; len(found.Values) < maxValues {
					found.Values = append(found.Values, value)
				}
			}
		}
	}
	found.HasMore = found.Total > len(found.Values)
	return found, nil
}

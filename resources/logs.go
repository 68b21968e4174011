package resources

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/audience"
)

// maxValues is how many completions the protocol allows.
const maxValues = 100

// logURI is the URI template of the logs that a writes: one variable, the date.
func logURI(a audience.Audience) string {
	if a.IsDM() {
		return Prefix + "memory/{date}.md"
	}
	return Prefix + "memory/{date}-group-" + a.Group() + ".md"
}

// logTemplate offers the daily logs of any day. It is shown and not registered: a log is read as every
// file is, through its exact URI, so that a day without a log is answered as any unknown URI is.
func logTemplate(a audience.Audience) mcp.ResourceTemplate {
	return mcp.NewResourceTemplate(logURI(a), "daily-log",
		mcp.WithTemplateTitle("Daily log"),
		mcp.WithTemplateDescription("What was logged on a day (date as YYYY-MM-DD); days with a log are offered as completions"),
		mcp.WithTemplateMIMEType("text/markdown"),
	)
}

// Completer completes the dates of the daily logs, newest first. It is a server.ResourceCompletionProvider.
type Completer struct{ view *workspace.View }

// NewCompleter completes for v's audience.
func NewCompleter(v *workspace.View) *Completer { return &Completer{v} }

// CompleteResourceArgument offers the days that have a log and begin with what is typed. Any other template
// or argument, known or not, has no completions.
func (c *Completer) CompleteResourceArgument(_ context.Context, uri string, argument mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	found := &mcp.Completion{Values: []string{}}
	if uri != logURI(c.view.Audience()) || argument.Name != "date" {
		return found, nil
	}
	for _, date := range c.view.LogDates() {
		if !strings.HasPrefix(date, argument.Value) {
			continue
		}
		if found.Total++; len(found.Values) < maxValues {
			found.Values = append(found.Values, date)
		}
	}
	found.HasMore = found.Total > len(found.Values)
	return found, nil
}

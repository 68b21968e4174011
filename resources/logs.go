package resources

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// maxValues is how many completions the protocol allows.
const maxValues = 100

// logURI is the URI template of the logs that a writes: one variable, the date.
func logURI(a audience.Audience) string {
	if a.IsDM() {
		return resourceuri.FilePrefix + "memory/{date}.md"
	}
	return resourceuri.FilePrefix + "memory/{date}-group-" + a.Group() + ".md"
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

// fileURI is the URI template of a DM's memory files: one variable, the name without .md.
const fileURI = resourceuri.FilePrefix + "memory/{file}.md"

// fileTemplate offers what else is in memory/, which the list shows of two days alone. Like logTemplate it is shown and not
// registered.
func fileTemplate() mcp.ResourceTemplate {
	return mcp.NewResourceTemplate(fileURI, "memory-file",
		mcp.WithTemplateTitle("Memory file"),
		mcp.WithTemplateDescription("A saved session, a topic of a day, or what a group logged (file as 2026-02-14-the-topic); those that exist are offered as completions"),
		mcp.WithTemplateMIMEType("text/markdown"),
	)
}

// templates are those that a is shown.
func templates(a audience.Audience) []mcp.ResourceTemplate {
	all := []mcp.ResourceTemplate{logTemplate(a)}
	// SECURITY: a group knows its own logs by their date alone.
	if a.IsDM() {
		all = append(all, fileTemplate())
	}
	return all
}

// Completer completes the dates of the daily logs and the names of memory files, newest first. It is a
// server.ResourceCompletionProvider.
type Completer struct{ view *workspace.View }

// NewCompleter completes for v's audience.
func NewCompleter(v *workspace.View) *Completer { return &Completer{v} }

// CompleteResourceArgument offers the days that have a log, and the names of memory files, that begin with what is typed. Any
// other template or argument, known or not, has no completions.
func (c *Completer) CompleteResourceArgument(_ context.Context, uri string, argument mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	found := &mcp.Completion{Values: []string{}}
	var values []string
	switch {
	case uri == logURI(c.view.Audience()) && argument.Name == "date":
		values = c.view.LogDates()
	case uri == fileURI && argument.Name == "file":
		for _, name := range c.view.MemoryFiles() { // none in a group
			values = append(values, strings.TrimSuffix(strings.TrimPrefix(name, "memory/"), ".md"))
		}
	}
	for _, value := range values {
		if !strings.HasPrefix(value, argument.Value) {
			continue
		}
		if found.Total++; len(found.Values) < maxValues {
			found.Values = append(found.Values, value)
		}
	}
	found.HasMore = found.Total > len(found.Values)
	return found, nil
}

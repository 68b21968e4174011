package resources

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// maxValues is the maximum number of completions in the protocol.
const maxValues = 100

// logURI returns the URI template of the daily logs that the audience writes. Its variable is the date.
func logURI(a audience.Audience) string {
	if a.IsDM() {
		return resourceuri.FilePrefix + "memory/{date}.md"
	}
	return resourceuri.FilePrefix + "memory/{date}-group-" + a.Group() + ".md"
}

// logTemplate returns the template of the daily logs. It is listed but not registered: a log is read through its exact
// URI, as every file is, so a day without a log gets the same answer as any unknown URI.
func logTemplate(a audience.Audience) mcp.ResourceTemplate {
	return mcp.NewResourceTemplate(logURI(a), "daily-log",
		mcp.WithTemplateTitle("Daily log"),
		mcp.WithTemplateDescription("The log of a day (date as YYYY-MM-DD); completions list the days with a log"),
		mcp.WithTemplateMIMEType("text/markdown"),
	)
}

// fileURI is the URI template of a DM's memory files. Its variable is the name without .md.
const fileURI = resourceuri.FilePrefix + "memory/{file}.md"

// fileTemplate returns the template of the other files in memory/, of which the resource list has only those of two
// days.
// Like logTemplate it is listed but not registered.
func fileTemplate() mcp.ResourceTemplate {
	return mcp.NewResourceTemplate(fileURI, "memory-file",
		mcp.WithTemplateTitle("Memory file"),
		mcp.WithTemplateDescription("A saved session, a topic of a day, or a group's log (file as 2026-02-14-the-topic); "+
			"completions list the existing files"),
		mcp.WithTemplateMIMEType("text/markdown"),
	)
}

// templates returns the templates that the audience may see.
func templates(a audience.Audience) []mcp.ResourceTemplate {
	all := []mcp.ResourceTemplate{logTemplate(a)}
	// SECURITY: a group may see its own logs, but no other files of memory/.
	if a.IsDM() {
		all = append(all, fileTemplate())
	}
	return all
}

// Completer completes the dates of the daily logs and the names of memory files, newest first. It is a
// server.ResourceCompletionProvider.
type Completer struct{ view *workspace.View }

// NewCompleter returns a completer for v's audience.
func NewCompleter(v *workspace.View) *Completer { return &Completer{v} }

// CompleteResourceArgument returns the days with a log, or the names of memory files, that begin with the argument's
// value, at most 100. All other templates and arguments have no completions, whether they exist or not.
func (c *Completer) CompleteResourceArgument(
	_ context.Context, uri string, argument mcp.CompleteArgument, _ mcp.CompleteContext,
) (*mcp.Completion, error) {
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

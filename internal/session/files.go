package session

import (
	"context"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/mesh/fileindex"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/memfile"
	"github.com/yamo-protocol/yamo-mcp/workspace/passage"
)

// searchedFiles are the files of a view as the memory searches them.
type searchedFiles struct{ view *workspace.View }

// searched are the files that the memory of a view's audience searches in addition to its own records: a group's are
// its logs.
func searched(view *workspace.View) fileindex.Source { return searchedFiles{view} }

// List is every file whose text is searched.
func (f searchedFiles) List(context.Context) []fileindex.Info {
	files := f.view.Searched()
	infos := make([]fileindex.Info, len(files))
	for i, file := range files {
		infos[i] = fileindex.Info{
			Name: file.Name, Link: resourceuri.File(file.Name), Group: workspace.GroupOf(file.Name),
			Time: dayOf(file), Modified: file.Modified, Size: file.Size,
		}
	}
	return infos
}

// dayOf is the day in a file's name, or when it was last changed.
func dayOf(file workspace.File) time.Time {
	base := path.Base(file.Name)
	// A daily log is about its day, even if it was edited, copied or restored from a backup later.
	if day, err := time.Parse(time.DateOnly, base[:min(len(base), len(time.DateOnly))]); err == nil {
		return day
	}
	return file.Modified
}

// sessionClock is the time in the heading of a session.
var sessionClock = regexp.MustCompile(` \[\d\d:\d\d\]`)

// Read is the passages of a file, with what its front matter tells of all of them.
func (f searchedFiles) Read(_ context.Context, name string) (fileindex.Content, error) {
	data, _, err := f.view.Head(name) // of a file that is too large to be read, the beginning is searched
	if err != nil || workspace.Untouched(name, data) {
		return fileindex.Content{}, err // a template has nothing to remember
	}
	var content fileindex.Content
	if file, err := memfile.Parse(data); err == nil { // lint reports what is wrong with it
		content.SessionID, content.Tags = file.Matter.SessionID, file.Matter.Tags
		for _, link := range memfile.Links(strings.Join(file.Matter.Links, "\n")) {
			content.Tags = append(content.Tags, "[["+link.Target+"]]")
		}
	}
	for _, p := range passage.Cut(string(data)) {
		// In a group's log, the minute at which a session began would change the vectors of all that follows it, and with
		// them what a search finds.
		if workspace.GroupOf(name) != "" {
			p.Heading, p.Path = sessionClock.ReplaceAllString(p.Heading, ""), sessionClock.ReplaceAllString(p.Path, "")
		}
		content.Passages = append(content.Passages, fileindex.Passage(p))
	}
	return content, nil
}

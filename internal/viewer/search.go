package viewer

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/viewer/page"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// searchPage is the content of a search.
type searchPage struct {
	Guest       *guest // in whose pages it is, nil for the person's
	Path, Query string
	Asked       bool
	Level       string // how likely the answer is among the results
	Time        string // the time that the query names
	Rows        []row
	Lessons     []row
	Standing    []row
	Notices     []string // what limited the search
}

// search searches as the agent does.
func (s *Site) search(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	p := page.Page{
		Title: "Search", Here: "/search",
		Zone: page.Zone{Class: "private", Label: "Private", Hint: "A search finds what your agent finds in a direct " +
			"conversation: private and shared memories, those of groups, and your files."},
	}
	return searched(r, person, p, searchPage{Path: "/search"}, "/memory/")
}

// searched answers a search of one audience. below is the path of its memories' pages.
func searched(r *http.Request, m Member, p page.Page, content searchPage, below string) (answer, error) {
	content.Query = strings.TrimSpace(r.URL.Query().Get("q"))
	a := answer{template: "search", part: "results", page: p}
	a.page.Content = content
	if content.Query == "" {
		return a, nil
	}
	// Unrecorded: what a person looks at is not what the agent recalls, which is what dreaming counts.
	found, err := m.Memory.Search(r.Context(), mesh.SearchRequest{
		Query: content.Query, Limit: 20, IncludeLessons: true, Unrecorded: true,
	})
	if _, refused := fault.As(err); refused {
		return a, err
	}
	if err != nil {
		return answer{}, err
	}
	content.Asked, content.Level, content.Time = true, string(found.Confidence()), found.Asked
	for _, list := range []struct {
		rows *[]row
		hits []record.Hit
	}{{&content.Rows, found.Hits}, {&content.Lessons, found.Lessons}, {&content.Standing, found.Standing}} {
		if *list.rows, err = foundRows(r.Context(), list.hits, m, below); err != nil {
			return answer{}, err
		}
	}
	content.Notices = notices(found)
	a.page.Content = content
	return a, nil
}

// foundRows are the results of a search with the reasons why they were found.
func foundRows(ctx context.Context, hits []record.Hit, m Member, below string) (_ []row, err error) {
	rows := make([]row, len(hits))
	for i, h := range hits {
		if rows[i], err = newRow(h, m.Memory.Home(), below).explained(h).disputed(ctx, m, h); err != nil {
			return nil, err
		}
		if h.Type == record.FileType {
			name, _, _ := strings.Cut(h.Source, "#")
			rows[i].Link = filePath(m, name)
		}
	}
	return rows, nil
}

// filePath returns the page of a workspace file for an audience.
func filePath(m Member, name string) string {
	escaped := (&url.URL{Path: name}).EscapedPath()
	if m.Audience.IsDM() {
		return "/files/" + escaped
	}
	return "/as/" + url.PathEscape(m.Audience.Group()) + "/files/" + escaped
}

// notices describe what limited a search.
func notices(found mesh.Found) (list []string) {
	switch {
	case found.Off:
		list = append(list, "No embedding model is installed, so only words decided: run yamo-mcp setup.")
	case found.Degraded:
		list = append(list, "The embedding model failed, so only words decided this time.")
	case found.Pending > 0:
		list = append(list, "Some memories have no vector yet and were found by their words only.")
	}
	for _, name := range found.Damaged {
		list = append(list, "The ledger of the "+string(name)+" memory is damaged: run yamo-mcp ledger verify.")
	}
	return list
}

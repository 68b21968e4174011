package viewer

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/internal/viewer/page"
	"github.com/yamo-protocol/yamo-mcp/mesh"
)

// routeGuests registers the pages of what a group sees.
//
// SECURITY: their handlers use the group's member only, never the person's.
func (s *Site) routeGuests() {
	s.get("/as/{name}", s.asGroup(guestStart))
	s.get("/as/{name}/memories", s.asGroup(s.guestMemories))
	s.get("/as/{name}/search", s.asGroup(guestSearch))
	s.get("/as/{name}/skills", s.asGroup(guestSkills))
	s.get("/as/{name}/skills/{id}", s.asGroup(guestSkills))
	s.get("/as/{name}/memory/{id}", s.asGroup(guestMemory))
	s.get("/as/{name}/files/{file...}", s.asGroup(guestFile))
}

// guest is the content of a page of what a group sees.
type guest struct {
	Name, Path   string // of the group, and of its pages
	Instructions string
	Startup      string // what a session of the group starts with
	Unknown      bool   // nothing of the group is stored, so that its name may be a mistake
	Tools        []mcp.Tool
	Skills       foundSkills
	Files        []link
	Text         string
	Days         []day
	Older        string
	First        bool
	Row          row
	Here         string // the entry of Navigation that is shown, "" for none of them
}

// Navigation returns the pages that every page of the group leads to.
func (g guest) Navigation() []page.Entry {
	return []page.Entry{
		{Path: g.Path, Name: "Start of a session"},
		{Path: g.Path + "/memories", Name: "What it can find"},
		{Path: g.Path + "/search", Name: "Search"},
		{Path: g.Path + "/skills", Name: "Skills"},
	}
}

// guestPath returns the path of the first page of what a group sees.
func guestPath(group string) string { return "/as/" + url.PathEscape(group) }

// asGroup returns the handler of a page of what a group sees.
func (s *Site) asGroup(h func(*http.Request, Member, guest, page.Page) (answer, error)) handler {
	return func(r *http.Request) (answer, error) {
		who, err := groupOf(r)
		if err != nil {
			return answer{}, err
		}
		m, err := s.member(who)
		if err != nil {
			return answer{}, err
		}
		name := who.Group()
		path := guestPath(name)
		return h(r, m, guest{Name: name, Path: path, Here: r.URL.Path}, page.Page{
			Guest: true, Here: path,
			Zone: page.Zone{
				Class: "as", Label: "As the group " + name + " sees it",
				Hint: "This is all that a session of the group gets. It comes from the group's own server.",
			},
		})
	}
}

// dial connects with the group's server as a host of the group does, and returns its instructions.
func dial(ctx context.Context, m Member) (c *client.Client, instructions string, err error) {
	if c, err = client.NewInProcessClient(m.Server); err != nil {
		return nil, "", err
	}
	if err := c.Start(ctx); err != nil {
		return nil, "", err
	}
	request := mcp.InitializeRequest{}
	request.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	request.Params.ClientInfo = mcp.Implementation{Name: "yamo-mcp view", Version: "1"}
	result, err := c.Initialize(ctx, request)
	if err != nil {
		return nil, "", fmt.Errorf("initialize: %w", err)
	}
	return c, result.Instructions, nil
}

// guestStart shows what a session of the group starts with: what its server answers.
func guestStart(r *http.Request, m Member, content guest, p page.Page) (answer, error) {
	ctx := r.Context()
	c, instructions, err := dial(ctx, m)
	if err != nil {
		return answer{}, err
	}
	defer c.Close() //nolint:errcheck // nothing is buffered
	content.Instructions = instructions
	tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return answer{}, fmt.Errorf("list the group's tools: %w", err)
	}
	content.Tools = tools.Tools
	request := mcp.GetPromptRequest{}
	request.Params.Name = "startup"
	startup, err := c.GetPrompt(ctx, request)
	if err != nil {
		return answer{}, fmt.Errorf("get the group's startup: %w", err)
	}
	for _, message := range startup.Messages {
		if text, ok := message.Content.(mcp.TextContent); ok {
			content.Startup += text.Text
		}
	}
	listed, err := c.ListResources(ctx, mcp.ListResourcesRequest{})
	if err != nil {
		return answer{}, fmt.Errorf("list the group's resources: %w", err)
	}
	for _, resource := range listed.Resources {
		if name, ok := resourceuri.ParseFile(resource.URI); ok {
			content.Files = append(content.Files, link{resource.URI, filePath(m, name), name})
		}
	}
	if content.Unknown, err = storedNothing(ctx, m); err != nil {
		return answer{}, err
	}
	p.Title, p.Content = "What a session of "+content.Name+" starts with", content
	return answer{template: "guest", page: p}, nil
}

// storedNothing reports whether a group has no memory and no skill of its own.
func storedNothing(ctx context.Context, m Member) (bool, error) {
	list, err := m.Memory.Holdings(ctx)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(list, func(h mesh.Holding) bool {
		return h.Visibility == m.Memory.Home() && (h.Memories > 0 || h.Skills > 0 || h.Damaged)
	}), nil
}

// guestFile shows a file as the group's server returns it.
func guestFile(r *http.Request, m Member, content guest, p page.Page) (answer, error) {
	c, _, err := dial(r.Context(), m)
	if err != nil {
		return answer{}, err
	}
	defer c.Close() //nolint:errcheck // nothing is buffered
	name := r.PathValue("file")
	request := mcp.ReadResourceRequest{}
	request.Params.URI = resourceuri.File(name)
	read, err := c.ReadResource(r.Context(), request)
	if err != nil {
		// The server's answer for what the group may not see and for what does not exist is the same.
		return answer{}, fault.New("the group's server has no file %q", name)
	}
	for _, part := range read.Contents {
		if text, ok := part.(mcp.TextResourceContents); ok {
			content.Text += text.Text
		}
	}
	p.Title, p.Content = name, content
	return answer{template: "guestfile", page: p}, nil
}

// guestMemories shows the memories that the group's sessions can find.
func (s *Site) guestMemories(r *http.Request, m Member, content guest, p page.Page) (answer, error) {
	after := r.URL.Query().Get("after")
	listed, err := m.Memory.List(r.Context(), mesh.SearchRequest{Limit: pageSize}, after)
	if err != nil {
		return answer{}, err
	}
	content.First = after == ""
	if content.Days, err = days(r.Context(), listed.Hits, m, content.Path+"/memory/", time.Local); err != nil {
		return answer{}, err
	}
	if listed.Next != "" {
		content.Older = content.Path + "/memories?after=" + url.QueryEscape(listed.Next)
	}
	p.Title, p.Content = "What sessions of "+content.Name+" can find", content
	return answer{template: "guestmemories", part: "days", page: p}, nil
}

// guestSearch searches as a session of the group does.
func guestSearch(r *http.Request, m Member, content guest, p page.Page) (answer, error) {
	p.Title = "Search as a session of " + content.Name
	return searched(r, m, p, searchPage{Guest: &content, Path: content.Path + "/search"}, content.Path+"/memory/")
}

// guestMemory shows one memory to the group.
func guestMemory(r *http.Request, m Member, content guest, p page.Page) (answer, error) {
	hit, err := m.Memory.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	content.Row, content.Text = newRow(hit, m.Memory.Home(), content.Path+"/memory/"), strings.TrimSpace(hit.Content)
	content.Row.Who = cmp.Or(content.Row.Who, unknownSource)
	p.Title, p.Content = withArticle(content.Row.Kind), content
	return answer{template: "guestmemory", page: p}, nil
}

package viewer

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/viewer/page"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// pageSize is the number of memories on a page.
const pageSize = 50

// routeMemories registers the pages of memories.
func (s *Site) routeMemories() {
	s.get("/{$}", func(r *http.Request) (answer, error) { return s.timeline(r, record.Private) })
	s.get("/shared", func(r *http.Request) (answer, error) { return s.timeline(r, record.Shared) })
	s.get("/groups/{name}", func(r *http.Request) (answer, error) {
		who, err := groupOf(r)
		if err != nil {
			return answer{}, err
		}
		in := record.OfGroup(who.Group())
		if err := s.holds(r.Context(), in); err != nil {
			return answer{}, err
		}
		return s.timeline(r, in)
	})
	s.get("/groups", s.groups)
	s.get("/search", s.search)
	s.get("/memory/{id}", s.memory)
	s.post("/memory/{id}/correct", s.correct)
	s.post("/memory/{id}/retire", s.retire)
	s.post("/memory/{id}/revive", s.revive)
	s.post("/memory/{id}/pin", s.pinMemory)
	s.get("/memory/{id}/share", s.share)
	s.post("/memory/{id}/share", s.share)
	s.get("/memory/{id}/forget", s.forgetOne)
	s.post("/memory/{id}/forget", s.forgetOne)
	s.get("/forget", s.forgetSubject)
	s.post("/forget", s.forgetSubject)
	s.get("/lessons", s.lessons)
}

// groupOf returns the group that a path names.
func groupOf(r *http.Request) (audience.Audience, error) {
	name := r.PathValue("name")
	who, err := audience.Group(name)
	if err != nil || who.Group() != name {
		return audience.Audience{}, fault.New("there is no group %q", name)
	}
	return who, nil
}

// holds returns a fault unless there is a memory of the compartment.
func (s *Site) holds(ctx context.Context, in record.Visibility) error {
	person, err := s.person()
	if err != nil {
		return err
	}
	list, err := person.Memory.Holdings(ctx)
	if err == nil && !slices.ContainsFunc(list, func(h mesh.Holding) bool { return h.Visibility == in }) {
		err = fault.New("no group %q has stored anything: Groups lists those that have", in.Group())
	}
	return err
}

// filter is what a person selects of a timeline.
type filter struct {
	Type, Project, Text, Since, Until string
	All                               bool
}

// filterOf reads a filter from the address.
func filterOf(q url.Values) filter {
	return filter{
		Type: q.Get("type"), Project: q.Get("project"), Text: q.Get("text"), Since: q.Get("since"), Until: q.Get("until"),
		All: q.Get("all") != "",
	}
}

// Set reports whether anything is selected.
func (f filter) Set() bool { return f != filter{} }

// Narrow reports whether more than words are selected.
func (f filter) Narrow() bool { return f != filter{Text: f.Text} }

// day is what was remembered on a day.
type day struct {
	At   time.Time
	Rows []row
}

// memoryType is a type that a person can select, with its name.
type memoryType struct{ Type, Name string }

func memoryTypes() []memoryType {
	list := make([]memoryType, len(record.Types))
	for i, stored := range record.Types {
		list[i] = memoryType{stored, typeName(stored)}
	}
	return list
}

// timelinePage is the content of a timeline.
type timelinePage struct {
	Path   string
	Filter filter
	Types  []memoryType
	Days   []day
	Older  string     // the address of the next page, "" if this is the last
	First  bool       // this is the first page
	Notice string     // what cannot be read
	Group  string     // the group whose data it is, "" for none
	Hint   string     // what can be done with a memory
	Files  []fileRow  // that every group reads, on the first page of Shared
	Skills []skillRow // of the compartment, on its first page
}

// addSkills adds the skills of the page's compartment and, to Shared, the files that every group reads.
func (p *timelinePage) addSkills(ctx context.Context, m Member, in record.Visibility) error {
	skills, err := m.Memory.Skills().In(ctx, in)
	if err != nil {
		return err
	}
	for _, h := range skills {
		p.Skills = append(p.Skills, newSkillRow(h))
	}
	if in != record.Shared {
		return nil
	}
	for _, name := range workspace.PublicFiles {
		if file, err := m.Workspace.Stat(name); err == nil { // it may not exist
			p.Files = append(p.Files, newFileRow(m, file))
		}
	}
	return nil
}

// timeline shows what was remembered, newest first.
func (s *Site) timeline(r *http.Request, in record.Visibility) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	query := r.URL.Query()
	content := timelinePage{
		Path: pathOf(in), Filter: filterOf(query), Types: memoryTypes(), First: query.Get("after") == "", Group: in.Group(),
		Hint: hintOf(in),
	}
	a := answer{template: "timeline", part: "days"}
	a.page = page.Page{Title: titleOf(in), Zone: zoneOf(in), Here: hereOf(in)}
	listed, err := person.Memory.List(r.Context(), content.Filter.request(in), query.Get("after"))
	if _, refused := fault.As(err); refused {
		a.page.Content = content
		return a, err
	}
	if err != nil {
		return answer{}, err
	}
	if slices.Contains(listed.Damaged, in) {
		content.Notice = "Its ledger is damaged: what was stored after the damage is not shown. Run yamo-mcp ledger verify."
	}
	if content.Days, err = days(r.Context(), listed.Hits, person, "/memory/", s.zone()); err != nil {
		return answer{}, err
	}
	// The filter is for memories. Private skills have a page of their own.
	if in != record.Private && content.First && !content.Filter.Set() {
		if err := content.addSkills(r.Context(), person, in); err != nil {
			return answer{}, err
		}
	}
	if listed.Next != "" {
		query.Set("after", listed.Next)
		query.Del("done")
		content.Older = content.Path + "?" + query.Encode()
	}
	a.page.Content = content
	return a, nil
}

// request returns the filter in the memory's form.
func (f filter) request(in record.Visibility) mesh.SearchRequest {
	return mesh.SearchRequest{
		Limit: pageSize, Type: f.Type, Project: f.Project, Text: f.Text, Since: f.Since, Until: f.Until, All: f.All, In: in,
	}
}

// days sorts memories, newest first, into the days of a calendar.
func days(ctx context.Context, hits []record.Hit, m Member, below string, zone *time.Location) (days []day, err error) {
	for _, h := range hits {
		at := h.CreatedAt.In(zone)
		if n := len(days); n == 0 || days[n-1].At.Format(time.DateOnly) != at.Format(time.DateOnly) {
			days = append(days, day{At: at})
		}
		last := &days[len(days)-1]
		r, err := newRow(h, m.Memory.Home(), below).disputed(ctx, m, h)
		if err != nil {
			return nil, err
		}
		r.InDay = true
		last.Rows = append(last.Rows, r)
	}
	return days, nil
}

func titleOf(in record.Visibility) string {
	switch name := in.Group(); {
	case name != "":
		return "What was said in " + name
	case in == record.Shared:
		return "What every group can read"
	}
	return "What your agent remembers"
}

// hintOf tells what a memory's page can do.
func hintOf(in record.Visibility) string {
	switch {
	case in.Group() != "":
		return "Choose a memory to see its history, to share or forget it."
	case in == record.Shared:
		return "Choose a memory to see its history, to correct, pin or forget it."
	}
	return "Choose a memory to see its history, to correct, pin, share or forget it."
}

func hereOf(in record.Visibility) string {
	if in.Group() != "" {
		return "/groups"
	}
	return pathOf(in)
}

// groupsPage is the content of the list of groups.
type groupsPage struct{ Groups []groupRow }

// groupRow is a group in the list.
type groupRow struct {
	Name             string
	Memories, Skills int
	Newest           time.Time
	Damaged          bool
}

// groups lists the groups that have a memory.
func (s *Site) groups(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	list, err := person.Memory.Holdings(r.Context())
	if err != nil {
		return answer{}, err
	}
	var content groupsPage
	for _, h := range list {
		if name := h.Visibility.Group(); name != "" {
			content.Groups = append(content.Groups, groupRow{name, h.Memories, h.Skills, h.Newest, h.Damaged})
		}
	}
	return answer{template: "groups", page: page.Page{
		Title: "Groups", Here: "/groups", Content: content,
		Zone: page.Zone{Class: "group", Label: "Groups", Hint: "Each group " +
			"has a memory of its own. You can read all of them."},
	}}, nil
}

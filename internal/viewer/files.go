package viewer

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/viewer/page"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
	"github.com/yamo-protocol/yamo-mcp/workspace/trace"
)

// routeFiles registers the pages of workspace files and of their edits.
func (s *Site) routeFiles() {
	s.get("/files", s.files)
	s.get("/files/{name...}", s.file)
	s.post("/pin", s.pin)
	s.get("/edits/{id}", s.edit)
	s.post("/edits/{id}/undo", s.undo)
}

// fileRow is a file in a list.
type fileRow struct {
	Name, Path string
	Title      string
	Zone       page.Zone
	Modified   time.Time
	Size       int64
}

func newFileRow(m Member, f workspace.File) fileRow {
	return fileRow{f.Name, filePath(m, f.Name), f.Title, fileZone(f.Name), f.Modified, f.Size}
}

// filesPage is the content of the list of files.
type filesPage struct{ Main, Logs []fileRow }

// fileZone returns who reads a file.
func fileZone(name string) page.Zone {
	switch group := workspace.GroupOf(name); {
	case group != "":
		return page.Zone{
			Class: "group", Label: "Group " + group, Hint: "This log is of the group " + group + ", which reads it too.",
		}
	case workspace.IsPublic(name):
		return page.Zone{Class: "shared", Label: "Shared", Hint: "Every group reads this file."}
	}
	return private
}

// files lists the workspace's files: those with a fixed name and profiles, then logs and notes, newest first.
func (s *Site) files(*http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	var content filesPage
	seen := map[string]bool{}
	for _, file := range append(person.Workspace.Files(), person.Workspace.Searched()...) {
		if seen[file.Name] {
			continue
		}
		seen[file.Name] = true
		row := newFileRow(person, file)
		if strings.HasPrefix(file.Name, "memory/") || strings.HasPrefix(file.Name, "notes/") {
			content.Logs = append(content.Logs, row)
		} else {
			content.Main = append(content.Main, row)
		}
	}
	slices.SortStableFunc(content.Logs, func(a, b fileRow) int { return strings.Compare(b.Name, a.Name) })
	return answer{template: "files", page: page.Page{
		Title: "Files", Zone: private, Here: "/files", Content: content,
	}}, nil
}

// wholeFile is the content of a file's page.
type wholeFile struct {
	fileRow
	More     bool // the file is larger than what is shown
	Lines    []originLine
	Notice   string // why lines have no origins although edits are recorded
	Recorded bool   // its edits are recorded, so that lines have origins
	Events   []eventRow
	Whole    sectionRow // the file as a whole
	Sections []sectionRow
}

// sectionRow is a section of a file with its protection, or the whole file.
type sectionRow struct{ Name, Target, Kind string }

// eventRow is an event of a file's history.
type eventRow struct {
	edit.Event
	At       time.Time
	Path     string
	Who      string // "" if that is not known
	What     string
	Undoable bool
}

// file shows a file with the origin of each line, its sections and its history.
func (s *Site) file(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	return s.fileOf(r.Context(), person, r.PathValue("name"))
}

func (s *Site) fileOf(ctx context.Context, m Member, name string) (answer, error) {
	info, err := m.Workspace.Stat(name)
	if err != nil {
		return answer{}, fault.New("there is no file %q in the workspace", name)
	}
	data, more, err := m.Workspace.Head(name)
	if err != nil {
		return answer{}, fault.New("the file %q cannot be read", name)
	}
	content := wholeFile{fileRow: fileRow{
		name, filePath(m, name), info.Title, fileZone(name), info.Modified, info.Size,
	}, More: more}
	events, err := m.Editor.History(ctx, name, "")
	if err != nil {
		return answer{}, err
	}
	for _, event := range slices.Backward(events) {
		content.Events = append(content.Events, newEventRow(event))
	}
	content.Recorded = len(events) > 0
	from, err := trace.Origins(ctx, m.Editor, name, string(data))
	if problem, refused := fault.As(err); refused {
		content.Notice = problem.Error()
	} else if err != nil {
		return answer{}, err
	}
	content.Lines = origins(string(data), from)
	if content.Whole, content.Sections, err = sections(ctx, m.Editor, name, string(data)); err != nil {
		return answer{}, err
	}
	return answer{template: "file", page: page.Page{
		Title: name, Zone: content.Zone, Here: "/files", Content: content,
	}}, nil
}

// sections returns the file as a whole and its sections, which can be protected.
func sections(
	ctx context.Context, editor *edit.Editor, name, text string,
) (whole sectionRow, list []sectionRow, err error) {
	pins, err := editor.Pins(ctx)
	if err != nil {
		return whole, nil, err
	}
	whole = sectionRow{Name: "The whole file", Target: name}
	for _, pin := range pins {
		if pin.File == name && pin.Anchor == edit.WholeFile {
			whole.Kind = pin.Kind
		}
	}
	for _, part := range grammar.Parse(text).Parts {
		if part.Name == "" || strings.EqualFold(part.Name, grammar.ChangeLog) {
			continue
		}
		row := sectionRow{Name: part.Name, Target: name + "#" + part.Name}
		for _, pin := range pins {
			if pin.File == name && pin.Anchor != edit.WholeFile && (pin.Anchor == part.Anchor.ID ||
				pin.Anchor == grammar.Slug(part.Name)) {
				row.Kind = pin.Kind
			}
		}
		list = append(list, row)
	}
	return whole, list, nil
}

// newEventRow returns an event for a person.
func newEventRow(e edit.Event) eventRow {
	at, _ := time.Parse(time.RFC3339, e.Time) // the zero time if it is damaged
	row := eventRow{
		Event: e, At: at, Path: "/edits/" + url.PathEscape(e.ID) + "?file=" + url.QueryEscape(e.File),
		Undoable: e.IsEdit() || e.Op == edit.OpUndo, What: strings.ReplaceAll(e.Op, "_", " "),
	}
	if what, ok := eventNames[e.Op]; ok {
		row.What = what
	}
	switch e.MadeBy().Source {
	case edit.FromSession:
		row.Who = "the agent, in a session"
	case edit.FromSweep, edit.FromDiary:
		row.Who = "dreaming"
	case edit.FromProposal:
		row.Who = "you, by accepting a proposal"
	case edit.FromCommand:
		row.Who = "you"
	case edit.FromHand:
		row.Who = "someone with an editor"
	}
	if e.Op == edit.OpSnapshot { // who wrote what was there before is not known
		row.Who = ""
	}
	return row
}

// eventNames are the operations that a person may not know by their name.
var eventNames = map[string]string{
	string(grammar.ReplaceSection): "text replaced", string(grammar.AppendSection): "a paragraph added",
	string(grammar.AppendItem): "an item added", string(grammar.CurateItems): "items curated",
	string(grammar.TombstoneSection): "text retired", edit.OpPin: "a pin set", edit.OpUnpin: "a pin removed",
	edit.OpLock: "a lock set", edit.OpUnlock: "a lock removed", edit.OpDismiss: "a promotion rejected",
	edit.OpSnapshot: "the file as it was first seen", edit.OpObserved: "a change by hand", edit.OpDrift: "drift",
	edit.OpAccept: "drift accepted", edit.OpRestore: "restored", edit.OpUndone: "an edit that was interrupted",
	edit.OpUndo: "an edit undone", edit.OpPropose: "proposed", edit.OpReject: "proposal rejected",
	edit.OpErase: "contents erased",
}

// pin protects a section or releases it.
func (s *Site) pin(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	target, op := r.PostForm.Get("target"), r.PostForm.Get("op")
	name, _, _ := strings.Cut(target, "#")
	said, ok := map[string]string{
		edit.OpPin: "pinned", edit.OpLock: "locked", edit.OpUnpin: "unpinned", edit.OpUnlock: "unpinned",
	}[op]
	if !ok {
		return answer{}, fault.New("op: use pin, lock, unpin or unlock")
	}
	if _, err := person.Editor.SetPin(r.Context(), target, op, s.Actor); err != nil {
		a, failed := s.fileOf(r.Context(), person, name)
		if failed != nil {
			return answer{}, err
		}
		return a, err
	}
	return answer{next: filePath(person, name) + "?done=" + said}, nil
}

// editPage is the content of an edit's page.
type editPage struct {
	eventRow
	FilePath string
	Change   change
}

// edit shows what one event changed.
func (s *Site) edit(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	return s.editOf(r.Context(), person, r.FormValue("file"), r.PathValue("id"))
}

func (s *Site) editOf(ctx context.Context, m Member, name, id string) (answer, error) {
	events, err := m.Editor.History(ctx, name, "")
	if err != nil {
		return answer{}, err
	}
	at := slices.IndexFunc(events, func(e edit.Event) bool { return e.ID == id })
	if at < 0 {
		return answer{}, fault.New("there is no edit %q of %s", id, name)
	}
	content := editPage{eventRow: newEventRow(events[at]), FilePath: filePath(m, name)}
	if content.Undoable || content.Op == edit.OpObserved || content.Op == edit.OpDrift || content.Op == edit.OpRestore {
		changed, err := m.Editor.Diff(ctx, name, "", id)
		if _, refused := fault.As(err); err != nil && !refused {
			return answer{}, err
		}
		content.Change = newChange("what it changed", changed)
	}
	return answer{template: "edit", page: page.Page{
		Title: "An edit of " + name, Zone: fileZone(name), Here: "/files", Content: content,
	}}, nil
}

// undo takes back an edit.
func (s *Site) undo(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	name, id := r.PostForm.Get("file"), r.PathValue("id")
	if _, err := s.editOf(r.Context(), person, name, id); err != nil { // the form is for an edit of this file
		return answer{}, err
	}
	if _, _, err := person.Editor.Undo(r.Context(), id, s.Actor, r.PostForm.Get("why")); err != nil {
		a, failed := s.editOf(r.Context(), person, name, id)
		if failed != nil {
			return answer{}, err
		}
		return a, err
	}
	return answer{next: filePath(person, name) + "?done=undone"}, nil
}

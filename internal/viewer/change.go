package viewer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/forget"
	"github.com/yamo-protocol/yamo-mcp/internal/viewer/page"
	"github.com/yamo-protocol/yamo-mcp/internal/when"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// correct stores what is true instead of a memory, which becomes a part of its history.
func (s *Site) correct(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	s.correcting.Lock() // of two forms for one memory, the second must see that the first has replaced it
	kept, left, err := correct(r.Context(), person, r.PathValue("id"), r.PostForm)
	s.correcting.Unlock()
	if err != nil {
		return s.refusedMemory(r, person, err)
	}
	left.Set("done", "corrected")
	return answer{next: "/memory/" + url.PathEscape(kept) + "?" + left.Encode()}, nil
}

// correct returns the id of the memory that has the corrected text, and what was not stored as it was typed.
func correct(ctx context.Context, m Member, id string, form url.Values) (kept string, left url.Values, err error) {
	hit, err := m.Memory.Get(ctx, id)
	if err != nil {
		return "", nil, err
	}
	if hit.Past != nil && !retired(hit) {
		return "", nil, fault.New("it is not current any more: correct what replaced it, which the history below shows")
	}
	text := strings.TrimSpace(strings.ReplaceAll(form.Get("text"), "\r\n", "\n"))
	switch {
	case text == "":
		return "", nil, fault.New("text: write what is true now; to remove the memory, use Forget")
	case text == strings.TrimSpace(hit.Content) && retired(hit):
		return "", nil, fault.New("text: it is the same as before; to make it current again, use the button for that")
	case text == strings.TrimSpace(hit.Content):
		return "", nil, fault.New("text: it is the same as before; change it, or leave the page")
	}
	corrected := hit.Memory
	corrected.Content, corrected.Source = text, "user"
	corrected.OccurredAt = happened(form.Get("happened"), text, hit.OccurredAt, m.Workspace.Now())
	// SECURITY: every group reads all fields of a shared memory, and the person's reason is theirs.
	if hit.Visibility == record.Private {
		corrected.Rationale = cmp.Or(strings.TrimSpace(form.Get("why")), "corrected by the person")
	}
	return storeAgain(ctx, m, hit, corrected)
}

// storeAgain stores a memory in the place of hit. left is what was not stored as it was given, see leftOut.
func storeAgain(
	ctx context.Context, m Member, hit record.Hit, given record.Memory,
) (kept string, left url.Values, err error) {
	scrubbed, err := m.Memory.Scrub(given, hit.Visibility)
	if err != nil {
		return "", nil, err
	}
	// The memory belongs to the project and the agent of what it corrects, not to those of the viewer.
	ctx = mesh.WithProject(ctx, func() string { return hit.Project })
	stored, err := m.Memory.Remember(ctx, scrubbed, mesh.Intent{
		To: hit.Visibility, Supersedes: []string{hit.ID}, Consent: record.ByOperator, AgentID: hit.AgentID,
	})
	if err != nil {
		return "", nil, err
	}
	now, err := m.Memory.Get(ctx, stored.ID)
	if err != nil {
		return "", nil, err
	}
	return stored.ID, leftOut(given.Content, now.Content, stored.Redactions), nil
}

// revive makes a retired memory current again: it is stored once more, in the place of the retired one.
func (s *Site) revive(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	s.correcting.Lock()
	defer s.correcting.Unlock()
	hit, err := person.Memory.Get(r.Context(), r.PathValue("id"))
	switch {
	case err != nil:
	case hit.Past == nil:
		err = fault.New("it is current already")
	case !retired(hit) || hit.Visibility != record.Private || hit.Lesson != nil || hit.Reflection != nil:
		err = fault.New("only a private memory that nothing replaced can be made current again")
	}
	kept := ""
	if err == nil {
		again := hit.Memory
		again.Rationale = "made current again by the person"
		kept, _, err = storeAgain(r.Context(), person, hit, again)
	}
	if err != nil {
		return s.refusedMemory(r, person, err)
	}
	return answer{next: "/memory/" + url.PathEscape(kept) + "?done=revived"}, nil
}

// happened is when what a correction tells happened: what was typed, else what its text names, for which it is "", else
// when the event happened as it was known before.
func happened(typed, text, before string, now time.Time) string {
	if typed = strings.TrimSpace(typed); typed != "" {
		return typed
	}
	if len(when.InText(text, now)) > 0 {
		return ""
	}
	return before
}

// retire makes a private memory a past one that nothing replaces.
func (s *Site) retire(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	id := r.PathValue("id")
	hit, err := person.Memory.Get(r.Context(), id)
	if err == nil && hit.Visibility != record.Private {
		err = fault.New("only private memories can be retired; forget this one instead")
	}
	if err == nil {
		err = person.Memory.Retire(r.Context(), []record.Revision{{
			Old: id, At: time.Now().UTC().Truncate(time.Millisecond), Why: cmp.Or(strings.TrimSpace(r.PostForm.Get("why")),
				"retired by the person"),
		}})
	}
	if err != nil {
		return s.refusedMemory(r, person, err)
	}
	return answer{next: "/memory/" + url.PathEscape(id) + "?done=retired"}, nil
}

// pinTags are the tags of a pinned memory, with which the brief of a session begins. Tags are also written with a sign.
var pinTags = []string{"pinned", "#pinned"}

// pinMemory pins a memory or removes its pin.
func (s *Site) pinMemory(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	id, op := r.PathValue("id"), r.PostForm.Get("op")
	said := "briefed"
	switch op {
	case edit.OpPin:
		_, err = person.Memory.SetTag(r.Context(), id, pinTags[0], true)
	case edit.OpUnpin:
		said = "unbriefed"
		for _, tag := range pinTags {
			if err == nil {
				_, err = person.Memory.SetTag(r.Context(), id, tag, false)
			}
		}
	default:
		err = fault.New("op: use pin or unpin")
	}
	if err != nil {
		return s.refusedMemory(r, person, err)
	}
	return answer{next: "/memory/" + url.PathEscape(id) + "?done=" + said}, nil
}

// sharePage is the content of the page that asks before something is shared.
type sharePage struct{ Path, Whole string }

// Digest identifies the text that the person was shown.
func (p sharePage) Digest() string { return digest(p.Whole) }

// digest identifies what a page shows, so that a form of it agrees to that and to nothing that came later.
func digest(shown any) string {
	data, err := json.Marshal(shown)
	if err != nil {
		return "" // no form agrees to it
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// agrees returns a fault unless a form has the digest of what is shown now.
func agrees(form url.Values, now string) error {
	if now == "" || form.Get("digest") != now {
		return fault.New("it has changed since you looked at it: look at it again, then decide")
	}
	return nil
}

// share shows what every group could read, and shares it after the person has agreed.
//
// SECURITY: the person sees all of it, with every field, before any group can.
func (s *Site) share(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	ctx, id := r.Context(), r.PathValue("id")
	content := sharePage{Path: "/memory/" + url.PathEscape(id)}
	a := answer{template: "share", page: page.Page{Title: "Share with every group?", Zone: shared, Here: "/shared"}}
	var agree func() error
	if strings.HasPrefix(id, skill.Prefix+"_") {
		hit, err := person.Memory.Skills().Get(ctx, id)
		if err != nil {
			return answer{}, err
		}
		content.Path, content.Whole = "/lessons", hit.Whole()
		agree = func() error {
			_, err := person.Memory.Skills().Ingest(ctx, mesh.SkillRequest{
				Text: hit.Text, Type: hit.Type, Source: hit.Source, Visibility: record.Shared, Consent: record.ByOperator,
			})
			return err
		}
	} else {
		hit, err := person.Memory.Get(ctx, id)
		if err != nil {
			return answer{}, err
		}
		if hit.Past != nil {
			return answer{}, fault.New("it is not current any more: share what replaced it")
		}
		// Scrubbed again: it may be older than the present rules, and may have contact details that groups must not get.
		scrubbed, err := person.Memory.Scrub(hit.Memory, record.Shared)
		if err != nil {
			return answer{}, err
		}
		content.Whole = scrubbed.Whole()
		agree = func() error {
			_, err := person.Memory.Remember(ctx, scrubbed, mesh.Intent{
				To: record.Shared, Consent: record.ByOperator, AgentID: hit.AgentID,
			})
			return err
		}
	}
	a.page.Content = content
	if r.Method != http.MethodPost {
		return a, nil
	}
	// What was agreed to is what is shared, even if the memory has changed since the page was made.
	if err := agrees(r.PostForm, content.Digest()); err != nil {
		return a, err
	}
	if err := agree(); err != nil {
		return a, err
	}
	return answer{next: "/shared?done=shared"}, nil
}

// forgetPage is the content of the page that asks before a memory is erased.
type forgetPage struct {
	memoryPage
	Skills []skillRow // of a skill: those of the same name elsewhere, which stay
}

// forgetOne shows what goes with a memory and what stays, and erases it after the person has agreed.
func (s *Site) forgetOne(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	ctx, id := r.Context(), r.PathValue("id")
	if strings.HasPrefix(id, skill.Prefix+"_") {
		return s.forgetSkill(r, person, id)
	}
	content, err := s.memoryOf(ctx, person, id)
	if err != nil {
		return answer{}, err
	}
	a := answer{template: "forget", page: page.Page{
		Title: "Forget this?", Zone: content.Row.Zone, Here: zonePath(content.Row.Zone),
		Content: forgetPage{memoryPage: content},
	}}
	if r.Method != http.MethodPost {
		return a, nil
	}
	if err := person.Memory.Delete(ctx, id, cmp.Or(r.PostForm.Get("why"), "the person asked")); err != nil {
		return a, err
	}
	return answer{next: zonePage(content.Row) + "?done=forgotten"}, nil
}

// zonePage returns the timeline that a memory is in.
func zonePage(r row) string {
	if r.Zone.Class == "group" {
		return "/groups"
	}
	return zonePath(r.Zone)
}

// forgetSkill is forgetOne for a skill.
func (s *Site) forgetSkill(r *http.Request, m Member, id string) (answer, error) {
	hit, err := m.Memory.Skills().Get(r.Context(), id)
	if err != nil {
		return answer{}, err
	}
	content := forgetPage{memoryPage: memoryPage{
		Row:  row{ID: id, Link: "/memory/" + url.PathEscape(id), Zone: zoneOf(hit.Visibility), Kind: "skill"},
		Text: hit.Whole(),
	}}
	namesakes, err := m.Memory.Skills().Namesakes(r.Context(), id)
	if err != nil {
		return answer{}, err
	}
	for _, other := range namesakes {
		content.Skills = append(content.Skills, newSkillRow(other))
	}
	a := answer{template: "forget", page: page.Page{
		Title: "Forget this skill?", Zone: content.Row.Zone, Here: "/lessons", Content: content,
	}}
	if r.Method != http.MethodPost {
		return a, nil
	}
	if err := m.Memory.Delete(r.Context(), id, cmp.Or(r.PostForm.Get("why"), "the person asked")); err != nil {
		return a, err
	}
	return answer{next: "/lessons?done=forgotten"}, nil
}

// subjectPage is the content of the page that forgets a subject.
type subjectPage struct {
	About   string
	Planned bool
	Erased  bool
	Plan    forget.Plan
	Rows    []row
	Related []row
	Doubted []row  // what may have only the word of a subject that is a name
	Digest  string // of Plan
}

// forgetSubject lists everything that mentions a subject, and erases it after the person has agreed.
func (s *Site) forgetSubject(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	content := subjectPage{About: strings.TrimSpace(r.FormValue("about"))}
	a := answer{template: "subject", page: page.Page{
		Title: "Forget a subject", Here: "/forget",
		Zone: page.Zone{Class: "private", Label: "Private", Hint: "This reaches private and shared memories, those of " +
			"groups, and your files."},
	}}
	a.page.Content = content
	if content.About == "" {
		return a, nil
	}
	subject, err := mesh.ParseSubject(content.About)
	if err != nil {
		return a, err
	}
	forgetter := forget.Forgetter{
		Memory: person.Memory, Workspace: person.Workspace, Editor: person.Editor, Actor: s.Actor,
	}
	if content.Plan, err = forgetter.Plan(r.Context(), subject); err != nil {
		return a, err
	}
	content.Planned, content.Digest = true, digest(content.Plan)
	var stale error
	if r.Method == http.MethodPost {
		// What was listed is what is erased, even if more was stored since the page was made.
		if stale = agrees(r.PostForm, content.Digest); stale == nil {
			if err := content.Plan.Spare(r.PostForm["keep"]); err != nil {
				return a, err
			}
			content.Erased = true
			if content.Plan, err = forgetter.Forget(r.Context(), subject, content.Plan); err != nil {
				return a, err
			}
		}
	}
	for _, h := range content.Plan.Memories {
		content.Rows = append(content.Rows, newRow(h, person.Memory.Home(), "/memory/"))
	}
	for _, h := range content.Plan.Doubtful {
		content.Doubted = append(content.Doubted, newRow(h, person.Memory.Home(), "/memory/"))
	}
	for _, h := range content.Plan.Related {
		content.Related = append(content.Related, newRow(h, person.Memory.Home(), "/memory/"))
	}
	a.page.Content = content
	return a, stale
}

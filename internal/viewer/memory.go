package viewer

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/viewer/page"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// memoryPage is the content of a memory's page.
type memoryPage struct {
	Row      row
	Record   *record.Record
	Text     string // the whole content
	Access   record.Accesses
	Versions []row  // what it replaced and was replaced by, oldest first
	Same     []link // other memories with the same text
	Derived  []link // what was made from it
	Sources  []link // what it was made from
	Copies   edit.Copies
	Elements []element // what the record says about it

	Correctable, Retirable, Sharable bool
	Pinnable, Pinned                 bool
	Retired                          bool   // it is not current, and nothing replaced it
	Why                              string // why it cannot be corrected, "" if it can
	NewText, Reason, Happened        string // what was typed into the form
}

// link is a memory or a skill that another page shows.
type link struct{ ID, Path, Text string }

// element is a field of a record.
type element struct{ Name, Value string }

// memory shows one memory.
func (s *Site) memory(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	content, err := s.memoryOf(r.Context(), person, r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	return memoryAnswer(content), nil
}

// memoryAnswer is the page of a memory.
func memoryAnswer(content memoryPage) answer {
	return answer{template: "memory", page: page.Page{
		Title: withArticle(content.Row.Kind), Zone: content.Row.Zone, Here: zonePath(content.Row.Zone), Content: content,
	}}
}

// withArticle returns the kind of a memory as a heading.
func withArticle(kind string) string {
	if strings.ContainsRune("aeiou", []rune(kind + " ")[0]) {
		return "An " + kind
	}
	return "A " + kind
}

func zonePath(z page.Zone) string {
	switch z.Class {
	case "group":
		return "/groups"
	case "shared":
		return "/shared"
	}
	return "/"
}

// memoryOf returns everything about a memory that the person can see.
func (s *Site) memoryOf(ctx context.Context, m Member, id string) (memoryPage, error) {
	hit, err := m.Memory.Get(ctx, id)
	if err != nil {
		return memoryPage{}, err
	}
	home := m.Memory.Home()
	p := memoryPage{
		Row: newRow(hit, home, "/memory/"), Record: hit.Record, Text: hit.Content, Access: hit.Accesses,
		NewText: hit.Content, Elements: elements(hit),
	}
	p.Row.Who = cmp.Or(p.Row.Who, unknownSource)
	if p.Row, err = p.Row.disputed(ctx, m, hit); err != nil {
		return memoryPage{}, err
	}
	versions, err := m.Memory.History(ctx, id)
	if err != nil {
		return memoryPage{}, err
	}
	for _, v := range versions {
		p.Versions = append(p.Versions, newRow(v, home, "/memory/"))
	}
	same, err := m.Memory.SameText(ctx, id)
	if err != nil {
		return memoryPage{}, err
	}
	derived, err := m.Memory.DerivedFrom(ctx, id)
	if err != nil {
		return memoryPage{}, err
	}
	p.Same, p.Derived, p.Sources = s.links(ctx, m, same), s.links(ctx, m, derived), s.links(ctx, m, sourcesOf(hit.Record))
	if m.Editor != nil {
		if p.Copies, err = m.Editor.Copies(ctx, id, hit.Content); err != nil {
			return memoryPage{}, err
		}
	}
	switch {
	case hit.Visibility.Group() != "":
		p.Why = "Only the group's own sessions can correct what was said there. You can forget it."
	case hit.Lesson != nil, hit.Reflection != nil:
		p.Why = "A " + p.Row.Kind + " was made from other memories. Correct those, or forget this one."
	case retired(hit):
		p.Correctable, p.Retired = true, true
	case hit.Past != nil:
		p.Why = "It is not current any more. Correct what replaced it."
	default:
		p.Correctable, p.Retirable = true, hit.Visibility == record.Private
	}
	p.Pinnable = hit.Visibility.Group() == "" && hit.Past == nil
	for _, tag := range pinTags {
		p.Pinned = p.Pinned || hit.HasTag(tag)
	}
	p.Sharable = hit.Visibility != record.Shared && hit.Past == nil
	return p, nil
}

// retired reports whether a memory is not current any more although nothing replaced it.
func retired(h record.Hit) bool { return h.Past != nil && h.Past.New == "" }

// sourcesOf are the ids of what a memory was made from.
func sourcesOf(r *record.Record) (ids []string) {
	if r.Reflection != nil {
		for _, source := range r.Reflection.Sources {
			ids = append(ids, source.ID)
		}
	}
	if r.Lesson != nil {
		ids = append(ids, r.Lesson.Sources...)
	}
	return ids
}

// links returns memories and skills with the beginning of their text.
func (s *Site) links(ctx context.Context, m Member, ids []string) []link {
	var list []link
	for _, id := range ids {
		if strings.HasPrefix(id, "skill_") {
			if skill, err := m.Memory.Skills().Get(ctx, id); err == nil {
				list = append(list, link{id, "/lessons#" + id, "Skill: " + skill.Name})
			}
			continue
		}
		hit, err := m.Memory.Get(ctx, id)
		if err != nil { // it was deleted meanwhile
			continue
		}
		r := newRow(hit, m.Memory.Home(), "/memory/")
		list = append(list, link{id, r.Link, r.Text})
	}
	return list
}

// elements are the fields of a memory that its row does not show.
func elements(h record.Hit) (list []element) {
	add := func(name, value string) {
		if value != "" {
			list = append(list, element{name, value})
		}
	}
	reason := "Why it was kept"
	if len(h.Replaced) > 0 { // its reason is that of the change
		reason = "Why it replaced what was there"
	}
	add(reason, h.Rationale)
	add("What it may be useful for", h.Hypothesis)
	add("Conversation", h.SessionID)
	add("Recorded under the agent name", h.AgentID)
	add("Skill", h.Skill)
	switch h.Consent {
	case record.ByPerson:
		add("Shared because", "you agreed when asked")
	case record.ByCaller:
		add("Shared because", "the agent reported that you agreed")
	case record.ByOperator:
		add("Shared because", "you did it yourself")
	}
	if l := h.Lesson; l != nil {
		add("Rule", l.PreventativeRule)
		add("When", l.Situation)
		add("What went wrong", l.ErrorPattern)
		add("What was overlooked", l.Oversight)
		add("What helped", l.Fix)
		add("Severity", l.Severity)
		add("Applies to", l.ApplicableScope)
	}
	if c := h.Heritage; c != nil {
		add("Intentions it descends from", strings.Join(c.IntentChain, " → "))
		add("Hypotheses it descends from", strings.Join(c.Hypotheses, " → "))
		add("Reasons it descends from", strings.Join(c.Rationales, " → "))
	}
	return list
}

// refusedMemory is the page of a memory with the reason why a form was refused.
func (s *Site) refusedMemory(r *http.Request, m Member, err error) (answer, error) {
	if _, ok := fault.As(err); !ok {
		return answer{}, err
	}
	content, failed := s.memoryOf(r.Context(), m, r.PathValue("id"))
	if failed != nil {
		return answer{}, err
	}
	if text := r.PostForm.Get("text"); text != "" {
		content.NewText, content.Reason, content.Happened = text, r.PostForm.Get("why"), r.PostForm.Get("happened")
	}
	return memoryAnswer(content), err
}

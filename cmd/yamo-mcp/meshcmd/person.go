package meshcmd

import (
	"fmt"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/screen"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// usual returns the default of --limit: a person reads a screen of lines, a program what RFC-0011 has.
func (m *command) usual(rfc int) int {
	if m.person {
		return 20
	}
	return rfc
}

const excerptLines = 3 // of a memory in a list

// showFound writes the results of a search. Next to better ones, those that are unlikely to answer the query are only
// counted, unless all are asked for.
func showFound(s *screen.Screen, found mesh.Found, disputed marks, short func(string) string, all bool) {
	if len(found.Hits)+len(found.Standing) == 0 {
		s.Put("Nothing found.\n")
		return
	}
	poor := found.Confidence() == confidence.Unlikely
	if poor && len(found.Hits) > 0 {
		s.Put("Nothing fits well; the nearest are:\n\n")
	}
	left := 0
	for i, h := range found.Hits {
		if !poor && !all && confidence.Of(h.Probability) == confidence.Unlikely {
			left++
			continue
		}
		showHit(s, fmt.Sprintf("%2d. ", i+1-left), h, disputed[h.ID], short, true)
	}
	if len(found.Standing) > 0 {
		s.Put(s.In(screen.Heading, "Always applies") + "\n")
		for _, h := range found.Standing {
			showHit(s, "    ", h, disputed[h.ID], short, false)
		}
	}
	if left > 0 {
		s.Put(fmt.Sprintf("%d less likely; --min-confidence unlikely shows them.\n", left))
	}
	if found.More > 0 {
		s.Put(fmt.Sprintf("%d more are about as close; --limit shows them.\n", found.More))
	}
}

// showList writes memories in the order given, with a heading for each day.
func showList(s *screen.Screen, hits []record.Hit, disputed marks, short func(string) string) {
	if len(hits) == 0 {
		s.Put("No memories.\n")
	}
	var day string
	for _, h := range hits {
		if d := s.Day(h.CreatedAt); d != day {
			if day != "" {
				s.Put("\n")
			}
			day = d
			s.Put(s.In(screen.Heading, day) + "\n")
		}
		id := short(h.ID)
		s.Put("  " + s.In(screen.Faint, id) + "  " + s.Excerpt(h.Content, excerptLines, len(id)+4))
		if facts := factsOf(s, h, disputed[h.ID]); len(facts) > 0 {
			s.Put("  " + strings.Join(facts, " · "))
		}
		s.Put("\n")
	}
}

// showHit writes a memory in a few lines: its text, and where it is from.
func showHit(
	s *screen.Screen, number string, h record.Hit, disputed string, short func(string) string, found bool,
) {
	content := h.Content
	if h.Passage != "" {
		content = h.Passage
	}
	s.Wrap(number, s.Excerpt(content, excerptLines, len(number)))
	s.Put(strings.Repeat(" ", len(number)))
	facts := []string{s.In(screen.Faint, placeOf(h, short)), s.In(screen.Faint, s.Day(h.CreatedAt))}
	if found {
		facts = append(facts, levelOf(s, h))
	}
	s.Put(strings.Join(append(facts, factsOf(s, h, disputed)...), " · ") + "\n\n")
}

// placeOf returns what names a memory: its short id, or of a passage the file and line.
func placeOf(h record.Hit, short func(string) string) string {
	name, ok := resourceuri.ParseFile(h.Link)
	if !ok {
		return short(h.ID)
	}
	if h.Place != "" {
		name += ", " + h.Place
	}
	return screen.Line(name)
}

// levelOf returns how likely a result answers the query.
func levelOf(s *screen.Screen, h record.Hit) string {
	level := confidence.Of(h.Probability)
	style := screen.Faint
	switch level {
	case confidence.Likely:
		style = screen.Good
	case confidence.Possible:
		style = screen.Caution
	}
	return s.In(style, string(level))
}

// factsOf returns what is unusual about a memory, in a few words each.
func factsOf(s *screen.Screen, h record.Hit, disputed string) []string {
	var facts []string
	add := func(style screen.Style, words string) {
		if words = screen.Line(words); words != "" {
			facts = append(facts, s.In(style, words))
		}
	}
	if h.Visibility != record.Private && h.Link == "" {
		add(screen.Foreign, string(h.Visibility))
	}
	if h.Type != record.DefaultType && h.Type != record.FileType {
		add(screen.Faint, h.Type)
	}
	if h.OccurredAt != "" && !strings.Contains(h.Content, h.OccurredAt) {
		add(screen.Faint, "about "+h.OccurredAt)
	}
	if len(h.Tags) > 0 {
		add(screen.Faint, "#"+strings.Join(trimmed(h.Tags), " #"))
	}
	if h.Project != "" {
		add(screen.Faint, "project "+record.ProjectName(h.Project))
	}
	if h.Past != nil {
		add(screen.Caution, "until "+s.Day(h.Past.At))
	}
	if before := h.Before(beforeChars); disputed == "" && before != "" {
		add(screen.Faint, "before: "+before)
	}
	add(screen.Caution, disputed)
	return facts
}

// trimmed returns tags without the sign that some of them begin with.
func trimmed(tags []string) []string {
	list := make([]string, len(tags))
	for i, tag := range tags {
		list[i] = strings.TrimPrefix(tag, "#")
	}
	return list
}

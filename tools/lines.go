package tools

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// liner is a result that is a list: its text is a line for each item, which costs a model half the tokens of the same
// as JSON. "" means that this result's text is its JSON. docs/adr/0010 has the reasons.
type liner interface{ lines() string }

// lines writes a list for a model.
type lines struct{ strings.Builder }

// breaks are line breaks, with the blank lines after them.
var breaks = regexp.MustCompile(`\n\s*\n|\n`)

// unmarked replaces the brackets of marks in the text of a mark.
var unmarked = strings.NewReplacer("[", "(", "]", ")")

// add writes a line of words, without the empty ones, and after them the marks in brackets.
//
// SECURITY: what is quoted may have been said by anyone. Its own lines are indented, so that it cannot pretend to be
// another item of the list, and brackets in a mark are parentheses, so that it cannot pretend to be several.
func (l *lines) add(words []string, marks ...string) {
	out := &l.Builder
	n := out.Len()
	for _, word := range words {
		if word = strings.TrimSpace(text.Plain(word)); word != "" {
			if out.Len() > n {
				out.WriteString(" ")
			}
			out.WriteString(breaks.ReplaceAllString(word, "\n  "))
		}
	}
	for _, mark := range marks {
		if mark != "" {
			out.WriteString(" [" + unmarked.Replace(text.OneLine(text.Plain(mark))) + "]")
		}
	}
	out.WriteString("\n")
}

// said returns what a reader must see before and after the words of a memory. Where a group's have several lines or
// brackets, whose they are comes first, and each line is quoted.
//
// SECURITY: a model that reads for a DM could take an indented line of a group's, which looks like an item, for one,
// and brackets for marks.
func said(visibility, content string) (whose, words, mark string) {
	if visibility == string(record.Private) {
		return "", content, ""
	}
	words = strings.TrimSpace(text.Plain(content))
	if record.Visibility(visibility).Group() == "" || !strings.ContainsAny(words, "\n[") {
		return "", content, visibility
	}
	return "[" + visibility + "]", "> " + breaks.ReplaceAllString(words, "\n> "), ""
}

// text returns the list and what to do next, or what to write if there is neither.
func (l *lines) text(hint, none string) string {
	if hint != "" {
		l.add([]string{hint})
	}
	return cmp.Or(strings.TrimSuffix(l.String(), "\n"), none)
}

// labeled returns label and value, "" without a value.
func labeled(label, value string) string {
	if value == "" {
		return ""
	}
	return label + " " + value
}

// lines has "id date text" for each memory, and what a reader must know before using it: how certain it is that it
// answers, unless that is likely, whose words they are, what was true before, or whose word it replaced unconfirmed,
// and which other project it is about.
// Details are JSON.
func (a memoryAnswer) lines() string {
	var l lines
	if a.Confidence == string(confidence.Unlikely) && len(a.Results) > 0 {
		l.add([]string{"Nothing fits well; the nearest are:"})
	}
	if a.Order != "" {
		l.add([]string{"In order of time:"})
	}
	for _, r := range a.Results {
		if r.Details != nil {
			return ""
		}
		kind := ""
		whose, words, visibility := said(r.Visibility, r.Content)
		if r.Type == "lesson" || r.Type == "reflection" {
			kind = r.Type
		}
		before := r.Disputed
		if before == "" {
			before = labeled("replaces", r.Replaces)
		}
		happened := r.OccurredAt
		if strings.Contains(r.Content, happened) {
			happened = ""
		}
		l.add([]string{r.ID, day(r.CreatedAt, a.zone), whose, words},
			confidence.Level(r.Confidence).Doubt(), kind, visibility, labeled("happened", happened), before,
			labeled("project", r.Project), r.Link, r.Place)
	}
	for _, r := range a.Standing {
		whose, words, visibility := said(r.Visibility, r.Content)
		l.add([]string{r.ID, day(r.CreatedAt, a.zone), whose, words}, "standing", visibility)
	}
	for _, r := range a.Lessons {
		l.add([]string{r.LessonID, r.PreventativeRule}, "lesson, "+r.Severity, labeled("scope", r.ApplicableScope))
	}
	if a.More > 0 {
		l.add([]string{fmt.Sprintf("%d more memories are about as close.", a.More)})
	}
	if a.Next != "" {
		l.add([]string{"More: pass", a.Next, "as after."})
	}
	return l.text(a.Hint, "Nothing found.")
}

// lines has the rule of each lesson, when it applies and what helped.
func (a lessonList) lines() string {
	var l lines
	for _, r := range a.Lessons {
		whose, words, visibility := said(r.Visibility, r.PreventativeRule)
		l.add([]string{r.LessonID, day(r.CreatedAt, a.zone), whose, words}, r.Severity,
			labeled("scope", r.ApplicableScope), fmt.Sprintf("confidence %.2g", r.RuleConfidence), visibility,
			labeled("mistake", r.ErrorPattern), labeled("situation", r.Situation), labeled("missed", r.Oversight),
			labeled("fix", r.Fix), labeled("instead", r.InverseLesson), labeled("pattern", r.PatternID),
			labeled("memory", r.MemoryID), labeled("supersedes", r.Supersedes))
	}
	return l.text(a.Hint, "No lessons.")
}

// lines has each session, turn or hit of session logs.
func (a logAnswer) lines() string {
	var l lines
	if h := a.Header; h != nil {
		l.add([]string{"Session", a.SessionID, h.StartedAt}, h.Title, labeled("project", h.Project),
			labeled("model", h.Model), labeled("group", h.Group), labeled("agent", h.AgentID), unread(h.SkippedLines))
	}
	for _, s := range a.Sessions {
		l.add([]string{s.SessionID, cmp.Or(s.FirstTimestamp, s.StartedAt), labeled("to", s.LastTimestamp), s.Title},
			labeled("project", s.Project), labeled("branch", s.Branch),
			labeled("model", s.Model), fmt.Sprintf("%d turns", s.EntryCount), labeled("group", s.Group),
			labeled("agent", s.AgentID), labeled("from", s.SourcePlugin), worker(s), unread(s.SkippedLines))
	}
	group := ""
	if a.Header != nil {
		group = groupOf(a.Header.Group)
	}
	for _, e := range a.Entries {
		_, words, _ := said(group, e.Content) // the header has whose
		who := e.Role
		if e.SenderID != "" {
			who += " (" + text.OneLine(text.Plain(e.SenderID)) + ")"
		}
		l.add([]string{e.Timestamp, who + ":", words})
	}
	if a.Confidence == string(confidence.Unlikely) {
		l.add([]string{"Nothing fits well; the nearest are:"})
	}
	for _, h := range a.Hits {
		shown := h.Preview
		if h.Reply != "" {
			shown += "\nreply: " + h.Reply
		}
		_, words, _ := said(groupOf(h.Group), shown)
		l.add([]string{h.SessionID, h.Timestamp, h.Role + ":", words},
			confidence.Level(h.Confidence).Doubt(), labeled("project", h.Project), labeled("group", h.Group))
	}
	if a.SkippedLines > 0 {
		l.add([]string{unread(a.SkippedLines) + "."})
	}
	if a.NextOffset > 0 {
		l.add([]string{fmt.Sprintf("next_offset: %d", a.NextOffset)})
	}
	return l.text(a.Hint, "Nothing found.")
}

// groupOf returns the compartment of a group, the private one for "".
func groupOf(group string) string {
	if group == "" {
		return string(record.Private)
	}
	return string(record.OfGroup(group))
}

// worker marks a session of a subagent that is in no other session's list.
func worker(s transcript.Session) string {
	if s.Subagent {
		return "subagent"
	}
	return ""
}

// unread says how many lines of session logs could not be read, "" for none.
func unread(lines int) string {
	switch lines {
	case 0:
		return ""
	case 1:
		return "1 line could not be read"
	}
	return fmt.Sprintf("%d lines could not be read", lines)
}

// lines has the skills of a search or list. One skill with its text is JSON.
func (a skillAnswer) lines() string {
	var l lines
	if a.Outcome != "" {
		return ""
	}
	for _, s := range a.Skills {
		if s.Text != "" {
			return ""
		}
		whose, words, visibility := said(s.Visibility, strings.TrimSpace(s.Name+": "+s.Intent+" "+s.Description))
		l.add([]string{s.ID, whose, words}, visibility,
			fmt.Sprintf("reliability %.2g, used %d times", s.Reliability, s.UseCount))
	}
	if a.Total > len(a.Skills) {
		l.add([]string{fmt.Sprintf("%d of %d.", len(a.Skills), a.Total)})
	}
	return l.text(a.Hint, "No skills.")
}

// knowledge is the result of what_do_i_know.
type knowledge struct{ workspace.Knowledge }

// lines is the sections as Markdown.
func (k knowledge) lines() string {
	var l lines
	for _, s := range k.Sections {
		l.add([]string{"##", text.OneLine(s.Heading)})
		if s.Text != "" {
			l.add([]string{s.Text})
		}
		for _, bullet := range s.Bullets {
			l.add([]string{"-", bullet})
		}
	}
	hint := ""
	if k.Truncated {
		hint = "More exist: pass a heading as filter."
	}
	return l.text(hint, "Nothing found.")
}

// day writes a date as the calendar of zone has it; nil: the machine's. It is the zone of the audience: an hour after
// midnight the user's day is another than the machine's.
func day(t time.Time, zone *time.Location) string {
	return t.In(cmp.Or(zone, time.Local)).Format(time.DateOnly)
}

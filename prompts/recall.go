package prompts

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

const (
	recalled    = 10  // memories that recall shows
	similar     = 3   // memories that remember shows
	rules       = 5   // lessons that recall and distill show
	memoryChars = 400 // of each memory
	// tagDays is the number of days whose tags recall offers as topics.
	tagDays = 90
)

// Recall shows what the memory holds about a topic.
func Recall(m *mesh.View) Prompt {
	return Prompt{
		Name: "recall", Title: "Recall",
		Description: "Recall what is known about a topic before continuing with it: memories and lessons, with their dates " +
			"and origins",
		Arguments: []Argument{{
			Name: "topic", Description: "A question or a few words; default: what this conversation is about",
			Values: func(ctx context.Context) ([]string, error) {
				activity, err := m.Activity(ctx, m.Now().AddDate(0, 0, -tagDays))
				var tags []string
				for _, tag := range activity.Tags {
					if tag.Tag != record.LessonTag {
						tags = append(tags, tag.Tag)
					}
				}
				return tags, err
			},
		}},
		Render: func(ctx context.Context, args map[string]string) (string, error) {
			topic := args["topic"]
			if topic == "" {
				// Without a topic the model chooses one from the conversation, which the server does not see.
				return fixed("recall_open"), nil
			}
			found, err := m.Search(ctx, mesh.SearchRequest{Query: topic, Limit: recalled, IncludeLessons: true})
			if err != nil {
				return "", err
			}
			var out strings.Builder
			out.WriteString(fixed("recall") + "\n" + quoted(topic) + "\n# MEMORIES\n")
			writeMemories(&out, m, slices.DeleteFunc(slices.Clone(found.Hits), func(hit record.Hit) bool {
				return slices.ContainsFunc(found.Lessons, func(l record.Hit) bool { return l.ID == hit.ID }) // it comes below
			}))
			// Otherwise a model would take "nothing found" for "nothing known".
			if found.Off {
				out.WriteString("(matched by words only: semantic search is off)\n")
			}
			if len(found.Lessons) > 0 {
				out.WriteString("\n# LESSONS\n")
				writeLessons(&out, m, found.Lessons)
			}
			return out.String(), nil
		},
	}
}

// Remember asks the model to store what is worth keeping, and shows similar memories.
func Remember(m *mesh.View) Prompt {
	text := "remember"
	if !m.Audience.IsDM() {
		text = "remember_group"
	}
	return Prompt{
		Name: "remember", Title: "Remember",
		Description: "Store what is worth keeping from this conversation, or one given item, as memories",
		Arguments: []Argument{{
			Name:        "what",
			Description: "What to remember; default: what will matter later from this conversation",
		}},
		Render: func(ctx context.Context, args map[string]string) (string, error) {
			var out strings.Builder
			out.WriteString(fixed(text))
			if what := args["what"]; what != "" {
				found, err := m.Search(ctx, mesh.SearchRequest{Query: what, Limit: similar})
				if err != nil {
					return "", err
				}
				out.WriteString("\nTo remember:\n\n" + quoted(what) + "\n# SIMILAR MEMORIES\n")
				writeMemories(&out, m, found.Hits)
			}
			return out.String(), nil
		},
	}
}

// Distill asks the model to turn a mistake into a lesson, and shows the lessons of similar mistakes.
func Distill(m *mesh.View) Prompt {
	return Prompt{
		Name: "distill", Title: "Learn a lesson",
		Description: "Turn something that went wrong into a lesson, so that it does not happen again",
		Arguments: []Argument{
			{Name: "situation", Description: "What went wrong; default: what went wrong in this conversation"},
			{
				Name: "pattern", Description: "Existing name of this kind of failure, such as auth_fallback_bypass",
				Values: func(ctx context.Context) ([]string, error) {
					found, err := m.Lessons(ctx, mesh.LessonQuery{Limit: mesh.MaxLimit})
					var patterns []string
					for _, hit := range found.Lessons {
						if name := hit.Lesson.ErrorPattern; !slices.Contains(patterns, name) {
							patterns = append(patterns, name)
						}
					}
					return patterns, err
				},
			},
		},
		Render: func(ctx context.Context, args map[string]string) (string, error) {
			found, err := m.Lessons(ctx, mesh.LessonQuery{
				Query: strings.TrimSpace(args["situation"] + " " + args["pattern"]),
				Limit: rules,
			})
			if err != nil {
				return "", err
			}
			var out strings.Builder
			out.WriteString(fixed("distill"))
			if situation := args["situation"]; situation != "" {
				out.WriteString("\nWhat went wrong:\n\n" + quoted(situation))
			}
			if pattern := args["pattern"]; pattern != "" {
				out.WriteString("\nerror_pattern:\n\n" + quoted(pattern))
			}
			if len(found.Lessons) > 0 {
				out.WriteString("\n# ACTIVE LESSONS\n")
				writeLessons(&out, m, found.Lessons)
			}
			return out.String(), nil
		},
	}
}

// quotedIf returns s, in quotes if what it belongs to is foreign.
func quotedIf(foreign bool, s string) string {
	if foreign {
		return strconv.Quote(s)
	}
	return s
}

// writeMemories lists memories, one per line, with their dates and origins.
//
// SECURITY: a source is quoted, and so is what a group said, so that neither can look like another memory's line.
func writeMemories(out *strings.Builder, m *mesh.View, hits []record.Hit) {
	home, zone := m.Home(), m.Location()
	for _, hit := range hits {
		origin := hit.CreatedAt.In(zone).Format(time.DateOnly) + ", " + string(hit.Visibility)
		// A passage of a file has its place as origin; its date is the file's.
		if hit.Link != "" {
			origin = hit.Link
		} else if hit.Source != "" {
			origin += ", source " + strconv.Quote(oneLine(hit.Source, 60))
		}
		fmt.Fprintf(out, "- (%s) %s\n", origin, quotedIf(hit.Foreign(home), oneLine(hit.Content, memoryChars)))
	}
	if len(hits) == 0 {
		out.WriteString("(nothing)\n")
	}
}

// writeLessons lists lessons, one per line.
func writeLessons(out *strings.Builder, m *mesh.View, hits []record.Hit) {
	home, zone := m.Home(), m.Location()
	for _, hit := range hits {
		l := hit.Lesson
		foreign := hit.Foreign(home)
		fmt.Fprintf(out, "- [%s, %s, %s] %s (error_pattern: %s; scope: %s)\n", l.Severity,
			hit.CreatedAt.In(zone).Format(time.DateOnly), hit.Visibility,
			quotedIf(foreign, oneLine(l.PreventativeRule, memoryChars)), quotedIf(foreign, oneLine(l.ErrorPattern, 80)),
			quotedIf(foreign, oneLine(l.ApplicableScope, 160)))
	}
}

package viewer

import (
	"net/http"
	"net/url"

	"github.com/yamo-protocol/yamo-mcp/internal/viewer/page"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// lessonsPage is the content of the page of lessons and skills.
type lessonsPage struct {
	Lessons []lessonRow
	Skills  []skillRow
	Total   int // of skills
}

// lessonRow is an active lesson.
type lessonRow struct {
	row
	*record.Lesson
}

// skillRow is a skill.
type skillRow struct {
	record.SkillHit
	Zone page.Zone
	Path string
}

func newSkillRow(h record.SkillHit) skillRow {
	return skillRow{h, zoneOf(h.Visibility), "/memory/" + url.PathEscape(h.ID)}
}

// lessons shows the lessons that sessions start with, and the skills, with their confidence.
func (s *Site) lessons(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	found, err := person.Memory.Lessons(r.Context(), mesh.LessonQuery{Limit: mesh.MaxLimit})
	if err != nil {
		return answer{}, err
	}
	var content lessonsPage
	for _, h := range found.Lessons {
		content.Lessons = append(content.Lessons, lessonRow{newRow(h, person.Memory.Home(), "/memory/"), h.Lesson})
	}
	skills, err := person.Memory.Skills().List(r.Context(), mesh.MaxLimit)
	if err != nil {
		return answer{}, err
	}
	content.Total = skills.Total
	for _, h := range skills.Skills {
		content.Skills = append(content.Skills, newSkillRow(h))
	}
	return answer{template: "lessons", page: page.Page{
		Title: "Lessons and skills", Here: "/lessons", Content: content,
		Zone: page.Zone{Class: "private", Label: "Private", Hint: "What your agent has learned, in direct conversations " +
			"and in groups. Each entry says where."},
	}}, nil
}

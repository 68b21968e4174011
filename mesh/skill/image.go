package skill

import "github.com/yamo-protocol/yamo-mcp/mesh/record"

// Image is a skill in an image of a compartment, from which a later process restores it.
type Image struct {
	Skill   *record.Skill
	Seq     int64
	Revised []record.Moment
}

// ImageUse is feedback in an image.
type ImageUse struct {
	At  record.Moment
	Use Use
}

// Image returns the skills and the feedback in a form that FromImage reads.
func (s *Set) Image() ([]Image, map[string][]ImageUse) {
	var skills []Image
	for _, state := range s.byID {
		skills = append(skills, Image{state.Skill, state.Seq, state.Revised})
	}
	uses := map[string][]ImageUse{}
	for id, list := range s.uses {
		for _, u := range list {
			uses[id] = append(uses[id], ImageUse{u.At, u})
		}
	}
	return skills, uses
}

// FromImage returns the set of an image. It takes over the skills.
func FromImage(skills []Image, uses map[string][]ImageUse) *Set {
	s := NewSet()
	for _, i := range skills {
		i.Skill.Seq = i.Seq
		s.byID[i.Skill.ID] = &State{Skill: i.Skill, Revised: i.Revised, Words: fields(i.Skill)}
		s.byName[FoldName(i.Skill.Name)] = i.Skill.ID
		s.changes++
	}
	for id := range uses {
		for _, u := range uses[id] {
			u.Use.At = u.At
			s.uses[id] = append(s.uses[id], u.Use)
			s.changes++
		}
	}
	return s
}

package record

import "strconv"

// Column returns a promoted field of RFC-0011 §2.2, nil where it is null; accesses are elsewhere. The owning skill is the
// source skill: there is no other.
func (r *Record) Column(name string) any {
	text := ""
	switch name {
	case "id":
		text = r.ID
	case "session_id":
		text = r.SessionID
	case "agent_id":
		text = r.AgentID
	case "memory_type":
		text = r.Type
	case "source_skill_id":
		text = r.Skill
	case "lesson_pattern_id":
		if r.Lesson != nil {
			text = r.Lesson.PatternID
		}
	case "created_at":
		return r.CreatedAt
	case "importance_score":
		if r.Importance == nil {
			return nil
		}
		// The number that the caller wrote: 0.9, not its nearest float32.
		x, err := strconv.ParseFloat(strconv.FormatFloat(float64(*r.Importance), 'g', -1, 32), 64)
		if err != nil {
			return nil
		}
		return x
	}
	if text == "" {
		return nil
	}
	return text
}

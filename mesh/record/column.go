package record

import "strconv"

// Column returns the value of a promoted column of RFC-0011 §2.2: a string, float64 or time.Time, and nil where the
// column is null or not one of them. Accesses are not part of a record, see Accesses. source_skill_id and the owning
// skill are the same.
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
	case "updated_at":
		if r.UpdatedAt.IsZero() {
			return r.CreatedAt
		}
		return r.UpdatedAt
	case "importance_score":
		if r.Importance == nil {
			return nil
		}
		// A filter compares with the number that the caller wrote: 0.9, not float64(float32(0.9)).
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

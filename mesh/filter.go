package mesh

import (
	"strconv"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh/where"
)

// admits checks the request and returns which memories its conditions let through, all of them together. accesses says how
// often one was found.
func (q *SearchRequest) admits(accesses func(id string) Accesses) (func(*Record) bool, error) {
	base, err := q.filter()
	if err != nil {
		return nil, err
	}
	if q.MinImportance != nil && !(*q.MinImportance >= 0 && *q.MinImportance <= 1) {
		return nil, fault.New("min_importance: give a number from 0 to 1")
	}
	var expr *where.Expr
	if q.Filter != "" {
		if expr, err = where.Parse(q.Filter); err != nil {
			return nil, fault.New("filter: %v", err)
		}
	}
	if q.AgentID == "" && q.Skill == "" && q.MinImportance == nil && expr == nil {
		return base, nil
	}
	return func(r *Record) bool {
		return base(r) &&
			(q.AgentID == "" || r.AgentID == q.AgentID) &&
			(q.Skill == "" || r.Skill == q.Skill) &&
			(q.MinImportance == nil || r.Importance != nil && *r.Importance >= *q.MinImportance) &&
			(expr == nil || expr.Match(func(column string) any {
				if column == accessColumn {
					return accesses(r.ID).column()
				}
				return r.column(column)
			}))
	}, nil
}

// accessColumn is the promoted field that a record does not have: each audience counts its own.
const accessColumn = "access_count"

// byAccess reports whether the filter may ask how often memories were found.
func (q *SearchRequest) byAccess() bool {
	return strings.Contains(strings.ToLower(q.Filter), accessColumn)
}

// column is a promoted field of RFC-0011 §2.2, nil where it is null; accesses are elsewhere. The owning skill is the source
// skill: there is no other.
func (r *Record) column(name string) any {
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

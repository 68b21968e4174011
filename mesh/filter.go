package mesh

import (
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/where"
)

// admits checks the request and returns which memories its conditions let through, all of them together. accesses says how
// often one was found.
func (q *SearchRequest) admits(accesses func(id string) record.Accesses) (func(*record.Record) bool, error) {
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
	return func(r *record.Record) bool {
		return base(r) &&
			(q.AgentID == "" || r.AgentID == q.AgentID) &&
			(q.Skill == "" || r.Skill == q.Skill) &&
			(q.MinImportance == nil || r.Importance != nil && *r.Importance >= *q.MinImportance) &&
			(expr == nil || expr.Match(func(column string) any {
				if column == accessColumn {
					return accessesColumn(accesses(r.ID))
				}
				return r.Column(column)
			}))
	}, nil
}

// accessColumn is the promoted field that a record does not have: each audience counts its own.
const accessColumn = "access_count"

// byAccess reports whether the filter may ask how often memories were found.
func (q *SearchRequest) byAccess() bool {
	return strings.Contains(strings.ToLower(q.Filter), accessColumn)
}

// parseTime reads a time that a caller gave: RFC 3339, or a date, which is its first moment in UTC.
func parseTime(field, text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fault.New("%s: give a time like 2026-01-31T15:04:05Z or a date like 2026-01-31", field)
}

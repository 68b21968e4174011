package mesh

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/when"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/period"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/where"
)

// conditions are what a SearchRequest asks of a memory, checked and parsed.
type conditions struct {
	*SearchRequest
	since, until time.Time     // zero for none
	asOf         time.Time     // zero for now
	asked        period.Period // the time that the query names; empty for none
	subject      string        // the query without that time
	inSession    func(*record.Record) bool
	expr         *where.Expr // nil for none
	person       keyword.Name
	certain      float64 // minimum confidence of a lesson
	all          bool    // see SearchRequest.All; only where a list is asked for
}

// conditions checks the request and fills in its defaults.
func (q *SearchRequest) conditions(local func() time.Time) (c conditions, err error) {
	switch n := utf8.RuneCountInString(q.Query); {
	case !utf8.ValidString(q.Query):
		return c, fault.New("query: the text is not valid UTF-8")
	case n > maxQuery:
		return c, fault.New("query: %d characters are too many; use at most %d", n, maxQuery)
	case q.Type != "" && !slices.Contains(record.Types, q.Type):
		return c, fault.New("type: use one of %s", strings.Join(record.Types, ", "))
	case q.MinImportance != nil && !(*q.MinImportance >= 0 && *q.MinImportance <= 1):
		return c, fault.New("min_importance: must be between 0 and 1")
	case q.MinConfidence != "" && !slices.Contains(confidence.Levels, string(q.MinConfidence)):
		return c, fault.New("min_confidence: use one of %s", strings.Join(confidence.Levels, ", "))
	}
	if err := checkLimit(&q.Limit); err != nil {
		return c, err
	}
	c.SearchRequest = q
	if q.Person != "" {
		var ok bool
		if c.person, ok = keyword.ParseName(q.Person); !ok {
			return c, fault.New("person: give a name, such as Nadia")
		}
	}
	now := local()
	c.asked, c.subject = when.InQuestion(q.Query, now)
	if c.since, err = parseTime("since", &q.Since, now, when.ParseSince); err != nil {
		return c, err
	}
	if c.until, err = parseTime("until", &q.Until, now, when.ParseUntil); err != nil {
		return c, err
	}
	if c.asOf, err = parseAsOf(&q.AsOf, now); err != nil {
		return c, err
	}
	if !c.until.IsZero() && !c.since.Before(c.until) {
		return c, fault.New("until: must be later than since")
	}
	if q.Filter != "" {
		if c.expr, err = where.Parse(q.Filter); err != nil {
			return c, fault.New("filter: %v", err)
		}
	}
	return c, nil
}

// filter returns the conditions in the ranking's form. accesses returns how often the audience has found a memory.
func (c conditions) filter(accesses func(id string) record.Accesses) rank.Filter {
	f := rank.Filter{Lance: c.lance(), AsOf: c.asOf, Project: c.InProject}
	if len(c.asked) > 0 {
		f.Prefer = c.asked.Share
	}
	var between period.Period
	if !c.since.IsZero() || !c.until.IsZero() {
		between = period.Period{{From: c.since, To: c.until}}
	}
	if c.Type == "" && c.SessionID == "" && c.AgentID == "" && c.Skill == "" && c.Project == "" && c.Person == "" &&
		len(c.Tags) == 0 && c.since.IsZero() && c.until.IsZero() && c.MinImportance == nil && c.expr == nil {
		f.Admit, f.AllOrdinary = c.sees, true
		return f
	}
	f.Admit = func(r *record.Record) bool {
		return c.sees(r) && (c.Type == "" || r.Type == c.Type) &&
			(c.SessionID == "" || r.SessionID == c.SessionID) &&
			(c.AgentID == "" || r.AgentID == c.AgentID) &&
			(c.Skill == "" || r.Skill == c.Skill) &&
			(c.Project == "" || r.OfProject(c.Project)) &&
			(c.Person == "" || c.person.In(r.Content+"\n"+r.Source+"\n"+strings.Join(r.Tags, "\n"))) &&
			(between == nil || between.Holds(r)) &&
			(c.MinImportance == nil || r.Importance != nil && *r.Importance >= *c.MinImportance) &&
			!slices.ContainsFunc(c.Tags, func(t string) bool { return !r.HasTag(t) }) &&
			(c.expr == nil || c.expr.Match(func(column string) any {
				switch column {
				case countColumn:
					return accessesColumn(accesses(r.ID))
				case lastColumn:
					if last := accesses(r.ID).Last; !last.IsZero() {
						return last
					}
					return nil
				}
				return r.Column(column)
			}))
	}
	return f
}

// sees reports whether r is not bound to another session, or to none any more, and, unless the request is for lessons,
// no lesson below the minimum confidence.
func (c conditions) sees(r *record.Record) bool {
	if c.all {
		return true
	}
	if r.Lesson != nil && r.Lesson.RuleConfidence < c.certain && c.Type != r.Type {
		return false
	}
	return !r.IsEphemeral() || c.inSession == nil || c.inSession(r)
}

// The promoted fields that a record does not have: each audience counts its own accesses.
const (
	countColumn = "access_count"
	lastColumn  = "last_accessed"
)

// byAccess reports whether the filter asks how often memories were found.
func (c conditions) byAccess() bool {
	return c.expr != nil && slices.ContainsFunc(c.expr.Columns(), func(column string) bool {
		return column == countColumn || column == lastColumn
	})
}

// pushable are the columns on whose conditions LanceDB and Expr.Match agree. They do not on numbers: a row holds the
// float32 next to what was written.
var pushable = []string{
	"id", "session_id", "agent_id", "memory_type", "source_skill_id", "lesson_pattern_id", "created_at",
}

// lance returns the conditions in a form that LanceDB applies before it searches, nil if it cannot: tags, projects,
// people and the times that memories tell of are no columns, and numbers are not pushable.
func (c conditions) lance() *lance.Filter {
	unpushable := func(column string) bool { return !slices.Contains(pushable, column) }
	if len(c.Tags) > 0 || c.Project != "" || c.Person != "" || !c.since.IsZero() || !c.until.IsZero() ||
		c.MinImportance != nil || c.expr != nil && slices.ContainsFunc(c.expr.Columns(), unpushable) {
		return nil
	}
	f := &lance.Filter{Where: c.expr}
	for _, equal := range []struct{ column, value string }{
		{"memory_type", c.Type}, {"session_id", c.SessionID}, {"agent_id", c.AgentID}, {"source_skill_id", c.Skill},
	} {
		if equal.value != "" {
			f.Where = where.Equal(equal.column, equal.value, f.Where)
		}
	}
	return f
}

// parseAsOf is parseTime for as_of: what was true in a day or a longer span was so by its end. The time keeps its
// location, because memories tell of dates.
func parseAsOf(text *string, now time.Time) (time.Time, error) {
	if *text == "" {
		return time.Time{}, nil
	}
	s, err := when.Parse(*text, now)
	if err != nil {
		return time.Time{}, fault.New("as_of: %v", err)
	}
	t := s.From
	if s.Unit != when.Minute {
		t = s.To.Add(-time.Millisecond)
	}
	*text = t.UTC().Format(time.RFC3339Nano)
	return t, nil
}

// parseTime reads a limit that a caller gave: RFC 3339, a date or a phrase, relative to now. It replaces text by the
// moment, because "yesterday" is another one tomorrow. "" is the zero time.
func parseTime(
	field string, text *string, now time.Time, read func(string, time.Time) (time.Time, error),
) (time.Time, error) {
	if *text == "" {
		return time.Time{}, nil
	}
	t, err := read(*text, now)
	if err != nil {
		return time.Time{}, fault.New("%s: %v", field, err)
	}
	*text = t.UTC().Format(time.RFC3339Nano)
	return t.UTC(), nil
}

// inSession returns the condition on memories of record.SessionType: the request gives their session, or this view has
// stored them, and they have not expired.
func (v *View) inSession(c conditions) func(*record.Record) bool {
	asked := c.SessionID != "" || c.expr != nil && slices.Contains(c.expr.Columns(), "session_id")
	return func(r *record.Record) bool {
		if r.Expired(v.Now(), record.SessionDays*24*time.Hour) {
			return false
		}
		if asked && r.SessionID != "" {
			return true // the other conditions compare the session
		}
		return v.isBound(r)
	}
}

// isBound reports whether this view stored r, which is ephemeral.
func (v *View) isBound(r *record.Record) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.bound[r.ID]
}

// note remembers that this view stored a memory of record.SessionType.
func (v *View) note(r *record.Record) {
	if r.Type != record.SessionType {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.bound == nil {
		v.bound = map[string]bool{}
	}
	v.bound[r.ID] = true
}

// anyIn reports whether a memory of sources fits the period.
func anyIn(p period.Period, sources []rank.Source) bool {
	if len(p) == 0 {
		return false
	}
	for _, source := range sources {
		s := source.Snapshot()
		for _, r := range s.Scan() {
			if p.Holds(r) {
				s.Release()
				return true
			}
		}
		s.Release()
	}
	return false
}

package mesh

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Distilled is a lesson and the memory that holds it.
type Distilled struct {
	record.Lesson
	MemoryID   string
	Visibility record.Visibility
	Created    bool // false: an equally or more certain lesson of the same pattern was there
	Redactions []scrub.Redaction
}

// Distill stores a lesson (RFC-0011 §8.3). It is idempotent, across processes too: if a lesson of the
// same pattern with equal or higher confidence is active, that one is returned. A more certain lesson
// supersedes the older one and names it, as does any whose predecessor has expired.
func (v *View) Distill(ctx context.Context, q record.LessonRequest) (Distilled, error) {
	clean := intake.New(v.scrubber)
	lesson, err := clean.Lesson(q)
	if err != nil {
		return Distilled{}, err
	}
	r := &record.Record{
		Memory:  record.Memory{Type: "lesson", Tags: []string{record.LessonTag}, Source: v.AgentID, Content: lesson.Text()},
		AgentID: v.AgentID, Lesson: lesson, Project: v.projectIn(ctx, v.home()),
	}
	var kept *record.Record
	created := false
	err = v.write(ctx, v.home(), func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
		known := s.Lesson(lesson.PatternID)
		created = known == nil || known.Expired(now, s.Retention) ||
			known.Lesson.RuleConfidence < lesson.RuleConfidence
		if !created {
			kept = known
			return nil, nil
		}
		// Reset, because a second call may find that the lesson was deleted.
		lesson.Supersedes = ""
		if known != nil {
			lesson.Supersedes = known.Lesson.LessonID
		}
		kept, r.CreatedAt = r, now
		if r.ID, err = s.NewMemoryID(now, v.Random); err != nil {
			return nil, err
		}
		if lesson.LessonID, err = record.NewID("lesson", now, v.Random); err != nil {
			return nil, err
		}
		draft, err := draftOf(r)
		return []ledger.Draft{draft}, err
	})
	if err != nil {
		return Distilled{}, err
	}
	return Distilled{
		Lesson: *kept.Lesson, MemoryID: kept.ID, Visibility: v.home(), Created: created, Redactions: clean.Redactions(),
	}, nil
}

// Orders of a LessonQuery.
const (
	ByRelevance = "relevance"
	BySeverity  = "severity"
)

// ActiveLessons is the maximum number of lessons that a session starts with (RFC-0011 §8.2 step 4).
const ActiveLessons = 10

// LessonQuery asks for active lessons (RFC-0011 §4.1 queryLessons): the best of their pattern, certain
// enough (Options.LessonMinConfidence) and not too old (Options.LessonRetentionDays).
type LessonQuery struct {
	Query string // what the lessons should bear on; "" is everything
	Limit int    // 1..MaxLimit; 0 is 10
	// OrderBy is ByRelevance or BySeverity: severity, then confidence, then the newest first. "" is
	// ByRelevance with a query and BySeverity without. With a query, BySeverity orders the most relevant.
	OrderBy string
}

// Lessons returns active lessons, in Found.Lessons. Of lessons of one pattern in several compartments, one is returned:
// the most certain of the audience's own and the shared ones, or else of the groups'. Nothing is written.
func (v *View) Lessons(ctx context.Context, q LessonQuery) (Found, error) {
	query, err := v.checkLessonQuery(&q)
	if err != nil {
		return Found{}, err
	}
	stores, damaged, err := v.compartments(ctx)
	if err != nil {
		return Found{}, err
	}
	found := Found{Damaged: damaged}
	if query == "" {
		found.Lessons = v.activeLessons(stores)
	} else if found.Lessons, err = v.relevantLessons(ctx, stores, query, &found); err != nil {
		return Found{}, err
	}
	if query != "" && q.OrderBy == BySeverity {
		found.Lessons = found.Lessons[:min(q.Limit, len(found.Lessons))]
		slices.SortFunc(found.Lessons, record.CompareLessons)
	}
	found.Lessons = found.Lessons[:min(q.Limit, len(found.Lessons))]
	return found, nil
}

// checkLessonQuery checks q, fills in its defaults, and returns its query redacted, as what it is compared with is.
func (v *View) checkLessonQuery(q *LessonQuery) (query string, err error) {
	switch {
	case !utf8.ValidString(q.Query):
		return "", fault.New("query: the text is not valid UTF-8")
	case utf8.RuneCountInString(q.Query) > maxQuery:
		return "", fault.New("query: %d characters are too many; use at most %d", utf8.RuneCountInString(q.Query), maxQuery)
	case q.OrderBy != "" && q.OrderBy != ByRelevance && q.OrderBy != BySeverity:
		return "", fault.New("order_by: use %s or %s", ByRelevance, BySeverity)
	}
	q.Limit = cmp.Or(q.Limit, defaultLimit)
	if q.Limit < 1 || q.Limit > MaxLimit {
		return "", fault.New("limit: use a number from 1 to %d", MaxLimit)
	}
	query, _ = v.scrubber.Redact(strings.TrimSpace(q.Query))
	return query, nil
}

// relevantLessons are the active lessons that query finds, best first.
func (v *View) relevantLessons(
	ctx context.Context, stores []*compartment, query string, found *Found,
) ([]record.Hit, error) {
	meaning, err := v.embedQuery(ctx, stores, query, found)
	if err != nil {
		return nil, err
	}
	kept := v.activeIDs(stores)
	if len(kept) == 0 {
		return nil, nil
	}
	lessons := v.orderLessons(stores, kept, query, meaning, v.Project(ctx))
	return v.assessHits(ctx, query, lessons, confidence.Possible, confidence.Task)
}

// orderLessons returns the lessons whose memories are in kept, best first.
func (v *View) orderLessons(
	stores []*compartment, kept map[string]bool, query string, meaning []float32, project string,
) []record.Hit {
	candidates := v.candidates(v.sources(stores), query, meaning)
	defer candidates.Release()
	return candidates.Top(len(kept), rank.Filter{
		Admit: func(r *record.Record) bool { return kept[r.ID] }, Project: project,
	})
}

// activeIDs is the ids of the memories of activeLessons.
func (v *View) activeIDs(stores []*compartment) map[string]bool {
	ids := map[string]bool{}
	for _, hit := range v.activeLessons(stores) {
		ids[hit.ID] = true
	}
	return ids
}

// activeLessons are the active lessons in stores, one of each pattern, in the order of
// record.CompareLessons.
func (v *View) activeLessons(stores []*compartment) []record.Hit {
	oldest := v.Now().Add(-v.lessonRetention())
	var hits []record.Hit
	place := map[string]int{} // pattern -> its place in hits
	list, release := snapshots(stores)
	defer release()
	for _, s := range list {
		for _, r := range s.Lessons() {
			if r.Lesson.RuleConfidence < v.lessonMinConfidence() || r.CreatedAt.Before(oldest) {
				continue
			}
			hit := s.Hit(r)
			if at, ok := place[r.Lesson.PatternID]; !ok {
				place[r.Lesson.PatternID] = len(hits)
				hits = append(hits, hit)
			} else if v.outranks(hit, hits[at]) {
				hits[at] = hit
			}
		}
	}
	slices.SortFunc(hits, record.CompareLessons)
	return hits
}

// outranks reports whether a takes precedence over b, a lesson of the same pattern from a
// compartment before a's.
//
// SECURITY: a DM's own lesson is not displaced by one of a group, whatever its confidence.
func (v *View) outranks(a, b record.Hit) bool {
	if a, b := v.foreign(a.Visibility), v.foreign(b.Visibility); a != b {
		return b
	}
	return a.Lesson.RuleConfidence > b.Lesson.RuleConfidence
}

// foreign reports whether a compartment belongs to a group other than the audience.
func (v *View) foreign(name record.Visibility) bool { return name != v.home() && name != record.Shared }

// lessonMinConfidence returns the minimum confidence of an active lesson.
func (v *View) lessonMinConfidence() float64 {
	if v.LessonMinConfidence == 0 {
		return record.DefaultConfidence
	}
	return v.LessonMinConfidence
}

func (v *View) lessonRetention() time.Duration {
	return time.Duration(cmp.Or(v.LessonRetentionDays, record.DefaultRetentionDays)) * 24 * time.Hour
}

// MemoriesByPattern are the memories of the lessons with a pattern id, superseded ones too, the most
// certain first, then the newest (RFC-0011 §4.1 getMemoriesByPattern). None is no error.
func (v *View) MemoriesByPattern(ctx context.Context, patternID string) ([]record.Hit, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	var hits []record.Hit
	list, release := snapshots(stores)
	defer release()
	for _, s := range list {
		for r := range s.Memories() {
			if r.Lesson != nil && r.Lesson.PatternID == patternID {
				hits = append(hits, s.Hit(r))
			}
		}
	}
	slices.SortFunc(hits, func(a, b record.Hit) int {
		return cmp.Or(cmp.Compare(b.Lesson.RuleConfidence, a.Lesson.RuleConfidence), record.CompareStored(b, a))
	})
	return hits, nil
}

// Constraints renders the most severe active lessons as Markdown that a session starts with (RFC-0011 §8.2
// step 4), "" if no lesson is active.
//
// SECURITY: in a DM, lessons of groups are not among them: a stranger must not be able to plant rules.
func (v *View) Constraints(ctx context.Context) (string, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return "", err
	}
	stores = slices.DeleteFunc(stores, func(c *compartment) bool { return v.foreign(c.Visibility) })
	lessons := v.activeLessons(stores)
	if len(lessons) == 0 {
		return "", nil
	}
	var out strings.Builder
	out.WriteString("## Active lessons\n\n" +
		"Rules from past mistakes, the most severe first. Follow each where its scope applies.\n\n")
	for _, hit := range lessons[:min(ActiveLessons, len(lessons))] {
		l := hit.Lesson
		out.WriteString(l.Constraint(fmt.Sprintf("; confidence %.2f; %s", l.RuleConfidence, l.LessonID)) + "\n")
	}
	return out.String(), nil
}

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
	"github.com/yamo-protocol/yamo-mcp/mesh/learn"
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
	// OrderBy is ByRelevance or BySeverity: severity, then confidence, then the newest first, and those of other groups
	// after all others. "" is ByRelevance with a query and BySeverity without. With a query, BySeverity orders the most
	// relevant.
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
		slices.SortFunc(found.Lessons, v.compareLessons)
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
	return v.assessLessons(ctx, query, lessons, confidence.Possible)
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
	slices.SortFunc(hits, v.compareLessons)
	return hits
}

// compareLessons orders lessons by severity, with those of groups other than the audience last.
//
// SECURITY: a group could otherwise fill every list with lessons of its own, and a DM would not be shown its rules.
func (v *View) compareLessons(a, b record.Hit) int {
	switch foreign := v.foreign(a.Visibility); {
	case foreign == v.foreign(b.Visibility):
		return record.CompareLessons(a, b)
	case foreign:
		return 1
	}
	return -1
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
		for doc, r := range s.Scan() {
			if r.Lesson != nil && r.Lesson.PatternID == patternID {
				hits = append(hits, s.Hit(s.Record(doc)))
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

// How far back RunCycle looks for errors and tags, and for repetitions (RFC-0011 §8.2 step 1).
const (
	cycleRecent = 24 * time.Hour
	cycleRepeat = 7 * 24 * time.Hour
)

// Values of Candidate.Outcome.
const (
	OutcomeDistilled  = "distilled"
	OutcomePossible   = "possible"   // it would have been distilled, but for the dry run
	OutcomeKnown      = "known"      // an equally or more certain lesson of the pattern is active
	OutcomeIncomplete = "incomplete" // no memory has all that a lesson needs; see Candidate.Missing
	OutcomeRefused    = "refused"    // a field cannot be kept; see Candidate.Reason
)

// Cycle is the result of one run of the wisdom distillation cycle (RFC-0011 §8.2).
type Cycle struct {
	Scanned    int         // memories of the last 7 days that were read
	Candidates []Candidate // the one first seen first
	DryRun     bool
}

// Candidate is what a lesson could be made of: every memory of one error pattern and scope, or one memory that names no
// pattern.
type Candidate struct {
	ErrorPattern string   // "" if none is named
	Scope        string   // likewise
	PatternID    string   // "" without a pattern or a scope
	Memories     []string // their ids, the oldest first
	Because      []string // of BecauseError, BecauseTagged, BecauseRepeated
	Outcome      string
	Missing      []string // the fields of distill_lesson that no memory has
	Reason       string   // of the outcome, in words; "" if it was distilled
	LessonID     string   // of the lesson, new or known
	Rule         string   // of the lesson, or the possible one
	Severity     string   // likewise
}

// RunCycle scans what was stored for failures, deduplicates them by pattern id, and distills those that have
// everything a lesson needs (RFC-0011 §8.2). What is missing is not made up: such candidates are returned with the
// names of what they lack, for the caller to complete. Running it again distills nothing twice. With dryRun nothing
// is written. With an error the candidates so far are returned.
//
// SECURITY: it reads the audience's own and the shared memory and writes to its own. What a group said never becomes a
// lesson of the DM.
func (v *View) RunCycle(ctx context.Context, dryRun bool) (Cycle, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return Cycle{}, err
	}
	stores = slices.DeleteFunc(stores, func(c *compartment) bool { return v.foreign(c.Visibility) })
	now := v.Now()
	var seen []learn.Sighting
	for _, c := range stores {
		seen = append(seen, sightings(c, now.Add(-cycleRepeat))...)
	}
	slices.SortFunc(seen, learn.Sighting.Compare)
	cycle := Cycle{Scanned: len(seen), DryRun: dryRun}
	for _, group := range learn.Gather(seen, now.Add(-cycleRecent)) {
		candidate, err := v.judge(ctx, stores, group, dryRun)
		if err != nil {
			return cycle, err
		}
		cycle.Candidates = append(cycle.Candidates, candidate)
	}
	return cycle, nil
}

// sightings returns the memories stored since a time, without lessons: those would be failures seen twice.
func sightings(c *compartment, since time.Time) (list []learn.Sighting) {
	s := c.Snapshot()
	defer s.Release()
	for doc, r := range s.Scan() {
		if r.Lesson == nil && !r.CreatedAt.Before(since) {
			list = append(list, learn.Sight(s.Hit(s.Record(doc))))
		}
	}
	return list
}

// judge decides what becomes of one candidate, and distills it if it is complete and new.
func (v *View) judge(ctx context.Context, stores []*compartment, s learn.Suspicion, dryRun bool) (Candidate, error) {
	request, missing := s.Request()
	c := Candidate{
		ErrorPattern: request.ErrorPattern, Scope: request.ApplicableScope, Because: s.Because, Missing: missing,
		Rule: request.PreventativeRule, Severity: request.Severity,
	}
	for _, one := range s.Sightings {
		c.Memories = append(c.Memories, one.Record.ID)
	}
	if c.ErrorPattern != "" && c.Scope != "" {
		c.PatternID = record.PatternID(c.ErrorPattern, c.Scope)
	}
	if known := v.better(stores, c.PatternID, request); known != nil {
		c.setKnown(known.Lesson)
		return c, nil
	}
	if len(missing) > 0 {
		c.Outcome = OutcomeIncomplete
		c.Reason = "it does not say " + strings.Join(missing, ", ")
		return c, nil
	}
	if dryRun {
		c.Outcome, c.Reason = OutcomePossible, "dry run"
		return c, nil
	}
	request.Sources = c.Memories
	lesson, err := v.Distill(ctx, request)
	if f, ok := fault.As(err); ok {
		c.Outcome, c.Reason = OutcomeRefused, f.Error()
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("distill %s: %w", c.PatternID, err)
	}
	if !lesson.Created { // another process was faster
		c.setKnown(&lesson.Lesson)
		return c, nil
	}
	c.Outcome, c.LessonID = OutcomeDistilled, lesson.LessonID
	return c, nil
}

// setKnown makes the existing lesson l the outcome.
func (c *Candidate) setKnown(l *record.Lesson) {
	c.Outcome, c.Missing = OutcomeKnown, nil
	c.LessonID, c.Rule, c.Severity = l.LessonID, l.PreventativeRule, l.Severity
	c.Reason = fmt.Sprintf("the lesson %s has a confidence of %.2f", l.LessonID, l.RuleConfidence)
}

// better is the active lesson that makes another one of its pattern superfluous, with an equal or higher confidence,
// nil if no lesson is. For a request without a scope, any lesson of the same error pattern does.
func (v *View) better(stores []*compartment, pattern string, q record.LessonRequest) *record.Record {
	confidence := record.DefaultConfidence
	if q.Confidence != nil {
		confidence = *q.Confidence
	}
	list, release := snapshots(stores)
	defer release()
	for _, s := range list {
		r := s.Lesson(pattern)
		if pattern == "" && q.ErrorPattern != "" {
			r = lessonAgainst(s, q.ErrorPattern)
		}
		if r != nil && !r.Expired(v.Now(), s.Retention) && r.Lesson.RuleConfidence >= confidence {
			return r
		}
	}
	return nil
}

// lessonAgainst returns the lesson of an error pattern with the highest severity, of any scope, nil if the pattern has
// none.
func lessonAgainst(s *store.Snapshot, errorPattern string) (best *record.Record) {
	for _, r := range s.Lessons() {
		if r.Lesson.ErrorPattern == errorPattern && (best == nil || record.CompareLessons(s.Hit(best), s.Hit(r)) > 0) {
			best = r
		}
	}
	return best
}

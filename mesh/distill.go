package mesh

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// CandidateTag marks a memory that a lesson should be made of (RFC-0011 §8.2 step 1).
const CandidateTag = "#lesson_learned_candidate"

// How far back RunCycle looks (RFC-0011 §8.2 step 1).
const (
	cycleRecent = 24 * time.Hour
	cycleRepeat = 7 * 24 * time.Hour
)

// Why something is a candidate.
const (
	BecauseError    = "error"     // a memory of the last 24 hours has metadata.status "error"
	BecauseTagged   = "candidate" // one of the last 24 hours has CandidateTag, among its tags or in its text
	BecauseRepeated = "repeated"  // the pattern was seen more than once within 7 days
)

// What became of a candidate.
const (
	OutcomeDistilled  = "distilled"
	OutcomePossible   = "possible"   // it would have been distilled, but for the dry run
	OutcomeKnown      = "known"      // an equally or more certain lesson of the pattern is in force
	OutcomeIncomplete = "incomplete" // something that a lesson needs is said nowhere; see Candidate.Missing
	OutcomeRefused    = "refused"    // something that it says cannot be kept; see Candidate.Reason
)

// Cycle is what one run of the wisdom distillation cycle did (RFC-0011 §8.2).
type Cycle struct {
	Scanned    int         // memories of the last 7 days that were looked at
	Candidates []Candidate // the one first seen first
	DryRun     bool
}

// Candidate is what a lesson could be made of: every memory of one error pattern and scope, or one memory
// that names no pattern.
type Candidate struct {
	ErrorPattern string   // "" if none is named
	Scope        string   // likewise
	PatternID    string   // "" without a pattern or a scope
	Memories     []string // their ids, the oldest first
	Because      []string // of BecauseError, BecauseTagged, BecauseRepeated
	Outcome      string
	Missing      []string // the fields of distill_lesson that are said nowhere
	Reason       string   // in words, unless it was distilled
	LessonID     string   // of the lesson, new or known
	Rule         string   // of the lesson, or the possible one
	Severity     string   // likewise
}

// RunCycle scans what was stored for failures, deduplicates them by pattern id, and distills those of which
// everything is said that a lesson needs (RFC-0011 §8.2). What is not said is not made up: such candidates
// are named, with what they lack, for somebody to complete. Running it again distills nothing twice. With
// dryRun nothing is written.
//
// SECURITY: it reads the audience's own and the shared memory and writes to its own. What a group said never
// becomes a lesson of the DM.
func (v *View) RunCycle(ctx context.Context, dryRun bool) (Cycle, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return Cycle{}, err
	}
	stores = slices.DeleteFunc(stores, func(c *compartment) bool { return v.foreign(c.Visibility) })
	now := v.Now()
	var seen []sighting
	for _, c := range stores {
		seen = append(seen, sightings(c, now.Add(-cycleRepeat))...)
	}
	slices.SortFunc(seen, sighting.compare)
	cycle := Cycle{Scanned: len(seen), DryRun: dryRun}
	for _, group := range gather(seen, now.Add(-cycleRecent)) {
		candidate, err := v.judge(ctx, stores, group, dryRun)
		if err != nil {
			return cycle, err
		}
		cycle.Candidates = append(cycle.Candidates, candidate)
	}
	return cycle, nil
}

// sighting is a memory and what it says of a lesson.
type sighting struct {
	record *record.Record
	stored record.Moment
	said   saying
}

// compare is negative for a memory that was stored before another.
func (s sighting) compare(other sighting) int { return s.stored.Compare(other.stored) }

// sightings are the memories stored since a time that are not lessons.
func sightings(c *compartment, since time.Time) (list []sighting) {
	s := c.Snapshot()
	defer s.Release()
	for r := range s.Memories() {
		if r.Lesson == nil && !r.CreatedAt.Before(since) {
			list = append(list, sighting{r, s.Hit(r).Stored(), sayingOf(r)})
		}
	}
	return list
}

// because says why a memory by itself is a candidate.
func (s sighting) because(recent time.Time) (reasons []string) {
	if s.record.CreatedAt.Before(recent) {
		return nil
	}
	if status, _ := s.record.Metadata["status"].(string); strings.EqualFold(strings.TrimSpace(status), "error") {
		reasons = append(reasons, BecauseError)
	}
	if s.record.HasTag(CandidateTag) || strings.Contains(s.record.Content, CandidateTag) {
		reasons = append(reasons, BecauseTagged)
	}
	return reasons
}

// suspicion is the sightings that one lesson could be made of, oldest first.
type suspicion struct {
	sightings []sighting
	because   []string
}

// gather puts the sightings of one pattern and scope together and leaves out what gives no reason. A sighting
// that names no scope speaks for every scope of its pattern.
func gather(seen []sighting, recent time.Time) (list []suspicion) {
	byPattern := map[string][]sighting{}
	var alone []suspicion
	var patterns []string
	for _, s := range seen {
		pattern := s.said[fieldPattern]
		if pattern == "" {
			alone = append(alone, suspicion{sightings: []sighting{s}})
			continue
		}
		if byPattern[pattern] == nil {
			patterns = append(patterns, pattern)
		}
		byPattern[pattern] = append(byPattern[pattern], s)
	}
	list = alone
	for _, pattern := range patterns {
		list = append(list, byScope(byPattern[pattern])...)
	}
	for i := range list {
		list[i].explain(recent)
	}
	list = slices.DeleteFunc(list, func(s suspicion) bool { return len(s.because) == 0 })
	slices.SortStableFunc(list, func(a, b suspicion) int { return a.sightings[0].compare(b.sightings[0]) })
	return list
}

// byScope parts the sightings of one pattern.
func byScope(seen []sighting) []suspicion {
	var scopes []string
	for _, s := range seen {
		if scope := s.said[fieldScope]; scope != "" && !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	if len(scopes) == 0 {
		return []suspicion{{sightings: seen}}
	}
	list := make([]suspicion, len(scopes))
	for i, scope := range scopes {
		for _, s := range seen {
			if said := s.said[fieldScope]; said == "" || said == scope {
				list[i].sightings = append(list[i].sightings, s)
			}
		}
	}
	return list
}

// explain fills in why it is suspected.
func (s *suspicion) explain(recent time.Time) {
	for _, one := range s.sightings {
		s.because = append(s.because, one.because(recent)...)
	}
	if len(s.sightings) > 1 {
		s.because = append(s.because, BecauseRepeated)
	}
	slices.SortFunc(s.because, func(a, b string) int {
		order := []string{BecauseError, BecauseTagged, BecauseRepeated}
		return cmp.Compare(slices.Index(order, a), slices.Index(order, b))
	})
	s.because = slices.Compact(s.because)
}

// judge decides about one candidate and distills it if it should be.
func (v *View) judge(ctx context.Context, stores []*compartment, s suspicion, dryRun bool) (Candidate, error) {
	request, missing := s.request()
	c := Candidate{
		ErrorPattern: request.ErrorPattern, Scope: request.ApplicableScope, Because: s.because, Missing: missing,
		Rule: request.PreventativeRule, Severity: request.Severity,
	}
	for _, one := range s.sightings {
		c.Memories = append(c.Memories, one.record.ID)
	}
	if c.ErrorPattern != "" && c.Scope != "" {
		c.PatternID = record.PatternID(c.ErrorPattern, c.Scope)
	}
	if known := v.better(stores, c.PatternID, request); known != nil {
		c.know(known.Lesson)
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
	request.sources = c.Memories
	lesson, err := v.Distill(ctx, request)
	if f, ok := fault.As(err); ok {
		c.Outcome, c.Reason = OutcomeRefused, f.Error()
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("distill %s: %w", c.PatternID, err)
	}
	if !lesson.Created { // another process was faster
		c.know(&lesson.Lesson)
		return c, nil
	}
	c.Outcome, c.LessonID = OutcomeDistilled, lesson.LessonID
	return c, nil
}

func (c *Candidate) know(l *record.Lesson) {
	c.Outcome, c.Missing = OutcomeKnown, nil
	c.LessonID, c.Rule, c.Severity = l.LessonID, l.PreventativeRule, l.Severity
	c.Reason = fmt.Sprintf("the lesson %s has a confidence of %.2f", l.LessonID, l.RuleConfidence)
}

// better is the lesson in force that makes another one of its pattern superfluous, nil if there is none. Where
// no scope is named, a lesson of the same error pattern is one.
func (v *View) better(stores []*compartment, pattern string, q LessonRequest) *record.Record {
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

// lessonAgainst is the worst lesson of an error pattern, whatever its scope, nil if there is none.
func lessonAgainst(s *store.Snapshot, errorPattern string) (best *record.Record) {
	for _, r := range s.Lessons() {
		if r.Lesson.ErrorPattern == errorPattern && (best == nil || record.CompareLessons(s.Hit(best), s.Hit(r)) > 0) {
			best = r
		}
	}
	return best
}

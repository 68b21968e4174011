package mesh

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh/learn"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

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
	for r := range s.Memories() {
		if r.Lesson == nil && !r.CreatedAt.Before(since) {
			list = append(list, learn.Sight(s.Hit(r)))
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

package mesh

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
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
	clean := &scrubbing{scrubber: v.scrubber}
	lesson, err := clean.lesson(q)
	if err != nil {
		return Distilled{}, err
	}
	r := &record.Record{
		Memory:  record.Memory{Type: "lesson", Tags: []string{record.LessonTag}, Source: v.AgentID, Content: lesson.Text()},
		AgentID: v.AgentID, Lesson: lesson,
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
		Lesson: *kept.Lesson, MemoryID: kept.ID, Visibility: v.home(), Created: created, Redactions: clean.total(),
	}, nil
}

// lesson checks and scrubs a request. The pattern id is that of the redacted fields, so that a secret in one does not
// make two patterns of one mistake.
func (s *scrubbing) lesson(q record.LessonRequest) (*record.Lesson, error) {
	required := func(name, text string) string {
		if strings.TrimSpace(text) == "" {
			s.fail(fault.New("%s: it is required; say it in a sentence", name))
		}
		return s.field(name, text)
	}
	l := &record.Lesson{
		Situation:        required("situation", q.Situation),
		ErrorPattern:     required("error_pattern", q.ErrorPattern),
		Oversight:        required("oversight", q.Oversight),
		Fix:              required("fix", q.Fix),
		PreventativeRule: required("preventative_rule", q.PreventativeRule),
		ApplicableScope:  required("applicable_scope", q.ApplicableScope),
		InverseLesson:    s.field("inverse_lesson", q.InverseLesson),
		Severity:         q.Severity,
		RuleConfidence:   record.DefaultConfidence,
		Sources:          q.Sources,
	}
	if !slices.Contains(record.Severities, q.Severity) {
		s.fail(fault.New("severity: use one of %s", strings.Join(record.Severities, ", ")))
	}
	if q.Confidence != nil {
		l.RuleConfidence = *q.Confidence
	}
	if !(l.RuleConfidence >= 0 && l.RuleConfidence <= 1) {
		s.fail(fault.New("confidence: give a number from 0 to 1"))
	}
	l.PatternID = record.PatternID(l.ErrorPattern, l.ApplicableScope)
	return l, s.err
}

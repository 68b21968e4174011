package mesh

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// Severities of a lesson, worst first (RFC-0011 §3.5).
var Severities = []string{"critical", "high", "medium", "low"}

// DefaultConfidence is the confidence of a lesson that gives none, and the least that a lesson needs to
// be recalled as a constraint (RFC-0011 §4.2 LessonContext, lessonMinConfidence).
const DefaultConfidence = 0.7

// DefaultRetentionDays is how long a lesson is in force (RFC-0011 §4.2 lessonRetentionDays). After that it
// is a memory like others.
const DefaultRetentionDays = 365

// Lesson is what a lesson's memory carries beside its text.
type Lesson struct {
	LessonID         string  `json:"lesson_id"` // LESSON_ID
	PatternID        string  `json:"pattern_id"`
	Situation        string  `json:"situation"`
	ErrorPattern     string  `json:"error_pattern"`
	Oversight        string  `json:"oversight"`
	Fix              string  `json:"fix"`
	PreventativeRule string  `json:"preventative_rule"`
	Severity         string  `json:"severity"`
	ApplicableScope  string  `json:"applicable_scope"`
	InverseLesson    string  `json:"inverse_lesson,omitempty"`
	RuleConfidence   float64 `json:"rule_confidence"`
	WireFormat       string  `json:"wire_format"`          // the LessonLearned block
	Supersedes       string  `json:"supersedes,omitempty"` // the lesson_id of a less certain one

	Sources []string `json:"sources,omitempty"` // the memories that the cycle read it from
}

// LessonRequest is RFC-0011 §4.2's LessonContext.
type LessonRequest struct {
	Situation, ErrorPattern, Oversight, Fix, PreventativeRule string
	Severity                                                  string
	ApplicableScope                                           string
	InverseLesson                                             string
	Confidence                                                *float64 // 0..1; nil is DefaultConfidence
	sources                                                   []string // the memories that say all that
}

// Distilled is a lesson and the memory that holds it.
type Distilled struct {
	Lesson
	MemoryID   string
	Visibility Visibility
	Created    bool // false: an equally or more certain lesson of the same pattern was there
	Redactions []scrub.Redaction
}

// PatternID is RFC-0011 §8.2's deduplication hash: the first 16 hex digits of the SHA-256 of the error
// pattern followed by the scope.
func PatternID(errorPattern, applicableScope string) string {
	sum := sha256.Sum256([]byte(errorPattern + applicableScope))
	return hex.EncodeToString(sum[:])[:16]
}

// Distill stores a lesson (RFC-0011 §8.3). It is idempotent, across processes too: if a lesson of the
// same pattern with equal or higher confidence is in force, that one is returned. A more certain lesson
// supersedes the older one and names it, as any does whose predecessor's time is over.
func (v *View) Distill(ctx context.Context, q LessonRequest) (Distilled, error) {
	s := &scrubbing{scrubber: v.scrubber}
	lesson, err := q.lesson(s)
	if err != nil {
		return Distilled{}, err
	}
	r := &Record{Type: "lesson", Tags: []string{LessonTag}, AgentID: v.AgentID, Source: v.AgentID, Lesson: lesson, Content: lesson.text()}
	var kept *Record
	created := false
	err = v.with(ctx, v.own(), func(c *compartment) error {
		err := c.append(ctx, true, func(now time.Time) (ledger.Draft, bool, error) {
			known := c.lesson(lesson.PatternID)
			if known != nil && !known.expired(now, c.retention) && known.Lesson.RuleConfidence >= lesson.RuleConfidence {
				kept = known
				return ledger.Draft{}, false, nil
			}
			lesson.Supersedes = ""
			if known != nil {
				lesson.Supersedes = known.Lesson.LessonID
			}
			kept, r.CreatedAt, created = r, now, true
			draft, err := c.lessonDraft(r, now, v.Random)
			return draft, err == nil, err
		})
		if err == nil {
			c.index.wake(c)
		}
		return err
	})
	if err != nil {
		return Distilled{}, err
	}
	return Distilled{Lesson: *kept.Lesson, MemoryID: kept.ID, Visibility: v.own(), Created: created, Redactions: s.total()}, nil
}

// lessonDraft gives r and its lesson their ids and makes its ledger entry.
func (c *compartment) lessonDraft(r *Record, now time.Time, random io.Reader) (ledger.Draft, error) {
	var err error
	if r.ID, err = c.newMemoryID(now, random); err != nil {
		return ledger.Draft{}, err
	}
	if r.Lesson.LessonID, err = newID("lesson", now, random); err != nil {
		return ledger.Draft{}, err
	}
	learned, err := r.Lesson.block(r.AgentID, now)
	if err != nil {
		return ledger.Draft{}, err
	}
	r.Lesson.WireFormat = learned.String()
	return ledger.Draft{Op: opLesson, ID: r.ID, Block: r.Lesson.WireFormat, Data: r}, nil
}

// lesson checks and scrubs a request.
func (q LessonRequest) lesson(s *scrubbing) (*Lesson, error) {
	required := func(name, text string) string {
		if strings.TrimSpace(text) == "" {
			s.fail(fault.New("%s: it is required; say it in a sentence", name))
		}
		return s.field(name, text)
	}
	l := &Lesson{
		Situation:        required("situation", q.Situation),
		ErrorPattern:     required("error_pattern", q.ErrorPattern),
		Oversight:        required("oversight", q.Oversight),
		Fix:              required("fix", q.Fix),
		PreventativeRule: required("preventative_rule", q.PreventativeRule),
		ApplicableScope:  required("applicable_scope", q.ApplicableScope),
		InverseLesson:    s.field("inverse_lesson", q.InverseLesson),
		Severity:         q.Severity,
		RuleConfidence:   DefaultConfidence,
		Sources:          q.sources,
	}
	if !slices.Contains(Severities, q.Severity) {
		s.fail(fault.New("severity: use one of %s", strings.Join(Severities, ", ")))
	}
	if q.Confidence != nil {
		l.RuleConfidence = *q.Confidence
	}
	if !(l.RuleConfidence >= 0 && l.RuleConfidence <= 1) {
		s.fail(fault.New("confidence: give a number from 0 to 1"))
	}
	l.PatternID = PatternID(l.ErrorPattern, l.ApplicableScope)
	return l, s.err
}

// text is what is searched: the rule first, because a text says what it is about at its beginning.
func (l *Lesson) text() string {
	lines := []string{
		l.PreventativeRule,
		"Situation: " + l.Situation,
		"Error pattern: " + l.ErrorPattern,
		"Oversight: " + l.Oversight,
		"Fix: " + l.Fix,
		"Scope: " + l.ApplicableScope,
	}
	if l.InverseLesson != "" {
		lines = append(lines, "Instead: "+l.InverseLesson)
	}
	return strings.Join(lines, "\n")
}

func (l *Lesson) block(agent string, now time.Time) (block.Block, error) {
	return block.Lesson{
		Agent: agent, Situation: l.Situation, PatternID: l.PatternID, Severity: block.Level(l.Severity), Time: now,
		HypothesisConfidence: l.RuleConfidence, LessonID: l.LessonID, Oversight: l.Oversight,
		PreventativeRule: l.PreventativeRule, RuleConfidence: l.RuleConfidence, Rationale: "Fixed by: " + l.Fix,
		Scope: l.ApplicableScope, InverseLesson: l.InverseLesson, Confidence: l.RuleConfidence,
	}.Block()
}

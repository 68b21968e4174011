package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
)

// lessonIDs matches a lesson's ids as any implementation of RFC-0011 writes them.
var lessonIDs = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,128}$`)

// Validate returns an error that names the first field of an imported lesson that is missing, too long or out of range.
func (l *Lesson) Validate() error {
	if !lessonIDs.MatchString(l.LessonID) || !lessonIDs.MatchString(l.PatternID) {
		return fmt.Errorf("lesson_id %.40q, pattern_id %.40q", l.LessonID, l.PatternID)
	}
	for name, text := range map[string]string{
		"preventative_rule": l.PreventativeRule, "oversight": l.Oversight, "applicable_scope": l.ApplicableScope,
		"situation": l.Situation, "fix": l.Fix, "error_pattern": l.ErrorPattern,
	} {
		if n := utf8.RuneCountInString(text); strings.TrimSpace(text) == "" || n > MaxField {
			return fmt.Errorf("%s has %d characters", name, n)
		}
	}
	if !slices.Contains(Severities, l.Severity) || !(l.RuleConfidence >= 0 && l.RuleConfidence <= 1) {
		return fmt.Errorf("severity %.20q, confidence %v", l.Severity, l.RuleConfidence)
	}
	return nil
}

// Severities are the allowed values of Lesson.Severity, the highest first (RFC-0011 §3.5).
var Severities = []string{"critical", "high", "medium", "low"}

// DefaultConfidence is the confidence (0..1) of a lesson that is stored without one, and the default minimum confidence
// of an active lesson (RFC-0011 §4.2 LessonContext, lessonMinConfidence).
const DefaultConfidence = 0.7

// DefaultRetentionDays is the number of days a lesson is active (RFC-0011 §4.2 lessonRetentionDays). After that it is
// a memory like any other.
const DefaultRetentionDays = 365

// Lesson is what a lesson's memory has in addition to its content (RFC-0011 §3.5).
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

	Sources []string `json:"sources,omitempty"` // IDs of the memories that the distillation cycle found it in
}

// PatternID is RFC-0011 §8.2's deduplication hash: the first 16 hex digits of the SHA-256 of the error
// pattern followed by the scope.
func PatternID(errorPattern, applicableScope string) string {
	sum := sha256.Sum256([]byte(errorPattern + applicableScope))
	return hex.EncodeToString(sum[:])[:16]
}

// Text returns the content of the lesson's memory, which is what a search matches. The rule comes first, because the
// ranking gives the beginning of a text the most weight.
func (l *Lesson) Text() string {
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

// Constraint returns the lesson as one line of a prompt: its severity, rule and scope, and details after the scope. A
// rule or scope of more than 300 characters is cut, so that one lesson cannot fill the prompt.
func (l *Lesson) Constraint(details string) string {
	const most = 300
	return fmt.Sprintf("- [%s] %s (scope: %s%s)",
		l.Severity, text.Shorten(l.PreventativeRule, most), text.Shorten(l.ApplicableScope, most), details)
}

// Block returns the lesson as a LessonLearned block (RFC-0011 §3.5). The error is for a field that the block's grammar
// cannot hold.
func (l *Lesson) Block(agent string, now time.Time) (block.Block, error) {
	return block.Lesson{
		Agent: agent, Situation: l.Situation, PatternID: l.PatternID, Severity: block.Level(l.Severity), Time: now,
		HypothesisConfidence: l.RuleConfidence, LessonID: l.LessonID, Oversight: l.Oversight,
		PreventativeRule: l.PreventativeRule, RuleConfidence: l.RuleConfidence, Rationale: "Fixed by: " + l.Fix,
		Scope: l.ApplicableScope, InverseLesson: l.InverseLesson, Confidence: l.RuleConfidence,
	}.Block()
}

// CompareLessons orders by severity and then confidence, the highest first, then by when they were stored, the newest
// first.
func CompareLessons(a, b Hit) int {
	return cmp.Or(
		cmp.Compare(slices.Index(Severities, a.Lesson.Severity), slices.Index(Severities, b.Lesson.Severity)),
		cmp.Compare(b.Lesson.RuleConfidence, a.Lesson.RuleConfidence),
		CompareStored(b, a),
	)
}

// LessonRequest is what a caller provides for a lesson (RFC-0011 §4.2 LessonContext). Everything but InverseLesson,
// Confidence and Sources is required.
type LessonRequest struct {
	Situation, ErrorPattern, Oversight, Fix, PreventativeRule string
	Severity                                                  string // one of Severities
	ApplicableScope                                           string
	InverseLesson                                             string
	Confidence                                                *float64 // 0..1; nil is DefaultConfidence
	Sources                                                   []string // IDs of the memories it was found in
}

package tools

import (
	"context"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// lessonContext is RFC-0011 §4.2's LessonContext. A nil confidence is record.DefaultConfidence, which a schema's
// default could not express: 0 is a valid confidence.
type lessonContext struct {
	Situation        string   `json:"situation" jsonschema:"minLength=1"`
	ErrorPattern     string   `json:"error_pattern" jsonschema:"minLength=1"`
	Oversight        string   `json:"oversight" jsonschema:"minLength=1"`
	Fix              string   `json:"fix" jsonschema:"minLength=1"`
	PreventativeRule string   `json:"preventative_rule" jsonschema:"minLength=1"`
	Severity         string   `json:"severity" jsonschema:"enum=critical,enum=high,enum=medium,enum=low"`
	ApplicableScope  string   `json:"applicable_scope" jsonschema:"minLength=1"`
	InverseLesson    string   `json:"inverse_lesson,omitempty"`
	Confidence       *float64 `json:"confidence,omitempty" jsonschema:"minimum=0,maximum=1"`
}

func (lessonContext) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"situation":         "What happened.",
		"error_pattern":     "Stable name of this kind of failure, e.g. auth_fallback_bypass.",
		"oversight":         "What was missed.",
		"fix":               "What solved it.",
		"preventative_rule": "What to do, as an instruction.",
		"severity":          "If it happens again.",
		"applicable_scope":  "When and where the rule applies.",
		"inverse_lesson":    "What works instead.",
		"confidence":        "0 to 1; default 0.7, from which on rules are recalled.",
	})
}

// lessonBlock is the lesson with the fields of RFC-0011 §3.5's LessonLearned block, and the block itself.
type lessonBlock struct {
	LessonID         string      `json:"lesson_id"`
	PatternID        string      `json:"pattern_id"`
	MemoryID         string      `json:"memory_id"`
	Evidence         string      `json:"evidence_token,omitempty"`
	Severity         string      `json:"severity"`
	PreventativeRule string      `json:"preventative_rule"`
	RuleConfidence   float64     `json:"rule_confidence"`
	ApplicableScope  string      `json:"applicable_scope"`
	WireFormat       string      `json:"wire_format"`
	Created          bool        `json:"created"`
	Redactions       []redaction `json:"redactions,omitempty"`
}

func (lessonBlock) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"evidence_token": "Cites the lesson as evidence.",
		"pattern_id":     "Identifies the error pattern and scope.",
		"wire_format":    "The LessonLearned block.",
		"created":        "false: a lesson of the same pattern with equal or higher confidence exists and is returned.",
	})
}

// DistillLesson is the tool distill_lesson (RFC-0011 §8.3). A pattern is the error pattern and the scope together
// (RFC-0011 §8.2): its second lesson is stored only with a higher confidence, and supersedes the first.
func DistillLesson(v *mesh.View) Tool {
	return Define(Spec{
		Name:        "distill_lesson",
		Title:       "Learn a lesson",
		Description: "Turn a mistake into a rule for next time. Call it when something failed and you know why.",
		Idempotent:  true,
	}, func(ctx context.Context, in lessonContext) (lessonBlock, error) {
		// The view scrubs the fields and decides under the ledger's lock whether a better lesson exists.
		l, err := v.Distill(ctx, record.LessonRequest{
			Situation: in.Situation, ErrorPattern: in.ErrorPattern, Oversight: in.Oversight, Fix: in.Fix,
			PreventativeRule: in.PreventativeRule, Severity: in.Severity, ApplicableScope: in.ApplicableScope,
			InverseLesson: in.InverseLesson, Confidence: in.Confidence,
		})
		if err != nil {
			return lessonBlock{}, err
		}
		out := lessonBlock{
			LessonID: l.LessonID, PatternID: l.PatternID, MemoryID: l.MemoryID, Severity: l.Severity,
			PreventativeRule: l.PreventativeRule, RuleConfidence: l.RuleConfidence, ApplicableScope: l.ApplicableScope,
			WireFormat: l.WireFormat, Created: l.Created, Redactions: redactions(l.Redactions),
		}
		// A group edits no files, so it cites nothing.
		if token, err := grammar.ParseToken(l.MemoryID); err == nil && v.Audience.IsDM() {
			out.Evidence = token.String()
		}
		return out, nil
	})
}

// redactions returns what the scrubber replaced, by kind: a model can tell the user, and no redacted value is in it.
func redactions(found []scrub.Redaction) []redaction {
	// Not nil: the schema of a required list refuses null.
	list := make([]redaction, len(found))
	for i, r := range found {
		list[i] = redaction{Kind: string(r.Kind), Count: r.Count}
	}
	return list
}

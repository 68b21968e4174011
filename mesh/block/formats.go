package block

import (
	"fmt"
	"strconv"
	"time"
)

// Retain is a memory that was stored (RFC-0011 §3.2).
type Retain struct {
	Agent      string // agent id, without prefix
	MemoryID   string
	MemoryType string
	Time       time.Time
	Content    string // scrubbed; only its length in bytes and its first 60 characters are written
	Hypothesis string // the expected use of the memory; "" is written as "none"
}

// Block is the retain block of §3.2.
func (r Retain) Block() Block {
	at := FormatTime(r.Time)
	return Block{
		Agent:  AgentName(r.Agent),
		Intent: "store_memory_for_future_retrieval",
		Context: []Pair{
			{"memory_id", r.MemoryID},
			{"memory_type", r.MemoryType},
			{"timestamp", at},
			{"content_length", strconv.Itoa(len(r.Content))},
		},
		Constraints: []Pair{{"hypothesis", orNone(r.Hypothesis)}},
		Priority:    Medium,
		Output: []Pair{
			{"memory_stored", r.MemoryID},
			{"content_preview", preview(r.Content)},
		},
		Meta: []Pair{
			{"rationale", "Memory persisted for semantic search and retrieval"},
			{"observation", "Content vectorized and stored in LanceDB"},
			{"confidence", FormatConfidence(1)},
		},
		Log:     []string{"memory_retained", "timestamp", at, "id", r.MemoryID, "type", r.MemoryType},
		Handoff: "End",
	}
}

// Recall is a search that was answered (§3.3).
type Recall struct {
	Agent    string
	Query    string
	Limit    int
	Filter   string // "" is written as "none"
	Time     time.Time
	Results  int
	TopScore float64 // of the best result, 0 without one
}

// Block is the recall block of §3.3.
func (r Recall) Block() Block {
	at, results, score := FormatTime(r.Time), strconv.Itoa(r.Results), FormatConfidence(r.TopScore)
	return Block{
		Agent:  AgentName(r.Agent),
		Intent: "recall_relevant_memories",
		Context: []Pair{
			{"query", r.Query},
			{"limit", strconv.Itoa(r.Limit)},
			{"filter", orNone(r.Filter)},
			{"timestamp", at},
		},
		Output: []Pair{
			{"results_found", results},
			{"top_score", score},
		},
		Meta: []Pair{
			{"rationale", "Retrieved most semantically relevant memories for current context"},
			{"confidence", score},
		},
		Log:     []string{"memory_recalled", "timestamp", at, "query", r.Query, "results", results},
		Handoff: "End",
	}
}

// Reflect is a reflection over several memories (§3.4).
type Reflect struct {
	Agent        string
	Topic        string
	Sources      int // how many memories went into it
	Time         time.Time
	ReflectionID string // reflect_{timestamp}_{hex}
	Insight      string // only its first 60 characters are written
	Confidence   float64
}

// Block is the reflect block of §3.4.
func (r Reflect) Block() Block {
	at, sources, confidence := FormatTime(r.Time), strconv.Itoa(r.Sources), FormatConfidence(r.Confidence)
	return Block{
		Agent:  AgentName(r.Agent),
		Intent: "synthesize_beliefs_from_memories",
		Context: []Pair{
			{"topic", r.Topic},
			{"source_count", sources},
			{"timestamp", at},
		},
		Output: []Pair{
			{"reflection_id", r.ReflectionID},
			{"insight_preview", preview(r.Insight)},
			{"confidence", confidence},
		},
		Meta: []Pair{
			{"rationale", "Aggregated high-signal patterns from recent memory"},
			{"confidence", confidence},
		},
		Log:     []string{"memory_reflected", "timestamp", at, "topic", r.Topic, "sources", sources},
		Handoff: "End",
	}
}

// Lesson is a distilled lesson (§3.5). All fields but Agent, Oversight, Rationale, InverseLesson and
// the confidences are required.
type Lesson struct {
	Agent                string
	Situation            string
	PatternID            string
	Severity             Level // one of the four, §3.5
	Time                 time.Time
	HypothesisConfidence float64
	LessonID             string
	Oversight            string
	PreventativeRule     string
	RuleConfidence       float64
	Rationale            string // why the lesson matters
	Scope                string // where and when the rule applies
	InverseLesson        string // what succeeds instead; "" is written as "none"
	Confidence           float64
}

// Block is the lesson block of §3.5, or an error that names the required field which is missing or the
// severity that is none.
func (l Lesson) Block() (Block, error) {
	if !l.Severity.Valid() {
		return Block{}, fmt.Errorf("lesson block: severity %q: must be critical, high, medium or low", l.Severity)
	}
	for _, required := range []Pair{
		{"original_context", l.Situation},
		{"error_pattern", l.PatternID},
		{"lesson_id", l.LessonID},
		{"preventative_rule", l.PreventativeRule},
		{"applicability_scope", l.Scope},
	} {
		if required.Value == "" {
			return Block{}, fmt.Errorf("lesson block: %s is required", required.Key)
		}
	}
	at := FormatTime(l.Time)
	return Block{
		Agent:  AgentName(l.Agent),
		Intent: "distill_wisdom_from_execution",
		Context: []Pair{
			{"original_context", l.Situation},
			{"error_pattern", l.PatternID},
			{"severity", string(l.Severity)},
			{"timestamp", at},
		},
		Constraints: []Pair{
			{"hypothesis", "This lesson prevents recurrence of similar failures"},
			{"hypothesis_confidence", FormatConfidence(l.HypothesisConfidence)},
		},
		Priority: High,
		Output: []Pair{
			{"lesson_id", l.LessonID},
			{"oversight_description", orNone(l.Oversight)},
			{"preventative_rule", l.PreventativeRule},
			{"rule_confidence", FormatConfidence(l.RuleConfidence)},
		},
		Meta: []Pair{
			{"rationale", orNone(l.Rationale)},
			{"applicability_scope", l.Scope},
			{"inverse_lesson", orNone(l.InverseLesson)},
			{"confidence", FormatConfidence(l.Confidence)},
		},
		Log: []string{
			"lesson_learned", "timestamp", at, "pattern", l.PatternID,
			"severity", string(l.Severity), "id", l.LessonID,
		},
		Handoff: "SubconsciousReflector",
	}, nil
}

// Delete is a memory that was deleted. RFC-0011 requires delete(id) (§4.1) but gives it no format; this
// one follows the grammar of §3.1 and the shape of §3.2, and names nothing of what was deleted but its id.
type Delete struct {
	Agent    string
	MemoryID string
	Time     time.Time
	Reason   string // "" is written as "none"
}

// Block is the delete block.
func (d Delete) Block() Block {
	at := FormatTime(d.Time)
	return Block{
		Agent:  AgentName(d.Agent),
		Intent: "delete_memory",
		Context: []Pair{
			{"memory_id", d.MemoryID},
			{"timestamp", at},
		},
		Constraints: []Pair{{"reason", orNone(d.Reason)}},
		Priority:    Medium,
		Output:      []Pair{{"memory_deleted", d.MemoryID}},
		Meta: []Pair{
			{"rationale", "Memory deleted on request"},
			{"observation", "Content erased from the ledger; its hash remains"},
			{"confidence", FormatConfidence(1)},
		},
		Log:     []string{"memory_deleted", "timestamp", at, "id", d.MemoryID},
		Handoff: "End",
	}
}

// DeleteSkill is a skill that was deleted or pruned: a block like Delete's.
type DeleteSkill struct {
	Agent   string
	SkillID string
	Time    time.Time
	Reason  string // "" is written as "none"
}

// Block is the block of a deleted skill.
func (d DeleteSkill) Block() Block {
	at := FormatTime(d.Time)
	return Block{
		Agent:  AgentName(d.Agent),
		Intent: "delete_skill",
		Context: []Pair{
			{"skill_id", d.SkillID},
			{"timestamp", at},
		},
		Constraints: []Pair{{"reason", orNone(d.Reason)}},
		Priority:    Medium,
		Output:      []Pair{{"skill_deleted", d.SkillID}},
		Meta: []Pair{
			{"rationale", "Skill deleted on request or for its reliability"},
			{"observation", "Content erased from the ledger; its hash remains"},
			{"confidence", FormatConfidence(1)},
		},
		Log:     []string{"skill_deleted", "timestamp", at, "id", d.SkillID},
		Handoff: "End",
	}
}

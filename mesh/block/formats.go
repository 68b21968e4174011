package block

import (
	"fmt"
	"strconv"
	"time"
)

// Retain records that a memory was stored (RFC-0011 §3.2).
type Retain struct {
	Agent      string // agent ID, without prefix
	MemoryID   string
	MemoryType string
	Time       time.Time
	Content    string // scrubbed; the block has only its length in bytes and its first 60 characters
	Hypothesis string // the expected use of the memory; "" is written as "none"
}

// Block returns the retain block of RFC-0011 §3.2.
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

// Recall records a search and what it found (RFC-0011 §3.3).
type Recall struct {
	Agent    string
	Query    string
	Limit    int
	Filter   string // "" is written as "none"
	Time     time.Time
	Results  int
	TopScore float64 // of the best result, 0 to 1; 0 without results
}

// Block returns the recall block of RFC-0011 §3.3.
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

// Reflect records a reflection on several memories (RFC-0011 §3.4).
type Reflect struct {
	Agent        string
	Topic        string
	Sources      int // number of memories it was made from
	Time         time.Time
	ReflectionID string  // reflect_{timestamp}_{hex}
	Insight      string  // the block has only its first 60 characters
	Confidence   float64 // 0 to 1
}

// Block returns the reflect block of RFC-0011 §3.4.
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

// Lesson records a distilled lesson (RFC-0011 §3.5). Severity, Situation, PatternID, LessonID,
// PreventativeRule and Scope are required. Confidences are 0 to 1.
type Lesson struct {
	Agent                string
	Situation            string
	PatternID            string
	Severity             Level
	Time                 time.Time
	HypothesisConfidence float64
	LessonID             string
	Oversight            string
	PreventativeRule     string
	RuleConfidence       float64
	Rationale            string // why the lesson matters
	Scope                string // where and when the rule applies
	InverseLesson        string // what works instead; "" is written as "none"
	Confidence           float64
}

// Block returns the lesson block of RFC-0011 §3.5. Its error names the missing required field or the
// invalid severity.
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

// Delete records that a memory was deleted. RFC-0011 requires delete(id) (§4.1) but defines no format;
// this one follows the grammar of §3.1 and the shape of §3.2. Of the deleted memory it has only the ID.
type Delete struct {
	Agent    string
	MemoryID string
	Time     time.Time
	Reason   string // "" is written as "none"
}

// Block returns the delete block.
func (d Delete) Block() Block {
	return deletion("memory", d.Agent, d.MemoryID, d.Time, d.Reason, "Memory deleted on request")
}

// DeleteSkill records that a skill was deleted or pruned, in a block like Delete's.
type DeleteSkill struct {
	Agent   string
	SkillID string
	Time    time.Time
	Reason  string // "" is written as "none"
}

// Block returns the delete block of a skill.
func (d DeleteSkill) Block() Block {
	return deletion("skill", d.Agent, d.SkillID, d.Time, d.Reason, "Skill deleted on request or for its reliability")
}

// deletion returns the delete block of a thing: a memory or a skill.
func deletion(thing, agent, id string, t time.Time, reason, rationale string) Block {
	at := FormatTime(t)
	return Block{
		Agent:  AgentName(agent),
		Intent: "delete_" + thing,
		Context: []Pair{
			{thing + "_id", id},
			{"timestamp", at},
		},
		Constraints: []Pair{{"reason", orNone(reason)}},
		Priority:    Medium,
		Output:      []Pair{{thing + "_deleted", id}},
		Meta: []Pair{
			{"rationale", rationale},
			{"observation", "Content erased from the ledger; its hash remains"},
			{"confidence", FormatConfidence(1)},
		},
		Log:     []string{thing + "_deleted", "timestamp", at, "id", id},
		Handoff: "End",
	}
}

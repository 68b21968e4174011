package record

// Heritage is what a memory descends from (RFC-0011 §4.2 HeritageChain). Each list has the oldest level first.
type Heritage struct {
	IntentChain []string `json:"intentChain"`
	Hypotheses  []string `json:"hypotheses"`
	Rationales  []string `json:"rationales"`
}

// How a reflection came about.
const (
	ByModel   = "model"   // a language model wrote it, from the sources only
	ByExtract = "extract" // sentences of the sources, word for word
)

// Reflection is what a reflection's memory has in addition to its content (RFC-0011 §3.4).
type Reflection struct {
	ReflectionID string   `json:"reflection_id"` // reflect_ + Unix milliseconds + _ + 6 hex digits, RFC-0011 §3.4
	Topic        string   `json:"topic,omitempty"`
	Sources      []Source `json:"sources"` // oldest first
	// Confidence is how well the content represents its sources, 0..1 with two decimals. It does not depend on whether
	// the sources are right.
	Confidence float64 `json:"confidence"`
	Method     string  `json:"method"`               // ByModel or ByExtract
	Model      string  `json:"model,omitempty"`      // that wrote it
	Supersedes string  `json:"supersedes,omitempty"` // ID of the extract this replaces
	Key        string  `json:"key"`                  // the same for the same sources and topic
}

// Source is a memory that something was derived from, and the compartment it was in: what a group said stays marked in
// everything derived from it.
type Source struct {
	ID     string     `json:"id"`
	Origin Visibility `json:"origin"`
}

// Synthesis records how a synthesized skill came about (RFC-0011 §4.1 synthesize). It is a ledger entry next to the
// skill's, because the same skill may be synthesized several times from different sources.
type Synthesis struct {
	SkillID    string   `json:"skill_id"`
	Topic      string   `json:"topic,omitempty"`
	Sources    []Source `json:"sources"` // oldest first
	Confidence float64  `json:"confidence"`
	Method     string   `json:"method"`
	Model      string   `json:"model,omitempty"`
	Key        string   `json:"key"`
	AgentID    string   `json:"agent_id,omitempty"`
}

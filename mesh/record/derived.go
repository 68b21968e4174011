package record

// Heritage says what a memory descends from (RFC-0011 §4.2 HeritageChain), the oldest level first.
type Heritage struct {
	IntentChain []string `json:"intentChain"`
	Hypotheses  []string `json:"hypotheses"`
	Rationales  []string `json:"rationales"`
}

// How a reflection came about.
const (
	ByModel   = "model"   // a language model wrote it, from the sources alone
	ByExtract = "extract" // sentences of the sources, word for word
)

// Reflection is what a reflection's memory carries beside its text.
type Reflection struct {
	ReflectionID string   `json:"reflection_id"` // reflect_ + Unix milliseconds + _ + 6 hex digits, RFC-0011 §3.4
	Topic        string   `json:"topic,omitempty"`
	Sources      []Source `json:"sources"` // oldest first
	// Confidence is how well the text stands for its sources, 0..1, see measure. It says nothing about whether
	// they are right.
	Confidence float64 `json:"confidence"`
	Method     string  `json:"method"`               // ByModel or ByExtract
	Model      string  `json:"model,omitempty"`      // that wrote it
	Supersedes string  `json:"supersedes,omitempty"` // the id of the extract that a model's answer stands in place of
	Key        string  `json:"key"`                  // the same for the same sources and topic
}

// Source is a memory that something was derived from, and whose it is: what a group said stays marked.
type Source struct {
	ID     string     `json:"id"`
	Origin Visibility `json:"origin"`
}

// Synthesis is what a synthesis keeps beside its skill, in the ledger.
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

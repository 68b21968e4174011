package record

import "time"

// Skill is a way of doing something (RFC-0011 §2.4) as the ledger keeps it. Every string was redacted.
type Skill struct {
	ID          string    `json:"id"` // SKILL_ID
	Name        string    `json:"name"`
	Intent      string    `json:"intent"` // what it is for, in a sentence
	Description string    `json:"description,omitempty"`
	Tags        []string  `json:"tags,omitempty"`
	Type        string    `json:"type,omitempty"`
	Source      string    `json:"source,omitempty"` // the name of the file that it came from
	Text        string    `json:"yamo_text"`        // the whole definition
	AgentID     string    `json:"agent_id,omitempty"`
	Consent     string    `json:"consent,omitempty"` // of a shared skill, see Record.Consent
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at,omitzero"` // when it got this text, if that is not its first
	Seq         int64     `json:"-"`                   // of its first entry in the compartment's ledger; 0 outside one
}

// SkillHit is a skill with the reliability it has for one audience: that of skill.Reliability, from the feedback in the
// skill's compartment and in the audience's own.
type SkillHit struct {
	*Skill
	Visibility  Visibility
	Reliability float64 // 0..1, two decimals
	UseCount    int
	LastUsed    time.Time // zero: never
	Score       float64   // of a search: 0..1, two decimals; RFC-0011 §5.3's finalScore
	Keyword     float64   // of a search: its keywordScore
	Vector      float64   // of a search: its vectorScore, 0 without a model
}

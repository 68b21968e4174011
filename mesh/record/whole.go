package record

import (
	"encoding/json"
	"strings"
)

// How it was agreed that every group may know a memory or a skill.
const (
	ByPerson   = "person"   // a person saw the whole text in a dialog of the host
	ByCaller   = "caller"   // the host cannot ask; the caller's word
	ByOperator = "operator" // a command of the operator
)

// Whole returns everything that a reader of the memory is told: its content, and a line for each other field. It is
// what a person is shown before they agree to share it.
func (m *Memory) Whole() string {
	var b strings.Builder
	b.WriteString(m.Content + "\n")
	metadata := ""
	if len(m.Metadata) > 0 {
		data, err := json.Marshal(m.Metadata)
		if err != nil {
			data = []byte(err.Error()) // it came from JSON
		}
		metadata = string(data)
	}
	writeFields(&b, "type", m.Type, "tags", strings.Join(m.Tags, ", "), "source", m.Source, "session_id", m.SessionID,
		"rationale", m.Rationale, "hypothesis", m.Hypothesis, "skill_name", m.Skill, "occurred_at", m.OccurredAt,
		"metadata", metadata)
	return b.String()
}

// Parts returns the texts of the memory, each for itself: its content by sentences and lines, and its fields.
func (m *Memory) Parts() []string {
	parts := append(sentences(m.Content), m.Source, m.SessionID, m.Rationale, m.Hypothesis, m.Skill,
		strings.Join(m.Tags, " "))
	return append(parts, leaves(m.Metadata)...)
}

// Whole returns everything that a reader of the skill is told, as for a memory.
func (s *Skill) Whole() string {
	var b strings.Builder
	b.WriteString(s.Text)
	writeFields(&b, "name", s.Name, "intent", s.Intent, "description", s.Description, "type", s.Type,
		"tags", strings.Join(s.Tags, ", "), "source", s.Source)
	return b.String()
}

// Parts returns the texts of the skill, as for a memory.
func (s *Skill) Parts() []string {
	return append(sentences(s.Text), s.Name, s.Intent, s.Description, s.Type, s.Source, strings.Join(s.Tags, " "))
}

// writeFields writes a line for each name whose value is not "".
func writeFields(b *strings.Builder, pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			b.WriteString(pairs[i] + ": " + pairs[i+1] + "\n")
		}
	}
}

func sentences(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(".!?\n。！？", r) })
}

// leaves returns the keys and texts of a value of JSON.
func leaves(v any) (list []string) {
	switch v := v.(type) {
	case string:
		return sentences(v)
	case map[string]any:
		for key, value := range v {
			list = append(append(list, key), leaves(value)...)
		}
	case []any:
		for _, value := range v {
			list = append(list, leaves(value)...)
		}
	}
	return list
}

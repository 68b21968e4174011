package record

import "github.com/yamo-protocol/yamo-mcp/internal/text"

// Clean applies [text.Line] to the fields, and [text.Plain] to the metadata. The content was cleaned by every version
// that wrote it.
func (m *Memory) Clean() {
	lines(&m.SessionID, &m.Source, &m.Rationale, &m.Hypothesis, &m.Skill)
	eachLine(m.Tags)
	if len(m.Metadata) > 0 {
		m.Metadata = plain(m.Metadata).(map[string]any)
	}
}

// Clean cleans the memory and its lesson.
func (r *Record) Clean() {
	r.Memory.Clean()
	if l := r.Lesson; l != nil {
		lines(&l.Situation, &l.ErrorPattern, &l.Oversight, &l.Fix, &l.PreventativeRule, &l.ApplicableScope, &l.InverseLesson)
		l.WireFormat = text.Plain(l.WireFormat)
	}
}

// Clean applies [text.Line] to every level.
func (h *Heritage) Clean() {
	eachLine(h.IntentChain)
	eachLine(h.Hypotheses)
	eachLine(h.Rationales)
}

// Clean applies [text.Line] to the reason.
func (r *Revision) Clean() { lines(&r.Why) }

// Clean applies [text.Line] to the fields, and [text.Plain] to the definition.
func (s *Skill) Clean() {
	lines(&s.Name, &s.Intent, &s.Description, &s.Type, &s.Source)
	eachLine(s.Tags)
	s.Text = text.Plain(s.Text)
}

// lines makes each of the fields one line.
func lines(fields ...*string) {
	for _, s := range fields {
		*s = text.Line(*s)
	}
}

// eachLine makes each string of list one line.
func eachLine(list []string) {
	for i := range list {
		list[i] = text.Line(list[i])
	}
}

// plain returns a value of JSON with every text in it made plain.
func plain(v any) any {
	switch v := v.(type) {
	case string:
		return text.Plain(v)
	case map[string]any:
		clean := make(map[string]any, len(v))
		for key, value := range v {
			clean[text.Line(key)] = plain(value)
		}
		return clean
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return v
}

package mesh

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
)

// scrubbing passes every text of one request through the scrubber, before it reaches the ledger, the
// index, an embedding provider or a log (RFC-0011 §6.3). It keeps the first error and counts redactions.
type scrubbing struct {
	scrubber *scrub.Scrubber
	found    []scrub.Redaction
	err      error
}

func (s *scrubbing) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// content is the text of a memory: the scrubber's stages up to normalization. It is cut into chunks when it is
// indexed, so that storing does not wait for that.
func (s *scrubbing) content(text string) string {
	result, err := s.scrubber.Text(text)
	switch {
	case errors.Is(err, scrub.ErrEmpty):
		s.fail(fault.New("content: it has no text, or only markup; write what to remember in words"))
	case err != nil:
		s.fail(fault.New("content: %v", err))
	case result.OnlySecret:
		s.fail(fault.New("content: this is only a secret, and memory does not store secrets; " +
			"put it in a password manager or secret store, and remember where it is"))
	}
	s.found = append(s.found, result.Redactions...)
	return result.Text
}

// field is any other text: redaction only, one line.
func (s *scrubbing) field(name, value string) string {
	if n := utf8.RuneCountInString(value); n > record.MaxField {
		s.fail(fault.New("%s: %d characters are too many; use at most %d", name, n, record.MaxField))
	}
	if !utf8.ValidString(value) {
		s.fail(fault.New("%s: the text is not valid UTF-8", name))
	}
	clean, found := s.scrubber.Redact(value)
	s.found = append(s.found, found...)
	return text.OneLine(clean)
}

func (s *scrubbing) tags(tags []string) []string {
	if len(tags) > record.MaxTags {
		s.fail(fault.New("tags: %d are too many; use at most %d", len(tags), record.MaxTags))
	}
	var clean []string
	for _, tag := range tags {
		if n := utf8.RuneCountInString(tag); n > record.MaxTag {
			s.fail(fault.New("tags: the maximum length of a tag is %d characters; one has %d", record.MaxTag, n))
		}
		tag = s.field("tags", tag)
		if tag == "" {
			s.fail(fault.New("tags: a tag is empty; leave it out"))
		}
		if !slices.ContainsFunc(clean, func(t string) bool { return strings.EqualFold(t, tag) }) {
			clean = append(clean, tag)
		}
	}
	return clean
}

// metadata redacts every text in m, keys included, and refuses the forbidden keys.
func (s *scrubbing) metadata(m map[string]any) map[string]any {
	if len(m) == 0 {
		return nil
	}
	if raw, err := json.Marshal(m); err != nil {
		s.fail(fault.New("metadata: %v", err))
	} else if len(raw) > record.MaxMetadata {
		s.fail(fault.New("metadata: %d bytes of JSON are too many; use at most %d", len(raw), record.MaxMetadata))
	}
	if err := record.CheckMetadata("metadata", m); err != nil {
		s.fail(err)
	}
	if s.err != nil {
		return nil
	}
	return s.value(m).(map[string]any)
}

func (s *scrubbing) value(v any) any {
	switch v := v.(type) {
	case string:
		clean, found := s.scrubber.Redact(v)
		s.found = append(s.found, found...)
		return clean
	case map[string]any:
		clean := make(map[string]any, len(v))
		for key, value := range v {
			clean[s.value(key).(string)] = s.value(value)
		}
		return clean
	case []any:
		clean := make([]any, len(v))
		for i := range v {
			clean[i] = s.value(v[i])
		}
		return clean
	default:
		return v
	}
}

// total adds the redactions up by kind, in the kinds' order.
func (s *scrubbing) total() []scrub.Redaction {
	counts := map[scrub.Kind]int{}
	for _, r := range s.found {
		counts[r.Kind] += r.Count
	}
	total := []scrub.Redaction{}
	for kind, count := range counts {
		total = append(total, scrub.Redaction{Kind: kind, Count: count})
	}
	slices.SortFunc(total, func(a, b scrub.Redaction) int { return strings.Compare(string(a.Kind), string(b.Kind)) })
	return total
}

const maxSkillName = 128 // characters

// skill checks and redacts a request. The skill has no id and no time yet.
//
// A definition is an instruction to follow to the letter, so it is redacted and not cleaned as a memory is.
func (s *scrubbing) skill(q SkillRequest) (*record.Skill, error) {
	switch {
	case len(q.Text) > record.MaxContent:
		return nil, fault.New("text: %d bytes are too many; a skill has at most %d", len(q.Text), record.MaxContent)
	case !utf8.ValidString(q.Text):
		return nil, fault.New("text: it is not valid UTF-8")
	}
	text := strings.TrimSpace(strings.ReplaceAll(scrub.Sanitize(q.Text), "\r\n", "\n")) + "\n"
	d, err := skill.Parse(text)
	if err != nil {
		return nil, fault.New("text: %v", err)
	}
	if n := utf8.RuneCountInString(d.Name); n > maxSkillName {
		return nil, fault.New("name: %d characters are too many; use at most %d", n, maxSkillName)
	}
	if q.Type != "" {
		d.Type = q.Type
	}
	if utf8.RuneCountInString(d.Type) > record.MaxTag {
		return nil, fault.New("type: use a word or two, at most %d characters", record.MaxTag)
	}
	clean, found := s.scrubber.Redact(text)
	s.found = append(s.found, found...)
	quiet := &scrubbing{scrubber: s.scrubber} // the text has these already: each is counted once
	kept := &record.Skill{
		Name: quiet.field("name", d.Name), Intent: quiet.field("intent", d.Intent),
		Description: quiet.field("description", d.Description), Tags: quiet.tags(d.Tags),
		Type: s.field("type", d.Type), Source: s.field("source", q.Source), Text: clean,
	}
	if s.err == nil {
		s.err = quiet.err
	}
	return kept, s.err
}

// lesson checks and scrubs a request. The pattern id is that of the redacted fields, so that a secret in one does not
// make two patterns of one mistake.
func (s *scrubbing) lesson(q record.LessonRequest) (*record.Lesson, error) {
	required := func(name, text string) string {
		if strings.TrimSpace(text) == "" {
			s.fail(fault.New("%s: it is required; say it in a sentence", name))
		}
		return s.field(name, text)
	}
	l := &record.Lesson{
		Situation:        required("situation", q.Situation),
		ErrorPattern:     required("error_pattern", q.ErrorPattern),
		Oversight:        required("oversight", q.Oversight),
		Fix:              required("fix", q.Fix),
		PreventativeRule: required("preventative_rule", q.PreventativeRule),
		ApplicableScope:  required("applicable_scope", q.ApplicableScope),
		InverseLesson:    s.field("inverse_lesson", q.InverseLesson),
		Severity:         q.Severity,
		RuleConfidence:   record.DefaultConfidence,
		Sources:          q.Sources,
	}
	if !slices.Contains(record.Severities, q.Severity) {
		s.fail(fault.New("severity: use one of %s", strings.Join(record.Severities, ", ")))
	}
	if q.Confidence != nil {
		l.RuleConfidence = *q.Confidence
	}
	if !(l.RuleConfidence >= 0 && l.RuleConfidence <= 1) {
		s.fail(fault.New("confidence: give a number from 0 to 1"))
	}
	l.PatternID = record.PatternID(l.ErrorPattern, l.ApplicableScope)
	return l, s.err
}

// heritage redacts a heritage and keeps the last depth of each list.
func (s *scrubbing) heritage(h record.Heritage, depth int) record.Heritage {
	return record.Heritage{
		IntentChain: s.levels("intentChain", h.IntentChain, depth),
		Hypotheses:  s.levels("hypotheses", h.Hypotheses, depth),
		Rationales:  s.levels("rationales", h.Rationales, depth),
	}
}

// levels redacts a list and keeps its last depth.
func (s *scrubbing) levels(name string, list []string, depth int) []string {
	kept := []string{}
	for _, text := range list[max(0, len(list)-depth):] {
		if text = s.field(name, text); text == "" {
			s.fail(fault.New("%s: a level is empty; leave it out", name))
		}
		kept = append(kept, text)
	}
	return kept
}

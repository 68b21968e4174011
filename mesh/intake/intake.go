// Package intake checks what a request brings and scrubs every text in it, before it reaches the ledger, the index, an
// embedding provider or a log (RFC-0011 §6.3).
package intake

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
)

// Cleaner cleans the texts of one request. It keeps the first error and counts redactions, so that callers clean all
// fields and look at Err once. It is not safe for concurrent use.
type Cleaner struct {
	scrubber *scrub.Scrubber
	found    []scrub.Redaction
	err      error
}

// New returns the Cleaner of a request in which found was redacted already.
func New(s *scrub.Scrubber, found ...scrub.Redaction) *Cleaner {
	return &Cleaner{scrubber: s, found: found}
}

// Err returns the first error, a fault that names the field; nil if everything so far is acceptable.
func (c *Cleaner) Err() error { return c.err }

// Fail makes err the request's error, unless it has one.
func (c *Cleaner) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Content returns the text of a memory after the scrubber's stages up to normalization. It is cut into chunks when it
// is indexed, so that storing does not wait for that.
func (c *Cleaner) Content(text string) string {
	result, err := c.scrubber.Text(text)
	switch {
	case errors.Is(err, scrub.ErrEmpty):
		c.Fail(fault.New("content: it has no text, or only markup; write what to remember in words"))
	case err != nil:
		c.Fail(fault.New("content: %v", err))
	case result.OnlySecret:
		c.Fail(fault.New("content: this is only a secret, and memory does not store secrets; " +
			"put it in a password manager or secret store, and remember where it is"))
	}
	c.found = append(c.found, result.Redactions...)
	return result.Text
}

// Remove replaces findings in a text, which are in order, by placeholders, and counts them.
func (c *Cleaner) Remove(text string, found []scrub.Finding) string {
	clean, redactions := scrub.Replace(text, found)
	c.found = append(c.found, redactions...)
	return clean
}

// Field returns any other text, redacted and on one line: up to record.MaxField characters, "" is allowed.
//
// SECURITY: a model is shown the fields next to the content, so they lose invisible characters like it.
func (c *Cleaner) Field(name, value string) string {
	if n := utf8.RuneCountInString(value); n > record.MaxField {
		c.Fail(fault.New("%s: %d characters are too many; use at most %d", name, n, record.MaxField))
	}
	if !utf8.ValidString(value) {
		c.Fail(fault.New("%s: the text is not valid UTF-8", name))
	}
	clean, found := c.scrubber.Redact(text.OneLine(scrub.Sanitize(value)))
	c.found = append(c.found, found...)
	return text.OneLine(clean)
}

// Tags returns the tags, redacted, without duplicates in any letter case: up to record.MaxTags of record.MaxTag
// characters each.
func (c *Cleaner) Tags(tags []string) []string {
	if len(tags) > record.MaxTags {
		c.Fail(fault.New("tags: %d are too many; use at most %d", len(tags), record.MaxTags))
	}
	var clean []string
	for _, tag := range tags {
		if n := utf8.RuneCountInString(tag); n > record.MaxTag {
			c.Fail(fault.New("tags: the maximum length of a tag is %d characters; one has %d", record.MaxTag, n))
		}
		tag = c.Field("tags", tag)
		if tag == "" {
			c.Fail(fault.New("tags: a tag is empty; leave it out"))
		}
		if !slices.ContainsFunc(clean, func(t string) bool { return strings.EqualFold(t, tag) }) {
			clean = append(clean, tag)
		}
	}
	return clean
}

// Metadata cleans and redacts every string in m, keys included, and refuses the forbidden keys and more than
// record.MaxMetadata bytes of JSON. It returns nil for an empty m, and after an error.
func (c *Cleaner) Metadata(m map[string]any) map[string]any {
	if len(m) == 0 {
		return nil
	}
	if raw, err := json.Marshal(m); err != nil {
		c.Fail(fault.New("metadata: %v", err))
	} else if len(raw) > record.MaxMetadata {
		c.Fail(fault.New("metadata: %d bytes of JSON are too many; use at most %d", len(raw), record.MaxMetadata))
	}
	if err := record.CheckMetadata("metadata", m); err != nil {
		c.Fail(err)
	}
	if c.err != nil {
		return nil
	}
	clean, _ := c.value(m).(map[string]any)
	// What was removed may have hidden a forbidden key.
	if err := record.CheckMetadata("metadata", clean); err != nil {
		c.Fail(err)
	}
	return clean
}

// value returns v, a decoded JSON value, with all its strings cleaned and redacted, keys of objects included. Two keys
// that become one are an error, because one value would be lost.
func (c *Cleaner) value(v any) any {
	switch v := v.(type) {
	case string:
		clean, found := c.scrubber.Redact(text.Plain(v))
		c.found = append(c.found, found...)
		return clean
	case map[string]any:
		clean := make(map[string]any, len(v))
		for key, value := range v {
			key = text.OneLine(c.value(key).(string))
			if _, taken := clean[key]; taken {
				c.Fail(fault.New("metadata: two keys are %q without invisible characters and secrets; rename one", key))
			}
			clean[key] = c.named(key, value)
		}
		return clean
	case []any:
		clean := make([]any, len(v))
		for i := range v {
			clean[i] = c.value(v[i])
		}
		return clean
	case float64, json.Number:
		return c.number(v)
	default:
		return v
	}
}

// named is value of a value that has a name: {"password": "mango"} is a password by its name only.
func (c *Cleaner) named(key string, v any) any {
	clean := c.value(v)
	s, ok := clean.(string)
	if !ok || s == "" {
		return clean
	}
	pair, found := c.scrubber.Redact(key + ": " + s)
	redacted, ok := strings.CutPrefix(pair, key+": ")
	if !ok || len(found) == 0 {
		return clean
	}
	c.found = append(c.found, found...)
	return redacted
}

// number returns a number, or its placeholder if it is one of a person's, such as that of a card.
func (c *Cleaner) number(v any) any {
	digits := fmt.Sprint(v)
	if f, ok := v.(float64); ok {
		digits = strconv.FormatFloat(f, 'f', -1, 64)
	}
	clean, found := c.scrubber.Redact(digits)
	if len(found) == 0 {
		return v
	}
	c.found = append(c.found, found...)
	return clean
}

// Redactions returns the number of redactions of each kind, sorted by kind.
func (c *Cleaner) Redactions() []scrub.Redaction {
	counts := map[scrub.Kind]int{}
	for _, r := range c.found {
		counts[r.Kind] += r.Count
	}
	total := []scrub.Redaction{}
	for kind, count := range counts {
		total = append(total, scrub.Redaction{Kind: kind, Count: count})
	}
	slices.SortFunc(total, func(a, b scrub.Redaction) int { return strings.Compare(string(a.Kind), string(b.Kind)) })
	return total
}

// MaxSkillName is the maximum length of a skill's name, in characters.
const MaxSkillName = 128

// Skill checks and redacts a definition and the name of the file that it came from. kind replaces the definition's
// type, unless it is "". The skill has no ID and no time yet.
//
// A definition is an instruction to follow to the letter, so it is redacted and not cleaned as a memory is.
func (c *Cleaner) Skill(definition, kind, source string) (*record.Skill, error) {
	switch {
	case len(definition) > record.MaxContent:
		return nil, fault.New("text: %d bytes are too many; a skill has at most %d", len(definition), record.MaxContent)
	case !utf8.ValidString(definition):
		return nil, fault.New("text: it is not valid UTF-8")
	}
	text := strings.TrimSpace(strings.ReplaceAll(scrub.Sanitize(definition), "\r\n", "\n")) + "\n"
	d, err := skill.Parse(text)
	if err != nil {
		return nil, fault.New("text: %v", err)
	}
	if n := utf8.RuneCountInString(d.Name); n > MaxSkillName {
		return nil, fault.New("name: %d characters are too many; use at most %d", n, MaxSkillName)
	}
	if kind != "" {
		d.Type = kind
	}
	if utf8.RuneCountInString(d.Type) > record.MaxTag {
		return nil, fault.New("type: use a word or two, at most %d characters", record.MaxTag)
	}
	clean, found := c.scrubber.Redact(text)
	c.found = append(c.found, found...)
	quiet := New(c.scrubber) // the text has these already: each is counted once
	kept := &record.Skill{
		Name: quiet.Field("name", d.Name), Intent: quiet.Field("intent", d.Intent),
		Description: quiet.Field("description", d.Description), Tags: quiet.Tags(d.Tags),
		Type: c.Field("type", d.Type), Source: c.Field("source", source), Text: clean,
	}
	if c.err == nil {
		c.err = quiet.err
	}
	return kept, c.err
}

// Lesson checks and redacts a request. The pattern ID is that of the redacted fields, so that a secret in one does not
// make two patterns of one mistake.
func (c *Cleaner) Lesson(q record.LessonRequest) (*record.Lesson, error) {
	required := func(name, text string) string {
		text = c.Field(name, text)
		if text == "" {
			c.Fail(fault.New("%s: required; give one sentence", name))
		}
		return text
	}
	l := &record.Lesson{
		Situation:        required("situation", q.Situation),
		ErrorPattern:     required("error_pattern", q.ErrorPattern),
		Oversight:        required("oversight", q.Oversight),
		Fix:              required("fix", q.Fix),
		PreventativeRule: required("preventative_rule", q.PreventativeRule),
		ApplicableScope:  required("applicable_scope", q.ApplicableScope),
		InverseLesson:    c.Field("inverse_lesson", q.InverseLesson),
		Severity:         q.Severity,
		RuleConfidence:   record.DefaultConfidence,
		Sources:          q.Sources,
	}
	if !slices.Contains(record.Severities, q.Severity) {
		c.Fail(fault.New("severity: use one of %s", strings.Join(record.Severities, ", ")))
	}
	if q.Confidence != nil {
		l.RuleConfidence = *q.Confidence
	}
	if !(l.RuleConfidence >= 0 && l.RuleConfidence <= 1) {
		c.Fail(fault.New("confidence: must be between 0 and 1"))
	}
	l.PatternID = record.PatternID(l.ErrorPattern, l.ApplicableScope)
	return l, c.err
}

// Heritage redacts a heritage and keeps the last depth of each list.
func (c *Cleaner) Heritage(h record.Heritage, depth int) record.Heritage {
	return record.Heritage{
		IntentChain: c.levels("intentChain", h.IntentChain, depth),
		Hypotheses:  c.levels("hypotheses", h.Hypotheses, depth),
		Rationales:  c.levels("rationales", h.Rationales, depth),
	}
}

// levels redacts a list and keeps its last depth.
func (c *Cleaner) levels(name string, list []string, depth int) []string {
	kept := []string{}
	for _, text := range list[max(0, len(list)-depth):] {
		if text = c.Field(name, text); text == "" {
			c.Fail(fault.New("%s: a level is empty; leave it out", name))
		}
		kept = append(kept, text)
	}
	return kept
}

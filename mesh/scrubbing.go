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

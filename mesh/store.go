package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// StoreRequest is a memory to keep (RFC-0011 §4.1 add, §2.1 metadata).
type StoreRequest struct {
	Content    string
	Type       string // one of Types; "" is "global"
	Source     string
	Tags       []string
	Importance *float32 // 0..1
	SessionID  string
	Skill      string
	Rationale  string
	Hypothesis string
	Metadata   map[string]any
	Visibility record.Visibility // "" is the audience's own compartment; a DM may say Private or Shared
}

// Stored says what became of a memory.
type Stored struct {
	ID         string
	CreatedAt  time.Time
	Visibility record.Visibility
	Redactions []scrub.Redaction // by kind and count, never the value
	Created    bool              // false: the same text was stored before, and ID is that memory's
}

// Store scrubs a memory and appends it to its compartment's ledger. It returns after the fsync; no model
// is needed. Storing the same text in the same scope again returns the first memory.
func (v *View) Store(ctx context.Context, q StoreRequest) (Stored, error) {
	to, err := v.destination(q.Visibility)
	if err != nil {
		return Stored{}, err
	}
	r, redactions, err := v.record(q)
	if err != nil {
		return Stored{}, err
	}
	var kept *record.Record
	created := false
	err = v.with(ctx, to, func(c *compartment) error {
		err := c.append(ctx, true, func(now time.Time) (ledger.Draft, bool, error) {
			if twin := c.twin(r); twin != nil {
				kept = twin
				return ledger.Draft{}, false, nil
			}
			kept, r.CreatedAt, created = r, now, true
			var err error
			if r.ID, err = c.newMemoryID(now, v.Random); err != nil {
				return ledger.Draft{}, false, err
			}
			text := block.Retain{
				Agent: r.AgentID, MemoryID: r.ID, MemoryType: r.Type, Time: now, Content: r.Content, Hypothesis: r.Hypothesis,
			}.Block().String()
			return ledger.Draft{Op: opRetain, ID: r.ID, Block: text, Data: r}, true, nil
		})
		if err == nil {
			c.index.wake(c)
		}
		return err
	})
	if err != nil {
		return Stored{}, err
	}
	return Stored{ID: kept.ID, CreatedAt: kept.CreatedAt, Visibility: to, Redactions: redactions, Created: created}, nil
}

// Keeps is the id of the memory in the audience's own compartment that says word for word what q does,
// whatever else is known of it, "" if there is none.
func (v *View) Keeps(ctx context.Context, q StoreRequest) (string, error) {
	r, _, err := v.record(q)
	if err != nil {
		return "", err
	}
	id := ""
	err = v.with(ctx, v.own(), func(c *compartment) error {
		if err := c.sync(ctx); err != nil {
			return err
		}
		c.mu.RLock()
		defer c.mu.RUnlock()
		for _, d := range c.docs {
			if d.record != nil && d.record.Content == r.Content {
				id = d.record.ID
				return nil
			}
		}
		return nil
	})
	return id, err
}

// destination is the compartment a memory goes to.
//
// SECURITY: only a DM chooses, and only between private and shared: the one declared flow from private
// to others.
func (v *View) destination(asked record.Visibility) (record.Visibility, error) {
	switch {
	case asked == "" || asked == v.own():
		return v.own(), nil
	case v.Audience.IsDM() && asked == record.Shared:
		return record.Shared, nil
	case v.Audience.IsDM():
		return "", fault.New("visibility: %q is not allowed; use private (the default) or shared", asked)
	default:
		return "", fault.New("visibility: a group's memories are its own; leave the field out")
	}
}

// record checks and scrubs a request. The record has no id and no time yet.
func (v *View) record(q StoreRequest) (*record.Record, []scrub.Redaction, error) {
	if len(q.Content) > record.MaxContent {
		return nil, nil, fault.New("content: %d bytes are too many; store at most %d bytes a memory, in several if need be", len(q.Content), record.MaxContent)
	}
	if q.Type == "" {
		q.Type = "global"
	}
	if !slices.Contains(record.Types, q.Type) {
		return nil, nil, fault.New("type: use one of %s", strings.Join(record.Types, ", "))
	}
	if q.Importance != nil && !(*q.Importance >= 0 && *q.Importance <= 1) {
		return nil, nil, fault.New("importance: give a number from 0 to 1")
	}
	s := &scrubbing{scrubber: v.scrubber}
	r := &record.Record{
		Content:    s.content(q.Content),
		Type:       q.Type,
		Source:     s.field("source", q.Source),
		Tags:       s.tags(q.Tags),
		Importance: q.Importance,
		SessionID:  s.field("session_id", q.SessionID),
		AgentID:    v.AgentID,
		Skill:      s.field("skill_name", q.Skill),
		Rationale:  s.field("rationale", q.Rationale),
		Hypothesis: s.field("hypothesis", q.Hypothesis),
		Metadata:   s.metadata(q.Metadata),
	}
	return r, s.total(), s.err
}

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
		s.fail(fault.New("content: there is no text in it, or nothing but markup; give what you want to find again, in words"))
	case err != nil:
		s.fail(fault.New("content: %v", err))
	case result.OnlySecret:
		s.fail(fault.New("content: this is nothing but a secret, and secrets are not kept in memory; " +
			"put it into a password manager or secret store and remember where it is"))
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
			s.fail(fault.New("tags: a tag has at most %d characters; one has %d", record.MaxTag, n))
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

// parseTime reads a time that a caller gave: RFC 3339, or a date, which is its first moment in UTC.
func parseTime(field, text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fault.New("%s: give a time like 2026-01-31T15:04:05Z or a date like 2026-01-31", field)
}

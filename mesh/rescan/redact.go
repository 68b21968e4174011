package rescan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Scrubbers redact as new text of a compartment is redacted.
type Scrubbers struct {
	Memories *scrub.Scrubber // the memories of the compartment, which may keep contact details
	Other    *scrub.Scrubber // lessons, reflections, skills and logged queries
}

// forOp returns the scrubber of an operation's entries.
func (s Scrubbers) forOp(op string) *scrub.Scrubber {
	switch op {
	case store.OpRetain, store.OpUpdate, store.OpSighting:
		return s.Memories
	}
	return s.Other
}

// structural are the members of an entry's data that are no text of a person: identifiers, times and names of the
// program.
var structural = map[string]bool{
	"id": true, "lesson_id": true, "pattern_id": true, "reflection_id": true, "skill_id": true, "agent_id": true,
	"project": true, "key": true, "method": true, "model": true, "origin": true, "sources": true, "supersedes": true,
	"found": true, "into": true, "old": true, "new": true, "at": true, "created_at": true, "updated_at": true,
	"last": true, "type": true, "severity": true, "consent": true,
}

// The members whose values are not redacted like other text: metadata with its keys, and the wire format as a block.
const (
	metadata   = "metadata"
	wireFormat = "wire_format"
	content    = "content"
)

// redacted returns what an entry should be, with the redactions. Without any the entry stays as it is.
func redacted(e ledger.Entry, scrubbers Scrubbers) (data any, wire string, found []scrub.Redaction, err error) {
	r := redactor{scrubber: scrubbers.forOp(e.Op), counts: map[scrub.Kind]int{}}
	if e.Data != nil {
		decoder := json.NewDecoder(bytes.NewReader(e.Data))
		decoder.UseNumber() // a number is written again as it was
		if err := decoder.Decode(&data); err != nil {
			return nil, "", nil, fmt.Errorf("ledger entry %d: %w", e.Seq, err)
		}
		data = r.value(data)
	}
	if wire = e.Block; wire != "" {
		quiet := r // what the block repeats is counted once
		if e.Op != store.OpRecall {
			quiet.counts = map[scrub.Kind]int{}
		}
		about, _ := data.(map[string]any)
		wire = quiet.block(e.Op, wire, about)
		if len(r.counts) == 0 {
			r.counts = quiet.counts
		}
	}
	return data, wire, tally(r.counts), nil
}

// redactor redacts one entry.
type redactor struct {
	scrubber *scrub.Scrubber
	counts   map[scrub.Kind]int
}

// text returns a text redacted.
func (r redactor) text(s string) string {
	clean, found := r.scrubber.Redact(s)
	for _, f := range found {
		r.counts[f.Kind] += f.Count
	}
	return clean
}

// value returns a decoded JSON value with its texts redacted.
func (r redactor) value(v any) any {
	switch v := v.(type) {
	case string:
		return r.text(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = r.value(v[i])
		}
		return list
	case map[string]any:
		clean := make(map[string]any, len(v))
		for name, value := range v {
			switch {
			case structural[name]:
				clean[name] = value
			case name == metadata:
				clean[name] = r.metadata(value)
			case name == wireFormat:
				wire, _ := value.(string)
				quiet := redactor{r.scrubber, map[scrub.Kind]int{}}
				clean[name] = quiet.block(store.OpLesson, wire, nil)
			default:
				clean[name] = r.value(value)
			}
		}
		return clean
	}
	return v
}

// metadata redacts as metadata is redacted when it is stored: a key may tell what its value is.
func (r redactor) metadata(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return r.value(v)
	}
	c := intake.New(r.scrubber)
	clean := c.Metadata(m)
	if c.Err() != nil { // what an earlier version accepted and this one does not
		return r.value(v)
	}
	if len(c.Redactions()) == 0 {
		return v
	}
	for _, f := range c.Redactions() {
		r.counts[f.Kind] += f.Count
	}
	return clean
}

// block returns a block with its values redacted. about is the redacted data of its entry, of whose content the block
// has the beginning: cut off, a value need not be recognized.
func (r redactor) block(op, text string, about map[string]any) string {
	b, err := block.Parse(text)
	if err != nil || op == store.OpSynthesize || op == store.OpSkill { // a definition, redacted as one text
		return r.text(text)
	}
	whole, known := about[content].(string)
	for _, pairs := range [][]block.Pair{b.Context, b.Constraints, b.Output, b.Meta} {
		for i, p := range pairs {
			switch {
			case known && (p.Key == "content_preview" || p.Key == "insight_preview"):
				pairs[i].Value, _ = block.Get(block.Retain{Content: whole}.Block().Output, "content_preview")
			case known && p.Key == "content_length":
				pairs[i].Value = strconv.Itoa(len(whole))
			default:
				pairs[i].Value = r.text(p.Value)
			}
		}
	}
	quiet := redactor{r.scrubber, map[scrub.Kind]int{}} // a log line repeats the pairs
	for i := range b.Log {
		b.Log[i] = quiet.text(b.Log[i])
	}
	return b.String()
}

// tally returns counts as a list, sorted by kind.
func tally(counts map[scrub.Kind]int) []scrub.Redaction {
	list := []scrub.Redaction{}
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, scrub.Redaction{Kind: kind, Count: counts[kind]})
	}
	return list
}

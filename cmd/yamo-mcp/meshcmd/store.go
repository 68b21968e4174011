package meshcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// ingested is the answer of store.
type ingested struct {
	ID         string            `json:"id"`
	Visibility record.Visibility `json:"visibility"`
	Created    bool              `json:"created"`
	Redactions []scrub.Redaction `json:"redactions"`
	Updated    []string          `json:"updated,omitempty"`
	Sightings  int               `json:"sightings,omitempty"`
	Superseded []string          `json:"superseded,omitempty"`
}

// newStore returns `yamo-mcp mesh store` (RFC-0011 §9). Its flags win over the same fields in --metadata.
func (m *command) newStore() *cobra.Command {
	var content, kind, rationale, hypothesis, metadata string
	var supersedes []string
	cmd := m.command(&cobra.Command{
		Use:   "store --content <text>",
		Short: "Store a memory",
		Long: `Store text as a memory. Storing the same text again updates the first memory; text that differs in
punctuation and case only is counted as a sighting of it. What the memory supersedes is not found by
searches any more, and stays in its history.

--metadata is a JSON object. Its keys type, source, tags, importance (or importance_score),
session_id, skill_name, rationale, hypothesis and occurred_at set the memory's fields of these
names; other keys are stored as metadata.`,
		Example: `  yamo-mcp mesh store --content "The boiler is serviced every March" --type event
  yamo-mcp mesh store --content "Ana prefers tea" --metadata '{"tags":["food"],"importance":0.8}'`,
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		q, err := storeRequest(metadata)
		if err != nil {
			return err
		}
		q.Content = content
		for _, f := range []struct {
			to   *string
			from string
		}{{&q.Type, kind}, {&q.Rationale, rationale}, {&q.Hypothesis, hypothesis}} {
			if f.from != "" {
				*f.to = f.from
			}
		}
		// "" is the default of the audience: private for the operator, a group's own memory with --group.
		scrubbed, err := memory.Scrub(q, "")
		if err != nil {
			return err
		}
		stored, err := memory.Remember(ctx, scrubbed, mesh.Intent{Supersedes: supersedes})
		if err != nil {
			return err
		}
		m.tellRedactions(stored.Redactions)
		return m.Answer(ingested{
			stored.ID, stored.Visibility, stored.Created, stored.Redactions,
			stored.Updated, stored.Sightings, stored.Superseded,
		},
			fmt.Sprintf("[MemoryMesh] Ingested record %s\n[MemoryMesh] %s\n", stored.ID, outcome(stored)))
	})
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&content, "content", "", "text of the memory (required)")
	flags.StringVar(&kind, "type", "", "type of the memory: "+strings.Join(record.Types, ", ")+` (default "global")`)
	flags.StringVar(&rationale, "rationale", "", "why it is worth remembering")
	flags.StringVar(&hypothesis, "hypothesis", "", "what it is expected to help with")
	flags.StringVar(&metadata, "metadata", "", "further fields and metadata, a JSON object")
	flags.StringArrayVar(&supersedes, "supersedes", nil, "ID of a memory that it replaces (may be repeated)")
	return cli.Require(cmd, "content")
}

// outcome describes what storing a memory did, in the words of the tools. It is a line of its own: RFC-0011 §9 has the
// one before it.
func outcome(stored mesh.Remembered) string {
	did := "Unchanged"
	switch {
	case stored.Created:
		did = "Created"
	case len(stored.Updated) > 0:
		did = "Updated: " + strings.Join(stored.Updated, ", ")
	case stored.Sightings > 1:
		did = fmt.Sprintf("Unchanged, %d sightings", stored.Sightings)
	}
	return strings.Join(append([]string{did}, stored.Notes...), ". ")
}

// storeRequest reads --metadata. The conventional fields of RFC-0011 §2.1 become fields of the memory, the rest its
// metadata.
func storeRequest(text string) (record.Memory, error) {
	var q record.Memory
	if text == "" {
		return q, nil
	}
	if err := onlyObject(text, &q.Metadata); err != nil {
		return q, fmt.Errorf("--metadata: %w", err)
	}
	if score, ok := q.Metadata["importance_score"]; ok && q.Metadata["importance"] == nil { // its name in RFC-0011 §2.2
		q.Metadata["importance"] = score
		delete(q.Metadata, "importance_score")
	}
	for key, to := range map[string]any{
		"type": &q.Type, "source": &q.Source, "tags": &q.Tags, "importance": &q.Importance, "session_id": &q.SessionID,
		"skill_name": &q.Skill, "rationale": &q.Rationale, "hypothesis": &q.Hypothesis,
		"occurred_at": &q.OccurredAt,
	} {
		value, ok := q.Metadata[key]
		if !ok {
			continue
		}
		// Encoded and decoded once more: encoding/json checks the type of each field, with numbers and lists included.
		raw, err := json.Marshal(value)
		if err != nil {
			return q, fmt.Errorf("--metadata: %s: %w", key, err)
		}
		if err := json.Unmarshal(raw, to); err != nil {
			return q, fmt.Errorf("--metadata: %s: must be %s", key, shapes[key])
		}
		delete(q.Metadata, key)
	}
	return q, nil
}

// shapes describes the types of the conventional fields, for errors that do not mention Go.
var shapes = map[string]string{
	"type": "a string", "source": "a string", "tags": "a list of strings", "importance": "a number from 0 to 1",
	"session_id": "a string", "skill_name": "a string", "rationale": "a string", "hypothesis": "a string",
	"occurred_at": "a string",
}

// onlyObject decodes text, which must be one JSON object and nothing else: what follows it would be lost.
func onlyObject(text string, to *map[string]any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	if err := decoder.Decode(to); err != nil || *to == nil {
		return errors.New(`must be a JSON object such as {"source":"notes"}`)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("unexpected text after the JSON object")
	}
	return nil
}

// tellRedactions reports the kinds and counts of redacted values, never the values.
func (m *command) tellRedactions(list []scrub.Redaction) {
	if len(list) == 0 {
		return
	}
	var parts []string
	for _, r := range list {
		parts = append(parts, fmt.Sprintf("%d x %s", r.Count, r.Kind))
	}
	m.notice("Redacted " + strings.Join(parts, ", "))
}

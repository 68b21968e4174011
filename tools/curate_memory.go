package tools

import (
	"context"
	"regexp"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// curation is the arguments of curate_memory: entries to add, entries to retire, or both.
type curation struct {
	Section   string   `json:"section" jsonschema:"minLength=1,maxLength=200"`
	Add       []string `json:"add,omitempty" jsonschema:"maxItems=20"`
	Retire    []string `json:"retire,omitempty" jsonschema:"maxItems=50"`
	Rationale string   `json:"rationale" jsonschema:"minLength=1,maxLength=500"`
	Evidence  []string `json:"evidence_refs,omitempty" jsonschema:"maxItems=20"`
	Key       string   `json:"idempotency_key,omitempty" jsonschema:"maxLength=128"`
}

func (curation) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"section":         "Heading (##) in MEMORY.md. With add only, it is created if missing.",
		"add":             "Self-contained entries; today's date is prepended to those without one.",
		"retire":          "Entries that are no longer true: their text or its unambiguous beginning.",
		"rationale":       "Reason, one line.",
		"evidence_refs":   "IDs of memories (mem_…) or events, or evidence tokens (ev:…).",
		"idempotency_key": "A repeated key returns the first result.",
	})
}

// curated is the result of curate_memory, with the entries as the file has them, dates included.
type curated struct {
	EventID  string   `json:"event_id"`
	Evidence string   `json:"evidence_token"`
	Section  string   `json:"section"`
	Added    []string `json:"added"`
	Retired  []string `json:"retired"`
	Snapshot string   `json:"snapshot"`
	Repeated bool     `json:"repeated,omitempty"`
}

func (curated) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{ //nolint:gosec // descriptions of tokens, not tokens
		"evidence_token": "Cites this edit as evidence.",
		"retired":        "The removed entries; the edit history keeps them.",
		"snapshot":       "The section after the edit, up to 4,000 characters.",
		"repeated":       "Already made with this idempotency_key.",
	})
}

// resourceLinks are the file.
func (curated) resourceLinks() []mcp.ResourceLink {
	return []mcp.ResourceLink{mcp.NewResourceLink(resourceuri.File(workspace.MemoryFile), workspace.MemoryFile,
		"The file that was curated", "text/markdown")}
}

var leadingBullet = regexp.MustCompile(`^\s*[-*+]\s+`)

// CurateMemory is the tool curate_memory (RFC-0009 §5.3) of the agent called agent: one edit of one section. It is for
// DMs only. It creates a section only if nothing is retired: an entry to retire must be somewhere. With an idempotency
// key a repeated call returns the first result, so a host may retry.
func CurateMemory(v *workspace.View, editor *edit.Editor, agent string) Tool {
	return Define(Spec{
		Name:  "curate_memory",
		Title: "Curate MEMORY.md",
		Description: "Update a section of MEMORY.md in one edit: add dated entries and retire outdated ones; " +
			"the others are unchanged. " +
			"Retired entries stay in the edit history. Do not add what was merely said in a group.",
		Destructive: true,
	}, func(ctx context.Context, in curation) (curated, error) {
		q := edit.Request{
			File: workspace.MemoryFile, Refs: in.Evidence, Key: in.Key, Call: callID(ctx), Actor: agent, Retire: in.Retire,
			Dated: v.Now().Location(), Unique: true, Session: sessionID(ctx),
			Edit: grammar.Edit{Op: grammar.CurateItems, Section: in.Section, Rationale: in.Rationale},
		}
		for _, entry := range in.Add {
			// Models often write the bullet that the file shows; with it, the item would have two.
			if entry = strings.TrimSpace(leadingBullet.ReplaceAllString(entry, "")); entry == "" {
				return curated{}, fault.New("add: entries must not be empty")
			}
			q.Items = append(q.Items, entry)
		}
		switch {
		case len(in.Add) == 0 && len(in.Retire) == 0:
			return curated{}, fault.New("add: provide entries in add or retire")
		case len(in.Retire) == 0:
			// Nothing to retire: an append also works in a section that is not a list yet, and may create it.
			q.Op, q.Create = grammar.AppendItem, true
		}
		done, err := editor.Edit(ctx, q)
		if err != nil {
			return curated{}, withField(withEditHint(err), "items", "add")
		}
		out := curated{
			EventID: done.Event.ID, Evidence: done.Event.Token(), Section: done.Event.Section, Snapshot: done.Snapshot,
			Repeated: done.Repeated,
		}
		// What does not fit is in the file and in the history.
		left := newRoom()
		left.take(out.Snapshot)
		out.Retired = fit(&left, append([]string{}, done.Event.Retired...))
		out.Added = fit(&left, append([]string{}, done.Items...))
		return out, nil
	})
}

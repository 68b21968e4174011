// Package rescan redacts what a ledger has from a time when less was recognized as a secret, or was not on the
// operator's list.
//
// The invariant: an entry is erased and what is left of it written again in one step, in the order and with the time
// that it had, so that nothing else changes: ids, revisions, accesses, feedback. What needs no redaction stays as it
// is, but for entries that depend on the place of one that is written again.
package rescan

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Change is an entry of a ledger with something to redact.
type Change struct {
	ID         string            `json:"id,omitempty"` // of the memory or skill; "" for a logged query
	Op         string            `json:"operation"`
	Time       time.Time         `json:"time"`
	Text       string            `json:"text"` // the beginning of its redacted content
	Redactions []scrub.Redaction `json:"redactions"`
}

// Plan is what a rescan of a ledger would change.
type Plan struct {
	Entries   int64 // of the ledger when it was read
	Changes   []Change
	Reasons   int  // reasons of deletions with something to redact: the entry of a deletion cannot be erased
	Rescanned bool // there was a rescan before, which may not have finished its work on what is derived

	again []ledger.Draft // the entries to write again, in order; their data is map[string]any or nil
	names []string       // of the entries to erase, in order
}

// links is what an entry depends on: of these ids, none may be missing where it is applied.
type links struct {
	name string
	ids  []string
}

// Read reads a ledger twice, each time with what open returns, and plans what to change.
func Read(ctx context.Context, open func() *ledger.Ledger, scrubbers Scrubbers) (Plan, error) {
	var p Plan
	affected := map[string]bool{}
	var linked []links
	err := open().Sync(ctx, func(e ledger.Entry) error {
		p.Entries = e.Seq
		if e.Op == store.OpRescan {
			p.Rescanned = true
		}
		if e.Erased || e.Op == store.OpRescan {
			return nil
		}
		data, _, found, err := redacted(e, scrubbers)
		if err != nil {
			return err
		}
		if depends := linksOf(e); len(depends.ids) > 0 {
			linked = append(linked, depends)
		}
		switch {
		case len(found) == 0:
		case e.Op == ledger.OpDelete:
			p.Reasons++
		default:
			affected[e.Name()] = true
			p.Changes = append(p.Changes, Change{e.ID, e.Op, e.Time, beginning(data), found})
		}
		return nil
	})
	if err != nil || len(affected) == 0 {
		return p, err
	}
	for _, l := range linked {
		if slices.ContainsFunc(l.ids, func(id string) bool { return affected[id] }) {
			affected[l.name] = true
		}
	}
	named := map[string]bool{}
	return p, open().Sync(ctx, func(e ledger.Entry) error {
		if e.Erased || e.Op == ledger.OpDelete || !affected[e.Name()] || e.Seq > p.Entries {
			return nil
		}
		data, wire, _, err := redacted(e, scrubbers)
		if err != nil {
			return err
		}
		if !named[e.Name()] {
			named[e.Name()] = true
			p.names = append(p.names, e.Name())
		}
		p.again = append(p.again, ledger.Draft{Op: e.Op, ID: e.ID, Block: wire, Data: data, At: e.Time})
		return nil
	})
}

// linksOf returns the ids that must be known where an entry is applied, besides its own.
func linksOf(e ledger.Entry) links {
	l := links{name: e.Name()}
	switch e.Op {
	case store.OpRevise:
		var r record.Revision
		if json.Unmarshal(e.Data, &r) == nil {
			l.ids = append(l.ids, r.Old, r.New)
		}
	case store.OpAccesses:
		var counted map[string]record.Accesses
		if json.Unmarshal(e.Data, &counted) == nil {
			l.ids = slices.Collect(maps.Keys(counted))
		}
	}
	return l
}

// shown is the number of characters of a change's Text.
const shown = 120

// beginning returns the beginning of an entry's content, of redacted data.
func beginning(data any) string {
	m, _ := data.(map[string]any)
	for _, name := range []string{content, "name", "why", "topic"} {
		if s, _ := m[name].(string); s != "" {
			return text.Shorten(text.OneLine(s), shown)
		}
	}
	return ""
}

// Receipt is the data of the entry that a rescan leaves.
type Receipt struct {
	AgentID    string            `json:"agent_id,omitempty"`
	Entries    int               `json:"entries"` // that were written again
	Redactions []scrub.Redaction `json:"redactions"`
}

// Redactions returns the number of redactions of each kind in all changes, sorted by kind.
func (p Plan) Redactions() []scrub.Redaction {
	counts := map[scrub.Kind]int{}
	for _, c := range p.Changes {
		for _, r := range c.Redactions {
			counts[r.Kind] += r.Count
		}
	}
	return tally(counts)
}

// Drafts returns what is written at a time: a receipt, the deletions, and the entries again, in this order.
func (p Plan) Drafts(now time.Time, agent string) []ledger.Draft {
	if len(p.Changes) == 0 {
		return nil
	}
	drafts := make([]ledger.Draft, 0, 1+len(p.names)+len(p.again))
	drafts = append(drafts, ledger.Draft{
		Op: store.OpRescan, Data: Receipt{AgentID: agent, Entries: len(p.again), Redactions: p.Redactions()},
	})
	for _, name := range p.names {
		drafts = append(drafts, ledger.Draft{Op: ledger.OpDelete, ID: name, Data: map[string]string{"agent_id": agent}})
	}
	for _, d := range p.again {
		switch d.Op {
		case store.OpRetain, store.OpLesson, store.OpReflect:
			d.Data = marked(d.Data, now)
		}
		drafts = append(drafts, d)
	}
	return drafts
}

// marked returns the data of a record with the time of the rescan.
func marked(data any, now time.Time) any {
	m, _ := data.(map[string]any)
	m = maps.Clone(m)
	m["redacted"] = now.UnixMilli()
	return m
}

package dream

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/similar"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

const (
	// archiveSection is the heading below which MEMORY.md keeps what sweeps promoted and nobody needs at each start. It
	// tells a session that reads it what to think of the items.
	archiveSection = "Archive: replaced, over or old"
	// maxDreamed is the maximum number of characters that the items of all sweeps may have together: half of what a
	// session loads of MEMORY.md (seed 002), so that what a person wrote has the other half.
	maxDreamed = 6_000
)

// item is what a sweep promoted.
type item struct {
	memory  string // id
	section string // its heading in MEMORY.md
	text    string // as an item
	taken   bool   // the sweep that promoted it was taken back
	kept    bool   // a person took it back from the archive: only what they confirm replaces it
}

// Retired is an item of an earlier sweep that goes to the archive.
type Retired struct {
	ID      string `json:"memory_id"`
	Section string `json:"section"`
	Item    string `json:"item"`
	Why     string `json:"why"`
}

// dreamed returns the items of earlier sweeps that MEMORY.md still has as they were promoted, oldest first. What a
// person changed is theirs.
func (s *Sweeper) dreamed(ctx context.Context, past history, memory string) (present []item, err error) {
	d := grammar.Parse(memory)
	for _, it := range past.items {
		for _, part := range d.Parts {
			if part.Name == it.section && slices.Contains(grammar.Items(part.Body), it.text) {
				present = append(present, it)
				break
			}
		}
	}
	return present, ctx.Err()
}

// leaveOut sets Candidate.Left of what nobody needs beside another candidate or an item of MEMORY.md: of several that
// say the same, and of one and what it changed, the newest is promoted. What is held replaces nothing: a person decides
// about it first. So is what would replace the word of someone with more authority.
func (s *Sweeper) leaveOut(
	ctx context.Context, a authorities, list []Candidate, dreamed []item, confirmed []string,
) error {
	ids, at, items := []string{}, map[string]int{}, map[string]item{}
	for i, c := range list {
		ids, at[c.ID] = append(ids, c.ID), i
	}
	for _, it := range dreamed {
		hit, ok, err := s.memory(ctx, it.memory)
		if err != nil {
			return err
		}
		if !ok || it.kept {
			continue
		}
		// What was replaced goes to the archive, and what replaced it does not say the same, however similar it is.
		_, replaced, err := s.successor(ctx, a, hit)
		if err != nil {
			return err
		}
		if !replaced {
			ids, items[it.memory] = append(ids, it.memory), it
		}
	}
	facts, err := s.Memory.SameFacts(ctx, ids)
	if err != nil {
		return err
	}
	stored, err := s.stored(ctx, facts)
	if err != nil {
		return err
	}
	settles := func(c Candidate) bool {
		return c.Left == "" && c.Unfit == "" && (len(c.Held) == 0 || slices.Contains(confirmed, c.ID))
	}
	inOrder := func(f mesh.Fact) (older, newer string) {
		if stored[f.A].CreatedAt.After(stored[f.B].CreatedAt) {
			return f.B, f.A
		}
		return f.A, f.B
	}
	for _, f := range facts {
		older, newer := inOrder(f)
		c, isCandidate := at[newer]
		if stored[older].Record == nil || stored[newer].Record == nil || f.Relation != similar.Changes ||
			a.mayReplace(stored[older], stored[newer]) {
			continue
		}
		if isCandidate {
			list[c].oppose(a, stored[older])
		} else if c, isCandidate = at[older]; isCandidate {
			list[c].oppose(a, stored[newer]) // MEMORY.md has it, newer, of someone with less authority
		}
	}
	for _, f := range facts {
		older, newer := inOrder(f)
		oldAt, oldIsCandidate := at[older]
		newAt, newIsCandidate := at[newer]
		switch {
		case oldIsCandidate && newIsCandidate && !a.mayReplace(stored[older], stored[newer]):
			if f.Relation == similar.Restates {
				list[newAt].Left = "another candidate says it: " + older
			}
		case oldIsCandidate && newIsCandidate && settles(list[newAt]):
			list[oldAt].Left = "a newer candidate says it: " + newer
		case oldIsCandidate && !newIsCandidate && list[oldAt].Against == "":
			list[oldAt].Left = "MEMORY.md has it, newer: " + bare(items[newer].text)
		case !oldIsCandidate && newIsCandidate && f.Relation == similar.Restates && list[newAt].Against == "":
			list[newAt].Left = "MEMORY.md says it already: " + bare(items[older].text)
		}
	}
	return nil
}

// stored returns the memories of the pairs, by id.
func (s *Sweeper) stored(ctx context.Context, facts []mesh.Fact) (map[string]record.Hit, error) {
	found := map[string]record.Hit{}
	for _, f := range facts {
		for _, id := range []string{f.A, f.B} {
			hit, ok, err := s.memory(ctx, id)
			if err != nil {
				return nil, err
			}
			if ok {
				found[id] = hit
			}
		}
	}
	return found, nil
}

// retire returns the items of earlier sweeps that p makes obsolete: their memory was replaced, what they tell is over,
// a promoted one changes it, or there is no room for them beside newer ones. Only what has the authority of the item
// replaces it; an item that a person took back from the archive only what they confirm.
func (s *Sweeper) retire(ctx context.Context, a authorities, p Plan, dreamed []item, now time.Time) ([]Retired, error) {
	list := []Retired{}
	retired := map[string]bool{}
	add := func(it item, why string) {
		if !retired[it.memory] {
			retired[it.memory] = true
			list = append(list, Retired{it.memory, it.section, it.text, why})
		}
	}
	size := 0
	ids, hits := []string{}, map[string]record.Hit{}
	for _, c := range p.Promote {
		hit, _, err := s.memory(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		hits[c.ID] = hit
		ids = append(ids, c.ID)
		size += utf8.RuneCountInString(c.Item())
	}
	for _, it := range dreamed {
		hit, ok, err := s.memory(ctx, it.memory)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue // deleted: a person decides what stays
		}
		hits[it.memory] = hit
		last, replaced, err := s.successor(ctx, a, hit)
		if err != nil {
			return nil, err
		}
		switch {
		case replaced && !p.waits(last.ID) && (!it.kept || p.confirms(last.ID)):
			add(it, "it was replaced")
		case it.kept:
			ids = append(ids, it.memory)
		case isOver(hit.Record, now.In(s.Workspace.Now().Location())):
			add(it, "it is over")
		default:
			ids = append(ids, it.memory)
		}
	}
	facts, err := s.Memory.SameFacts(ctx, ids)
	if err != nil {
		return nil, err
	}
	promoted := func(id string) bool {
		return slices.ContainsFunc(p.Promote, func(c Candidate) bool { return c.ID == id })
	}
	for _, it := range dreamed {
		for _, f := range facts {
			other := f.B
			if other == it.memory {
				other = f.A
			} else if f.A != it.memory {
				continue
			}
			if promoted(other) && (!it.kept || p.confirms(other)) && a.mayReplace(hits[it.memory], hits[other]) {
				add(it, "a newer memory changes it")
			}
		}
	}
	for _, it := range slices.Backward(dreamed) { // the newest stay
		if retired[it.memory] || it.kept {
			continue
		}
		if size += utf8.RuneCountInString(it.text); size > maxDreamed {
			add(it, "newer items need its place")
		}
	}
	return list, nil
}

// edits are all edits of MEMORY.md, d, in their order: what is retired is in the archive before it is gone elsewhere.
func (p Plan) edits(d *grammar.Document) (list []grammar.Edit) {
	archive, pruned := p.retirements()
	if len(p.Promote) > 0 {
		list = append(list, p.edit())
	}
	if len(p.Retire) == 0 {
		return list
	}
	list = append(list, archive)
	for _, section := range pruned {
		var rest []string
		for _, part := range d.Parts {
			if part.Name == section.name {
				rest = grammar.Items(part.Body)
			}
		}
		rest = slices.DeleteFunc(rest, func(text string) bool { return slices.Contains(section.items, text) })
		list = append(list, grammar.Edit{Op: grammar.CurateItems, Section: section.name, Items: rest, Rationale: section.why})
	}
	return list
}

// pruned is a section that loses items to the archive.
type pruned struct {
	name, why string
	items     []string
}

// retirements returns the edit that adds to the archive, and the sections that lose what it adds.
func (p Plan) retirements() (archive grammar.Edit, list []pruned) {
	archive = grammar.Edit{
		Op: grammar.AppendItem, Section: archiveSection, Create: true,
		Rationale: fmt.Sprintf("dreaming: %s of earlier sweeps to the archive", text.Count(len(p.Retire), "item", "items")),
	}
	for _, r := range p.Retire {
		archive.Items = append(archive.Items, r.Item)
		i := slices.IndexFunc(list, func(s pruned) bool { return s.name == r.Section })
		if i < 0 {
			i, list = len(list), append(list, pruned{name: r.Section, why: "dreaming: to the archive, because " + r.Why})
		}
		list[i].items = append(list[i].items, r.Item)
	}
	return archive, list
}

package dream

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/dream/trust"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// authorities tells how much the word of each memory counts. A replacement has the authority of its own source, so that
// a page or an unknown source retires nothing that the user said.
type authorities struct {
	names trust.Names
	// confirmed are the ids of memories that a person put into MEMORY.md: they count as the user's word.
	confirmed map[string]bool
}

// authorities are those of all memories, with the ones that a person confirms now.
func (s *Sweeper) authorities(ctx context.Context, past history, confirmed []string) (authorities, error) {
	a := authorities{s.names(), map[string]bool{}}
	for _, id := range confirmed {
		a.confirmed[id] = true
	}
	for id := range past.confirmed {
		a.confirmed[id] = true
	}
	for _, it := range past.items {
		hit, ok, err := s.memory(ctx, it.memory)
		if err != nil {
			return a, err
		}
		// The record did not always tell who was asked. No sweep promotes these without a person.
		if ok && a.names.SpeakerOf(hit).Authority() == 0 {
			a.confirmed[hit.ID] = true
		}
	}
	return a, nil
}

// of returns the authority of a memory.
func (a authorities) of(hit record.Hit) int {
	if a.confirmed[hit.ID] {
		return trust.Person.Authority()
	}
	return a.names.SpeakerOf(hit).Authority()
}

// mayReplace reports whether a replacement has at least the authority of what it replaces.
func (a authorities) mayReplace(old, replacement record.Hit) bool {
	return a.of(replacement) >= a.of(old)
}

// said describes whose word a memory is.
func (a authorities) said(hit record.Hit) string {
	if speaker := a.names.SpeakerOf(hit); !a.confirmed[hit.ID] || speaker == trust.Person {
		return string(speaker) + " said"
	}
	return "the user confirmed"
}

// quoted returns what a memory tells, with whose word it is.
func (a authorities) quoted(hit record.Hit) string {
	return fmt.Sprintf("what %s: %q", a.said(hit), text.Shorten(line(hit.Content), maxText))
}

// memory returns the memory called id, false if there is none.
func (s *Sweeper) memory(ctx context.Context, id string) (record.Hit, bool, error) {
	hit, err := s.Memory.Get(ctx, id)
	if _, ok := fault.As(err); ok {
		return record.Hit{}, false, nil
	}
	return hit, err == nil, err
}

// successor returns what a past memory was replaced by, and whether that settles it: it has the authority for it, or
// one of those in between. What was replaced by nothing is settled.
func (s *Sweeper) successor(
	ctx context.Context, a authorities, old record.Hit,
) (last record.Hit, settled bool, err error) {
	for last = old; last.Past != nil; { // revisions have no cycles
		if last.Past.New == "" {
			return last, true, nil
		}
		next, ok, err := s.memory(ctx, last.Past.New)
		if err != nil || !ok {
			return last, false, err
		}
		settled = settled || a.mayReplace(old, next)
		last = next
	}
	return last, settled, nil
}

// overruled returns the memory of more authority that hit claims to replace, false for none; see trust.Overruled.
func (s *Sweeper) overruled(
	ctx context.Context, a authorities, hit record.Hit,
) (old record.Hit, found bool, err error) {
	return trust.Overruled(hit, a.of, func(id string) (record.Hit, bool, error) { return s.memory(ctx, id) })
}

// challengers returns what may be promoted of what was recalled, and the memories that claim to replace, without the
// authority for it, what counts more: what a sweep promoted, be it taken back since, and what would be promoted now. A
// person decides about these, however seldom they were recalled, and about every other memory that they name. The old
// memory waits for that decision; if the replacement is rejected, it holds.
func (s *Sweeper) challengers(
	ctx context.Context, a authorities, past history, dreamed []item, recalled []mesh.Recalled, named []string,
) (fit, list []mesh.Recalled, err error) {
	var challenged []string
	for _, it := range dreamed {
		challenged = append(challenged, it.memory)
	}
	for _, it := range past.items {
		if it.taken {
			challenged = append(challenged, it.memory)
		}
	}
	for _, r := range recalled {
		if r.Past == nil || slices.Contains(named, r.ID) {
			fit = append(fit, r)
			continue
		}
		last, _, err := s.successor(ctx, a, r.Hit)
		switch {
		case err != nil:
			return nil, nil, err
		case past.rejected[last.ID]:
			fit = append(fit, r)
		case s.Thresholds.met(candidate(r, time.UTC)) && !past.promoted[r.ID]:
			challenged = append(challenged, r.ID)
		}
	}
	add := func(hit record.Hit) {
		known := func(r mesh.Recalled) bool { return r.ID == hit.ID }
		if !slices.ContainsFunc(fit, known) && !slices.ContainsFunc(list, known) {
			list = append(list, mesh.Recalled{Hit: hit})
		}
	}
	for _, id := range challenged {
		hit, ok, err := s.memory(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		if !ok || hit.Past == nil {
			continue
		}
		last, settled, err := s.successor(ctx, a, hit)
		if err != nil {
			return nil, nil, err
		}
		if !settled && last.Past == nil {
			add(last)
		}
	}
	for _, id := range named {
		hit, ok, err := s.memory(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		if ok && hit.Past == nil && hit.Type != record.FileType {
			add(hit)
		}
	}
	return fit, list, nil
}

// oppose holds a candidate that would replace old.
func (c *Candidate) oppose(a authorities, old record.Hit) {
	c.Against = a.quoted(old)
	if why := "it would replace " + c.Against; !slices.Contains(c.Held, why) {
		c.Held = append(c.Held, why)
	}
}

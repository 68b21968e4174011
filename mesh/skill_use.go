package mesh

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
)

// skillHit is a skill of c as the audience has it. own is the audience's own compartment.
//
// SECURITY: feedback is kept with whoever gave it, see SkillFeedback; no other compartment's counts.
func skillHit(c, own *compartment, s *skill.State) record.SkillHit {
	uses := c.usesOf(s.ID)
	if own.visibility != c.visibility {
		uses = append(uses, own.usesOf(s.ID)...)
	}
	hit := record.SkillHit{Skill: s.Skill, Visibility: c.visibility, UseCount: len(uses)}
	hit.Reliability, hit.LastUsed = skill.Reliability(uses, s.Revised)
	return hit
}

// allSkills are the skills of stores, of which the first is the audience's own.
func allSkills(stores []*compartment) (hits []record.SkillHit) {
	for _, c := range stores {
		for _, s := range c.skillStates() {
			hits = append(hits, skillHit(c, stores[0], s))
		}
	}
	return hits
}

func (c *compartment) skillStates() []*skill.State {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.skills.All()
}

// Skill is the skill called id. An id that no compartment of the audience has is a fault, whether another
// one has it or not.
func (v *View) Skill(ctx context.Context, id string) (record.SkillHit, error) {
	c, s, err := v.locateSkill(ctx, id)
	if err != nil {
		return record.SkillHit{}, err
	}
	own, err := v.open(v.own())
	if err != nil {
		return record.SkillHit{}, err
	}
	return skillHit(c, own, s), nil
}

// SkillList is an answer of ListSkills.
type SkillList struct {
	Skills []record.SkillHit
	Total  int // how many there are
}

// ListSkills returns at most limit skills (1..MaxLimit; 0 is 10) that the audience may see: the most
// reliable first, then the most used, then by name (RFC-0011 §4.1 listSkills).
func (v *View) ListSkills(ctx context.Context, limit int) (SkillList, error) {
	if err := checkLimit(&limit); err != nil {
		return SkillList{}, err
	}
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return SkillList{}, err
	}
	hits := allSkills(stores)
	slices.SortFunc(hits, func(a, b record.SkillHit) int {
		return cmp.Or(cmp.Compare(b.Reliability, a.Reliability), cmp.Compare(b.UseCount, a.UseCount), cmp.Compare(skill.FoldName(a.Name), skill.FoldName(b.Name)), a.Stored().Compare(b.Stored()))
	})
	return SkillList{Skills: hits[:min(limit, len(hits))], Total: len(hits)}, nil
}

func checkLimit(limit *int) error {
	if *limit == 0 {
		*limit = defaultLimit
	}
	if *limit < 1 || *limit > MaxLimit {
		return fault.New("limit: use a number from 1 to %d", MaxLimit)
	}
	return nil
}

// SkillFeedback records that a skill worked or did not (RFC-0011 §4.1 updateSkillReliability), durably, and
// returns the skill as it is now. Every call counts.
//
// SECURITY: the entry goes into the audience's own ledger, wherever the skill is: how often a DM uses a
// shared skill, and when, is nothing that a group may learn, nor one group of another.
func (v *View) SkillFeedback(ctx context.Context, id string, success bool) (record.SkillHit, error) {
	home, _, err := v.locateSkill(ctx, id)
	if err != nil {
		return record.SkillHit{}, err
	}
	var own *compartment
	err = v.write(ctx, v.own(), func(c *compartment, _ time.Time) ([]ledger.Draft, error) {
		own = c
		if c.visibility == home.visibility && c.skill(id) == nil {
			return nil, noSkill(id) // deleted meanwhile
		}
		return []ledger.Draft{{Op: opSkillFeedback, ID: id, Data: skill.Use{Success: success, AgentID: v.AgentID}}}, nil
	})
	if err != nil {
		return record.SkillHit{}, err
	}
	if own.visibility == home.visibility {
		home = own
	}
	state := home.skill(id)
	if state == nil {
		return record.SkillHit{}, noSkill(id)
	}
	return skillHit(home, own, state), nil
}

// locateSkill finds the skill called id in what the audience may see.
func (v *View) locateSkill(ctx context.Context, id string) (*compartment, *skill.State, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range stores {
		if s := c.skill(id); s != nil {
			return c, s, nil
		}
	}
	return nil, nil, noSkill(id)
}

func noSkill(id string) error {
	return fault.New("id: there is no skill %q; a search or list of skills gives the ids there are", id)
}

// Pruned says what PruneSkills did.
type Pruned struct {
	Skills    []record.SkillHit // that were erased, the least reliable first
	Remaining int               // skills that the audience may see
}

// PruneSkills erases the skills whose reliability is below threshold (0..1) for good (RFC-0011 §4.1
// pruneSkills): those of the audience's own compartment and, in a DM, the shared ones. A group's skills are
// for the group to prune.
func (v *View) PruneSkills(ctx context.Context, threshold float64) (Pruned, error) {
	if !(threshold >= 0 && threshold <= 1) {
		return Pruned{}, fault.New("threshold: give a number from 0 to 1")
	}
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return Pruned{}, err
	}
	var pruned Pruned
	for _, c := range stores {
		// SECURITY: what a DM shared with every group is not one group's to take away.
		if c.visibility != v.own() && !(v.Audience.IsDM() && c.visibility == record.Shared) {
			continue
		}
		gone, err := v.eraseSkills(ctx, c.visibility, func(c *compartment) (list []record.SkillHit) {
			for _, s := range c.skillStates() {
				if hit := skillHit(c, stores[0], s); hit.Reliability < threshold {
					list = append(list, hit)
				}
			}
			return list
		}, func(hit record.SkillHit) string {
			return fmt.Sprintf("reliability %.2f is below %.2f", hit.Reliability, threshold)
		})
		pruned.Skills = append(pruned.Skills, gone...)
		if err != nil {
			return pruned, err
		}
	}
	for _, c := range stores {
		pruned.Remaining += c.skillCount()
	}
	slices.SortFunc(pruned.Skills, func(a, b record.SkillHit) int {
		return cmp.Or(cmp.Compare(a.Reliability, b.Reliability), cmp.Compare(skill.FoldName(a.Name), skill.FoldName(b.Name)), a.Stored().Compare(b.Stored()))
	})
	return pruned, nil
}

// deleteSkill is Delete for a skill.
func (v *View) deleteSkill(ctx context.Context, id, reason string) error {
	c, _, err := v.locateSkill(ctx, id)
	if err != nil {
		return err
	}
	// SECURITY: as for memories.
	if !v.Audience.IsDM() && c.visibility != v.own() {
		return fault.New("id: %s belongs to the %s memory, which only a direct conversation can delete from", id, c.visibility)
	}
	gone, err := v.eraseSkills(ctx, c.visibility, func(c *compartment) []record.SkillHit {
		if s := c.skill(id); s != nil {
			return []record.SkillHit{{Skill: s.Skill}}
		}
		return nil
	}, func(record.SkillHit) string { return reason })
	if err == nil && len(gone) == 0 {
		return noSkill(id) // another process was faster
	}
	return err
}

// eraseSkills erases what choose picks in a compartment, under its ledger's lock, with the feedback on it in
// the audience's own compartment, and takes it off the disk.
func (v *View) eraseSkills(ctx context.Context, name record.Visibility, choose func(*compartment) []record.SkillHit, reason func(record.SkillHit) string) ([]record.SkillHit, error) {
	var gone []record.SkillHit
	err := v.with(ctx, name, func(c *compartment) error {
		err := c.erase(ctx, func(now time.Time) ([]ledger.Draft, error) {
			gone = choose(c)
			return v.skillDeletions(gone, reason, now), nil
		})
		if err != nil || len(gone) == 0 {
			return err
		}
		return purgeSkills(ctx, c)
	})
	if err != nil || len(gone) == 0 || name == v.own() {
		return gone, err
	}
	return gone, v.with(ctx, v.own(), func(own *compartment) error {
		return own.erase(ctx, func(now time.Time) ([]ledger.Draft, error) {
			used := slices.DeleteFunc(slices.Clone(gone), func(h record.SkillHit) bool { return len(own.usesOf(h.ID)) == 0 })
			return v.skillDeletions(used, reason, now), nil
		})
	})
}

func (v *View) skillDeletions(hits []record.SkillHit, reason func(record.SkillHit) string, now time.Time) []ledger.Draft {
	drafts := make([]ledger.Draft, len(hits))
	for i, hit := range hits {
		why := reason(hit)
		text := block.DeleteSkill{Agent: v.AgentID, SkillID: hit.ID, Time: now, Reason: why}.Block().String()
		drafts[i] = ledger.Draft{Op: ledger.OpDelete, ID: hit.ID, Block: text, Data: deleted{v.AgentID, why}}
	}
	return drafts
}

func purgeSkills(ctx context.Context, c *compartment) error {
	if err := c.index.purge(ctx, c); err != nil {
		c.index.wake(c)
		return fmt.Errorf("the skill is deleted, but copies in the index are not yet: %w", err)
	}
	return nil
}

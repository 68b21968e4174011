package mesh

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// skillHit is a skill of the compartment from as the audience has it. own is the audience's own compartment.
//
// SECURITY: feedback is kept in the compartment of who gave it, see Skills.Feedback; no other compartment's counts.
func skillHit(from, own *store.Snapshot, state *skill.State) record.SkillHit {
	uses := from.Skills.Uses(state.ID)
	if own.Visibility != from.Visibility {
		uses = slices.Concat(uses, own.Skills.Uses(state.ID))
	}
	return state.Hit(from.Visibility, uses)
}

// allSkills are the skills of list, of which the first is the audience's own compartment.
func allSkills(list []*store.Snapshot) (hits []record.SkillHit) {
	for _, s := range list {
		for _, state := range s.Skills.All() {
			hits = append(hits, skillHit(s, list[0], state))
		}
	}
	return hits
}

// compareNames orders skills by name, without regard to letter case. Compartments may each have a skill of one name; of
// these the one stored first comes first.
func compareNames(a, b record.SkillHit) int {
	return cmp.Or(cmp.Compare(skill.FoldName(a.Name), skill.FoldName(b.Name)), a.Stored().Compare(b.Stored()))
}

// Get returns the skill called id. An id that no compartment of the audience has is a fault, whether another
// one has it or not.
func (k Skills) Get(ctx context.Context, id string) (record.SkillHit, error) {
	stores, _, err := k.view.compartments(ctx)
	if err != nil {
		return record.SkillHit{}, err
	}
	return hitOf(stores, id)
}

// hitOf finds the skill called id in stores, of which the first is the audience's own.
func hitOf(stores []*compartment, id string) (record.SkillHit, error) {
	list, release := snapshots(stores)
	defer release()
	for _, s := range list {
		if state := s.Skills.Find(id); state != nil {
			return skillHit(s, list[0], state), nil
		}
	}
	return record.SkillHit{}, noSkill(id)
}

// SkillList is an answer of List.
type SkillList struct {
	Skills []record.SkillHit
	Total  int // how many there are
}

// List returns at most limit skills (1..MaxLimit; 0 is 10) that the audience may see: the most
// reliable first, then the most used, then by name (RFC-0011 §4.1 listSkills).
func (k Skills) List(ctx context.Context, limit int) (SkillList, error) {
	if err := checkLimit(&limit); err != nil {
		return SkillList{}, err
	}
	stores, _, err := k.view.compartments(ctx)
	if err != nil {
		return SkillList{}, err
	}
	list, release := snapshots(stores)
	defer release()
	hits := allSkills(list)
	slices.SortFunc(hits, func(a, b record.SkillHit) int {
		return cmp.Or(cmp.Compare(b.Reliability, a.Reliability), cmp.Compare(b.UseCount, a.UseCount), compareNames(a, b))
	})
	return SkillList{Skills: hits[:min(limit, len(hits))], Total: len(hits)}, nil
}

// In returns the skills of one compartment that the audience may see, by name. There are none of others.
func (k Skills) In(ctx context.Context, in record.Visibility) ([]record.SkillHit, error) {
	stores, _, err := k.view.compartments(ctx)
	if err != nil {
		return nil, err
	}
	list, release := snapshots(stores)
	defer release()
	hits := slices.DeleteFunc(allSkills(list), func(h record.SkillHit) bool { return h.Visibility != in })
	slices.SortFunc(hits, compareNames)
	return hits, nil
}

// Namesakes returns the skills of other compartments with the name of the one called id: to share a skill makes one. An
// id that no compartment of the audience has is a fault.
func (k Skills) Namesakes(ctx context.Context, id string) ([]record.SkillHit, error) {
	stores, _, err := k.view.compartments(ctx)
	if err != nil {
		return nil, err
	}
	own, err := hitOf(stores, id)
	if err != nil {
		return nil, err
	}
	list, release := snapshots(stores)
	defer release()
	return slices.DeleteFunc(allSkills(list), func(h record.SkillHit) bool {
		return h.ID == id || skill.FoldName(h.Name) != skill.FoldName(own.Name)
	}), nil
}

// checkLimit checks a maximum number of results, and sets the default for 0.
func checkLimit(limit *int) error {
	if *limit == 0 {
		*limit = defaultLimit
	}
	if *limit < 1 || *limit > MaxLimit {
		return fault.New("limit: use a number from 1 to %d", MaxLimit)
	}
	return nil
}

// Feedback records that a skill worked or did not (RFC-0011 §4.1 updateSkillReliability), durably, and
// returns the skill as it is now. Every call counts.
//
// SECURITY: the entry goes into the audience's own ledger, wherever the skill is: how often a DM uses a
// shared skill, and when, is nothing that a group may learn, nor one group of another.
func (k Skills) Feedback(ctx context.Context, id string, success bool) (record.SkillHit, error) {
	stores, _, err := k.view.compartments(ctx)
	if err != nil {
		return record.SkillHit{}, err
	}
	hit, err := hitOf(stores, id)
	if err != nil {
		return record.SkillHit{}, err
	}
	home := hit.Visibility
	err = k.view.write(ctx, k.view.home(), func(s *store.Snapshot, _ time.Time) ([]ledger.Draft, error) {
		if home == k.view.home() && s.Skills.Find(id) == nil {
			return nil, noSkill(id) // deleted meanwhile
		}
		return []ledger.Draft{{
			Op: store.OpSkillFeedback, ID: id,
			Data: skill.Use{Success: success, AgentID: k.view.AgentID},
		}}, nil
	})
	if err != nil {
		return record.SkillHit{}, err
	}
	return k.Get(ctx, id)
}

func noSkill(id string) error {
	return fault.New("id: no skill %q; use an ID from a search or list of skills", id)
}

// Pruned is the result of Prune.
type Pruned struct {
	Skills    []record.SkillHit // that were erased, the least reliable first
	Remaining int               // skills that the audience may see
}

// Prune permanently erases the skills whose reliability is below threshold (0..1) (RFC-0011 §4.1
// pruneSkills): those of the audience's own compartment and, in a DM, the shared ones. A group's skills are
// for the group to prune.
func (k Skills) Prune(ctx context.Context, threshold float64) (Pruned, error) {
	if !(threshold >= 0 && threshold <= 1) {
		return Pruned{}, fault.New("threshold: must be between 0 and 1")
	}
	stores, _, err := k.view.compartments(ctx)
	if err != nil {
		return Pruned{}, err
	}
	var pruned Pruned
	for _, c := range stores {
		// SECURITY: what a DM shared with every group is not one group's to take away.
		if c.Visibility != k.view.home() && !(k.view.Audience.IsDM() && c.Visibility == record.Shared) {
			continue
		}
		// The audience's own feedback about skills of another compartment. It is copied first, because choose runs with a
		// snapshot held, and snapshots must not nest.
		var given map[string][]skill.Use
		if c.Visibility != k.view.home() {
			own := stores[0].Snapshot()
			given = own.Skills.AllUses()
			own.Release()
		}
		gone, err := k.erase(ctx, c.Visibility, func(s *store.Snapshot) (list []record.SkillHit) {
			for _, state := range s.Skills.All() {
				hit := state.Hit(s.Visibility, slices.Concat(s.Skills.Uses(state.ID), given[state.ID]))
				if hit.Reliability < threshold {
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
	list, release := snapshots(stores)
	defer release()
	for _, s := range list {
		pruned.Remaining += s.Skills.Len()
	}
	slices.SortFunc(pruned.Skills, func(a, b record.SkillHit) int {
		return cmp.Or(cmp.Compare(a.Reliability, b.Reliability), compareNames(a, b))
	})
	return pruned, nil
}

// delete is View.Delete for a skill.
func (k Skills) delete(ctx context.Context, id, reason string) error {
	hit, err := k.Get(ctx, id)
	if err != nil {
		return err
	}
	if err := k.view.checkErasable(hit.Visibility, id); err != nil {
		return err
	}
	gone, err := k.erase(ctx, hit.Visibility, func(s *store.Snapshot) []record.SkillHit {
		if state := s.Skills.Find(id); state != nil {
			return []record.SkillHit{{Skill: state.Skill}}
		}
		return nil
	}, func(record.SkillHit) string { return k.view.reasonIn(hit.Visibility, reason) })
	if err == nil && len(gone) == 0 {
		return noSkill(id) // another process was faster
	}
	if err == nil {
		k.view.noteReason(ctx, hit.Visibility, id, reason)
	}
	return err
}

// erase erases what choose picks in a compartment, under its ledger's lock, with the feedback on it in
// the audience's own compartment, and takes it off the disk.
func (k Skills) erase(
	ctx context.Context, name record.Visibility,
	choose func(*store.Snapshot) []record.SkillHit, reason func(record.SkillHit) string,
) ([]record.SkillHit, error) {
	var gone []record.SkillHit
	err := k.view.erase(ctx, name, func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
		gone = choose(s)
		return k.view.skillDeletions(gone, reason, now), nil
	})
	if err != nil || len(gone) == 0 || name == k.view.home() {
		return gone, err
	}
	return gone, k.view.withCompartment(ctx, k.view.home(), func(own *compartment) error {
		return own.Erase(ctx, func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
			used := slices.DeleteFunc(slices.Clone(gone), func(h record.SkillHit) bool { return len(s.Skills.Uses(h.ID)) == 0 })
			return k.view.skillDeletions(used, reason, now), nil
		})
	})
}

// skillDeletions returns the entries that erase skills: RFC-0011 §3's block names the reason, and the ledger removes
// the texts.
func (v *View) skillDeletions(
	hits []record.SkillHit, reason func(record.SkillHit) string, now time.Time,
) []ledger.Draft {
	drafts := make([]ledger.Draft, len(hits))
	for i, hit := range hits {
		drafts[i] = v.deletion(hit.ID, reason(hit), "", now)
	}
	return drafts
}

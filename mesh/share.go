package mesh

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Whole returns the memory as those see it who may read it: every field, in words. See record.Memory.
func (s Scrubbed) Whole() string { return s.record.Whole() }

// Parts returns the texts of the memory.
func (s Scrubbed) Parts() []string { return s.record.Parts() }

// Preview returns the skill that Ingest would keep, without an id and a time.
func (k Skills) Preview(q SkillRequest) (*record.Skill, error) {
	return intake.New(k.view.scrubber).Skill(q.Text, q.Type, q.Source)
}

// When a text has the words of another one. A text of few words must have all of them.
const (
	disclosedShare = .7 // of the content words of either
	disclosedLeast = 3  // words that both must have, unless it is all of them
	disclosedAll   = 2  // words that are enough if it is all of the private text
)

// Discloses returns the ID of a memory, or the place in a workspace file, that is not for groups and most of whose
// words are in parts, or that has most of the words of one of them; "" for none. In a group there is none.
//
// SECURITY: it is what a caller's word does not suffice for. All fields count together and each for itself, so that
// neither a full stop nor another field hides a private memory.
func (v *View) Discloses(ctx context.Context, parts []string) (string, error) {
	if !v.Audience.IsDM() {
		return "", nil
	}
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return "", err
	}
	among, _, err := v.files.Join(ctx, v.sources(stores), false, 0)
	if err != nil {
		return "", err
	}
	sets := []map[string]bool{terms(strings.Join(parts, "\n"))}
	for _, part := range parts {
		sets = append(sets, terms(part))
	}
	for _, source := range among {
		if source.Projection.Visibility == record.Shared {
			continue
		}
		s := source.Projection.Snapshot()
		found := ""
		for _, r := range s.Scan() {
			if isPublic(r) || !discloses(sets, r) {
				continue
			}
			if found = r.ID; r.Type == record.FileType {
				found = r.Source
			}
			break
		}
		s.Release()
		if found != "" {
			return found, nil
		}
	}
	return "", nil
}

// isPublic reports whether r is a passage of a file that groups read.
func isPublic(r *record.Record) bool {
	name, _, _ := strings.Cut(r.Source, "#")
	return r.Type == record.FileType && publicFiles[name]
}

// publicFiles are the workspace's files that a group reads, as the access matrix has them.
var publicFiles = map[string]bool{"AGENTS.md": true, "SOUL.md": true, "IDENTITY.md": true}

// discloses reports whether one of the sets of stems has most of r's, or the other way round.
func discloses(sets []map[string]bool, r *record.Record) bool {
	private := terms(r.Content)
	for _, set := range sets {
		shared := 0
		for stem := range private {
			if set[stem] {
				shared++
			}
		}
		least := float64(min(len(private), len(set)))
		switch {
		case shared == 0:
		case shared == len(private) && shared >= disclosedAll, shared == len(private) && shared == len(set):
			return true
		case shared >= disclosedLeast && float64(shared) >= disclosedShare*least:
			return true
		}
	}
	return false
}

// Sharing is a memory or a skill that every group can read, and which groups' searches have found it.
type Sharing struct {
	Memory *record.Record // nil for a skill
	Skill  *record.Skill  // nil for a memory
	Seen   []Sighted      // by group; of a skill, always empty
}

// Sighted is a group whose searches found a shared memory.
type Sighted struct {
	Group string
	record.Accesses
}

// Shared returns everything that the memory lets every group read, oldest first: memories, those that are past too,
// lessons, then skills. In a group there is none.
func (v *View) Shared(ctx context.Context) (list []Sharing, err error) {
	if !v.Audience.IsDM() {
		return nil, nil
	}
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	all, release := snapshots(stores)
	defer release()
	var groups []*store.Snapshot
	for _, s := range all {
		if s.Visibility.Group() != "" {
			groups = append(groups, s)
		}
	}
	for _, s := range all {
		if s.Visibility != record.Shared {
			continue
		}
		for r := range s.Memories() {
			item := Sharing{Memory: r}
			for _, group := range groups {
				if a := group.Accesses(r.ID); a.Count > 0 {
					item.Seen = append(item.Seen, Sighted{group.Visibility.Group(), a})
				}
			}
			list = append(list, item)
		}
		skills := s.Skills.All()
		slices.SortFunc(skills, func(a, b *skill.State) int { return cmp.Compare(a.Seq, b.Seq) })
		for _, state := range skills {
			list = append(list, Sharing{Skill: state.Skill})
		}
	}
	return list, nil
}

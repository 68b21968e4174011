package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
)

// skillVectors are the vectors of a compartment's skills, by the text that was embedded. There are few, so all are in
// memory; on disk they are in synthesized_skills only.
type skillVectors struct {
	mu     sync.RWMutex
	byText map[string][]float32
	loaded bool // the table was read
}

func newSkillVectors() *skillVectors { return &skillVectors{byText: map[string][]float32{}} }

// clear removes all vectors, and keeps them from being read from the table again.
func (s *skillVectors) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byText, s.loaded = map[string][]float32{}, true
}

// get returns the vector of a skill's text, nil if it has none yet.
func (s *skillVectors) get(text string) []float32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byText[text]
}

// put keeps the vectors of the texts.
func (s *skillVectors) put(texts []string, vectors [][]float32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, text := range texts {
		s.byText[text] = vectors[i]
	}
}

// keep removes the vectors of texts that are not wanted.
func (s *skillVectors) keep(wanted map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for text := range s.byText {
		if !wanted[text] {
			delete(s.byText, text)
		}
	}
}

// loadSkills reads the vectors in the table, once. A table that cannot be read, or is of another model, is no error,
// because the vectors can be made again.
func (ix *Index) loadSkills(ctx context.Context) error {
	ix.skills.mu.RLock()
	loaded := ix.skills.loaded
	ix.skills.mu.RUnlock()
	if loaded {
		return nil
	}
	var texts []string
	var vectors [][]float32
	for row, err := range ix.Tables.Skills(ctx, true) {
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		if _, other := errors.AsType[*lance.ModelError](err); other {
			break
		}
		if err != nil {
			ix.log.Warn("vectors of skills cannot be read from the index; making them again", "error", err)
			break
		}
		texts = append(texts, skill.Meaning(row.Intent))
		vectors = append(vectors, row.Vector)
	}
	ix.skills.put(texts, vectors)
	ix.skills.mu.Lock()
	ix.skills.loaded = true
	ix.skills.mu.Unlock()
	return nil
}

// SkillVector returns the vector of a skill of that intent, nil if it has not been made yet.
func (ix *Index) SkillVector(intent string) []float32 { return ix.skills.get(skill.Meaning(intent)) }

// EmbedSkills gives every skill its vector. It needs no lock: two callers at once make the same vectors.
func (ix *Index) EmbedSkills(ctx context.Context) error {
	missing, err := ix.missingSkills(ctx)
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(missing, EmbedBatch) {
		vectors, err := Embed(ctx, ix.embedder, "skills", batch)
		if err != nil {
			return err
		}
		ix.skills.put(batch, vectors)
	}
	return nil
}

// RecallSkills reads the vectors that skills have, and leaves those that must be made to the background work.
func (ix *Index) RecallSkills(ctx context.Context) error {
	missing, err := ix.missingSkills(ctx)
	if len(missing) > 0 {
		ix.Wake()
	}
	return err
}

// missingSkills returns the texts of skills without a vector, after it has read the table.
func (ix *Index) missingSkills(ctx context.Context) (missing []string, err error) {
	states := ix.skillStates()
	if len(states) == 0 {
		return nil, nil
	}
	if err := ix.loadSkills(ctx); err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, s := range states {
		if text := skill.Meaning(s.Intent); !wanted[text] {
			wanted[text] = true
			if ix.skills.get(text) == nil {
				missing = append(missing, text)
			}
		}
	}
	// The intent of a deleted or replaced skill must not stay in memory with its vector.
	ix.skills.keep(wanted)
	return missing, nil
}

// flushSkills makes synthesized_skills hold exactly the skills that have a vector, and reports whether a deleted
// skill was removed. The table is compared row by row only if the skills have changed since, or the number of rows
// differs, which another process may have caused. The caller holds the index lock.
func (ix *Index) flushSkills(ctx context.Context) (erased bool, err error) {
	defer func() {
		if err != nil {
			ix.skillsAt = -1
		}
	}()
	state, want, err := ix.skillRows()
	if err != nil {
		return false, err
	}
	rows, err := ix.Tables.SkillCount(ctx)
	if err != nil || rows == len(want) && ix.skillsAt == state {
		return false, err
	}
	var stale []string
	for row, err := range ix.Tables.Skills(ctx, false) {
		if err != nil {
			return false, err
		}
		now, ok := want[row.ID]
		if ok && now.Name == row.Name && now.Intent == row.Intent && now.Text == row.Text && now.Metadata == row.Metadata {
			delete(want, row.ID)
			continue
		}
		// Deleted and written again, as memories are: an update in place would need escaping that lancedb-go does not do.
		stale = append(stale, row.ID)
		erased = erased || !ix.hasSkill(row.ID)
	}
	if err := ix.Tables.DeleteSkills(ctx, stale); err != nil {
		return false, err
	}
	fresh := make([]lance.Skill, 0, len(want))
	for _, row := range want {
		fresh = append(fresh, row)
	}
	// In a fixed order, so that equal ledgers give equal tables.
	slices.SortFunc(fresh, func(a, b lance.Skill) int { return strings.Compare(a.ID, b.ID) })
	if err := ix.Tables.AddSkills(ctx, fresh); err != nil {
		return erased, err
	}
	ix.skillsAt = state
	return erased, nil
}

// skillStates returns the compartment's skills as they are now.
func (ix *Index) skillStates() []*skill.State {
	s := ix.c.Snapshot()
	defer s.Release()
	return s.Skills.All()
}

// hasSkill reports whether the compartment still has the skill called id.
func (ix *Index) hasSkill(id string) bool {
	s := ix.c.Snapshot()
	defer s.Release()
	return s.Skills.Find(id) != nil
}

// skillRows returns the rows that the table should have, by id, and the number of changes of the skills they are from.
func (ix *Index) skillRows() (state int, rows map[string]lance.Skill, err error) {
	s := ix.c.Snapshot()
	defer s.Release()
	state = s.Skills.Changes()
	rows = map[string]lance.Skill{}
	for _, k := range s.Skills.All() {
		v := ix.skills.get(skill.Meaning(k.Intent))
		if v == nil {
			continue
		}
		meta, err := json.Marshal(metadataOf(k.Hit(s.Visibility, s.Skills.Uses(k.ID))))
		if err != nil {
			return 0, nil, fmt.Errorf("metadata of %s: %w", k.ID, err)
		}
		rows[k.ID] = lance.Skill{
			ID: k.ID, Name: k.Name, Intent: k.Intent, Text: k.Text, Vector: v, Metadata: string(meta), CreatedAt: k.CreatedAt,
		}
	}
	return state, rows, nil
}

// skillMetadata is the metadata of a row (RFC-0011 §2.4), with the fields of a skill that have no column.
type skillMetadata struct {
	Reliability float64    `json:"reliability"`
	UseCount    int        `json:"use_count"`
	LastUsed    *time.Time `json:"last_used"` // null: never
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at,omitzero"`
	Description string     `json:"description,omitempty"`
	Tags        []string   `json:"tags,omitempty"`
	Type        string     `json:"type,omitempty"`
	Source      string     `json:"source,omitempty"`
	AgentID     string     `json:"agent_id,omitempty"`
}

// metadataOf returns the metadata of a skill's row (RFC-0011 §2.4).
func metadataOf(h record.SkillHit) skillMetadata {
	m := skillMetadata{
		Reliability: h.Reliability, UseCount: h.UseCount, CreatedAt: h.CreatedAt, UpdatedAt: h.UpdatedAt,
		Description: h.Description, Tags: h.Tags, Type: h.Type, Source: h.Source, AgentID: h.AgentID,
	}
	if !h.LastUsed.IsZero() {
		m.LastUsed = &h.LastUsed
	}
	return m
}

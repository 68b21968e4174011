package mesh

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

// skillVectors are the vectors of a compartment's skills, by the text that was embedded. There are few, so
// they are in memory; their durable home is synthesized_skills.
type skillVectors struct {
	mu     sync.RWMutex
	of     map[string][]float32
	loaded bool // what the table had is there
}

func newSkillVectors() *skillVectors { return &skillVectors{of: map[string][]float32{}} }

// clear forgets all, and does not take them from the table again.
func (s *skillVectors) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of, s.loaded = map[string][]float32{}, true
}

func (s *skillVectors) get(text string) []float32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.of[text]
}

func (s *skillVectors) put(texts []string, vectors [][]float32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, text := range texts {
		s.of[text] = vectors[i]
	}
}

// keep forgets the vectors of texts that no skill has any more.
func (s *skillVectors) keep(wanted map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for text := range s.of {
		if !wanted[text] {
			delete(s.of, text)
		}
	}
}

// load takes in what the table has, once. A table that cannot be read costs time, not answers: the vectors
// are made again. Only another model's is an error.
func (ix *index) loadSkills(ctx context.Context) error {
	ix.skills.mu.RLock()
	loaded := ix.skills.loaded
	ix.skills.mu.RUnlock()
	if loaded {
		return nil
	}
	var texts []string
	var vectors [][]float32
	for row, err := range ix.tables.Skills(ctx, true) {
		if _, other := errors.AsType[*lance.ModelError](err); other || ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
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

// embedSkills gives every skill of c its vector. It needs no lock: the same text has the same vector.
func (ix *index) embedSkills(ctx context.Context, c *compartment) error {
	states := c.skillStates()
	if len(states) == 0 {
		return nil
	}
	if err := ix.loadSkills(ctx); err != nil {
		return err
	}
	wanted, missing := map[string]bool{}, []string(nil)
	for _, s := range states {
		if text := skill.Meaning(s.Intent); !wanted[text] {
			wanted[text] = true
			if ix.skills.get(text) == nil {
				missing = append(missing, text)
			}
		}
	}
	for batch := range slices.Chunk(missing, embedBatch) {
		vectors, err := ix.embedder.Embed(ctx, batch)
		if err != nil {
			return fmt.Errorf("embed skills: %w", err)
		}
		if len(vectors) != len(batch) {
			return fmt.Errorf("embed skills: %d vectors for %d texts", len(vectors), len(batch))
		}
		ix.skills.put(batch, vectors)
	}
	ix.skills.keep(wanted)
	return nil
}

// flushSkills makes synthesized_skills hold exactly the skills that have a vector, and reports whether one
// was taken out for good. The caller holds the index lock.
func (ix *index) flushSkills(ctx context.Context, c *compartment) (erased bool, err error) {
	defer func() {
		if err != nil {
			ix.skillsAt = -1
		}
	}()
	state, want, err := ix.skillRows(c)
	if err != nil {
		return false, err
	}
	rows, err := ix.tables.SkillCount(ctx)
	if err != nil || rows == len(want) && ix.skillsAt == state {
		return false, err
	}
	var stale []string
	for row, err := range ix.tables.Skills(ctx, false) {
		if err != nil {
			return false, err
		}
		now, ok := want[row.ID]
		if ok && now.Name == row.Name && now.Intent == row.Intent && now.Text == row.Text && now.Metadata == row.Metadata {
			delete(want, row.ID)
			continue
		}
		stale = append(stale, row.ID)
		erased = erased || c.skill(row.ID) == nil
	}
	if err := ix.tables.DeleteSkills(ctx, stale); err != nil {
		return false, err
	}
	fresh := make([]lance.Skill, 0, len(want))
	for _, row := range want {
		fresh = append(fresh, row)
	}
	slices.SortFunc(fresh, func(a, b lance.Skill) int { return strings.Compare(a.ID, b.ID) })
	if err := ix.tables.AddSkills(ctx, fresh); err != nil {
		return erased, err
	}
	ix.skillsAt = state
	return erased, nil
}

// skillRows are the rows that the table should have, by id, and the state of the skills they show.
func (ix *index) skillRows(c *compartment) (state int, rows map[string]lance.Skill, err error) {
	c.mu.RLock()
	state = c.skills.Changes()
	c.mu.RUnlock()
	rows = map[string]lance.Skill{}
	for _, s := range c.skillStates() {
		v := ix.skills.get(skill.Meaning(s.Intent))
		if v == nil {
			continue
		}
		meta, err := json.Marshal(metadataOf(skillHit(c, c, s)))
		if err != nil {
			return 0, nil, fmt.Errorf("metadata of %s: %w", s.ID, err)
		}
		rows[s.ID] = lance.Skill{ID: s.ID, Name: s.Name, Intent: s.Intent, Text: s.Text, Vector: v, Metadata: string(meta), CreatedAt: s.CreatedAt}
	}
	return state, rows, nil
}

// skillMetadata is the metadata of a row (RFC-0011 §2.4), and what of a skill has no column.
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

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

// SkillVector returns the vector of a skill of that intent, nil if there is none yet.
func (ix *Index) SkillVector(intent string) []float32 { return ix.skills.get(skill.Meaning(intent)) }

// EmbedSkills gives every skill its vector. It needs no lock: the same text has the same vector.
func (ix *Index) EmbedSkills(ctx context.Context) error {
	states := ix.skillStates()
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
	for batch := range slices.Chunk(missing, EmbedBatch) {
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
	slices.SortFunc(fresh, func(a, b lance.Skill) int { return strings.Compare(a.ID, b.ID) })
	if err := ix.Tables.AddSkills(ctx, fresh); err != nil {
		return erased, err
	}
	ix.skillsAt = state
	return erased, nil
}

func (ix *Index) skillStates() []*skill.State {
	s := ix.c.Snapshot()
	defer s.Release()
	return s.Skills.All()
}

func (ix *Index) hasSkill(id string) bool {
	s := ix.c.Snapshot()
	defer s.Release()
	return s.Skills.Find(id) != nil
}

// skillRows are the rows that the table should have, by id, and the state of the skills they show.
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

package tools

import (
	"context"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// stats is the result of my_stats, with the names of seed 002, phase 10.8.
type stats struct {
	SessionsTotal      int        `json:"sessions_total"`
	MemoriesStored     int        `json:"memories_stored"`
	MemoriesPromoted   int        `json:"memories_promoted"`
	LastDreamTS        int64      `json:"last_dream_ts"`
	RecallEvents7d     int        `json:"recall_events_7d"`
	TopConceptTags7d   []tagCount `json:"top_concept_tags_7d"`
	WorkspaceFilesSeen []string   `json:"workspace_files_present"`
}

func (stats) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"sessions_total":          "Session logs that session_logs can read; 0 without a transcripts folder.",
		"memories_stored":         "Memories and lessons that memory_search can find.",
		"memories_promoted":       "Items that dreaming added to MEMORY.md.",
		"last_dream_ts":           "Time of the last promotion, Unix seconds; 0: never.",
		"recall_events_7d":        "Memory searches in the last 7 days.",
		"top_concept_tags_7d":     "Most used tags of memories stored in the last 7 days, up to 10.",
		"workspace_files_present": "Workspace files that this audience may see.",
	})
}

// tagCount is a tag and the number of memories that have it.
type tagCount struct {
	Tag   string `json:"tag"`
	Count int    `json:"count"`
}

const (
	statsDays = 7
	maxTags   = 10
)

// MyStats is the tool my_stats (seed 002, phase 10.8). logs may be nil. Each view counts only what its audience may
// see, so a group's numbers tell it nothing about private memories.
func MyStats(v *workspace.View, memory *mesh.View, logs *transcript.View) Tool {
	return Define(Spec{
		Name:        "my_stats",
		Title:       "My statistics",
		Description: "Counts of sessions, memories, recalls and tags, and the workspace files.",
		ReadOnly:    true,
		Idempotent:  true,
	}, func(ctx context.Context, _ nothing) (stats, error) {
		s := stats{TopConceptTags7d: []tagCount{}, WorkspaceFilesSeen: v.Present()}
		var err error
		// Nil: the operator named no transcripts folder.
		if logs != nil {
			if s.SessionsTotal, err = logs.Count(ctx); err != nil {
				return stats{}, err
			}
		}
		held, err := memory.Stats(ctx)
		if err != nil {
			return stats{}, err
		}
		s.MemoriesStored = held.Memories
		activity, err := memory.Activity(ctx, v.Now().AddDate(0, 0, -statsDays))
		if err != nil {
			return stats{}, err
		}
		s.RecallEvents7d = activity.Recalls
		for _, tag := range activity.Tags[:min(len(activity.Tags), maxTags)] {
			s.TopConceptTags7d = append(s.TopConceptTags7d, tagCount(tag))
		}
		promoted, last, err := v.Dreamed()
		if err != nil {
			return stats{}, err
		}
		s.MemoriesPromoted = promoted
		// The zero time would be -62135596800 Unix seconds; seed 002 has 0 for never.
		if !last.IsZero() {
			s.LastDreamTS = last.Unix()
		}
		return s, nil
	})
}

package meshcmd

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/screen"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// statistics is the answer of stats (RFC-0011 §4.1 stats).
type statistics struct {
	Memories int    `json:"total_memories"`
	Skills   int    `json:"total_skills"`
	Path     string `json:"db_path"`
	Status   string `json:"status"`

	*overview
}

// overview is what a person also wants to know.
type overview struct {
	Compartments map[record.Visibility]int `json:"compartments"`
	Types        map[string]int            `json:"types"`
	Past         int                       `json:"past"`     // that were replaced or retired
	Searches     int                       `json:"searches"` // in the last 30 days
	Tags         []mesh.TagCount           `json:"tags"`     // of the last 30 days, the most used first
	First        time.Time                 `json:"first,omitzero"`
	Last         time.Time                 `json:"last,omitzero"`
	Bytes        int64                     `json:"bytes,omitempty"` // on disk; only for the operator and a DM

	weeks [12]int // memories stored in each of the last weeks, the latest last
}

const month = 30 * 24 * time.Hour

// newStats returns `yamo-mcp mesh stats` in the form of RFC-0011 §9, or `yamo-mcp stats`.
func (m *command) newStats() *cobra.Command {
	cmd := &cobra.Command{Use: "stats", Short: "Show the number of memories and skills"}
	if m.person {
		cmd.Short = "Show how much is remembered: by kind, reader and week"
	}
	return m.command(cmd, func(ctx context.Context, memory *mesh.View, _ []string) error {
		counted, err := memory.Stats(ctx)
		if err != nil {
			return err
		}
		answer := statistics{Memories: counted.Memories, Skills: counted.Skills, Path: counted.Path, Status: "disconnected"}
		// RFC-0011 §9's words. Connected means that LanceDB's tables can be read.
		if counted.Connected {
			answer.Status = "connected"
		}
		if m.person {
			if answer.overview, err = m.overview(ctx, memory, time.Now()); err != nil {
				return err
			}
		}
		return m.answer(answer, fmt.Sprintf(`[MemoryMesh] Total Memories: %d
[MemoryMesh] Total Skills: %d
[MemoryMesh] DB Path: %s
[MemoryMesh] Status: %s
`, answer.Memories, answer.Skills, answer.Path, answer.Status), func(s *screen.Screen) { showStats(s, answer) })
	})
}

// overview counts what the audience can read.
func (m *command) overview(ctx context.Context, memory *mesh.View, now time.Time) (*overview, error) {
	hits, err := memory.All(ctx, 0)
	if err != nil {
		return nil, err
	}
	active, err := memory.Activity(ctx, now.Add(-month))
	if err != nil {
		return nil, err
	}
	o := &overview{
		Compartments: map[record.Visibility]int{}, Types: map[string]int{}, Searches: active.Recalls, Tags: active.Tags,
	}
	for _, h := range hits {
		o.Compartments[h.Visibility]++
		o.Types[h.Type]++
		if h.Past != nil {
			o.Past++
		}
		if week := int(now.Sub(h.CreatedAt) / (7 * 24 * time.Hour)); week >= 0 && week < len(o.weeks) {
			o.weeks[len(o.weeks)-1-week]++
		}
	}
	if len(hits) > 0 {
		o.First, o.Last = hits[0].CreatedAt, hits[len(hits)-1].CreatedAt
	}
	// SECURITY: the size of what others keep is not a group's to know.
	if memory.Audience.IsDM() {
		o.Bytes = sizeOf(filepath.Join(m.Config.Workspace, session.MemoryFolder))
	}
	return o, nil
}

// sizeOf returns the bytes of the files below dir, as far as they can be read.
func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			if info, err := entry.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}

// showStats writes the numbers for a person.
func showStats(s *screen.Screen, a statistics) {
	o := a.overview
	fact(s, "memories", fmt.Sprint(a.Memories))
	for _, v := range slices.SortedFunc(maps.Keys(o.Compartments), func(a, b record.Visibility) int {
		return cmp.Or(cmp.Compare(o.Compartments[b], o.Compartments[a]), cmp.Compare(a, b))
	}) {
		fact(s, "", fmt.Sprintf("%6d %s: readable by %s", o.Compartments[v], v, readers(v)))
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(o.Types)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", o.Types[kind], kind))
	}
	fact(s, "kinds", strings.Join(kinds, ", "))
	if o.Past > 0 {
		fact(s, "not current", fmt.Sprintf("%d, replaced or retired", o.Past))
	}
	fact(s, "skills", fmt.Sprint(a.Skills))
	if a.Memories > 0 {
		fact(s, "stored", fmt.Sprintf("from %s to %s", s.Day(o.First), s.Day(o.Last)))
		fact(s, "12 weeks", bars(o.weeks[:]))
	}
	fact(s, "searches", fmt.Sprintf("%d in the last 30 days", o.Searches))
	var tags []string
	for _, t := range o.Tags[:min(10, len(o.Tags))] {
		tags = append(tags, fmt.Sprintf("%s (%d)", t.Tag, t.Count))
	}
	fact(s, "new tags", strings.Join(tags, ", "))
	if o.Bytes > 0 {
		size, unit := float64(o.Bytes)/1e3, "kB"
		if size >= 1e3 {
			size, unit = size/1e3, "MB"
		}
		fact(s, "on disk", fmt.Sprintf("%.1f %s", size, unit))
	}
	if a.Status != "connected" {
		s.Put(s.In(screen.Caution, "The search index cannot be read: yamo-mcp doctor finds out why.") + "\n")
	}
}

// bars returns numbers as a line of bars of different heights, and the numbers.
func bars(numbers []int) string {
	const heights = " ▁▂▃▄▅▆▇█"
	signs := []rune(heights)
	most := max(1, slices.Max(numbers))
	var line strings.Builder
	for _, n := range numbers {
		line.WriteRune(signs[(n*(len(signs)-1)+most-1)/most])
	}
	return fmt.Sprintf("|%s| %d this week, at most %d", line.String(), numbers[len(numbers)-1], slices.Max(numbers))
}

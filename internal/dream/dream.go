// Package dream turns what is recalled often into curated memory (seed 002): a sweep promotes memories that
// searches of direct conversations found often and on several days into MEMORY.md, and keeps a diary in DREAMS.md.
//
// Its invariant: a memory is promoted once, however often a sweep runs or is killed, and none that came from a
// group, is another's words or reads like an instruction, a permission or a claim about the agent is promoted without a
// person's confirmation. What was promoted is
// known from the record of edits, which is on disk before MEMORY.md changes: there is no second list that could
// disagree with it.
package dream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Default thresholds of a candidate. docs/dreaming.md has the reasons.
const (
	DefaultScore = 0.35
	DefaultHits  = 4
	DefaultDays  = 2
)

const (
	// Window is the number of days back for which recalls count.
	Window = 30
	// MaxPromoted is the maximum number of memories that one sweep promotes without confirmation: MEMORY.md, which
	// every session reads, grows slowly.
	MaxPromoted = 10
)

// Thresholds are the minimum values of a candidate.
type Thresholds struct {
	Score float64 // 0 to 1, see Score
	Hits  int     // searches that recalled it within the Window
	Days  int     // days (UTC) on which it was recalled
}

// Options are a Sweeper's settings, all required.
type Options struct {
	Memory     *mesh.View
	Workspace  *workspace.View // of the same DM
	Editor     *edit.Editor
	Dir        string // the workspace's .yamo folder
	AgentID    string // the actor of the sweep's edits
	Thresholds Thresholds
}

// Sweeper makes sweeps. It is safe for concurrent use, in this and other processes.
type Sweeper struct {
	Options

	decided decided
}

// Open returns a sweeper. It touches no file. For a group the error is fs.ErrNotExist.
func Open(o Options) (*Sweeper, error) {
	// SECURITY: what is promoted is private, and so is where it is promoted to.
	if !o.Workspace.Audience().IsDM() || !o.Memory.Audience.IsDM() {
		return nil, fmt.Errorf("open the dreams: %w", fs.ErrNotExist)
	}
	return &Sweeper{Options: o}, nil
}

// Swept is the result of a sweep.
type Swept struct {
	Plan
	EventID string `json:"event_id,omitempty"` // of the edit of MEMORY.md; "" if nothing was promoted
}

// Sweep promotes the candidates, and writes the diary of this sweep and of any that was interrupted. confirmed are
// the ids of held candidates that a person wants promoted; one that is no candidate is a fault. When Sweep returns,
// both files are on disk. If nothing is promoted, only the diary is written, and only if a candidate is held that would
// replace what MEMORY.md has and was not in the diary yet.
func (s *Sweeper) Sweep(ctx context.Context, confirmed []string) (swept Swept, err error) {
	if err := s.Editor.Recover(ctx); err != nil {
		return Swept{}, err
	}
	past, err := s.history(ctx)
	if err != nil {
		return Swept{}, err
	}
	swept.Plan, err = s.plan(ctx, past, confirmed, nil)
	if err != nil || swept.changesNothing() && len(past.undescribed) == 0 && len(swept.untold(past)) == 0 {
		return swept, err
	}
	release, err := s.lock(ctx)
	if err != nil {
		return Swept{}, err
	}
	defer func() { err = errors.Join(err, release()) }()
	// Plan again: another process may have promoted something before the lock was taken.
	if past, err = s.history(ctx); err != nil {
		return Swept{}, err
	}
	for _, event := range past.undescribed {
		if err := s.writeDiary(ctx, event, past.told); err != nil {
			return Swept{}, err
		}
	}
	if swept.Plan, err = s.plan(ctx, past, confirmed, nil); err != nil {
		return swept, err
	}
	if len(swept.Promote) == 0 { // otherwise the diary of what is promoted tells it
		if err := s.tell(ctx, swept.untold(past)); err != nil {
			return Swept{}, err
		}
	}
	if swept.changesNothing() {
		return swept, nil
	}
	err = s.Workspace.Together(ctx, func(ctx context.Context) (workspace.Note, error) {
		var last edit.Event
		if len(swept.Promote) > 0 {
			event, err := s.promote(ctx, swept.Plan)
			if err != nil {
				return workspace.Note{}, err
			}
			swept.EventID, last = event.ID, event
			if err := s.writeDiary(ctx, event, past.told); err != nil {
				return swept.note(event), err
			}
		}
		var err error
		if len(swept.Retire) > 0 {
			last, err = s.archive(ctx, swept.Plan, last)
		}
		if err == nil && len(swept.Emptied) > 0 {
			last, err = s.tidy(ctx, swept.Emptied, last)
		}
		return swept.note(last), err
	})
	if err != nil && swept.EventID == "" {
		return Swept{}, err
	}
	return swept, err
}

// Reject records that the owner wants none of the memories called ids in MEMORY.md: no sweep offers them again, though
// the owner can still confirm them. One that is no candidate is a fault, and then nothing is recorded.
func (s *Sweeper) Reject(ctx context.Context, ids []string) error {
	past, err := s.history(ctx)
	if err != nil {
		return err
	}
	plan, err := s.plan(ctx, past, nil, ids)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, list := range [][]Candidate{plan.Promote, plan.Held, plan.Left} {
		for _, c := range list {
			known[c.ID] = true
		}
	}
	for _, id := range ids {
		if !known[id] {
			return fault.New("reject: %s is not a candidate, or was promoted already; "+
				"yamo-mcp dream --review lists the candidates", id)
		}
	}
	_, err = s.Editor.Dismiss(ctx, workspace.MemoryFile, ids, operator)
	return err
}

// operator is the actor of what only a person decides.
const operator = "operator"

// archive makes the edits that move items of earlier sweeps to the archive. They are there before they are gone from
// their sections, so that a sweep that is killed in between loses nothing. A section that the owner has pinned stays.
// begun is the sweep's first edit, which the others cite, so that Undo finds them; without an ID the first of these is.
func (s *Sweeper) archive(ctx context.Context, p Plan, begun edit.Event) (last edit.Event, err error) {
	add, sections := p.retirements()
	q, err := s.following(begun)
	if err != nil {
		return edit.Event{}, err
	}
	add.Evidence = q.Evidence
	q.File, q.Edit, q.Unique = workspace.MemoryFile, add, true
	done, err := s.Editor.Edit(ctx, q)
	if _, ok := fault.As(err); err != nil && !ok {
		return edit.Event{}, err
	}
	last = done.Event
	if begun.ID == "" {
		begun = last
	}
	for _, section := range sections {
		q, err := s.following(begun)
		if err != nil {
			return last, err
		}
		q.File, q.Retire = workspace.MemoryFile, section.items
		q.Op, q.Section, q.Rationale = grammar.CurateItems, section.name, section.why
		done, err := s.Editor.Edit(ctx, q)
		if _, ok := fault.As(err); ok {
			continue
		}
		if err != nil {
			return last, err
		}
		last = done.Event
	}
	return last, nil
}

// following returns the request for an edit of the sweep that made the edit before, the zero value for none: it cites
// the sweep's first edit, so that Undo finds it. The caller adds the file and the edit.
func (s *Sweeper) following(before edit.Event) (edit.Request, error) {
	q := edit.Request{Actor: s.AgentID, Origin: edit.Origin{Source: edit.FromSweep}}
	if before.ID == "" {
		return q, nil
	}
	token, err := grammar.ParseToken(cmp.Or(begunBy(before), before.ID))
	if err != nil {
		return q, fmt.Errorf("cite the sweep: %w", err)
	}
	q.Evidence = []grammar.Token{token}
	return q, nil
}

// tidy removes headings of earlier sweeps below which a person has left nothing. One that is pinned stays. last is the
// sweep's last edit, the zero value for none; tidy returns the last one then. Its edits cite the first, so that Undo
// finds them.
func (s *Sweeper) tidy(ctx context.Context, headings []string, last edit.Event) (edit.Event, error) {
	for _, heading := range headings {
		q, err := s.following(last)
		if err != nil {
			return last, err
		}
		q.Section, q.Rationale = heading, "dreaming: nothing is left below the heading"
		done, err := s.Editor.Tidy(ctx, q)
		if _, ok := fault.As(err); ok {
			continue
		}
		if err != nil {
			return last, err
		}
		last = done.Event
	}
	return last, nil
}

// promote makes the edit of MEMORY.md.
func (s *Sweeper) promote(ctx context.Context, p Plan) (edit.Event, error) {
	q := edit.Request{File: workspace.MemoryFile, Edit: p.edit(), Actor: s.AgentID, Origin: p.origin()}
	for _, c := range p.Promote {
		q.Refs = append(q.Refs, c.ID)
	}
	done, err := s.Editor.Edit(ctx, q)
	return done.Event, err
}

// lockTimeout is how long a sweep waits for another one.
const lockTimeout = 10 * time.Second

// lock keeps other processes from promoting.
func (s *Sweeper) lock(ctx context.Context) (release func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	release, err = lockfile.Exclusive(ctx, filepath.Join(s.Dir, "locks", "dream.lock"))
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fault.New("another dreaming sweep is running; try again in a minute")
	}
	return release, err
}

// Package heartbeat runs the periodic work of a DM (RFC-0009 §2.7, §2.9): it knows which checks are due, and does the
// two that need no agent, the wisdom distillation cycle and a dreaming sweep. There is no daemon: a beat runs when a
// session asks what is due.
//
// Its invariant: when a check was last done is known from memory/heartbeat-state.json only, which all processes
// share and a person can edit.
package heartbeat

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// The checks that a beat does itself, with their intervals.
const (
	DistillCheck    = "distill_lessons"
	DistillInterval = 6 * time.Hour // RFC-0011 §8.1: two to four times a day

	DreamCheck = "dream"
	// DreamInterval is less than a day, so that a nightly beat that begins a little earlier than the last one sweeps.
	DreamInterval = 20 * time.Hour
)

// ownIntervals are the intervals of the checks that a beat does itself, whatever HEARTBEAT.md says.
var ownIntervals = map[string]time.Duration{DistillCheck: DistillInterval, DreamCheck: DreamInterval}

// Heartbeat runs the beats of one DM.
type Heartbeat struct {
	Workspace *workspace.View
	Memory    *mesh.View     // of the same DM
	Dreams    *dream.Sweeper // nil: beats do not dream
	Editor    *edit.Editor   // nil: proposals are not counted

	// Decide asks the person about the candidates that a sweep would hold, before anything else is done: it is asked again
	// if a beat is repeated after an error. It returns the ids of those to promote and of those that no sweep offers any
	// more. Nil decides nothing.
	Decide func(ctx context.Context, held []dream.Candidate) (confirmed, rejected []string, err error)
}

// Beat is the result of one beat.
type Beat struct {
	Now              time.Time
	Tasks            []workspace.Task
	Checks           []Check
	Cycle            *mesh.Cycle // nil: the distillation cycle was not due
	Sweep            *Sweep      // nil: a sweep was not due
	PendingProposals int
	RecordProblem    string // why the record of edits is incomplete, "" if it is not known to be
}

// Sweep is the result of a dreaming sweep.
type Sweep struct {
	dream.Swept
	Problem string // why nothing could be promoted, such as a locked MEMORY.md; "" if nothing was in the way
}

// Beat reads the checklist and the checks, and runs the distillation cycle and a sweep, which edits MEMORY.md and
// DREAMS.md, if these are due. every is the interval of checks for which HEARTBEAT.md names none (see Due); it does not
// apply to the two checks that the beat does itself. An unreadable state is workspace.ErrHeartbeatState.
func (h Heartbeat) Beat(ctx context.Context, every time.Duration) (Beat, error) {
	b := Beat{Now: h.Workspace.Now().Truncate(time.Second)}
	tasks, checks, err := h.Workspace.Heartbeat()
	if err != nil {
		return Beat{}, err
	}
	b.Tasks = tasks
	dreams := h.Dreams != nil && isDue(checks, DreamCheck, b.Now, DreamInterval)
	// A sweep reads what it promoted from the record, and edits.
	if b.RecordProblem = h.recordProblem(ctx, dreams); b.RecordProblem != "" {
		dreams = false
	}
	var confirmed []string
	if dreams {
		if confirmed, err = h.decide(ctx); err != nil {
			return Beat{}, err
		}
	}
	if isDue(checks, DistillCheck, b.Now, DistillInterval) {
		cycle, err := h.Memory.RunCycle(ctx, false)
		if err != nil {
			return Beat{}, err
		}
		b.Cycle = &cycle
		if checks, err = h.done(ctx, checks, DistillCheck); err != nil {
			return Beat{}, err
		}
	}
	if dreams {
		if b.Sweep, err = h.sweep(ctx, confirmed); err != nil {
			return Beat{}, err
		}
		if checks, err = h.done(ctx, checks, DreamCheck); err != nil {
			return Beat{}, err
		}
	}
	b.Checks = Due(tasks, checks, b.Now, every)
	for i, c := range b.Checks {
		if interval, ok := ownIntervals[c.Name]; ok {
			b.Checks[i] = Due(nil, checks[i:i+1], b.Now, interval)[0]
		}
	}
	if b.RecordProblem == "" {
		b.PendingProposals, err = h.pendingProposals(ctx)
	}
	return b, err
}

// recordProblem returns why the record of edits is not complete or, if all of it is to be checked, not as it was
// written; "" for nothing.
func (h Heartbeat) recordProblem(ctx context.Context, all bool) string {
	if h.Editor == nil {
		return ""
	}
	err := h.Editor.Complete()
	if err == nil && all {
		_, err = h.Editor.Verify(ctx)
	}
	if err != nil {
		return err.Error()
	}
	// Damage that reading the record shows; what else keeps an edit from being completed is no business of this.
	if damaged, ok := errors.AsType[*edit.DamagedError](h.Editor.Recover(ctx)); ok {
		return damaged.Error()
	}
	return ""
}

// decide has the person decide about what a sweep would hold, and returns what they confirmed. What they rejected is
// recorded.
func (h Heartbeat) decide(ctx context.Context) (confirmed []string, err error) {
	if h.Decide == nil {
		return nil, nil
	}
	plan, err := h.Dreams.Plan(ctx, nil)
	if _, ok := fault.As(err); ok || err == nil && len(plan.Held) == 0 {
		return nil, nil // the sweep reports what is in its way
	}
	if err != nil {
		return nil, err
	}
	confirmed, rejected, err := h.Decide(ctx, plan.Held)
	if err == nil && len(rejected) > 0 {
		err = h.Dreams.Reject(ctx, rejected)
	}
	return confirmed, err
}

// sweep promotes what was recalled often. A fault keeps nothing else from being done.
func (h Heartbeat) sweep(ctx context.Context, confirmed []string) (*Sweep, error) {
	// SECURITY: confirmed is what a person has decided, see Decide; nothing else is confirmed here.
	swept, err := h.Dreams.Sweep(ctx, confirmed)
	if f, ok := fault.As(err); ok {
		return &Sweep{Swept: swept, Problem: f.Error()}, nil
	}
	return &Sweep{Swept: swept}, err
}

// pendingProposals is the number of the agent's proposals that the owner has not decided.
func (h Heartbeat) pendingProposals(ctx context.Context) (n int, err error) {
	if h.Editor == nil {
		return 0, nil
	}
	proposals, err := h.Editor.Proposals(ctx)
	for _, p := range proposals {
		if p.State == edit.Pending {
			n++
		}
	}
	return n, err
}

// done records that a check has been done, and returns the checks as they are then.
func (h Heartbeat) done(ctx context.Context, checks []workspace.Checked, name string) ([]workspace.Checked, error) {
	at, err := h.Workspace.CheckDone(ctx, name)
	if err != nil {
		return nil, err
	}
	i := index(checks, name)
	if i < 0 {
		i, checks = len(checks), append(checks, workspace.Checked{Check: name})
	}
	checks[i] = workspace.Checked{Check: name, Last: at}
	return checks, nil
}

func isDue(checks []workspace.Checked, name string, now time.Time, interval time.Duration) bool {
	i := index(checks, name)
	return i < 0 || Due(nil, checks[i:i+1], now, interval)[0].Due
}

func index(checks []workspace.Checked, name string) int {
	return slices.IndexFunc(checks, func(c workspace.Checked) bool { return c.Check == name })
}

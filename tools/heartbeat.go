package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

type beat struct {
	Action     string  `json:"action" jsonschema:"enum=due,enum=done" jsonschema_description:"due: the checklist, and which checks are due. done: record that a check has been done just now."`
	Check      string  `json:"check,omitempty" jsonschema:"maxLength=64" jsonschema_description:"Required by done: the name of the check, such as email. A new name begins a new check."`
	EveryHours float64 `json:"every_hours,omitempty" jsonschema:"minimum=0,maximum=8760,default=6" jsonschema_description:"With due: a check is due when it was last done so long ago, or never."`
}

type beatAnswer struct {
	Now    time.Time   `json:"now"`
	Tasks  []beatTask  `json:"tasks" jsonschema_description:"The checklist of HEARTBEAT.md, in order."`
	Checks []beatCheck `json:"checks" jsonschema_description:"Every check that was ever recorded, or the one that was."`
	// Learned is set when the cycle ran.
	Learned *beatLessons `json:"learned,omitempty" jsonschema_description:"What became of recent failures. It is looked into every 6 hours, as the check distill_lessons."`
	// Dreamed is set when a sweep ran.
	Dreamed *beatDreams `json:"dreamed,omitempty" jsonschema_description:"What became of memories recalled again and again. It is looked into once a day, as the check dream."`
	Hint    string      `json:"hint,omitempty"`
}

type beatDreams struct {
	Promoted []string `json:"promoted" jsonschema_description:"Added to MEMORY.md just now."`
	Held     int      `json:"held" jsonschema_description:"Candidates that wait for your human's word."`
	Problem  string   `json:"problem,omitempty"`
}

type beatLessons struct {
	Lessons    []beatLesson  `json:"lessons" jsonschema_description:"That were distilled just now."`
	Incomplete []beatFailure `json:"incomplete" jsonschema_description:"Failures that lack something for a lesson. If you know it, complete them with distill_lesson; else leave them."`
}

type beatLesson struct {
	LessonID         string   `json:"lesson_id"`
	Severity         string   `json:"severity"`
	PreventativeRule string   `json:"preventative_rule"`
	Memories         []string `json:"memories" jsonschema_description:"What it was made of: the last 20."`
}

type beatFailure struct {
	Memories     []string `json:"memories" jsonschema_description:"The ids of the last 20, the oldest first."`
	ErrorPattern string   `json:"error_pattern,omitempty"`
	Missing      []string `json:"missing,omitempty" jsonschema_description:"The arguments of distill_lesson that are said nowhere."`
	Reason       string   `json:"reason"`
}

type beatTask struct {
	Text   string `json:"text"`
	Ticked bool   `json:"ticked"`
}

type beatCheck struct {
	Check    string     `json:"check"`
	LastDone *time.Time `json:"last_done,omitempty" jsonschema_description:"Left out: never."`
	Due      bool       `json:"due"`
}

// The checks that the tool does by itself (RFC-0011 §8.1: two to four times a day; seed 002, dreaming).
const (
	distillCheck = "distill_lessons"
	distillEvery = 6 * time.Hour
	dreamCheck   = "dream"
	dreamEvery   = 20 * time.Hour // every night, also when this one's begins a little earlier
)

// Heartbeat is the tool heartbeat (RFC-0009 §2.7 and §2.9). Asked what is due, it first runs the wisdom
// distillation cycle of RFC-0011 §8 and a sweep of dreams, nil for none, if these are; and it says which proposals of
// editor, nil for none, wait. It is for DMs only.
func Heartbeat(v *workspace.View, memory *mesh.View, dreams *dream.Sweeper, editor *edit.Editor) Tool {
	return Define(Spec{
		Name:  "heartbeat",
		Title: "Heartbeat",
		Description: "For periodic work: read the checklist of HEARTBEAT.md and when each check was last done, then record each one that you do. " +
			"What has no record has never been done. On the way lessons are made of recent failures, and what is recalled often goes into MEMORY.md.",
		Idempotent: true,
	}, func(ctx context.Context, in beat) (beatAnswer, error) {
		answer := beatAnswer{Now: v.Now().Truncate(time.Second), Tasks: []beatTask{}, Checks: []beatCheck{}}
		if in.Action == "done" {
			at, err := v.CheckDone(ctx, in.Check)
			if err != nil {
				return beatAnswer{}, beatFault(err)
			}
			answer.Checks = append(answer.Checks, beatCheck{Check: in.Check, LastDone: &at})
			return answer, nil
		}
		tasks, checks, err := v.Heartbeat()
		if err != nil {
			return beatAnswer{}, beatFault(err)
		}
		for _, task := range tasks {
			answer.Tasks = append(answer.Tasks, beatTask{task.Text, task.Done})
		}
		if answer.Learned, checks, err = learn(ctx, v, memory, checks); err != nil {
			return beatAnswer{}, beatFault(err)
		}
		if answer.Dreamed, checks, err = sweep(ctx, v, dreams, checks); err != nil {
			return beatAnswer{}, beatFault(err)
		}
		for _, check := range checks {
			c := beatCheck{Check: check.Check, Due: answer.Now.Sub(check.Last) >= time.Duration(in.EveryHours*float64(time.Hour))}
			if !check.Last.IsZero() {
				last := check.Last.In(answer.Now.Location())
				c.LastDone = &last
			}
			answer.Checks = append(answer.Checks, c)
		}
		left := newRoom()
		untold := answer.Learned.fit(&left)
		if d := answer.Dreamed; d != nil {
			d.Promoted = fit(&left, d.Promoted)
		}
		all := len(answer.Checks)
		answer.Tasks = fit(&left, answer.Tasks)
		answer.Checks = fit(&left, answer.Checks)
		switch {
		case len(answer.Tasks) < len(tasks) || len(answer.Checks) < all:
			answer.Hint = "The list is too long and was cut: ask your human to shorten HEARTBEAT.md or memory/heartbeat-state.json."
		case v.RecordTrouble() != "":
			answer.Hint = "Tell your human that what you write is not committed to git at the moment: " + v.RecordTrouble()
		case answer.Dreamed != nil && answer.Dreamed.Held > 0:
			answer.Hint = "Tell your human that memories wait for confirmation: `yamo-mcp dream --review` lists them."
		case untold > 0:
			answer.Hint = fmt.Sprintf("%d more lessons and failures did not fit: the operator sees all with `yamo-mcp mesh distill`.", untold)
		case len(tasks) == 0:
			answer.Hint = "HEARTBEAT.md has no checklist: ask your human what to look after, or leave it."
		}
		waiting, err := waitingHint(ctx, editor)
		answer.Hint = strings.TrimSpace(answer.Hint + " " + waiting)
		return answer, err
	})
}

// waitingHint says how many proposals wait, "" for none.
func waitingHint(ctx context.Context, editor *edit.Editor) (string, error) {
	if editor == nil {
		return "", nil
	}
	proposals, err := editor.Proposals(ctx)
	n := 0
	for _, p := range proposals {
		if p.State == edit.Pending {
			n++
		}
	}
	if n == 0 {
		return "", err
	}
	return fmt.Sprintf("Tell your human that proposals of yours wait (%d): `yamo-mcp proposals` shows them.", n), nil
}

// learn runs the cycle if it is due, records that, and returns the checks as they are then.
func learn(ctx context.Context, v *workspace.View, memory *mesh.View, checks []workspace.Checked) (*beatLessons, []workspace.Checked, error) {
	if !isDue(v, checks, distillCheck, distillEvery) {
		return nil, checks, nil
	}
	cycle, err := memory.RunCycle(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	if checks, err = ticked(ctx, v, checks, distillCheck); err != nil {
		return nil, nil, err
	}
	learned := &beatLessons{Lessons: []beatLesson{}, Incomplete: []beatFailure{}}
	for _, c := range cycle.Candidates {
		switch c.Outcome {
		case mesh.OutcomeDistilled:
			learned.Lessons = append(learned.Lessons, beatLesson{c.LessonID, c.Severity, c.Rule, newest(c.Memories)})
		case mesh.OutcomeIncomplete, mesh.OutcomeRefused:
			learned.Incomplete = append(learned.Incomplete, beatFailure{newest(c.Memories), c.ErrorPattern, c.Missing, c.Reason})
		}
	}
	return learned, checks, nil
}

// sweep promotes what was recalled often if that is due, records that, and returns the checks as they are then.
func sweep(ctx context.Context, v *workspace.View, dreams *dream.Sweeper, checks []workspace.Checked) (*beatDreams, []workspace.Checked, error) {
	if dreams == nil || !isDue(v, checks, dreamCheck, dreamEvery) {
		return nil, checks, nil
	}
	dreamed := &beatDreams{Promoted: []string{}}
	// SECURITY: nothing is confirmed here: that is the person's, on the command line.
	swept, err := dreams.Sweep(ctx, nil)
	if f, ok := fault.As(err); ok {
		dreamed.Problem = f.Error() // such as a locked MEMORY.md, which must not keep the rest from being done
	} else if err != nil {
		return nil, nil, err
	}
	for _, c := range swept.Promote {
		dreamed.Promoted = append(dreamed.Promoted, c.Item())
	}
	dreamed.Held = len(swept.Held)
	checks, err = ticked(ctx, v, checks, dreamCheck)
	return dreamed, checks, err
}

// isDue reports whether a check was last done so long ago, or never.
func isDue(v *workspace.View, checks []workspace.Checked, name string, every time.Duration) bool {
	at := slices.IndexFunc(checks, func(c workspace.Checked) bool { return c.Check == name })
	return at < 0 || v.Now().Sub(checks[at].Last) >= every
}

// ticked records that a check has been done, and returns the checks as they are then.
func ticked(ctx context.Context, v *workspace.View, checks []workspace.Checked, name string) ([]workspace.Checked, error) {
	done, err := v.CheckDone(ctx, name)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(checks, func(c workspace.Checked) bool { return c.Check == name })
	if at < 0 {
		at, checks = len(checks), append(checks, workspace.Checked{Check: name})
	}
	checks[at].Last = done
	return checks, nil
}

// fit leaves half of the room to the lists that follow, and returns how much it leaves out.
func (l *beatLessons) fit(left *room) (untold int) {
	if l == nil {
		return 0
	}
	half := *left / 2
	rest := *left - half
	all := len(l.Lessons) + len(l.Incomplete)
	l.Lessons = fit(&half, l.Lessons)
	l.Incomplete = fit(&half, l.Incomplete)
	*left = rest + half
	return all - len(l.Lessons) - len(l.Incomplete)
}

// newest are the last few ids.
func newest(ids []string) []string { return ids[max(0, len(ids)-20):] }

func beatFault(err error) error {
	switch {
	case errors.Is(err, workspace.ErrCredentials):
		return fault.New("check: %v", workspace.ErrCredentials)
	case errors.Is(err, workspace.ErrCheckName):
		return fault.New("check: %v", workspace.ErrCheckName)
	case errors.Is(err, workspace.ErrHeartbeatState):
		return fault.New("%v", workspace.ErrHeartbeatState)
	}
	return err
}

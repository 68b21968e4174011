package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/heartbeat"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// beat is the arguments of heartbeat.
type beat struct {
	Action     string  `json:"action" jsonschema:"enum=due,enum=done"`
	Check      string  `json:"check,omitempty" jsonschema:"maxLength=64"`
	EveryHours float64 `json:"every_hours,omitempty" jsonschema:"minimum=0,maximum=8760,default=6"`
}

func (beat) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"action":      "due: checklist and due checks. done: a check was done.",
		"check":       "For done. A new name creates a check.",
		"every_hours": "Interval, if HEARTBEAT.md names none.",
	})
}

// beatAnswer is the result of heartbeat. Learned and Dreamed are nil if the cycle and the sweep were not due.
type beatAnswer struct {
	Now    time.Time   `json:"now"`
	Tasks  []beatTask  `json:"tasks"`
	Checks []beatCheck `json:"checks"`
	// Learned is set when the distillation cycle ran.
	Learned *beatLessons `json:"learned,omitempty"`
	// Dreamed is set when a sweep ran.
	Dreamed *beatDreams `json:"dreamed,omitempty"`
	Hint    string      `json:"hint,omitempty"`
}

func (beatAnswer) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"tasks":   "Checklist of HEARTBEAT.md, in order.",
		"checks":  "For due: every recorded check. For done: the recorded one.",
		"learned": "Result of the distillation cycle, which runs every 6 hours as the check distill_lessons.",
		"dreamed": "Result of the dreaming sweep, which runs once a day as the check dream.",
	})
}

// beatDreams is a sweep as a result.
type beatDreams struct {
	Promoted []string `json:"promoted"`
	Held     int      `json:"held"`
	Problem  string   `json:"problem,omitempty"`
}

func (beatDreams) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"promoted": "Entries just added to MEMORY.md.",
		"held":     "Number of candidates that need the user's confirmation.",
	})
}

// beatLessons is a distillation cycle as a result.
type beatLessons struct {
	Lessons    []beatLesson  `json:"lessons"`
	Incomplete []beatFailure `json:"incomplete"`
}

func (beatLessons) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"lessons": "Lessons just distilled.",
		"incomplete": "Failures with too little information for a lesson. If you know what is missing, call " +
			"distill_lesson; otherwise ignore them.",
	})
}

// beatLesson is a lesson that the cycle distilled, and the memories that it is from.
type beatLesson struct {
	LessonID         string   `json:"lesson_id"`
	Severity         string   `json:"severity"`
	PreventativeRule string   `json:"preventative_rule"`
	Memories         []string `json:"memories"`
}

func (beatLesson) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"memories": "IDs of its source memories, the last 20.",
	})
}

// beatFailure is a failure that lacks something a lesson needs. The cycle does not guess it; the model
// may know it from the conversation.
type beatFailure struct {
	Memories     []string `json:"memories"`
	ErrorPattern string   `json:"error_pattern,omitempty"`
	Missing      []string `json:"missing,omitempty"`
	Reason       string   `json:"reason"`
}

func (beatFailure) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"memories": "IDs of its memories, the last 20, oldest first.",
		"missing":  "Missing arguments of distill_lesson.",
	})
}

// beatTask is an item of HEARTBEAT.md.
type beatTask struct {
	Text   string `json:"text"`
	Ticked bool   `json:"ticked"`
}

// beatCheck is a check of memory/heartbeat-state.json, and when it is due.
type beatCheck struct {
	Check    string     `json:"check"`
	LastDone *time.Time `json:"last_done,omitempty"`
	Every    string     `json:"every,omitempty"`
	Due      bool       `json:"due"`
	Problem  string     `json:"problem,omitempty"`
}

func (beatCheck) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"last_done": "Not set: never done.",
		"every":     "Its interval, from HEARTBEAT.md or every_hours.",
	})
}

// Heartbeat is the tool heartbeat (RFC-0009 §2.7 and §2.9). What is periodic, internal/heartbeat knows and does; the
// tool reports it. It is for DMs only.
//
// It is not idempotent: each call with done records a new time, and what due runs depends on the time. It is not
// destructive: distillation adds lessons; dreaming adds a section to MEMORY.md and moves items of its own earlier
// sections to the archive, where they stay readable.
func Heartbeat(h heartbeat.Heartbeat) Tool {
	return Define(Spec{
		Name:  "heartbeat",
		Title: "Heartbeat",
		Description: "Periodic work: what of HEARTBEAT.md is due, and record what is done. " +
			"due also distills lessons from failures and adds often recalled memories to MEMORY.md.",
	}, func(ctx context.Context, in beat) (beatAnswer, error) {
		if in.Action == "done" {
			// The name is written to a file that people read: CheckDone refuses credentials and control characters.
			at, err := h.Workspace.CheckDone(ctx, in.Check)
			if err != nil {
				return beatAnswer{}, beatFault(err)
			}
			return beatAnswer{
				Now: h.Workspace.Now().Truncate(time.Second), Tasks: []beatTask{},
				Checks: []beatCheck{{Check: in.Check, LastDone: &at}},
			}, nil
		}
		h := h // of this call, whose person is asked
		h.Decide = decideHeld
		b, err := h.Beat(ctx, time.Duration(in.EveryHours*float64(time.Hour)))
		if err != nil {
			return beatAnswer{}, beatFault(err)
		}
		return reportBeat(b, h.Workspace.RecordTrouble()), nil
	})
}

// reportBeat is a beat as the tool's result, cut to the room there is. gitProblem is why files are not committed, "" if
// they are.
func reportBeat(b heartbeat.Beat, gitProblem string) beatAnswer {
	answer := beatAnswer{
		Now: b.Now, Tasks: []beatTask{}, Checks: []beatCheck{}, Learned: reportCycle(b.Cycle), Dreamed: reportSweep(b.Sweep),
	}
	for _, task := range b.Tasks {
		answer.Tasks = append(answer.Tasks, beatTask{task.Text, task.Done})
	}
	for _, check := range b.Checks {
		c := beatCheck{Check: check.Name, Due: check.Due, Every: check.Every.String(), Problem: check.Problem}
		if !check.Last.IsZero() {
			// In the zone of the other times of the result, so that a model need not convert.
			last := check.Last.In(b.Now.Location())
			c.LastDone = &last
		}
		answer.Checks = append(answer.Checks, c)
	}
	left := newRoom()
	// New lessons first: they exist nowhere else in the conversation, while the checklist is a file.
	omitted := answer.Learned.fit(&left)
	if d := answer.Dreamed; d != nil {
		d.Promoted = fit(&left, d.Promoted)
	}
	answer.Tasks = fit(&left, answer.Tasks)
	answer.Checks = fit(&left, answer.Checks)
	// One hint, the most urgent: a model follows one instruction better than five.
	hint := ""
	switch {
	case len(answer.Tasks) < len(b.Tasks) || len(answer.Checks) < len(b.Checks):
		hint = "The list is truncated: ask the workspace owner to shorten HEARTBEAT.md or memory/heartbeat-state.json."
	case b.RecordProblem != "":
		hint = "Tell the user: " + b.RecordProblem
	case gitProblem != "":
		hint = "Tell the user that changes are currently not committed to git: " + gitProblem
	case conflict(b.Sweep) != "":
		hint = "Tell the user: " + conflict(b.Sweep)
	case answer.Dreamed != nil && answer.Dreamed.Held > 0:
		hint = "Tell the user that memories need confirmation: `yamo-mcp dream --review` lists them."
	case omitted > 0:
		hint = fmt.Sprintf("%d more lessons and failures did not fit: `yamo-mcp mesh distill` shows the user all of them.",
			omitted)
	case len(b.Tasks) == 0:
		hint = "HEARTBEAT.md has no checklist: ask the user what to check, or ignore this."
	}
	if b.PendingProposals > 0 {
		hint += fmt.Sprintf(" Tell the user that your proposals are pending (%d): `yamo-mcp proposals` shows them.",
			b.PendingProposals)
	}
	answer.Hint = strings.TrimSpace(hint)
	return answer
}

// conflict names the held memories that would replace what the user said, "" without any.
//
// SECURITY: by their ids. What they tell is a stranger's, and a hint is read as the server's own words.
func conflict(sweep *heartbeat.Sweep) string {
	if sweep == nil {
		return ""
	}
	var parts []string
	for _, c := range sweep.Held {
		if c.Against != "" && len(parts) < maxHeld {
			parts = append(parts, fmt.Sprintf("%s, from %s, would replace %s.", c.ID, c.Said, c.Against))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, " ") + " MEMORY.md stays as it is until they decide: " +
		"`yamo-mcp dream --review` shows both texts, --confirm and --reject settle it."
}

// reportCycle is a distillation cycle as a result, nil for none.
func reportCycle(cycle *mesh.Cycle) *beatLessons {
	if cycle == nil {
		return nil
	}
	learned := &beatLessons{Lessons: []beatLesson{}, Incomplete: []beatFailure{}}
	for _, c := range cycle.Candidates {
		switch c.Outcome {
		case mesh.OutcomeDistilled:
			learned.Lessons = append(learned.Lessons, beatLesson{c.LessonID, c.Severity, c.Rule, newest(c.Memories)})
		// The other outcomes need nothing from the model: the lesson is known, or nothing was kept.
		case mesh.OutcomeIncomplete, mesh.OutcomeRefused:
			learned.Incomplete = append(learned.Incomplete, beatFailure{newest(c.Memories), c.ErrorPattern, c.Missing, c.Reason})
		}
	}
	return learned
}

// reportSweep is a sweep as a result, nil for none.
func reportSweep(sweep *heartbeat.Sweep) *beatDreams {
	if sweep == nil {
		return nil
	}
	dreamed := &beatDreams{Promoted: []string{}, Held: len(sweep.Held), Problem: sweep.Problem}
	for _, c := range sweep.Promote {
		dreamed.Promoted = append(dreamed.Promoted, c.Item())
	}
	return dreamed
}

// fit leaves half of the room to the lists that follow, and returns how many items it omits.
func (l *beatLessons) fit(left *room) (omitted int) {
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

// newest returns the last 20 ids.
func newest(ids []string) []string { return ids[max(0, len(ids)-20):] }

// beatFault names the argument or file at fault for the errors that the caller or owner can correct.
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

package tools

import (
	"context"
	"errors"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace"
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
	Hint   string      `json:"hint,omitempty"`
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

// Heartbeat is the tool heartbeat (RFC-0009 §2.7 and §2.9). It is for DMs only.
func Heartbeat(v *workspace.View) Tool {
	return Define(Spec{
		Name:  "heartbeat",
		Title: "Heartbeat",
		Description: "For periodic work: read the checklist of HEARTBEAT.md and when each check was last done, then record each one that you do. " +
			"What has no record has never been done.",
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
		for _, check := range checks {
			c := beatCheck{Check: check.Check, Due: answer.Now.Sub(check.Last) >= time.Duration(in.EveryHours*float64(time.Hour))}
			if !check.Last.IsZero() {
				last := check.Last.In(answer.Now.Location())
				c.LastDone = &last
			}
			answer.Checks = append(answer.Checks, c)
		}
		left := newRoom()
		all := len(answer.Checks)
		answer.Tasks = fit(&left, answer.Tasks)
		answer.Checks = fit(&left, answer.Checks)
		switch {
		case len(answer.Tasks) < len(tasks) || len(answer.Checks) < all:
			answer.Hint = "The list is too long and was cut: ask your human to shorten HEARTBEAT.md or memory/heartbeat-state.json."
		case len(tasks) == 0:
			answer.Hint = "HEARTBEAT.md has no checklist: ask your human what to look after, or leave it."
		}
		return answer, nil
	})
}

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

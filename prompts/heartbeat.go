package prompts

import (
	"context"
	"errors"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// Heartbeat shows the periodic checks and when each was last done (RFC-0009 §2.7, §2.9). It is for DMs only.
func Heartbeat(v *workspace.View) Prompt {
	return Prompt{
		Name: "heartbeat", Title: "Heartbeat",
		Description: "Do the periodic work that is due: the checklist of HEARTBEAT.md, and when each check was last done",
		Arguments: []Argument{{
			Name: "check", Description: "Do only this check, such as email",
			Values: func(context.Context) ([]string, error) {
				_, checks, err := v.Heartbeat()
				names := make([]string, len(checks))
				for i, check := range checks {
					names[i] = check.Check
				}
				return names, err
			},
		}},
		Render: func(_ context.Context, args map[string]string) (string, error) {
			return whenReady(v, func() (string, error) { return heartbeat(v, args["check"]) })
		},
	}
}

const checkTime = "2006-01-02 15:04 MST"

// heartbeat returns the prompt: the checklist of HEARTBEAT.md and the checks that are recorded, or only one of them.
func heartbeat(v *workspace.View, only string) (string, error) {
	tasks, checks, err := v.Heartbeat()
	if errors.Is(err, workspace.ErrHeartbeatState) {
		return "", fault.New("%v", workspace.ErrHeartbeatState)
	}
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString(fixed("heartbeat") + "\n")
	if only != "" {
		// SECURITY: quoted, because the argument is what a person or host typed, not an instruction of this program.
		out.WriteString("This time do only one check:\n\n" + quoted(oneLine(only, 64)) + "\n")
	}
	out.WriteString("# HEARTBEAT\n")
	for _, task := range tasks {
		box := "[ ]"
		if task.Done {
			box = "[x]"
		}
		out.WriteString("- " + box + " " + task.Text + "\n")
	}
	if len(tasks) == 0 {
		out.WriteString("(empty)\n")
	}
	now := v.Now()
	out.WriteString("\n# LAST CHECKS\n" + "now: " + now.Format(checkTime) + "\n")
	found := only == ""
	for _, check := range checks {
		if only != "" && check.Check != only {
			continue
		}
		found = true
		last := "never"
		if !check.Last.IsZero() {
			last = check.Last.In(now.Location()).Format(checkTime)
		}
		out.WriteString(check.Check + ": " + last + "\n")
	}
	// A check that was never done has no entry yet; the model records it when it is done.
	if !found {
		out.WriteString(oneLine(only, 64) + ": never\n")
	}
	return out.String(), nil
}

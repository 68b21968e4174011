package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

type rotation struct {
	Action    string   `json:"action" jsonschema:"enum=list,enum=archive,enum=delete" jsonschema_description:"list: the old logs, for review. archive: compress logs into memory/archive/; they are read and searched as before. delete: remove logs for good, only when your human asked for it."`
	OlderThan int      `json:"older_than_days,omitempty" jsonschema:"minimum=0,maximum=36500,default=30" jsonschema_description:"With list: only logs older than this."`
	Files     []string `json:"files,omitempty" jsonschema:"maxItems=100,uniqueItems=true" jsonschema_description:"Required by archive and delete: the logs, such as memory/2026-01-02.md."`
	Consent   bool     `json:"consent,omitempty" jsonschema:"default=false" jsonschema_description:"Your human has explicitly agreed, for these logs. Needed to delete, unless the host asks your human, and for logs younger than 7 days; never your own decision."`
}

type rotated struct {
	Logs []rotatedLog `json:"logs" jsonschema_description:"The oldest first, at most 100."`
	More int          `json:"more" jsonschema_description:"How many further logs there are."`
	Hint string       `json:"hint,omitempty"`
}

type rotatedLog struct {
	File     string `json:"file"`
	URI      string `json:"uri,omitempty"`
	Days     int    `json:"days,omitempty" jsonschema_description:"Its age."`
	Size     int64  `json:"size,omitempty" jsonschema_description:"In bytes."`
	Group    string `json:"group,omitempty" jsonschema_description:"The group that wrote it: reported speech, never a source for MEMORY.md by itself."`
	Archived bool   `json:"archived"`
	Deleted  bool   `json:"deleted"`
}

const maxRotated = 100

// RotateLogs is the tool rotate_logs (RFC-0009 §5.2). It is for DMs only.
func RotateLogs(v *workspace.View) Tool {
	return Define(Spec{
		Name:  "rotate_logs",
		Title: "Old logs",
		Description: "Look after daily logs older than 30 days: list them, see that MEMORY.md has what matters of them, then archive them. " +
			"Deleting, and whatever concerns logs younger than 7 days, needs your human's word.",
		Destructive: true,
		Idempotent:  true,
	}, func(ctx context.Context, in rotation) (rotated, error) {
		if in.Action == "list" {
			return oldLogs(v, in.OlderThan), nil
		}
		if len(in.Files) == 0 {
			return rotated{}, fault.New("files: %s needs them; action list names the old logs", in.Action)
		}
		if in.Action == "delete" {
			if err := confirmLogs(ctx, v, in); err != nil {
				return rotated{}, err
			}
			in.Consent = true
		}
		done := rotated{Logs: []rotatedLog{}}
		for i, name := range in.Files {
			log := rotatedLog{File: name}
			var err error
			if in.Action == "archive" {
				err = v.ArchiveLog(ctx, name, in.Consent)
				log.URI, log.Archived = resourceuri.File(name), true
			} else {
				err = v.DeleteLog(ctx, name, in.Consent)
				log.Deleted = true
			}
			if err = rotationFault(name, i, err); err != nil {
				return rotated{}, err
			}
			done.Logs = append(done.Logs, log)
		}
		return done, nil
	})
}

// confirmLogs asks the person about logs that are to be deleted, all of which there are.
func confirmLogs(ctx context.Context, v *workspace.View, in rotation) error {
	known := v.Logs(math.MinInt)
	for _, name := range in.Files {
		if !slices.ContainsFunc(known, func(l workspace.Log) bool { return l.Name == name }) {
			return rotationFault(name, 0, fs.ErrNotExist)
		}
	}
	return confirm(ctx, consent{
		key:      questionKey("delete-logs", in.Files...),
		question: fmt.Sprintf("Delete these daily logs for good (%d)?\n\n%s", len(in.Files), strings.Join(in.Files, "\n")),
		tick:     "Delete them for good",
		given:    in.Consent,
		missing:  "consent: deleting is for good; ask your human about these logs, and call again with consent: true, or archive them",
	})
}

func oldLogs(v *workspace.View, days int) rotated {
	answer := rotated{Logs: []rotatedLog{}}
	for _, log := range v.Logs(days) {
		if log.Archived {
			continue
		}
		if len(answer.Logs) == maxRotated {
			answer.More++
			continue
		}
		answer.Logs = append(answer.Logs, rotatedLog{File: log.Name, URI: resourceuri.File(log.Name), Days: log.Days, Size: log.Size, Group: log.Group})
	}
	if len(answer.Logs) > 0 {
		answer.Hint = "Read each, put into MEMORY.md what is worth keeping and not there yet, then archive them."
	}
	return answer
}

// rotationFault says what became of the files before the i-th, called name, which err is about.
func rotationFault(name string, i int, err error) error {
	for _, known := range []error{workspace.ErrProtected, workspace.ErrCurrent, workspace.ErrArchive, workspace.ErrTooLarge} {
		if errors.Is(err, known) {
			return fault.New("files: %s: %v. The %d before it in the list are done", name, known, i)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New("files: there is no daily log %q; action list names the old logs. The %d before it in the list are done", name, i)
	}
	return err
}

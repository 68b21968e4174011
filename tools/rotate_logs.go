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

// rotation is the arguments of rotate_logs.
type rotation struct {
	Action    string   `json:"action" jsonschema:"enum=list,enum=archive,enum=delete"`
	OlderThan int      `json:"older_than_days,omitempty" jsonschema:"minimum=0,maximum=36500,default=30"`
	Files     []string `json:"files,omitempty" jsonschema:"maxItems=100,uniqueItems=true"`
	Consent   bool     `json:"consent,omitempty" jsonschema:"default=false"`
}

func (rotation) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"action":          "archive: compress; they stay readable. delete: only if the user asked for it.",
		"older_than_days": "For list.",
		"files":           "For archive and delete.",
		"consent":         "The user agreed to it: needed below 7 days, and to delete. Never your own decision.",
	})
}

// rotated is the result of rotate_logs: the logs that were found, or those that were archived or deleted.
type rotated struct {
	Logs []rotatedLog `json:"logs"`
	More int          `json:"more"`
	Hint string       `json:"hint,omitempty"`
}

func (rotated) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"logs": "Oldest first, up to 100.",
		"more": "Number of further logs.",
	})
}

// rotatedLog is a log that was listed, archived or deleted.
type rotatedLog struct {
	File     string `json:"file"`
	URI      string `json:"uri,omitempty"`
	Days     int    `json:"days,omitempty"`
	Size     int64  `json:"size,omitempty"`
	Group    string `json:"group,omitempty"`
	Archived bool   `json:"archived"`
	Deleted  bool   `json:"deleted"`
}

func (rotatedLog) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"days":  "Age in days.",
		"size":  "In bytes.",
		"group": "The group that wrote it: quoted speech, not in itself a source for MEMORY.md.",
	})
}

const maxRotated = 100

// RotateLogs is the tool rotate_logs (RFC-0009 §5.2). It is for DMs only. Files are done in the order given, and an
// error names the first that could not be, with the number of those done before it.
func RotateLogs(v *workspace.View) Tool {
	return Define(Spec{
		Name:  "rotate_logs",
		Title: "Old logs",
		Description: "Logs and saved sessions older than 30 days: list them, make sure MEMORY.md has what matters, " +
			"archive them.",
		Destructive: true,
		Idempotent:  true,
	}, func(ctx context.Context, in rotation) (rotated, error) {
		if in.Action == "list" {
			return oldLogs(v, in.OlderThan), nil
		}
		if len(in.Files) == 0 {
			return rotated{}, fault.New("files: required by %s; action list returns the old logs", in.Action)
		}
		if in.Action == "delete" {
			if err := confirmLogs(ctx, v, in); err != nil {
				return rotated{}, err
			}
			// The person agreed just now. Archiving asks no one: nothing is lost, and the view demands consent itself for
			// young logs.
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

// confirmLogs asks the person to confirm that logs are deleted. It refuses a name that is no log first, so that the
// person is not asked about what would fail.
func confirmLogs(ctx context.Context, v *workspace.View, in rotation) error {
	// Every log, of any age, archived ones too.
	known := v.Logs(math.MinInt)
	for _, name := range in.Files {
		if !slices.ContainsFunc(known, func(l workspace.Log) bool { return l.Name == name }) {
			return rotationFault(name, 0, fs.ErrNotExist)
		}
	}
	return confirm(ctx, consent{
		key:      questionKey("delete-logs", in.Files...),
		question: fmt.Sprintf("Permanently delete these daily logs (%d)?\n\n%s", len(in.Files), strings.Join(in.Files, "\n")),
		tick:     "Delete them permanently",
		given:    in.Consent,
		missing: "consent: deletion is permanent; ask the user about these logs, " +
			"then call again with consent: true, or archive them",
	})
}

// oldLogs lists the logs of at least that many days which are not archived, oldest first, up to maxRotated.
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
		answer.Logs = append(answer.Logs, rotatedLog{
			File: log.Name, URI: resourceuri.File(log.Name), Days: log.Days, Size: log.Size, Group: log.Group,
		})
	}
	if len(answer.Logs) > 0 {
		answer.Hint = "Read each, add to MEMORY.md what is worth keeping and missing there, then archive them."
	}
	return answer
}

// rotationFault returns the fault for err, which is about the i-th file, called name. It reports how many files before
// it were archived or deleted.
func rotationFault(name string, i int, err error) error {
	done := ""
	if i > 0 {
		done = fmt.Sprintf(". Files before it that were processed: %d", i)
	}
	// Their texts say what is allowed, and name no path.
	for _, known := range []error{
		workspace.ErrProtected, workspace.ErrCurrent, workspace.ErrArchive, workspace.ErrTooLarge,
	} {
		if errors.Is(err, known) {
			return fault.New("files: %s: %v%s", name, known, done)
		}
	}
	if _, refused := errors.AsType[*workspace.RefusedError](err); !refused && errors.Is(err, fs.ErrNotExist) {
		return fault.New("files: no daily log %q; action list returns the old logs%s", name, done)
	}
	return err
}

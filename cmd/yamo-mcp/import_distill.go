package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/history"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/internal/stated"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// heard is a statement in a session.
type heard struct {
	stated.Statement
	Session string    `json:"session_id"`
	At      time.Time `json:"at,omitzero"`
}

// distilled is what a person stated in the sessions of one program.
type distilled struct {
	Found   int `json:"found"`
	Offered int `json:"offered"` // as new proposals
	Left    int `json:"left"`    // for a later run, because too many offers are pending
	// Statements are those of a dry run, the newest first.
	Statements []heard `json:"statements,omitempty"`

	all []heard
}

// hear adds what the person stated in a session with a log called name.
//
// SECURITY: only what the person typed: no agent's, tool's or host's words.
func (d *distilled) hear(name string, s history.Session) {
	for _, t := range s.Turns {
		for _, one := range stated.Find(t.Said()) {
			d.all = append(d.all, heard{one, name, t.Time})
		}
	}
	d.Found = len(d.all)
}

// newestFirst sorts what was heard, and leaves out repetitions.
func (d *distilled) newestFirst() {
	slices.SortStableFunc(d.all, func(a, b heard) int { return b.At.Compare(a.At) })
	said := map[string]bool{}
	d.all = slices.DeleteFunc(d.all, func(h heard) bool {
		same := strings.ToLower(h.Text)
		again := said[same]
		said[same] = true
		return again
	})
	d.Found = len(d.all)
}

// offer proposes what was heard, with its turn as evidence. logs is the folder that the host keeps its logs in, "" for
// copies in the workspace.
func (d *distilled) offer(ctx context.Context, c *cli.Command, logs string) (err error) {
	d.newestFirst()
	if len(d.all) == 0 {
		return nil
	}
	folder, err := c.OpenWorkspace(c.Config.Workspace)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	options, err := c.Options()
	if err != nil {
		return err
	}
	options.Config.Session.Transcripts = logs
	view, release, err := session.OpenLogs(options, audience.DM())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	editor, err := session.OpenEditor(options, folder.View(audience.DM()), nil, view)
	if err != nil {
		return err
	}
	offerer := stated.Offerer{View: folder.View(audience.DM()), Editor: editor}
	for i, h := range d.all {
		if err := ctx.Err(); err != nil {
			return err
		}
		token, err := editor.CiteSaid(ctx, h.Session, h.Text)
		if err != nil && !errors.Is(err, transcript.ErrNotFound) {
			return fmt.Errorf("import: find what was stated: %w", err)
		}
		if token == "" {
			continue // a group's, or not in the log in these words: a credential was removed from it
		}
		made, err := offerer.Offer(ctx, h.Statement, h.At, []string{token})
		switch {
		case errors.Is(err, edit.ErrOffered):
			d.Left = len(d.all) - i
			return nil
		case err != nil:
			return fmt.Errorf("import: offer what was stated: %w", err)
		case made:
			d.Offered++
		}
	}
	return nil
}

// String is the answer as text.
func (d *distilled) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  statements found: %d", d.Found)
	for _, h := range d.Statements {
		fmt.Fprintf(&b, "\n    %s  %s: %s", h.At.Format(time.DateOnly), h.Kind, h.Text)
	}
	if d.Offered > 0 {
		fmt.Fprintf(&b, ", new proposals: %d (yamo-mcp proposals shows them)", d.Offered)
	}
	if d.Left > 0 {
		fmt.Fprintf(&b, "\n  left: %d; decide about the pending ones, then run this again", d.Left)
	}
	return b.String() + "\n"
}

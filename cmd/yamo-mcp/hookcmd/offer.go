package hookcmd

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/internal/stated"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// maxStated is how many statements are kept until an answer ends the exchange.
const maxStated = 10

// statement is what a person stated.
type statement struct {
	stated.Statement
	At     time.Time `json:"at,omitzero"`      // when, zero for now
	Number int       `json:"number,omitempty"` // of the prompt, 0 for a row of the host's log
}

// statements returns the statements in what a person said.
//
// SECURITY: only in a DM. What has a credential is left out.
func (r *run) statements(said string, at time.Time, number int) (list []statement) {
	said = strings.TrimSpace(text.First(said, turnChars)) // statements are in the beginning, see stated.MaxRead
	if !r.who.IsDM() || strings.HasPrefix(said, "/") || strings.HasPrefix(said, "<") {
		return nil
	}
	scrub := session.CredentialScrubber(r.list)
	for _, one := range stated.Find(said) {
		if _, found := scrub(one.Text); found == 0 {
			list = append(list, statement{one, at, number})
		}
	}
	return list
}

// statedIn returns what a person stated last in turns of the host's log.
func (r *run) statedIn(said []transcript.Said) (list []statement) {
	searched := 0
	for _, one := range slices.Backward(said) {
		if len(list) >= maxStated || searched == maxSearched {
			break
		}
		if one.Role == "user" {
			searched++
			list = slices.Concat(r.statements(one.Text, one.Time, 0), list)
		}
	}
	return list[max(0, len(list)-maxStated):]
}

// toOffer returns what was stated since the last time, in prompts and in the rows of the host's log that were read now,
// and notes in s that it is offered.
func (r *run) toOffer(s *state, a asked) []statement {
	list := r.stated
	r.stated = nil
	if r.isLate(s, a) {
		return list // the last prompt is not in the daily log yet
	}
	if a.Number < s.Offered {
		s.Offered = 0 // prompts are counted again after the end of a session
	}
	for _, one := range a.Stated {
		if one.Number > s.Offered {
			list = append(list, one)
		}
	}
	s.Offered = a.Number
	return list[max(0, len(list)-maxStated):] // the last ones: much of a long session may be read at once
}

// offer proposes statements of the session of s, with the entry of the daily log that was written and the turn of the
// session log as evidence. Each is tried once.
func (r *run) offer(ctx context.Context, s *state, list []statement) (err error) {
	// SECURITY: a group's hook opens nothing of the DM.
	if len(list) == 0 || !r.who.IsDM() {
		return nil
	}
	folder, err := session.OpenFolder(r.options(), r.who, r.Config.Session.AgentID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	view := folder.View(r.who)
	if view.State() != workspace.Ready {
		return nil
	}
	logs, release, err := session.OpenLogs(r.options(), r.who)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	editor, err := session.OpenEditor(r.options(), view, nil, logs)
	if err != nil {
		return err
	}
	id := r.in.SessionID
	if s.Path != "" {
		id = strings.TrimSuffix(filepath.Base(s.Path), filepath.Ext(s.Path))
	}
	offerer := stated.Offerer{View: view, Editor: editor}
	for _, one := range list {
		var entry, turn []string
		if r.logged != "" {
			entry = []string{r.logged}
		}
		// Without session logs, or before the host has written the turn, the daily log is the evidence.
		if token, err := editor.CiteSaid(ctx, id, one.Text); err == nil && token != "" {
			turn = []string{token}
		}
		at := one.At
		if at.IsZero() {
			at = r.now
		}
		_, err := offerer.Offer(ctx, one.Statement, at, slices.Concat(turn, entry), turn, entry)
		if errors.Is(err, edit.ErrOffered) {
			return nil // the owner has enough to decide about
		}
		if err != nil {
			return err
		}
	}
	return nil
}

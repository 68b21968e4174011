package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// The actions of proposals.
const (
	listProposals  = "list"
	acceptProposal = "accept"
	rejectProposal = "reject"
)

// proposalChoice is the arguments of proposals.
type proposalChoice struct {
	Action string `json:"action,omitempty" jsonschema:"enum=list,enum=accept,enum=reject,default=list"`
	ID     string `json:"id,omitempty" jsonschema:"maxLength=128"`
	Digest string `json:"digest,omitempty" jsonschema:"maxLength=64"`
	Reason string `json:"reason,omitempty" jsonschema:"maxLength=500"`
}

func (proposalChoice) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"action": "list, or the user's decision.",
		"id":     "Of the proposal.",
		"digest": "Of the proposal as it was shown.",
		"reason": "Why it is rejected.",
	})
}

// proposalList is the result of proposals: those that wait, after a decision too.
type proposalList struct {
	Proposals []waitingProposal `json:"proposals"`
	Hint      string            `json:"hint,omitempty"`
}

// waitingProposal is a proposal with what the person needs to decide about it.
type waitingProposal struct {
	ID        string `json:"id"`
	File      string `json:"file"`
	Section   string `json:"section,omitempty"`
	Time      string `json:"time"`
	Rationale string `json:"rationale"`
	Diff      string `json:"diff"`
	Shared    bool   `json:"shared,omitempty"`
	Changed   bool   `json:"changed,omitempty"`
	Pin       string `json:"pin,omitempty"`
	Problem   string `json:"problem,omitempty"`
	Digest    string `json:"digest"`
}

func (waitingProposal) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"diff":    "What accepting it changes.",
		"shared":  "Every group reads the file.",
		"changed": "The section was changed since.",
		"pin":     "pin or lock that accepting it overrides.",
		"problem": "Why it cannot be accepted now.",
		"digest":  "Pass it with a decision.",
	})
}

// newWaitingProposal describes a review.
func newWaitingProposal(r edit.Review) waitingProposal {
	w := waitingProposal{
		ID: r.Event.ID, File: r.Event.File, Section: r.Event.Section, Time: r.Event.Time, Rationale: r.Event.Rationale,
		Diff: string(diff.Diff(r.Would.From, []byte(r.Would.Before), r.Would.To, []byte(r.Would.After))),
		// What the person is shown of a file that groups read says so.
		Shared: workspace.IsPublic(r.Event.File), Changed: r.Changed, Pin: r.Pin, Problem: r.Problem,
	}
	data, _ := json.Marshal(w) //nolint:errchkjson // strings and booleans
	sum := sha256.Sum256(data)
	w.Digest = hex.EncodeToString(sum[:16])
	return w
}

// Proposals is the tool proposals: the edits that the agent proposes and the person decides about, in actor's name. It
// is for DMs only, and for the page of a host only (package app).
//
// SECURITY: a decision is the person's. A host may let its model call what is meant for the page, so each decision is
// asked of the person, with the whole change. Where they cannot be asked it is refused: a model that was told by a
// document to accept its own proposal cannot.
func Proposals(editor *edit.Editor, actor string) Tool {
	return Define(Spec{
		Name:        "proposals",
		Title:       "Proposed edits",
		Description: "List pending proposed edits; apply or reject one after asking the user.",
		Destructive: true,
	}, func(ctx context.Context, in proposalChoice) (proposalList, error) {
		waiting, err := editor.Reviews(ctx)
		if err != nil {
			return proposalList{}, err
		}
		if in.Action == listProposals {
			return fitProposals(waiting), nil
		}
		at := slices.IndexFunc(waiting, func(r edit.Review) bool { return r.Event.ID == in.ID })
		if at < 0 {
			return proposalList{}, fault.New("id: no proposal %q waits; list them again", in.ID)
		}
		if err := decideProposal(ctx, editor, actor, in, waiting[at]); err != nil {
			return proposalList{}, err
		}
		if waiting, err = editor.Reviews(ctx); err != nil {
			return proposalList{}, err
		}
		return fitProposals(waiting), nil
	})
}

// fitProposals are the proposals that there is room for, each whole: no one decides about half a change.
func fitProposals(waiting []edit.Review) proposalList {
	list, left := proposalList{Proposals: []waitingProposal{}}, newRoom()
	for _, r := range waiting {
		w := newWaitingProposal(r)
		if !left.take(w) {
			list.Hint = "Not all proposals fit here: yamo-mcp proposals or yamo-mcp view shows the others."
			continue
		}
		list.Proposals = append(list.Proposals, w)
	}
	return list
}

// decideProposal asks the person and does what they decide.
func decideProposal(
	ctx context.Context, editor *edit.Editor, actor string, in proposalChoice, r edit.Review,
) error {
	shown := newWaitingProposal(r)
	if in.Digest != shown.Digest {
		return fault.New("digest: the proposal or its file has changed since it was shown: look at it again, then decide")
	}
	where := fmt.Sprintf("yamo-mcp proposals %s %s, or yamo-mcp view", in.Action, in.ID)
	question, tick := "Reject this proposed edit?", "Reject it"
	if in.Action == acceptProposal {
		question, tick = "Accept this proposed edit?", "Accept it and change the file"
		if shown.Shared {
			question += " Every group can read the file, and every session follows it."
		}
	}
	whole := text.Plain(question + "\n\n" + shown.Rationale + "\n\n" + shown.Diff)
	if utf8.RuneCountInString(whole) > maxAsked {
		return fault.New("id: the change is too long to be shown with the question; decide with %s", where)
	}
	err := confirm(ctx, consent{
		key:      questionKey(in.Action, in.ID, in.Digest, in.Reason),
		question: whole, tick: tick, asked: true,
	})
	switch {
	case errors.Is(err, errCannotAsk):
		return fault.New("action: this host cannot ask you to confirm it; decide with %s", where)
	case err != nil:
		return err
	case in.Action == rejectProposal:
		_, err = editor.RejectProposal(ctx, in.ID, actor, in.Reason)
		return err
	}
	// Changed sections too: the question showed what would be replaced, and the digest that it is still that.
	_, _, err = editor.AcceptProposal(ctx, in.ID, actor, "", true)
	return err
}

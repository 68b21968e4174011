package tools

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// workspaceEdit is the arguments of workspace_edit: one operation of seed 004 §4 on one section.
type workspaceEdit struct {
	File      string   `json:"file" jsonschema:"maxLength=512"`
	Section   string   `json:"section,omitempty" jsonschema:"maxLength=200"`
	Op        string   `json:"op"`
	Content   string   `json:"content,omitempty" jsonschema:"maxLength=65536"`
	Items     []string `json:"items,omitempty" jsonschema:"maxItems=200"`
	Remove    []string `json:"remove,omitempty" jsonschema:"maxItems=200"`
	Rationale string   `json:"rationale" jsonschema:"minLength=1,maxLength=500"`
	Evidence  []string `json:"evidence_refs,omitempty" jsonschema:"maxItems=20"`
	Override  string   `json:"override_rationale,omitempty" jsonschema:"maxLength=500"`
	Expected  string   `json:"expected_hash,omitempty" jsonschema:"maxLength=64"`
	Key       string   `json:"idempotency_key,omitempty" jsonschema:"maxLength=128"`
	Create    bool     `json:"create,omitempty"`
	Propose   bool     `json:"propose,omitempty"`
}

func (workspaceEdit) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"file": "MEMORY.md, USER.md, AGENTS.md, notes/NAME.md, users/ID/overview.md, " +
			"users/ID/{parts,relationships}/ID/profile.md.",
		"section":            "Heading (profiles: Role, Dynamics, Evidence); none: text below title.",
		"op":                 "curate_items: add, remove; undo: your last edit.",
		"content":            "Markdown; headings from ###.",
		"remove":             "Items, or how they begin.",
		"rationale":          "Reason, one line.",
		"evidence_refs":      "One per item: ID, ev:…, FILE#Heading.",
		"override_rationale": "Why a cap is exceeded.",
		"expected_hash":      "Hash from a read or edit.",
		"idempotency_key":    "Repeated: returns the first result.",
		"items":              "Without bullets.",
		"create":             "Create what is missing.",
		"propose":            "The user decides; also for pinned sections.",
	})
	enumerate(s, "op", grammar.ReplaceSection, grammar.AppendSection, grammar.AppendItem, grammar.CurateItems,
		grammar.TombstoneSection, undoOp)
}

// undoOp is the operation of workspace_edit that takes back an edit. It is none of seed 004.
const undoOp = grammar.Op("undo")

// workspaceEdited is the result of workspace_edit. The hashes are those of the section, so that the next edit can give
// expected_hash.
type workspaceEdited struct {
	EventID  string   `json:"event_id"`
	Evidence string   `json:"evidence_token"`
	File     string   `json:"file"`
	URI      string   `json:"uri"`
	Section  string   `json:"section"`
	Before   string   `json:"before_hash"`
	After    string   `json:"after_hash"`
	Removed  []string `json:"removed,omitempty"`
	Inexact  []string `json:"paraphrased,omitempty"`
	Snapshot string   `json:"snapshot"`
	Repeated bool     `json:"repeated,omitempty"`
	Proposal string   `json:"proposal,omitempty" jsonschema:"enum=pending,enum=accepted,enum=rejected"`
	Hint     string   `json:"hint,omitempty"`
}

func (workspaceEdited) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{ //nolint:gosec // descriptions of tokens, not tokens
		"evidence_token": "Cites this edit as evidence for others.",
		"before_hash":    "Empty for a new section.",
		"removed":        "Items that the section had before.",
		"paraphrased":    "Items that do not quote what they cite; the file has them marked so.",
		"snapshot":       "The section after the edit, up to 4,000 characters.",
		"repeated":       "Already made with this idempotency_key.",
		"proposal":       "The user's decision.",
	})
}

// resourceLinks are the file, and the edit as evidence.
func (e workspaceEdited) resourceLinks() []mcp.ResourceLink {
	return []mcp.ResourceLink{
		mcp.NewResourceLink(e.URI, e.File, "The file that was edited", "text/markdown"),
		mcp.NewResourceLink(resourceuri.Evidence(e.Evidence), e.Evidence, "The record of this edit", "application/json"),
	}
}

// WorkspaceEdit is the tool workspace_edit (seed 004 §4 and §11) of the agent called agent. It is for DMs only.
func WorkspaceEdit(editor *edit.Editor, agent string) Tool {
	return Define(Spec{
		Name:  "workspace_edit",
		Title: "Edit a workspace file",
		Description: "Change one section of a workspace file; read it first. " +
			"Not for daily logs (log_append) or SOUL.md. No credentials.",
		Destructive: true,
		Refuse: func(args map[string]any) error {
			// Seed 004 names operations that must never exist, such as replacing a whole file: the reason helps more than
			// "must be one of".
			op, _ := args["op"].(string)
			return grammar.Op(op).Prohibited()
		},
	}, func(ctx context.Context, in workspaceEdit) (workspaceEdited, error) {
		if name, ok := resourceuri.ParseFile(in.File); ok {
			in.File = name
		}
		in.File = grammar.CanonicalFile(in.File)
		q := edit.Request{
			File: in.File, Refs: in.Evidence, Expected: in.Expected, Key: in.Key, Call: callID(ctx), Actor: agent,
			Session: sessionID(ctx), Propose: in.Propose, Retire: in.Remove,
			Edit: grammar.Edit{
				Op: grammar.Op(in.Op), Section: in.Section, Content: in.Content, Items: in.Items,
				Rationale: in.Rationale, Override: in.Override, Create: in.Create,
			},
		}
		if workspace.IsPublic(in.File) && !in.Propose {
			var err error
			if q.Consent, err = in.consent(ctx, editor, q); err != nil {
				return workspaceEdited{}, withField(withEditHint(err), "retire", "remove")
			}
		}
		done, err := in.perform(ctx, editor, q)
		if err != nil {
			return workspaceEdited{}, withField(withEditHint(err), "retire", "remove")
		}
		e := done.Event
		out := workspaceEdited{
			EventID: e.ID, Evidence: e.Token(), File: e.File, URI: resourceuri.File(e.File), Section: e.Section,
			Before: e.Before, After: e.After, Snapshot: done.Snapshot, Repeated: done.Repeated,
		}
		// What does not fit is in the history.
		left := newRoom()
		left.take(out.Snapshot)
		out.Removed = fit(&left, e.Retired)
		out.Inexact = fit(&left, done.Paraphrased)
		// One hint, by urgency: a decision that is open, then how the section was found, then missing evidence.
		switch typ, _ := grammar.TypeOf(e.File); {
		case done.Proposal != nil:
			out.Proposal, out.Hint = done.Proposal.State, proposalHint(*done.Proposal)
		case done.Match == grammar.ByNearest:
			out.Hint = "The heading is misspelled in the file; it was matched anyway and not changed."
		case len(done.Paraphrased) > 0:
			out.Hint = "An item is marked as a paraphrase unless it is one exact quote: three words or more, or a whole " +
				"sentence, with its \"not\", and outside of it only who said it and when. To replace it, call curate_items with " +
				"the exact words between quotation marks, and remove."
		case typ != nil && typ.Strict && grammar.Op(e.Op).Material() && len(e.Evidence) == 0:
			out.Hint = "A material edit of a profile needs evidence: cite memories or events in evidence_refs."
		}
		return out, nil
	})
}

// consent returns how the user agreed to the edit q of a file that groups read: record.ByPerson, or "" if they cannot
// be asked or the text is too long to be shown: the edit is a proposal then. They are not asked about an edit that
// would be refused.
func (in workspaceEdit) consent(ctx context.Context, editor *edit.Editor, q edit.Request) (by string, err error) {
	if q.Op == undoOp {
		return in.consentToUndo(ctx, editor, q)
	}
	q.Preview, q.Consent = true, record.ByPerson
	if _, err := in.perform(ctx, editor, q); err != nil {
		return "", err
	}
	var what strings.Builder
	what.WriteString(in.Content)
	for _, item := range in.Remove {
		what.WriteString("remove: " + item + "\n")
	}
	for _, item := range in.Items {
		what.WriteString("- " + item + "\n")
	}
	return consentToPublish(ctx, in, what.String())
}

// consentToUndo is consent for taking back an edit, of which the call says nothing: the user sees what would change.
// What is taken back after a long look at the question is what was shown, or nothing.
func (in workspaceEdit) consentToUndo(ctx context.Context, editor *edit.Editor, q edit.Request) (by string, err error) {
	if !callerOf(ctx).elicits() {
		return "", nil // it is refused
	}
	would, err := editor.WouldUndo(ctx, q)
	if err != nil || would == (edit.Changed{}) {
		return "", err
	}
	change := string(diff.Diff(would.From, []byte(would.Before), would.To, []byte(would.After)))
	if by, err = consentToPublish(ctx, in, change); err != nil || by == "" {
		return by, err
	}
	now, err := editor.WouldUndo(ctx, q)
	if err != nil {
		return "", err
	}
	if now != would {
		return "", fault.New("op: %s changed while the user was asked; nothing was undone. Call again", in.File)
	}
	return by, nil
}

// consentToPublish asks the user whether a file that groups read may be changed: what is everything that would be
// written.
func consentToPublish(ctx context.Context, in workspaceEdit, what string) (by string, err error) {
	whole := text.Plain(in.File + "#" + in.Section + ": " + in.Op + "\n\n" + what)
	if utf8.RuneCountInString(whole) > maxAsked {
		return "", nil
	}
	err = confirm(ctx, consent{
		key:      questionKey("publish", whole),
		question: "Change " + in.File + "? Every group can read it, and every session follows it.\n\n" + whole,
		tick:     "Change it for all sessions",
		asked:    true,
	})
	if errors.Is(err, errCannotAsk) {
		return "", nil
	}
	return record.ByPerson, err
}

// perform makes the edit, or takes one back. Items are added to the others, unless they are there already, as after a
// repeated call: a list loses only what remove names.
func (in workspaceEdit) perform(ctx context.Context, editor *edit.Editor, q edit.Request) (edit.Result, error) {
	switch q.Op {
	case undoOp:
		if in.Section != "" || in.Content != "" || len(in.Items)+len(in.Remove) > 0 || in.Propose {
			return edit.Result{}, fault.New("op: undo takes file, rationale and idempotency_key only")
		}
		return editor.UndoLast(ctx, q)
	case grammar.CurateItems, grammar.AppendItem:
		if q.Unique = true; q.Content != "" { // the text of one item
			q.Items, q.Content = append([]string{q.Content}, q.Items...), ""
		}
		switch {
		case len(q.Retire) > 0 && q.Op == grammar.AppendItem:
			return edit.Result{}, fault.New("remove: only used by curate_items")
		case len(q.Items)+len(q.Retire) == 0:
			return edit.Result{}, fault.New("items: pass items to add, or items to remove in remove")
		case len(q.Retire) == 0:
			q.Op = grammar.AppendItem
		}
	case grammar.ReplaceSection, grammar.AppendSection, grammar.TombstoneSection:
		if len(q.Retire) > 0 {
			return edit.Result{}, fault.New("remove: only used by curate_items")
		}
	}
	return editor.Edit(ctx, q)
}

// withEditHint adds to an error of the editor which tool helps. Package edit does not name tools, because its errors
// are shown on the command line too.
func withEditHint(err error) error {
	if pinned, ok := errors.AsType[*edit.PinnedError](err); ok {
		return fault.New("%v. To ask them for the change, call workspace_edit with propose: true", pinned)
	}
	if readOnly, ok := errors.AsType[*edit.ReadOnlyError](err); ok {
		return fault.New("%v, with log_append", readOnly)
	}
	return err
}

// withField returns an error of the editor with the field's name that the tool has for it.
func withField(err error, field, name string) error {
	if f, ok := fault.As(err); ok {
		if rest, ok := strings.CutPrefix(f.Error(), field+": "); ok {
			return fault.New("%s: %s", name, rest)
		}
	}
	return err
}

// proposalHint is what the agent has to know about a proposal of its own.
func proposalHint(p edit.Proposal) string {
	switch p.State {
	case edit.Accepted:
		return "The user accepted it: the file contains it."
	case edit.Rejected:
		if why := p.Why(); why != "" {
			return "The user rejected it: " + why
		}
		return "The user rejected it. Do not propose it again unless they bring it up."
	}
	return "Nothing has changed yet. Tell the user that it needs their decision: `yamo-mcp proposals` shows it."
}

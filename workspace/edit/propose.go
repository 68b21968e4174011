package edit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/splice"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// MaxWaiting is the maximum number of pending proposals. An owner who does not decide must not be flooded.
const MaxWaiting = 100

// States of a proposal.
const (
	Pending  = "pending"
	Accepted = "accepted"
	Rejected = "rejected"
)

// Asked is the edit that a proposal asks for, as the agent requested it. Its reason, evidence and file are those of the
// event, whose before_hash is that of the section at the time.
type Asked struct {
	Op      grammar.Op `json:"op"`
	Section string     `json:"section"`
	Content string     `json:"content,omitempty"`
	Items   []string   `json:"items,omitempty"`
	Retire  []string   `json:"retire,omitempty"`
	Unique  bool       `json:"unique,omitempty"`
	Create  bool       `json:"create,omitempty"`
}

// Proposal is an edit that the owner accepts or rejects (seed 004 §13).
type Proposal struct {
	Event    Event  `json:"event"`
	State    string `json:"state"`
	Decision *Event `json:"decision,omitempty"` // the accepted edit or OpReject, without texts; nil while pending
}

// Why returns the owner's reason to reject the proposal, "" for none.
func (p Proposal) Why() string {
	if p.State != Rejected {
		return ""
	}
	return p.Decision.Rationale
}

// decided is the proposal that a request accepts.
type decided struct {
	id      string
	was     Event // the proposal, without texts
	anyway  bool  // even if the section has changed
	preview bool  // compute the result only
}

// ErrChanged means that the section was changed since a proposal to replace its content was made.
var ErrChanged = errors.New("the section was changed since the proposal was made")

// proposed applies the event of a proposal to the state.
func (s *state) proposed(e Event) {
	s.proposals[e.ID] = &Proposal{Event: e.brief(), State: Pending}
	if e.Key != "" {
		s.byKey[e.Key] = e.brief()
	}
}

// decided applies an event that may decide about a proposal: OpReject or an edit.
func (s *state) decided(e Event) {
	p := s.proposals[e.RefersTo]
	if p == nil {
		return
	}
	decision := e.brief()
	p.State, p.Decision = Accepted, &decision
	if e.Op == OpReject {
		p.State = Rejected
	}
}

// reopen makes a proposal pending again when the edit that accepted it never reached its file.
func (s *state) reopen(undone Event) {
	if p := s.proposals[undone.RefersTo]; p != nil {
		p.State, p.Decision = Pending, nil
	}
}

// waiting returns the pending proposals, oldest first.
func (s *state) waiting() []*Proposal {
	var list []*Proposal
	for _, id := range slices.SortedFunc(maps.Keys(s.proposals), s.inOrder) {
		if p := s.proposals[id]; p.State == Pending {
			list = append(list, p)
		}
	}
	return list
}

// proposed reports whether the same proposal was made before and not accepted; a.result is then that proposal. A
// rejected one counts, so that an agent does not ask again and again.
func (a *attempt) proposed() (bool, error) {
	for _, p := range a.state.proposals {
		// An accepted proposal can be made again: the file may have been changed back.
		if p.State == Accepted || p.Event.File != a.q.File {
			continue
		}
		k, err := a.keyOf(p.Event.Integrity.SaltVersion)
		if err != nil {
			return false, err
		}
		if p.Event.Request == k.Hash("request", a.q.text()) {
			a.result = Result{Event: p.Event, Repeated: true}
			return true, nil
		}
	}
	if len(a.state.waiting()) >= MaxWaiting {
		return false, fault.New("propose: there are already %d pending proposals; ask the workspace owner to decide about "+
			"them first, with yamo-mcp proposals", MaxWaiting)
	}
	return false, nil
}

// undecided returns nil for a pending proposal, and a fault for any other.
func (s *state) undecided(id string) error {
	p := s.proposals[id]
	switch {
	case p == nil:
		return fault.New("%s: no such proposal; run yamo-mcp proposals to list the pending ones", id)
	case p.State != Pending:
		return fault.New("%s: already %s at %s", id, p.State, p.Decision.Time)
	}
	return nil
}

// allowed refuses an edit that a pin forbids, and the acceptance of a proposal whose section was changed since. Pins do
// not bind the owner, so that an agent may propose to change what is pinned.
func (a *attempt) allowed(before *grammar.Document, done grammar.Applied) error {
	d := a.q.decided
	switch {
	case a.q.Propose, a.q.Op == grammar.Promote:
		return nil
	case d == nil:
		return a.permitted(a.q.File, done.Section, done.Anchor, a.q.Op)
	case d.anyway || d.preview || !a.q.Op.Material(): // an addition removes nothing that came since
		return nil
	}
	changed, err := a.changed(d.was, before, done.Section, done.Anchor)
	if err == nil && changed {
		err = ErrChanged
	}
	return err
}

// changed reports whether the section of the proposal p has changed in d since the proposal was made.
func (e *Editor) changed(p Event, d *grammar.Document, section, anchor string) (bool, error) {
	k, err := e.keyOf(p.Integrity.SaltVersion)
	if err != nil {
		return false, err
	}
	now := ""
	if i := splice.Index(d, section, anchor); i >= 0 {
		now = k.Section(d.Parts[i].Body)
	}
	return now != p.Before, nil
}

// proposes turns the edit's event into a proposal: it records the request, and no effect.
func (a *attempt) proposes(e *Event) {
	e.Op, e.After, e.FileAfter, e.Changes, e.Touched, e.Items, e.Retired = OpPropose, "", "", nil, false, 0, nil
	q := a.q
	e.Asked = &Asked{q.Op, q.Section, q.Content, q.dated(e.time()), q.Retire, q.Unique, q.Create}
}

// proposed adds the present state of the result's proposal, if it is about one. e.mu is held.
func (e *Editor) proposed(r Result) Result {
	if p := e.state.proposals[r.Event.ID]; p != nil {
		now := *p
		r.Proposal = &now
	}
	return r
}

// Proposals returns all proposals, decided ones included, without texts, oldest first.
func (e *Editor) Proposals(ctx context.Context) ([]Proposal, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return nil, err
	}
	var list []Proposal
	for _, id := range slices.SortedFunc(maps.Keys(e.state.proposals), e.state.inOrder) {
		// Copies, because the state changes with the next event.
		list = append(list, *e.state.proposals[id])
	}
	return list, nil
}

// Review is a proposal with what the owner needs to decide about it.
type Review struct {
	Proposal
	Would   Changed // what accepting it would do to the file now
	Changed bool    // the section was changed since the proposal was made
	Pin     string  // OpPin or OpLock, which accepting it overrules; "" for neither
	Problem string  // why it cannot be accepted at present, "" if it can
}

// Reviews returns the pending proposals, oldest first.
func (e *Editor) Reviews(ctx context.Context) ([]Review, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return nil, err
	}
	waiting := e.state.waiting()
	texts, err := e.texts(ctx)
	if err != nil {
		return nil, err
	}
	list := []Review{}
	for _, p := range waiting {
		r, err := e.review(ctx, *p, texts[p.Event.ID])
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// Review returns one proposal by its id or token. Of a decided one only Proposal is set.
func (e *Editor) Review(ctx context.Context, ref string) (Review, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, err := e.proposal(ctx, ref)
	if err != nil {
		return Review{}, err
	}
	texts, err := e.texts(ctx)
	if err != nil {
		return Review{}, err
	}
	return e.review(ctx, p, texts[p.Event.ID])
}

// proposal returns the proposal with an id or token, after it has read what is new in the record. e.mu is held.
func (e *Editor) proposal(ctx context.Context, ref string) (Proposal, error) {
	id := ref
	if token, err := grammar.ParseToken(ref); err == nil {
		id = token.ID.String()
	}
	if err := e.sync(ctx); err != nil {
		return Proposal{}, err
	}
	if p := e.state.proposals[id]; p != nil {
		return *p, nil
	}
	return Proposal{}, e.state.undecided(ref)
}

// texts returns the events of all proposals with their texts, by id. Each is checked to be as it was written: the owner
// must not accept a request that was tampered with.
func (e *Editor) texts(ctx context.Context) (map[string]Event, error) {
	proposes := func(event Event) bool { return event.Op == OpPropose }
	events, err := e.readEvents(ctx, []byte(`"op":"`+OpPropose+`"`), proposes)
	texts := map[string]Event{}
	for _, event := range events {
		texts[event.ID] = event
	}
	return texts, err
}

// request returns the edit that a proposal asks for.
func (p Event) request() (Request, error) {
	if p.Asked == nil {
		return Request{}, fault.New("%s: the edit that it asks for is no longer in the record; reject it", p.ID)
	}
	q := Request{
		File: p.File, Retire: p.Asked.Retire, Unique: p.Asked.Unique, decided: &decided{id: p.ID, was: p.brief()},
		Edit: grammar.Edit{
			Op: p.Asked.Op, Section: p.Asked.Section, Content: p.Asked.Content, Items: p.Asked.Items, Rationale: p.Rationale,
			Override: p.Override, Create: p.Asked.Create,
		},
	}
	for _, ref := range p.Evidence {
		token, err := grammar.ParseToken(ref)
		if err != nil {
			return Request{}, fmt.Errorf("evidence of the proposal %s: %w", p.ID, err)
		}
		q.Evidence = append(q.Evidence, token)
	}
	return q, nil
}

// review computes what accepting p would do; asked is its event with texts. e.mu is held.
func (e *Editor) review(ctx context.Context, p Proposal, asked Event) (Review, error) {
	r := Review{Proposal: p}
	r.Event.Asked = asked.Asked
	if p.State != Pending {
		return r, nil
	}
	var a *attempt
	q, err := asked.request()
	if err == nil {
		r.Pin = e.pinned(asked.File, asked.Section, asked.Anchor, q.Op)
		q.decided.preview = true
		a, err = e.attempt(ctx, q)
	}
	// Not an error of the review: that it cannot be accepted is what the owner must see.
	if f, ok := fault.As(err); ok {
		r.Problem = f.Error()
		return r, nil
	}
	if err != nil {
		return Review{}, err
	}
	r.Would = Changed{From: asked.File, To: asked.File + " with " + asked.ID, Before: a.before, After: a.after}
	r.Changed, err = e.changed(asked, grammar.Parse(a.before), a.result.Event.Section, a.result.Event.Anchor)
	return r, err
}

// AcceptProposal makes the edit that a proposal asks for, in actor's name; pins do not apply. If the edit would replace
// content that the section got since the proposal was made, the error is ErrChanged, unless anyway is true. override is
// the reason to exceed a cap, "" for the proposal's own. A proposal that is not pending is a fault.
func (e *Editor) AcceptProposal(
	ctx context.Context, ref, actor, override string, anyway bool,
) (Result, Changed, error) {
	if err := e.checkReason("override", override); err != nil {
		return Result{}, Changed{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	p, err := e.proposal(ctx, ref)
	if err != nil {
		return Result{}, Changed{}, err
	}
	texts, err := e.texts(ctx)
	if err != nil {
		return Result{}, Changed{}, err
	}
	q, err := texts[p.Event.ID].request()
	if err != nil {
		return Result{}, Changed{}, err
	}
	if err := e.opt.View.CheckText(override); err != nil {
		return Result{}, Changed{}, fault.New("override: %v", err)
	}
	q.Actor, q.decided.anyway = actor, anyway
	if override != "" {
		q.Override = override
	}
	a, err := e.attempt(ctx, q)
	if err != nil {
		return Result{}, Changed{}, err
	}
	e.rollOverview(ctx, a.result.Event)
	return a.result, a.change(), nil
}

// change returns what an attempt that succeeded did to the file.
func (a *attempt) change() Changed {
	return Changed{
		From: a.q.File + " before " + a.result.Event.ID, To: a.q.File + " now", Before: a.before, After: a.after,
	}
}

// RejectProposal records that the owner rejects a proposal, and why. A proposal that is not pending is a fault.
func (e *Editor) RejectProposal(ctx context.Context, ref, actor, why string) (rejected Proposal, err error) {
	if err := e.checkReason("why", why); err != nil {
		return Proposal{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	p, err := e.proposal(ctx, ref)
	if err != nil {
		return Proposal{}, err
	}
	tx, err := e.begin(ctx, p.Event.File) // its lock keeps another process from accepting the proposal meanwhile
	if err != nil {
		return Proposal{}, err
	}
	defer tx.close(&err)
	if err := e.state.undecided(p.Event.ID); err != nil {
		return Proposal{}, err
	}
	k, err := e.key()
	if err != nil {
		return Proposal{}, err
	}
	event := e.newEvent(e.now(), OpReject, p.Event.File)
	event.Section, event.Anchor, event.RefersTo = p.Event.Section, p.Event.Anchor, p.Event.ID
	event.Actor, event.Rationale = actor, oneLine(why)
	if err := tx.record(ctx, k, event); err != nil {
		return Proposal{}, err
	}
	return *e.state.proposals[p.Event.ID], nil
}

// MaxOffered is the maximum number of pending proposals that no agent made: the agent's own must find a place too.
const MaxOffered = 30

// ErrOffered means that there are MaxOffered of them, and that nothing was recorded.
var ErrOffered = errors.New("too many statements wait for the owner's decision")

// Offer proposes an edit that the program itself found worth a decision, such as what a person said in a conversation.
// same is what identifies the statement, in any form that the caller gives all its spellings: one that was offered
// before, by whatever process, is never offered again, whether it was accepted, rejected or erased. made is false for
// such a one. Otherwise it is Edit, and its errors are Edit's.
func (e *Editor) Offer(ctx context.Context, q Request, same string) (made bool, err error) {
	q.Propose, q.same = true, same
	q.Origin = Origin{Source: FromTalk}
	done, err := e.Edit(ctx, q)
	return err == nil && !done.Repeated, err
}

// Offered reports whether a statement was offered before: then no evidence needs to be looked for. Its error means that
// the record cannot be read, so that nothing can be offered.
func (e *Editor) Offered(ctx context.Context, same string) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return false, explain("", err)
	}
	return e.wasOffered(same)
}

// wasOffered reports whether the record has an offer of the statement same, under any of its keys. e.mu is held.
func (e *Editor) wasOffered(same string) (bool, error) {
	for version := e.state.version; version > 0; version-- {
		k, err := e.keyOf(version)
		if _, lost := errors.AsType[seal.MissingError](err); lost {
			continue
		}
		if err != nil {
			return false, err
		}
		if e.state.offered[offerKey(k, same)] {
			return true, nil
		}
	}
	return false, nil
}

// offerPrefix begins the idempotency keys of offers.
const offerPrefix = "offer:"

// offerKey returns the idempotency key of an offer. It has a keyed hash, so that an erased statement cannot be guessed.
func offerKey(k seal.Key, same string) string { return offerPrefix + k.Hash("offer", same)[:32] }

// offers returns the number of pending offers.
func (s *state) offers() (n int) {
	for _, p := range s.waiting() {
		if p.Event.MadeBy().Source == FromTalk {
			n++
		}
	}
	return n
}

// CiteSaid returns the token of the first turn of a session log in which a person said quote, "" if there is none. A
// turn of a group, of an agent or of a tool is not a person's.
func (e *Editor) CiteSaid(ctx context.Context, session, quote string) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return "", explain("", err)
	}
	token, ok, err := e.citer().Said(ctx, session, quote)
	if !ok || err != nil {
		return "", err
	}
	return token.String(), nil
}

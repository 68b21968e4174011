package edit

import (
	"context"
	"errors"

	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
)

// MaxOffered is the maximum number of pending proposals that no agent made: the agent's own must find a place too.
const MaxOffered = 30

// ErrOffered means that there are MaxOffered of them, and that nothing was recorded.
var ErrOffered = errors.New("too many statements wait for the owner's decision")

// Offer proposes an edit that the program itself found worth a decision, such as what a person said in a conversation.
// same is what identifies the statement, in any form that the caller gives all its spellings: one that was offered
// before, by whatever process, is never offered again, whether it was accepted, rejected or erased. made is false for
// such a one. Otherwise it is Edit, and its errors are Edit's.
func (e *Editor) Offer(ctx context.Context, q Request, same string) (made bool, err error) {
	known, err := e.offered(ctx, same)
	if known || err != nil {
		return false, err
	}
	q.Propose, q.same = true, same
	q.Origin = Origin{Source: FromTalk}
	done, err := e.Edit(ctx, q)
	return err == nil && !done.Repeated, err
}

// offered reports whether a statement was offered before, so that no evidence is looked for.
func (e *Editor) offered(ctx context.Context, same string) (bool, error) {
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

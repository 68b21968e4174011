package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// consent is what a call needs before it does something that cannot be undone.
type consent struct {
	key      string // see questionKey
	question string // to the person
	tick     string // what the person ticks
	given    bool   // the caller's argument: the person agrees
	missing  string // the fault if the client cannot ask and the argument is not given
	asked    bool   // only a person can agree: if the client cannot ask, the error is errCannotAsk
}

// confirm asks the person if the client can, and returns nil if they agree; else the error is a fault that tells the
// model what to do. The person's answer counts then, not the model's argument, which counts only where the client
// cannot ask.
//
// SECURITY: a model that was told by a document to delete or share cannot confirm it where a person can.
func confirm(ctx context.Context, c consent) error {
	said, err := callerOf(ctx).ask(ctx, c.key, c.question, c.tick)
	switch {
	case errors.Is(err, errCannotAsk) && c.asked:
		return errCannotAsk
	// The model's word counts only here.
	case errors.Is(err, errCannotAsk) && c.given:
		return nil
	case errors.Is(err, errCannotAsk):
		return fault.New("%s", c.missing)
	case err != nil:
		return err
	case said == accepted:
		return nil
	// A model that is only told "no" tends to try another way.
	case said == declined:
		return fault.New("the user declined: nothing was done; do not ask again unless they bring it up")
	default:
		return fault.New("the user was asked and did not answer: nothing was done; " +
			"ask them in the conversation before you call again")
	}
}

// questionKey names a question by its kind and subject, so that an answer to one question confirms no other.
func questionKey(kind string, about ...string) string {
	// A hash, because the subject can be content, and keys are sent back and forth. The zero byte separates: ["ab","c"]
	// and ["a","bc"] are different questions.
	sum := sha256.Sum256([]byte(strings.Join(about, "\x00")))
	return kind + "-" + hex.EncodeToString(sum[:8])
}

// excerpt is the beginning of a text, for a person who is to decide about it.
func excerpt(about string) string {
	return text.Shorten(about, concise)
}

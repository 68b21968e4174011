package tools

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// maxAsked is the maximum length of what a person is asked to share, in characters: it is shown whole or not at all.
const maxAsked = 4_000

// disclosure is what a DM wants every group to know.
type disclosure struct {
	whole string   // everything that a group could read, as record.Memory.Whole returns it
	parts []string // the same as separate texts, see mesh.View.Discloses
	given bool     // the caller's argument: the user agrees
	known string   // the private memory or skill that is shared, "" if it is not known to be one
}

// consentToShare returns how the user agreed that groups may know something, see record.Record. Otherwise the error is
// a fault that tells the model what to do.
//
// SECURITY: this is the one way of a session from private to shared memory. A person sees all of the text, and nothing
// but the text. Where no person can be asked, the caller's word is enough only for what is new: for what is like
// something private the caller must claim that the user agreed.
func consentToShare(ctx context.Context, v *mesh.View, d disclosure) (by string, err error) {
	question := "Share this with every group the agent is in? All of it will be readable there."
	if d.known != "" {
		question = "This is one of your private memories or skills. " + question
	}
	caller := callerOf(ctx)
	if n := utf8.RuneCountInString(d.whole); caller.elicits() && n > maxAsked {
		return "", fault.New("visibility: %d characters are too many to show to the user, who must see all that is shared "+
			"(at most %d). Share less, or store it as private and ask the user to run `yamo-mcp shared add ID`", n, maxAsked)
	}
	err = confirm(ctx, consent{
		key:      questionKey("share", d.whole),
		question: question + "\n\n" + d.whole,
		tick:     "Share it with the groups",
		asked:    true,
	})
	if !errors.Is(err, errCannotAsk) {
		return record.ByPerson, err
	}
	if d.known == "" {
		if d.known, err = v.Discloses(ctx, d.parts); err != nil {
			return "", err
		}
	}
	if d.known != "" && !d.given {
		return "", fault.New("confirm: this is like %s, which is private; ask the user whether groups may know it, "+
			"then call again with confirm: true", d.known)
	}
	return record.ByCaller, nil
}

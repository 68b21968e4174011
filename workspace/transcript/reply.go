package transcript

import (
	"context"
	"regexp"
)

// Limits of how far after a question its reply is looked for.
const (
	replyTurns = 60
	replyBytes = 1 << 20
)

// asks is a sentence that ends as a question.
var asks = regexp.MustCompile(`\?["')\]*_]*(\s|$)|？`)

// Reply returns the reply to a question that the person asked in the turn t of l: the last turn in which the assistant
// said something before the person spoke again. ok is false if t has no question, or if nothing was said to it.
func (v *View) Reply(ctx context.Context, l Log, t Turn) (reply Turn, ok bool, err error) {
	if t.Role != userRole || !asks.MatchString(t.Spoken) {
		return Turn{}, false, nil
	}
	row, _ := splitOffset(t.Offset)
	visited := 0
	_, _, err = v.Follow(ctx, l, row, func(next Turn) bool {
		at, _ := splitOffset(next.Offset)
		if at == row {
			return true
		}
		if next.Role == userRole && next.Spoken != "" {
			return false
		}
		if next.Role == "assistant" && next.Spoken != "" {
			reply, ok = next, true
		}
		visited++
		return visited < replyTurns && at < row+replyBytes
	})
	return reply, ok, err
}

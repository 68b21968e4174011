package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// maxHeld is the maximum number of memories that one question to the person is about.
const maxHeld = 5

// What the person can decide about a memory that a sweep holds.
const (
	heldLater = "Decide later"
	heldKeep  = "Add it to MEMORY.md"
	heldNever = "Never offer it again"
)

// decideHeld asks the person about memories that a sweep holds, and returns the ids of those that they want promoted
// and of those that they never want to be asked about again. Without a dialog of the host there are none.
//
// SECURITY: only the person's own answer counts: no argument of the call says anything about these memories, and they
// are shown whole or not at all.
func decideHeld(ctx context.Context, held []dream.Candidate) (confirmed, rejected []string, err error) {
	const intro = "These memories are recalled often. They need your decision before MEMORY.md, with which every direct " +
		"conversation starts, has them."
	question, about := intro, []string{}
	fields, shown := map[string]any{}, map[string]dream.Candidate{}
	for _, c := range held {
		if len(shown) == maxHeld {
			break
		}
		n := len(shown) + 1
		options := []string{heldLater, heldKeep, heldNever}
		reasons := c.Held
		if c.Unfit != "" {
			options, reasons = []string{heldLater, heldNever}, append(slices.Clip(reasons), c.Unfit)
		}
		paragraph := text.OneLine(text.Plain(fmt.Sprintf("%d. %s (said by %s, %s)", n, c.Text, c.Said, c.Date))) +
			"\n" + text.OneLine(text.Plain("Held because "+strings.Join(reasons, "; ")+"."))
		if utf8.RuneCountInString(question+paragraph) > maxAsked {
			continue
		}
		question += "\n\n" + paragraph
		name := fmt.Sprintf("memory_%d", n)
		fields[name] = map[string]any{
			"type": "string", "title": fmt.Sprintf("Memory %d", n), "enum": options, "default": heldLater,
		}
		shown[name] = c
		about = append(about, c.ID, paragraph)
	}
	if len(shown) == 0 {
		return nil, nil, nil
	}
	said, entered, err := callerOf(ctx).form(ctx, questionKey("dream", about...), question, fields)
	if errors.Is(err, errCannotAsk) || err == nil && said != accepted {
		return nil, nil, nil
	}
	for name, c := range shown {
		switch {
		case entered[name] == heldKeep && c.Unfit == "":
			confirmed = append(confirmed, c.ID)
		case entered[name] == heldNever:
			rejected = append(rejected, c.ID)
		}
	}
	return confirmed, rejected, err
}

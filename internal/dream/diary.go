package dream

import (
	"context"
	"fmt"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/dream/trust"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

const (
	// maxDiaryIDs is the maximum number of ids in the rationale of a sweep's edit.
	maxDiaryIDs = 20
	// diaryChars is the maximum number of characters that the diary quotes of a text.
	diaryChars = 160
)

// writeDiary adds the entry about a sweep to DREAMS.md, once, from the event of its edit. told are the memories that
// an earlier entry reported as held.
func (s *Sweeper) writeDiary(ctx context.Context, event edit.Event, told map[string]bool) error {
	heading, _ := strings.CutPrefix(event.Section, sectionPrefix)
	lines, err := s.diary(ctx, event, told)
	if err != nil {
		return err
	}
	_, err = s.Editor.Edit(ctx, edit.Request{
		File: workspace.DreamsFile, Key: diaryKey(event), Actor: s.AgentID, Refs: []string{event.ID},
		Origin: edit.Origin{Source: edit.FromDiary},
		Edit: grammar.Edit{
			Op: grammar.AppendItem, Section: heading, Items: lines, Create: true,
			Rationale: "the diary of event " + event.ID,
		},
	})
	return err
}

// diaryKey is the idempotency key of the diary's entry about an edit.
func diaryKey(event edit.Event) string { return "dream:" + event.ID }

// heldKey begins the idempotency key of the diary's entry about a memory that is held, before its id.
const heldKey = "dream:held:"

// untold are the held candidates that would replace the word of someone with more authority, and that no entry of the
// diary names.
func (p Plan) untold(past history) (list []Candidate) {
	for _, c := range p.Held {
		if c.Against != "" && !past.told[c.ID] {
			list = append(list, c)
		}
	}
	return list
}

// tell adds an entry about each of the candidates to DREAMS.md, once.
func (s *Sweeper) tell(ctx context.Context, list []Candidate) error {
	for _, c := range list {
		about, err := s.describe(ctx, c.ID)
		if err != nil {
			return err
		}
		_, err = s.Editor.Edit(ctx, edit.Request{
			File: workspace.DreamsFile, Key: heldKey + c.ID, Actor: s.AgentID, Refs: []string{c.ID},
			Origin: edit.Origin{Source: edit.FromDiary},
			Edit: grammar.Edit{
				Op: grammar.AppendItem, Section: s.Workspace.Now().UTC().Format(sweepTime) + " UTC", Create: true,
				Items:     []string{"Held for confirmation: " + about + "."},
				Rationale: "dreaming: " + c.ID + " would replace what has more authority",
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// diary are the sentences about a sweep.
func (s *Sweeper) diary(ctx context.Context, event edit.Event, told map[string]bool) (lines []string, err error) {
	sweep := event.MadeBy().Sweep
	lines = []string{fmt.Sprintf("In %d days, questions recalled %d of the memories, %d times.",
		sweep.Days, sweep.Memories, sweep.Recalls)}
	tell := func(verb string, ids []string) error {
		for _, id := range ids {
			about, err := s.describe(ctx, id)
			if err != nil {
				return err
			}
			lines = append(lines, verb+" "+about+".")
		}
		return nil
	}
	if err := tell("Promoted", sweep.Promoted); err != nil {
		return nil, err
	}
	var held []string
	for _, id := range sweep.Held {
		if !told[id] {
			held = append(held, id)
		}
	}
	return lines, tell("Held for confirmation:", held)
}

// describe returns a memory for the diary: its text, who said it and when, and its id; only the id if it was deleted.
func (s *Sweeper) describe(ctx context.Context, id string) (string, error) {
	hit, err := s.Memory.Get(ctx, id)
	if _, ok := fault.As(err); ok {
		return "a memory that was deleted since (" + id + ")", nil
	}
	if err != nil {
		return "", err
	}
	date := hit.CreatedAt.In(s.Workspace.Now().Location()).Format("2 January 2006")
	quoted := text.Shorten(line(hit.Content), diaryChars)
	how := "stored"
	if speaker := s.names().SpeakerOf(hit); speaker != trust.Unknown {
		how = "said by " + string(speaker)
	}
	about := fmt.Sprintf("%q, %s on %s (%s)", quoted, how, date, id)
	past, err := s.history(ctx)
	if err != nil {
		return "", err
	}
	a, err := s.authorities(ctx, past, nil)
	if err != nil {
		return "", err
	}
	old, found, err := s.overruled(ctx, a, hit)
	if err != nil {
		return "", err
	}
	if found {
		about += ", which would replace " + a.quoted(old)
	}
	if s.Workspace.CheckText(about) != nil || len(grammar.Tokens(about)) > 0 {
		return "a memory of " + date + " (" + id + ")", nil
	}
	return about, nil
}

// summary is a sweep in one line, for the rationale of its edit, without texts.
func summary(sweep edit.Sweep) string {
	parts := []string{
		fmt.Sprintf("%d recalls of %d memories in %d days", sweep.Recalls, sweep.Memories, sweep.Days),
		"promoted " + list(sweep.Promoted),
	}
	if len(sweep.Held) > 0 {
		parts = append(parts, "held for confirmation "+list(sweep.Held))
	}
	return strings.Join(parts, "; ")
}

// list writes ids with commas between them, the first maxDiaryIDs of them.
func list(ids []string) string {
	text := strings.Join(ids[:min(maxDiaryIDs, len(ids))], ", ")
	if more := len(ids) - maxDiaryIDs; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

package hookcmd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// recordLimit is how long the start of a session waits for other hooks that record what was said.
const recordLimit = 3 * time.Second

// sessionStart records what was said in sessions that hooks have not recorded to their end, returns the brief, and
// begins what the session was shown again: the model does not see any more what it was shown before.
func (r *run) sessionStart(ctx context.Context) (string, error) {
	a := r.folder.loadAsked(r.in.SessionID)
	a.Shown = nil
	err := r.folder.saveAsked(r.in.SessionID, a)
	// A brief without the last minutes of an earlier session is better than none.
	limited, cancel := context.WithTimeout(ctx, recordLimit)
	defer cancel()
	err = errors.Join(err, r.folder.locked(limited, func() error { return r.begin(ctx) }))
	text, briefErr := r.brief(ctx)
	return text, errors.Join(err, briefErr)
}

// What is shown before a prompt.
const (
	maxLines   = 3
	lineChars  = 280
	shortest   = 8   // characters of a prompt that something may fit to: "yes" and "go on" are about what was said before
	queryChars = 600 // of a prompt that is searched for: what is pasted below is rarely the question
)

// userPrompt keeps the prompt for stop, and returns the memories that fit it and that this session was not shown.
func (r *run) userPrompt(ctx context.Context) (string, error) {
	prompt := strings.TrimSpace(r.in.Prompt)
	a := r.folder.loadAsked(r.in.SessionID)
	// SECURITY: the state is in the audience's own folder, and has what the log would have.
	clean, _ := session.CredentialScrubber(r.list)(text.Plain(prompt))
	a.Prompt, a.PromptID, a.Number = text.Shorten(text.OneLine(clean), promptChars), r.in.PromptID, a.Number+1
	a.Stated = append(a.Stated, r.statements(prompt, time.Time{}, a.Number)...)
	a.Stated = a.Stated[max(0, len(a.Stated)-maxStated):]
	var lines []string
	var err error
	// Commands of the host are not questions.
	if utf8.RuneCountInString(prompt) >= shortest && !strings.HasPrefix(prompt, "/") && !strings.HasPrefix(prompt, "<") {
		lines, err = r.fitting(ctx, text.First(prompt, queryChars), &a)
	}
	return strings.Join(lines, "\n"), errors.Join(err, r.folder.saveAsked(r.in.SessionID, a))
}

// fitting returns a line for each standing instruction that query brings up and for each of the best memories that
// answer it, and adds them to what a has shown.
func (r *run) fitting(ctx context.Context, query string, a *asked) ([]string, error) {
	found, err := r.search(ctx, mesh.SearchRequest{
		Query: query, Limit: min(maxLines+len(a.Shown), mesh.MaxLimit), Unrecorded: true,
	})
	if err != nil {
		return nil, err
	}
	disputes := session.NewDisputes(r.options(), r.memory)
	defer func() { r.problem = errors.Join(r.problem, disputes.Close()) }()
	var lines []string
	for i, hit := range slices.Concat(found.Standing, found.Hits) {
		if len(lines) == maxLines {
			break
		}
		applies := i < len(found.Standing)
		if a.has(hit.ID) || !applies && !fits(query, hit, found.Off || found.Degraded) {
			continue
		}
		a.Shown = append(a.Shown, hit.ID)
		line := "- " + r.line(hit)
		mark, err := disputes.Mark(ctx, hit, lineChars/2)
		r.problem = errors.Join(r.problem, err) // the memory is more useful without the mark than nothing
		if before := hit.Before(lineChars / 2); mark == "" && before != "" && isMute(query, hit) &&
			!hit.Foreign(r.home()) {
			mark = "before: " + before
		}
		if mark != "" {
			line += " [" + mark + "]"
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// home is the compartment of the session's own memories.
func (r *run) home() record.Visibility {
	if r.who.IsDM() {
		return record.Private
	}
	return record.OfGroup(r.who.Group())
}

// line is a memory on one line, with the day it was stored on where the user lives, the time that it tells of, and the
// group that said it, if it was another one.
func (r *run) line(hit record.Hit) string {
	date := hit.CreatedAt.In(r.zone).Format(time.DateOnly)
	content := hit.Content
	if hit.Passage != "" {
		content = hit.Passage
	}
	if hit.OccurredAt != "" && !strings.HasPrefix(hit.OccurredAt, date) {
		date += " (happened " + hit.OccurredAt + ")"
	}
	if hit.Elsewhere != "" {
		date += " (project " + hit.Elsewhere + ")"
	}
	return date + " " + hit.Quote(r.home(), text.Shorten(text.OneLine(content), lineChars))
}

func (a *asked) has(id string) bool { return slices.Contains(a.Shown, id) }

// What a memory that is unlikely to answer a prompt needs to fit it. docs/ranking.md has the figures.
const (
	leastStrength    = .5
	leastProbability = .2
	onlyStrength     = .45 // of a memory that possibly answers and shares one word of several
)

// fits reports whether a memory belongs before a prompt. Confidence is about questions, and most prompts are tasks: a
// memory can matter to one that it does not answer, if it shares words with it and is about the same. rough: only
// words decided, so that strength says no more than they do.
func fits(query string, hit record.Hit, rough bool) bool {
	level := confidence.Of(hit.Probability)
	if level == confidence.Likely {
		return true
	}
	possible := level == confidence.Possible
	shared, asked := shares(query, strings.Join(append(hit.Labels(), hit.Content, hit.Before(lineChars/2)), "\n"))
	switch {
	case shared == 0:
		return false
	case rough:
		return possible && (shared >= 2 || asked == 1)
	case shared >= 2:
		return possible || hit.Strength >= leastStrength && hit.Probability >= leastProbability
	default:
		return possible && (asked == 1 || hit.Strength >= onlyStrength)
	}
}

// isMute reports whether a memory has no word of a query, so that a reader needs what it replaced to see what it is
// about: "He retired."
func isMute(query string, hit record.Hit) bool {
	shared, _ := shares(query, strings.Join(append(hit.Labels(), hit.Content), "\n"))
	return shared == 0
}

// shares returns how many of a query's words a memory has, and how many words the query has.
func shares(query, content string) (shared, asked int) {
	words := map[string]bool{}
	for _, stem := range stems(query) {
		words[stem] = true
	}
	asked = len(words)
	for _, stem := range stems(content) {
		delete(words, stem)
	}
	return asked - len(words), asked
}

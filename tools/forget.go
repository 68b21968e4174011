package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/forget"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// forgetting is the arguments of memory_delete in a direct conversation: one memory, or all about a subject.
type forgetting struct {
	ID      string `json:"id,omitempty"`
	About   string `json:"about,omitempty" jsonschema:"maxLength=200"`
	Keep    string `json:"keep,omitempty"`
	Confirm bool   `json:"confirm,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

func (forgetting) JSONSchemaExtend(s *jsonSchema) {
	describe(s, deletionTexts)
	describe(s, map[string]string{
		"about": "Or all that mentions it; without confirm, a list.",
		"keep":  "IDs, FILE:LINE.",
	})
}

// forgottenList is what a subject's deletion lists or has erased.
type forgottenList struct {
	Memories []forgottenMemory `json:"memories,omitempty"`
	Related  []forgottenMemory `json:"related,omitempty"`
	Skills   []string          `json:"skills,omitempty"`
	Queries  int               `json:"queries,omitempty"`
	Lines    []forget.Line     `json:"lines,omitempty"`
	Left     []string          `json:"left,omitempty"`
	More     int               `json:"more,omitempty"`
}

func (forgottenList) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"related": "Not erased: perhaps about it. Erase by id.",
		"queries": "Logged queries.",
		"lines":   "Of workspace files; kept: why it stays.",
		"left":    "Not erased, and what the user can do.",
		"more":    "Entries that did not fit.",
	})
}

type forgottenMemory struct {
	ID         string    `json:"id"`
	CreatedAt  time.Time `json:"created_at"`
	Visibility string    `json:"visibility"`
	Content    string    `json:"content"`
}

// forgottenExcerpt is the maximum number of characters of a memory in the list.
const forgottenExcerpt = 160

// newForgottenList presents a plan, or what was erased.
func newForgottenList(p forget.Plan, recorded *[]string) *forgottenList {
	memories := func(hits []record.Hit) (list []forgottenMemory) {
		for _, h := range hits {
			list = append(list, forgottenMemory{
				h.ID, h.CreatedAt, string(h.Visibility), text.Shorten(text.OneLine(h.Content), forgottenExcerpt),
			})
		}
		return list
	}
	left := newRoom()
	l := &forgottenList{Queries: p.Queries, Left: fit(&left, p.Left)}
	for _, s := range p.Skills {
		l.Skills = append(l.Skills, s.ID+" "+s.Name)
	}
	l.Memories, l.Lines = fit(&left, memories(p.Memories)), fit(&left, p.Lines)
	related := slices.Concat(p.Doubtful, p.Related)
	l.Skills, l.Related = fit(&left, l.Skills), fit(&left, memories(related))
	*recorded = fit(&left, p.Recorded)
	l.More = len(p.Memories) - len(l.Memories) + len(p.Lines) - len(l.Lines) + len(p.Skills) - len(l.Skills) +
		len(related) - len(l.Related)
	return l
}

// shownLists are the lists that were returned without erasing anything, by their keys.
type shownLists struct {
	mu   sync.Mutex
	keys map[string]bool
}

func newShownLists() *shownLists { return &shownLists{keys: map[string]bool{}} }

func (s *shownLists) add(key string) {
	const most = 100 // then they are shown again
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.keys) >= most {
		clear(s.keys)
	}
	s.keys[key] = true
}

func (s *shownLists) has(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys[key]
}

// forgetAbout lists what mentions a subject, or erases it once the person agrees: in the host's dialog, which shows the
// list, or where the host has none by confirm, after the same list was returned.
func forgetAbout(ctx context.Context, f forget.Forgetter, shown *shownLists, in forgetting) (memoryDeleted, error) {
	subject, err := mesh.ParseSubject(in.About)
	if err != nil {
		return memoryDeleted{}, fault.New("about: %v", err)
	}
	plan, err := f.Plan(ctx, subject)
	if err != nil {
		return memoryDeleted{}, err
	}
	list := questionKey("list", listedIDs(in.About, plan)...)
	if err := plan.Spare(separated(in.Keep)); err != nil {
		return memoryDeleted{}, err
	}
	var listed memoryDeleted
	listed.About = newForgottenList(plan, &listed.Recorded)
	switch {
	case plan.Empty():
		listed.Hint = "Nothing to erase mentions it." + doubtHint(plan)
		return listed, nil
	case !in.Confirm:
		shown.add(list)
		listed.Hint = "Nothing is erased yet. Show the user the list; if they agree, call again with confirm: true, and " +
			"keep: what they want to keep, as ID, FILE:LINE or FILE, separated by commas." + doubtHint(plan)
		return listed, nil
	}
	if err := confirm(ctx, consent{
		key:      questionKey("forget", listedIDs(in.About, plan)...),
		question: forgetQuestion(in.About, plan),
		tick:     "Erase all of it permanently",
		given:    shown.has(list),
		missing: "confirm: nothing is erased, because this list was not returned before, or has changed since; " +
			"call again without confirm and show the user the list",
	}); err != nil {
		return memoryDeleted{}, err
	}
	done, err := f.Forget(ctx, subject, plan)
	if err != nil {
		return memoryDeleted{}, err
	}
	gone := memoryDeleted{Deleted: true, Hint: "Tell the user what was erased, and what is left and how it goes."}
	gone.About = newForgottenList(done, &gone.Recorded)
	return gone, nil
}

// separated returns what commas separate.
func separated(text string) (list []string) {
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// doubtHint tells that something may have only the word of a subject that is a name, "" if nothing has.
func doubtHint(p forget.Plan) string {
	if !p.Unsure() {
		return ""
	}
	stays := []string{"related"}
	for _, s := range p.DoubtfulSkills {
		stays = append(stays, s.ID)
	}
	return " Ask about what may have only the word, which stays unless you erase it by id: " + strings.Join(stays, ", ") +
		", and lines that are kept for that."
}

// listedIDs name what a plan lists, so that an answer to one list confirms no other.
func listedIDs(about string, p forget.Plan) []string {
	list := []string{about}
	for _, h := range p.Memories {
		list = append(list, h.ID)
	}
	for _, s := range p.Skills {
		list = append(list, s.ID)
	}
	for _, l := range p.Lines {
		list = append(list, l.File, l.Text)
	}
	return append(list, p.Spared...)
}

// forgetQuestion asks the person, with the beginning of the list.
func forgetQuestion(about string, p forget.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Permanently erase what mentions %q: %s?\n", text.Shorten(text.OneLine(about), 80), p.Summary())
	for _, h := range p.Memories[:min(10, len(p.Memories))] {
		b.WriteString("\n- " + text.Shorten(text.OneLine(h.Content), 100))
	}
	for _, l := range p.Lines[:min(10, len(p.Lines))] {
		if l.Kept == "" {
			fmt.Fprintf(&b, "\n- %s:%d %s", l.File, l.Line, text.Shorten(l.Text, 80))
		}
	}
	return b.String()
}

// checkForgetting returns a fault unless one of id and about is given.
func checkForgetting(in forgetting) error {
	switch {
	case in.ID == "" && in.About == "":
		return fault.New("id: give the ID of a memory or skill, or about for everything that mentions a subject")
	case in.ID != "" && in.About != "":
		return fault.New("about: leave it out with id")
	case in.ID != "" && in.Keep != "":
		return fault.New("keep: leave it out with id")
	}
	return nil
}

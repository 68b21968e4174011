package viewer

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/viewer/page"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// routeDecisions registers the page of what waits for the person.
func (s *Site) routeDecisions() {
	s.get("/decide", s.decide)
	s.post("/proposals/{id}/accept", s.decided("accepted", func(r *http.Request, m Member) error {
		reviews, err := m.Editor.Reviews(r.Context())
		if err != nil {
			return err
		}
		i := slices.IndexFunc(reviews, func(p edit.Review) bool { return p.Event.ID == r.PathValue("id") })
		if i >= 0 { // of others the editor says why
			row, err := newProposalRow(r.Context(), m, reviews[i])
			if err == nil {
				err = agrees(r.PostForm, row.Digest())
			}
			if err != nil {
				return err
			}
		}
		override := strings.TrimSpace(r.PostForm.Get("override"))
		_, _, err = m.Editor.AcceptProposal(r.Context(), r.PathValue("id"), s.Actor, override,
			r.PostForm.Get("anyway") != "")
		if errors.Is(err, edit.ErrChanged) {
			return fault.New("the section was changed since the proposal was made: look at the change below, and accept it " +
				"again with the box ticked, or reject it")
		}
		return err
	}))
	s.post("/proposals/{id}/reject", s.decided("rejected", func(r *http.Request, m Member) error {
		_, err := m.Editor.RejectProposal(r.Context(), r.PathValue("id"), s.Actor, strings.TrimSpace(r.PostForm.Get("why")))
		return err
	}))
	s.post("/drift/accept", s.decided("drift", func(r *http.Request, m Member) error {
		_, err := m.Editor.Accept(r.Context(), r.PostForm.Get("file"), s.Actor, strings.TrimSpace(r.PostForm.Get("why")))
		return err
	}))
	s.post("/drift/restore", s.decided("drift", func(r *http.Request, m Member) error {
		return m.Editor.Restore(r.Context(), r.PostForm.Get("file"), s.Actor, strings.TrimSpace(r.PostForm.Get("why")))
	}))
	s.post("/dreams", s.decided("promoted", func(r *http.Request, m Member) error {
		plan, err := m.Dreams.Plan(r.Context(), nil)
		if err == nil {
			err = agrees(r.PostForm, digestOf(plan))
		}
		if err != nil {
			return err
		}
		if id := r.PostForm.Get("reject"); id != "" {
			return m.Dreams.Reject(r.Context(), []string{id})
		}
		swept, err := m.Dreams.Sweep(r.Context(), r.PostForm["confirm"])
		if err == nil && swept.EventID == "" {
			err = fault.New("nothing was promoted: tick what MEMORY.md should have")
		}
		return err
	}))
}

// waiting counts the decisions that are known to wait for the person, without looking at files or at dreaming. It opens
// nothing: a page that needed nothing of the person's has no count.
func (s *Site) waiting(ctx context.Context) (n int) {
	editor := s.editor.Load()
	if editor == nil {
		return 0
	}
	// Errors: the page of what waits reports them.
	proposals, _ := editor.Proposals(ctx)
	for _, p := range proposals {
		if p.State == edit.Pending {
			n++
		}
	}
	drifts, _ := editor.Drifts(ctx)
	return n + len(drifts)
}

// decidePage is the content of the page of what waits for the person.
type decidePage struct {
	Proposals []proposalRow
	Drifts    []driftRow
	Dreams    dream.Plan
}

// DreamsDigest identifies what the page shows of dreaming.
func (p decidePage) DreamsDigest() string { return digestOf(p.Dreams) }

// digestOf identifies the candidates of a plan, with their texts.
func digestOf(plan dream.Plan) string {
	var shown []string
	for _, c := range slices.Concat(plan.Promote, plan.Held) {
		shown = append(shown, c.ID, c.Text)
	}
	return digest(append(shown, strconv.Itoa(len(plan.Promote))))
}

// Empty reports whether nothing waits.
func (p decidePage) Empty() bool {
	return len(p.Proposals)+len(p.Drifts)+len(p.Dreams.Promote)+len(p.Dreams.Held) == 0
}

// proposalRow is an edit that the agent proposes.
type proposalRow struct {
	edit.Review
	Row    eventRow
	Zone   page.Zone
	Text   string // what it asks for, if there is no difference to show
	Change change
	Since  change // of the file since the proposal was made, if that matters
}

// newProposalRow describes a proposal as the page shows it.
func newProposalRow(ctx context.Context, m Member, review edit.Review) (proposalRow, error) {
	row := proposalRow{
		Review: review, Row: newEventRow(review.Event), Zone: fileZone(review.Event.File),
		Change: newChange("what accepting it would change", review.Would), Text: asked(review.Event.Asked),
	}
	if review.Changed {
		since, err := m.Editor.Diff(ctx, review.Event.File, review.Event.ID, "")
		if err != nil {
			return row, err
		}
		row.Since = newChange("what was changed since", since)
	}
	return row, nil
}

// Digest identifies the changes that the person was shown.
func (p proposalRow) Digest() string { return digest([]any{p.Event.ID, p.Change, p.Since}) }

// driftRow is a file that a change by hand has taken apart from its record.
type driftRow struct {
	eventRow
	FilePath string
	Change   change
}

// decide shows what waits for the person: proposals, drift, and what dreaming would promote.
func (s *Site) decide(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	return s.decisions(r.Context(), person)
}

func (s *Site) decisions(ctx context.Context, m Member) (answer, error) {
	var content decidePage
	reviews, err := m.Editor.Reviews(ctx)
	if err != nil {
		return answer{}, err
	}
	for _, review := range reviews {
		row, err := newProposalRow(ctx, m, review)
		if err != nil {
			return answer{}, err
		}
		content.Proposals = append(content.Proposals, row)
	}
	drifts, err := m.Editor.Scan(ctx)
	if err != nil {
		return answer{}, err
	}
	for _, d := range drifts {
		changed, err := m.Editor.Diff(ctx, d.File, "", "")
		if _, refused := fault.As(err); err != nil && !refused {
			return answer{}, err
		}
		content.Drifts = append(content.Drifts, driftRow{
			newEventRow(d), filePath(m, d.File), newChange("what was changed by hand", changed),
		})
	}
	if content.Dreams, err = m.Dreams.Plan(ctx, nil); err != nil {
		return answer{}, err
	}
	return answer{template: "decide", page: page.Page{
		Title: "To decide", Zone: private, Here: "/decide", Content: content,
	}}, nil
}

// asked is the text that a proposal would write.
func asked(a *edit.Asked) string {
	if a == nil {
		return ""
	}
	lines := append([]string{a.Content}, a.Items...)
	for _, item := range a.Retire {
		lines = append(lines, "removed: "+item)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// decided returns the handler of a decision. said is what the next page reports.
func (s *Site) decided(said string, perform func(*http.Request, Member) error) handler {
	return func(r *http.Request) (answer, error) {
		person, err := s.person()
		if err != nil {
			return answer{}, err
		}
		if err := perform(r, person); err != nil {
			if _, refused := fault.As(err); !refused {
				return answer{}, err
			}
			a, failed := s.decisions(r.Context(), person)
			if failed != nil {
				return answer{}, failed
			}
			return a, err
		}
		if r.PostForm.Get("reject") != "" {
			return answer{next: "/decide?done=dismissed"}, nil
		}
		return answer{next: "/decide?done=" + said}, nil
	}
}

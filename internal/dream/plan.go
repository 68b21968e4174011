package dream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/dream/trust"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Candidate is a memory that was recalled often enough to be promoted.
type Candidate struct {
	ID    string        `json:"memory_id"`
	Text  string        `json:"text"` // in one line
	Date  string        `json:"date"` // when it was stored, YYYY-MM-DD
	Said  trust.Speaker `json:"said_by"`
	Score float64       `json:"score"` // 0 to 1, two decimals
	Hits  int           `json:"hits"`
	Days  int           `json:"days"`
	// Held lists why a person must confirm it, in words; empty if it is promoted without confirmation.
	Held []string `json:"held,omitempty"`
	// Unfit is why it cannot become an item of MEMORY.md, confirmed or not; "" if it can.
	Unfit string `json:"unfit,omitempty"`
	// Against is the word of someone with more authority that it would replace, such as `what the user said: "…"`; "" for
	// none. It is among Held.
	Against string `json:"would_replace,omitempty"`
	// Confirmed reports that a person chose it.
	Confirmed bool `json:"-"`
	// Left is why no sweep promotes it and no person is asked, "" for the others. A person can still confirm it.
	Left string `json:"left_out,omitempty"`
}

// Item returns the candidate as an item of MEMORY.md.
func (c Candidate) Item() string {
	text := c.Text
	if !datePrefix.MatchString(text) && c.Date != "" {
		text = c.Date + ": " + text
	}
	return fmt.Sprintf("%s _(score=%.2f, hits=%d, days=%d)_", text, c.Score, c.Hits, c.Days)
}

// Plan is what a sweep would do.
type Plan struct {
	Recalls  int         `json:"recalls"`           // hits of memories within the Window
	Memories int         `json:"memories"`          // that had any
	Promote  []Candidate `json:"promote"`           // best first
	Held     []Candidate `json:"held"`              // candidates that need a person's confirmation
	Left     []Candidate `json:"left_out"`          // candidates that nobody needs in MEMORY.md, see Candidate.Left
	Later    int         `json:"later"`             // candidates over MaxPromoted, left to the next sweeps
	Retire   []Retired   `json:"retire"`            // items of earlier sweeps that go to the archive
	Emptied  []string    `json:"emptied,omitempty"` // headings of earlier sweeps without items, which are removed
	Section  string      `json:"section,omitempty"`
	Before   string      `json:"-"` // the text of MEMORY.md, "" if it is missing
	After    string      `json:"-"`
}

// Score is how worthy of promotion a memory is, 0 to 1 with two decimals: half of it is the mean score of the
// searches that recalled it, a quarter their number (full at 10), a quarter the number of days (full at 7).
// docs/dreaming.md has the reasons.
func Score(mean float64, hits, days int) float64 {
	score := 0.5*mean + 0.25*min(1, float64(hits)/10) + 0.25*min(1, float64(days)/7)
	return math.Round(min(1, max(0, score))*100) / 100
}

// Plan works out what a sweep would do now, and writes nothing. confirmed is as for Sweep.
func (s *Sweeper) Plan(ctx context.Context, confirmed []string) (Plan, error) {
	past, err := s.history(ctx)
	if err != nil {
		return Plan{}, err
	}
	return s.plan(ctx, past, confirmed, nil)
}

// plan chooses what a sweep promotes and what it holds back, and writes nothing. confirmed are the IDs of held
// candidates that the user has confirmed, refused of those that they are about to reject: what a person names is a
// candidate however seldom it was recalled.
func (s *Sweeper) plan(ctx context.Context, past history, confirmed, refused []string) (Plan, error) {
	now := s.Workspace.Now().UTC()
	a, err := s.authorities(ctx, past, confirmed)
	if err != nil {
		return Plan{}, err
	}
	recalled, err := s.Memory.Recalled(ctx, now.AddDate(0, 0, -Window), a.mayReplace)
	if err != nil {
		return Plan{}, err
	}
	data, err := s.Workspace.Read(workspace.MemoryFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Plan{}, err
	}
	p := Plan{Memories: len(recalled), Promote: []Candidate{}, Held: []Candidate{}, Before: string(data)}
	for _, r := range recalled {
		p.Recalls += r.Hits
	}
	p.Left, p.Retire = []Candidate{}, []Retired{}
	dreamed, err := s.dreamed(ctx, past, p.Before)
	if err != nil {
		return Plan{}, err
	}
	named := slices.Concat(confirmed, refused)
	recalled, challengers, err := s.challengers(ctx, a, past, dreamed, recalled, named)
	if err != nil {
		return Plan{}, err
	}
	past.promoted = maps.Clone(past.promoted)
	for _, id := range confirmed { // a person may put back what was taken back or removed
		delete(past.promoted, id)
	}
	for _, c := range challengers {
		named = append(named, c.ID)
	}
	candidates, err := s.candidates(ctx, past, a, append(recalled, challengers...), named, now)
	if err != nil {
		return Plan{}, err
	}
	if err := s.leaveOut(ctx, a, candidates, dreamed, confirmed); err != nil {
		return Plan{}, err
	}
	if err := p.choose(candidates, confirmed); err != nil {
		return Plan{}, err
	}
	if p.Retire, err = s.retire(ctx, a, p, dreamed, now); err != nil {
		return Plan{}, err
	}
	p.Emptied = edit.Emptied(grammar.Parse(p.Before))
	if p.After = p.Before; p.changesNothing() {
		return p, nil
	}
	p.Section = sectionPrefix + now.Format(sweepTime) + " UTC"
	base := p.Before
	if data == nil {
		base = grammar.New(workspace.MemoryFile, "")
	}
	t, _ := grammar.TypeOf(workspace.MemoryFile)
	d := grammar.Parse(base)
	for _, e := range p.edits(d) {
		if _, err := d.Apply(t, e, now); err != nil {
			return Plan{}, err
		}
		edit.Drop(d, e.Section)
	}
	for _, heading := range p.Emptied {
		edit.Drop(d, heading)
	}
	p.After = d.String()
	return p, nil
}

// choose divides the candidates, which are sorted best first, into those to promote and those held.
func (p *Plan) choose(candidates []Candidate, confirmed []string) error {
	present := textsIn(p.Before)
	unknown, unconfirmed := slices.Clone(confirmed), 0
	for _, c := range candidates {
		wanted := slices.Contains(confirmed, c.ID)
		unknown = slices.DeleteFunc(unknown, func(id string) bool { return id == c.ID })
		switch {
		case present[normalized(c.Text)]: // written by hand, or promoted from a memory with this text
			if wanted {
				return fault.New("confirm: %s is in MEMORY.md already", c.ID)
			}
		case wanted && c.Unfit != "":
			return fault.New("confirm: %s cannot be promoted: %s; write it into MEMORY.md in other words", c.ID, c.Unfit)
		case !wanted && c.Left != "":
			p.Left = append(p.Left, c)
		case !wanted && (len(c.Held) > 0 || c.Unfit != ""):
			p.Held = append(p.Held, c)
		case !wanted && unconfirmed == MaxPromoted:
			p.Later++
		default:
			if !wanted {
				unconfirmed++
			}
			c.Confirmed = wanted
			p.Promote = append(p.Promote, c)
			present[normalized(c.Text)] = true
		}
	}
	if len(unknown) > 0 {
		return fault.New("confirm: %s is not a candidate; "+
			"yamo-mcp dream --review lists the candidates", unknown[0])
	}
	return nil
}

// candidates are the memories that were recalled often enough, or are named, and are not among what was promoted, best
// first.
func (s *Sweeper) candidates(
	ctx context.Context, past history, a authorities, recalled []mesh.Recalled, named []string, now time.Time,
) ([]Candidate, error) {
	names := a.names
	zone := s.Workspace.Now().Location()
	var kept []mesh.Recalled
	var list []Candidate
	// All texts are compared with what groups said in one call, which reads the groups' memories once.
	var texts []string
	var owners []int // list[owners[i]] has texts[i], its own text or that of a source
	for _, r := range recalled {
		c := candidate(r, zone)
		// Lessons are left out: every session begins with them as they are.
		if past.promoted[r.ID] || r.Lesson != nil || !s.Thresholds.met(c) && !slices.Contains(named, c.ID) {
			continue
		}
		switch {
		case past.rejected[r.ID]:
			c.Left = rejected
		case isOver(r.Record, now.In(zone)):
			c.Left = "it is over"
		}
		sources, err := s.sources(ctx, &c, r, names)
		if err != nil {
			return nil, err
		}
		for _, from := range append(sources, source{text: c.Text}) {
			texts, owners = append(texts, from.text), append(owners, len(list))
		}
		kept, list = append(kept, r), append(list, c)
	}
	echoed, err := s.echoes(ctx, texts)
	if err != nil {
		return nil, err
	}
	groups := make([][]string, len(list))
	for i, names := range echoed {
		groups[owners[i]] = append(groups[owners[i]], names...)
	}
	for i := range list {
		slices.Sort(groups[i])
		s.review(&list[i], kept[i], slices.Compact(groups[i]), names)
		old, found, err := s.overruled(ctx, a, kept[i].Hit)
		if err != nil {
			return nil, err
		}
		if found {
			list[i].oppose(a, old)
		}
		if past.texts[normalized(list[i].Text)] {
			list[i].Held = append(list[i].Held, "the same text was promoted before")
		}
	}
	slices.SortStableFunc(list, func(a, b Candidate) int { // candidates of equal score stay oldest first
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Hits, a.Hits))
	})
	return list, nil
}

// candidate returns what was recalled as a candidate. zone is of its date.
func candidate(r mesh.Recalled, zone *time.Location) Candidate {
	return Candidate{
		ID: r.ID, Text: line(r.Content), Date: r.CreatedAt.In(zone).Format(time.DateOnly),
		Score: Score(r.Mean, r.Hits, r.Days), Hits: r.Hits, Days: r.Days,
	}
}

// rejected is why a candidate that a person rejected is left out.
const rejected = "it was rejected"

// met reports whether c reaches all thresholds.
func (t Thresholds) met(c Candidate) bool {
	return c.Score >= t.Score && c.Hits >= t.Hits && c.Days >= t.Days
}

// edit is the edit of MEMORY.md that promotes.
func (p Plan) edit() grammar.Edit {
	// Above the archive, which grows: what is promoted stays in the part of MEMORY.md that a session loads.
	e := grammar.Edit{
		Op: grammar.AppendItem, Section: p.Section, Create: true, Above: archiveSection, Rationale: p.rationale(),
	}
	for _, c := range p.Promote {
		e.Items = append(e.Items, c.Item())
	}
	return e
}

// origin is the plan as the record of edits has it.
func (p Plan) origin() edit.Origin {
	return edit.Origin{Source: edit.FromSweep, Sweep: &edit.Sweep{
		Recalls: p.Recalls, Memories: p.Memories, Days: Window, Promoted: ids(p.Promote), Held: ids(p.Held),
		Confirmed: ids(slices.DeleteFunc(slices.Clone(p.Promote), func(c Candidate) bool { return !c.Confirmed })),
	}}
}

// rationale is the plan in one line, for people.
func (p Plan) rationale() string {
	return "dreaming: " + summary(*p.origin().Sweep)
}

// changesNothing reports whether a sweep would leave MEMORY.md as it is.
func (p Plan) changesNothing() bool {
	return len(p.Promote) == 0 && len(p.Retire) == 0 && len(p.Emptied) == 0
}

// waits reports whether a person has not decided about the memory called id, or decided against it: it replaces
// nothing.
func (p Plan) waits(id string) bool {
	return slices.ContainsFunc(p.Held, func(c Candidate) bool { return c.ID == id }) ||
		slices.ContainsFunc(p.Left, func(c Candidate) bool { return c.ID == id && c.Left == rejected })
}

// confirms reports whether a person chose the memory called id in this sweep.
func (p Plan) confirms(id string) bool {
	return slices.ContainsFunc(p.Promote, func(c Candidate) bool { return c.ID == id && c.Confirmed })
}

// note is the sweep in the git record of the files.
func (p Plan) note(event edit.Event) workspace.Note {
	memories := "memories"
	if len(p.Promote) == 1 {
		memories = "memory"
	}
	return workspace.Note{
		Subject:  fmt.Sprintf("dream: %d %s promoted", len(p.Promote), memories),
		Body:     p.rationale(),
		Trailers: []string{"Event: " + event.Token()},
	}
}

// ids returns the candidates' IDs.
func ids(list []Candidate) (ids []string) {
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	return ids
}

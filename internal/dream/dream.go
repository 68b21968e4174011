// Package dream turns what is recalled again and again into curated memory (seed 002): a sweep promotes memories
// that searches of direct conversations found often and on several days into MEMORY.md, and keeps a diary in DREAMS.md.
//
// Its invariant: a memory is promoted once, however often a sweep runs or is killed, and none that came from a group or
// reads like an instruction to the agent without a person's word. What was promoted is known from the record of edits,
// which is on disk before MEMORY.md changes: there is no second book that could disagree with it.
package dream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"

	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
)

// The thresholds unless the operator sets others.
const (
	DefaultScore = 0.35
	DefaultHits  = 4
	DefaultDays  = 2
)

const (
	// Window is how many days back recalls count.
	Window = 30
	// MaxPromoted is how many memories one sweep promotes on its own: MEMORY.md grows slowly.
	MaxPromoted = 10
)

// Thresholds are the least that a memory needs to be a candidate.
type Thresholds struct {
	Score float64 // 0..1, see Score
	Hits  int
	Days  int
}

// Options are a Sweeper's settings, all required.
type Options struct {
	Memory     *mesh.View
	Workspace  *workspace.View // of the same DM
	Editor     *edit.Editor
	Dir        string // the workspace's .yamo folder
	AgentID    string // whose edits the sweep's are
	Thresholds Thresholds
}

// Sweeper makes sweeps. It is safe for concurrent use, beside those of other processes.
type Sweeper struct{ Options }

// Open returns a sweeper. It touches no file. For a group it fails as for a missing file.
func Open(o Options) (*Sweeper, error) {
	// SECURITY: what is promoted is private, and so is where it is promoted to.
	if !o.Workspace.Audience().IsDM() || !o.Memory.Audience.IsDM() {
		return nil, fmt.Errorf("open the dreams: %w", fs.ErrNotExist)
	}
	return &Sweeper{o}, nil
}

// Candidate is a memory that is recalled often enough.
type Candidate struct {
	ID    string  `json:"memory_id"`
	Text  string  `json:"text"`  // in one line
	Score float64 `json:"score"` // 0..1, two decimals
	Hits  int     `json:"hits"`
	Days  int     `json:"days"`
	// Held says why a person has to confirm it, in words; none for what is promoted without.
	Held []string `json:"held,omitempty"`
	// Unfit says why it cannot stand in MEMORY.md as it is, confirmed or not; "" if it can.
	Unfit string `json:"unfit,omitempty"`
}

// Item is the candidate as MEMORY.md has it.
func (c Candidate) Item() string {
	return fmt.Sprintf("%s _(score=%.2f, hits=%d, days=%d)_", c.Text, c.Score, c.Hits, c.Days)
}

// Plan is what a sweep would do.
type Plan struct {
	Recalls  int         `json:"recalls"`  // hits of memories within the Window
	Memories int         `json:"memories"` // that had any
	Promote  []Candidate `json:"promote"`  // best first
	Held     []Candidate `json:"held"`     // candidates that wait for a person's word
	Later    int         `json:"later"`    // candidates that the next sweeps promote, over MaxPromoted
	Section  string      `json:"section,omitempty"`
	Before   string      `json:"-"` // MEMORY.md, "" for none
	After    string      `json:"-"`
}

// Swept is what a sweep did.
type Swept struct {
	Plan
	EventID string `json:"event_id,omitempty"` // of the edit of MEMORY.md; "" if nothing was promoted
}

// Score is how much a memory asks to be kept at hand, 0..1 with two decimals: half of it how well it answered, a
// quarter how often it did (full at 10), a quarter on how many days (full at 7). docs/dreaming.md has the reasons.
func Score(mean float64, hits, days int) float64 {
	score := 0.5*mean + 0.25*min(1, float64(hits)/10) + 0.25*min(1, float64(days)/7)
	return math.Round(min(1, max(0, score))*100) / 100
}

// Plan works out what a sweep would do now. confirmed are the ids of held candidates that a person wants promoted.
func (s *Sweeper) Plan(ctx context.Context, confirmed []string) (Plan, error) {
	past, err := s.past(ctx)
	if err != nil {
		return Plan{}, err
	}
	return s.plan(ctx, past, confirmed)
}

func (s *Sweeper) plan(ctx context.Context, past history, confirmed []string) (Plan, error) {
	now := s.Workspace.Now().UTC()
	recalled, err := s.Memory.Recalled(ctx, now.AddDate(0, 0, -Window))
	if err != nil {
		return Plan{}, err
	}
	data, err := s.Workspace.Read(workspace.MemoryFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Plan{}, err
	}
	p := Plan{Memories: len(recalled), Promote: []Candidate{}, Held: []Candidate{}, Before: string(data)}
	said := saidIn(p.Before)
	candidates, err := s.candidates(ctx, past, recalled)
	if err != nil {
		return Plan{}, err
	}
	for _, r := range recalled {
		p.Recalls += r.Hits
	}
	left, own := slices.Clone(confirmed), 0
	for _, c := range candidates {
		wanted := slices.Contains(confirmed, c.ID)
		left = slices.DeleteFunc(left, func(id string) bool { return id == c.ID })
		switch {
		case said[sameText(c.Text)]: // by hand, or of a memory like it
			if wanted {
				return Plan{}, fault.New("confirm: MEMORY.md says already what %s says", c.ID)
			}
		case wanted && c.Unfit != "":
			return Plan{}, fault.New("confirm: %s cannot be promoted: %s; write what it says into MEMORY.md in other words", c.ID, c.Unfit)
		case !wanted && (len(c.Held) > 0 || c.Unfit != ""):
			p.Held = append(p.Held, c)
		case !wanted && own == MaxPromoted:
			p.Later++
		default:
			if !wanted {
				own++
			}
			p.Promote = append(p.Promote, c)
			said[sameText(c.Text)] = true
		}
	}
	if len(left) > 0 {
		return Plan{}, fault.New("confirm: %s is no candidate, or was promoted already; yamo-mcp dream --review lists the candidates", left[0])
	}
	if len(p.Promote) == 0 {
		p.After = p.Before
		return p, nil
	}
	p.Section = "Dreamed " + now.Format(minute) + " UTC"
	base := p.Before
	if data == nil {
		base = grammar.New(workspace.MemoryFile, "")
	}
	t, _ := grammar.TypeOf(workspace.MemoryFile)
	d := grammar.Parse(base)
	if _, err := d.Apply(t, p.edit(), now); err != nil {
		return Plan{}, err
	}
	p.After = d.String()
	return p, nil
}

// candidates are the memories that are recalled often enough and were never promoted, best first.
func (s *Sweeper) candidates(ctx context.Context, past history, recalled []mesh.Recalled) ([]Candidate, error) {
	var often []mesh.Recalled
	var list []Candidate
	var texts []string // what groups may have said: of list[of[i]] is texts[i]
	var of []int
	for _, r := range recalled {
		c := Candidate{ID: r.ID, Text: line(r.Content), Score: Score(r.Mean, r.Hits, r.Days), Hits: r.Hits, Days: r.Days}
		// A lesson is told at each start of a session as it is.
		if past.promoted[r.ID] || r.Lesson != nil || c.Score < s.Thresholds.Score || r.Hits < s.Thresholds.Hits || r.Days < s.Thresholds.Days {
			continue
		}
		sources, err := s.sources(ctx, &c, r)
		if err != nil {
			return nil, err
		}
		for _, text := range append(sources, c.Text) {
			texts, of = append(texts, text), append(of, len(list))
		}
		often, list = append(often, r), append(list, c)
	}
	echoed, err := s.Memory.Echoed(ctx, texts)
	if err != nil {
		return nil, err
	}
	groups := make([][]string, len(list))
	for i, names := range echoed {
		groups[of[i]] = append(groups[of[i]], names...)
	}
	for i := range list {
		slices.Sort(groups[i])
		s.judge(&list[i], often[i], slices.Compact(groups[i]))
		if past.texts[sameText(list[i].Text)] {
			list[i].Held = append(list[i].Held, "the same was promoted before")
		}
	}
	slices.SortStableFunc(list, func(a, b Candidate) int { // those of equal score stay oldest first
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Hits, a.Hits))
	})
	return list, nil
}

const minute = "2006-01-02 15:04"

// edit is the edit of MEMORY.md that promotes.
func (p Plan) edit() grammar.Edit {
	e := grammar.Edit{Op: grammar.AppendItem, Section: p.Section, Create: true, Rationale: p.summary()}
	for _, c := range p.Promote {
		e.Items = append(e.Items, c.Item())
	}
	return e
}

// summary is the plan in a line, of which diary makes a list again.
func (p Plan) summary() string {
	parts := []string{
		fmt.Sprintf("dreaming: %d recalls of %d memories in %d days", p.Recalls, p.Memories, Window),
		"promoted " + ids(p.Promote),
	}
	if len(p.Held) > 0 {
		parts = append(parts, "held back for a person "+ids(p.Held))
	}
	return strings.Join(parts, "; ")
}

// mostIDs is how many ids a summary names.
const mostIDs = 20

func ids(list []Candidate) string {
	var names []string
	for _, c := range list[:min(mostIDs, len(list))] {
		names = append(names, c.ID)
	}
	text := strings.Join(names, ", ")
	if more := len(list) - mostIDs; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Sweep promotes what is to be promoted, and writes the diary of this sweep and of one that was interrupted. When it
// returns, both are on disk. Where nothing is promoted nothing is written.
func (s *Sweeper) Sweep(ctx context.Context, confirmed []string) (swept Swept, err error) {
	if err := s.Editor.Recover(ctx); err != nil {
		return Swept{}, err
	}
	past, err := s.past(ctx)
	if err != nil {
		return Swept{}, err
	}
	if swept.Plan, err = s.plan(ctx, past, confirmed); err != nil || len(swept.Promote) == 0 && len(past.owed) == 0 {
		return swept, err
	}
	release, err := s.lock(ctx)
	if err != nil {
		return Swept{}, err
	}
	defer func() { err = errors.Join(err, release()) }()
	// Again, now that no other process promotes anything.
	if past, err = s.past(ctx); err != nil {
		return Swept{}, err
	}
	for _, event := range past.owed {
		if err := s.diary(ctx, event); err != nil {
			return Swept{}, err
		}
	}
	if swept.Plan, err = s.plan(ctx, past, confirmed); err != nil || len(swept.Promote) == 0 {
		return swept, err
	}
	err = s.Workspace.Together(ctx, func(ctx context.Context) (workspace.Note, error) {
		event, err := s.promote(ctx, swept.Plan)
		if err != nil {
			return workspace.Note{}, err
		}
		swept.EventID = event.ID
		return swept.note(event), s.diary(ctx, event)
	})
	if swept.EventID == "" {
		return Swept{}, err
	}
	return swept, err
}

// note is the sweep in a record of the files.
func (p Plan) note(event edit.Event) workspace.Note {
	memories := "memories"
	if len(p.Promote) == 1 {
		memories = "memory"
	}
	n := workspace.Note{Subject: fmt.Sprintf("dream: %d %s promoted", len(p.Promote), memories), Body: p.summary()}
	n.Trailers = append(n.Trailers, "Event: "+event.Token())
	return n
}

// promote edits MEMORY.md.
func (s *Sweeper) promote(ctx context.Context, p Plan) (edit.Event, error) {
	q := edit.Request{File: workspace.MemoryFile, Edit: p.edit(), Actor: s.AgentID}
	for _, c := range p.Promote {
		q.Refs = append(q.Refs, c.ID)
	}
	done, err := s.Editor.Edit(ctx, q)
	return done.Event, err
}

// diary writes into DREAMS.md what a sweep did, once, from the edit that it made.
func (s *Sweeper) diary(ctx context.Context, event edit.Event) error {
	summary, _ := strings.CutPrefix(event.Rationale, "dreaming: ")
	day, _ := strings.CutPrefix(event.Section, "Dreamed ")
	_, err := s.Editor.Edit(ctx, edit.Request{
		File: workspace.DreamsFile, Key: diaryKey(event), Actor: s.AgentID, Refs: []string{event.ID},
		Edit: grammar.Edit{
			Op: grammar.AppendItem, Section: day, Items: strings.Split(summary, "; "), Create: true, Rationale: "the diary of event " + event.ID,
		},
	})
	return err
}

func diaryKey(event edit.Event) string { return "dream:" + event.ID }

// history is what earlier sweeps did.
type history struct {
	promoted map[string]bool // memories, by id
	texts    map[string]bool // what was promoted, see sameText
	owed     []edit.Event    // edits of MEMORY.md that the diary does not know of
}

// past reads the record of edits.
func (s *Sweeper) past(ctx context.Context) (history, error) {
	events, err := s.Editor.History(ctx, workspace.MemoryFile, "")
	if err != nil {
		return history{}, err
	}
	entries, err := s.Editor.History(ctx, workspace.DreamsFile, "")
	if err != nil {
		return history{}, err
	}
	written, undone := map[string]bool{}, map[string]bool{}
	for _, e := range slices.Concat(events, entries) {
		if e.Op == edit.OpUndone {
			undone[e.RefersTo] = true
		}
	}
	for _, e := range entries {
		if (e.IsEdit() || e.Op == edit.OpErase) && !undone[e.ID] {
			written[e.Key] = true
		}
	}
	h := history{promoted: map[string]bool{}, texts: map[string]bool{}}
	for _, e := range events {
		if e.Op == edit.OpErase { // of an erased edit the memories that it cited are known, and not whether it was a sweep's
			h.promote(e)
			continue
		}
		if !workspace.IsDreamed(e.Section) || grammar.Op(e.Op) != grammar.AppendItem || undone[e.ID] || !strings.HasPrefix(e.Rationale, "dreaming: ") {
			continue
		}
		h.promote(e)
		for _, c := range e.Changes {
			if c.Section == e.Section {
				maps.Copy(h.texts, saidIn(c.Insert))
			}
		}
		if !written[diaryKey(e)] {
			h.owed = append(h.owed, e)
		}
	}
	return h, nil
}

// promote notes that the memories that an event cites have been promoted.
func (h history) promote(e edit.Event) {
	for _, ref := range e.Evidence {
		if token, err := grammar.ParseToken(ref); err == nil && token.MemoryID() != "" {
			h.promoted[token.MemoryID()] = true
		}
	}
}

// lock keeps other processes from promoting.
func (s *Sweeper) lock(ctx context.Context) (release func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	release, err = lockfile.Exclusive(ctx, filepath.Join(s.Dir, "locks", "dream.lock"))
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fault.New("another session is dreaming at the moment; try again in a minute")
	}
	return release, err
}

// patience is how long a sweep waits for another one.
const patience = 10 * time.Second

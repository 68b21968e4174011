package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// The life that dreaming is measured on: of the questions about a conversation some recur, others are asked once, for
// two weeks with a sweep each night.
const (
	dreamDays      = 14
	dreamRecurring = 15
	dreamOnce      = 80
	dreamSeeds     = 4
	leastAsked     = 4 // days on which a question that recurs is asked
	mostAsked      = 9
)

// observed is a conversation as what an agent noted of it.
type observed struct {
	user      string // the first speaker, "" for none
	notes     []note
	questions []question
}

// note is an observation, and the turns that it is about.
type note struct {
	text, session string
	turns         []string
}

// promotions counts what sweeps promoted.
type promotions struct{ promoted, right, recurring, found, held int }

func (p *promotions) print(table *tabwriter.Writer, name string) {
	share := func(n, of int) float64 { return float64(n) / float64(max(1, of)) }
	fmt.Fprintf(table, "%s\t%d\t%.2f\t%.2f\t%d\n", name, p.promoted, share(p.right, p.promoted),
		share(p.found, p.recurring), p.held)
}

// measureDreams prints how much of what sweeps promote answers questions that recur (precision), and for how many of
// these questions an answer was promoted (recall). With named the first speaker of a conversation is the user.
func measureDreams(ctx context.Context, embedder index.Embedder, dir string, named bool) error {
	files, err := filepath.Glob(filepath.Join(dir, "locomo*.json"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no locomo*.json in %q: give the folder with -data or YAMO_EVAL_DATA", dir)
	}
	var all, tuned, held promotions
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		conversations, err := readObserved(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		for i, c := range conversations {
			if !named {
				c.user = ""
			}
			half := &tuned
			if i%2 == 1 {
				half = &held
			}
			for seed := range uint64(dreamSeeds) {
				fmt.Fprintf(os.Stderr, "dreams %d of %d, seed %d\n", i+1, len(conversations), seed)
				if err := dreamOf(ctx, embedder, c, seed, &all, half); err != nil {
					return err
				}
			}
		}
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "dreams\tpromoted\tprecision\trecall\theld")
	all.print(table, "LoCoMo observations")
	tuned.print(table, "  odd conversations")
	held.print(table, "  even conversations")
	return table.Flush()
}

// life is a workspace with a clock.
type life struct {
	now    time.Time
	memory *mesh.View
	dreams *dream.Sweeper
}

// begin opens a workspace in dir.
func begin(dir string, embedder index.Embedder) (l *life, end func() error, err error) {
	l = &life{now: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return l.now }
	state := filepath.Join(dir, ".yamo")
	l.memory = mesh.Open(mesh.Options{
		Dir: state, Audience: audience.DM(), AgentID: "eval", Embedder: embedder, Now: clock,
		Logger: slog.New(slog.DiscardHandler),
	})
	w, err := workspace.Open(dir, workspace.WithClock(clock))
	if err != nil {
		return nil, nil, err
	}
	end = func() error { return errors.Join(w.Close(), l.memory.Close(context.Background())) }
	view := w.View(audience.DM())
	editor, err := edit.Open(edit.Options{View: view, Dir: state, Now: clock})
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	l.dreams, err = dream.Open(dream.Options{
		Memory: l.memory, Workspace: view, Editor: editor, Dir: state, AgentID: "eval",
		Thresholds: dream.Thresholds{Score: dream.DefaultScore, Hits: dream.DefaultHits, Days: dream.DefaultDays},
	})
	return l, end, err
}

// dreamOf lives two weeks with a conversation, and counts in each of the tallies.
func dreamOf(ctx context.Context, embedder index.Embedder, c observed, seed uint64, into ...*promotions) (err error) {
	dir, err := os.MkdirTemp("", "yamo-dreams-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if c.user != "" {
		about := "# USER\n\n- **Name:** " + c.user + "\n"
		if err := os.WriteFile(filepath.Join(dir, workspace.UserFile), []byte(about), 0o600); err != nil {
			return err
		}
	}
	l, end, err := begin(dir, embedder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	about := map[string][]string{} // the memories about a turn
	for _, n := range c.notes {
		stored, err := l.memory.Store(ctx, record.Memory{Content: n.text, SessionID: n.session}, "")
		if err != nil {
			return err
		}
		for _, turn := range n.turns {
			about[turn] = append(about[turn], stored.ID)
		}
	}
	for { // until everything has its vector
		found, err := l.memory.Search(ctx, mesh.SearchRequest{Query: "ready?", Unrecorded: true})
		if err != nil {
			return err
		}
		if found.Off {
			return embed.ErrNoAssets
		}
		if found.Pending == 0 {
			break
		}
	}
	var answers [][]string // of each question with an answer among the memories
	var texts []string
	for _, q := range c.questions {
		var ids []string
		for _, turn := range q.evidence {
			ids = append(ids, about[turn]...)
		}
		if len(ids) > 0 {
			answers, texts = append(answers, ids), append(texts, q.text)
		}
	}
	random := rand.New(rand.NewPCG(seed, 1))
	order := random.Perm(len(texts))
	recurring := order[:min(dreamRecurring, len(order))]
	once := order[len(recurring):min(len(recurring)+dreamOnce, len(order))]
	days := make([][]int, dreamDays)
	for _, q := range recurring {
		for _, day := range random.Perm(dreamDays)[:leastAsked+random.IntN(mostAsked-leastAsked+1)] {
			days[day] = append(days[day], q)
		}
	}
	for _, q := range once {
		day := random.IntN(dreamDays)
		days[day] = append(days[day], q)
	}
	promoted, held := map[string]bool{}, map[string]bool{}
	for _, asked := range days {
		l.now = l.now.Add(24 * time.Hour)
		for _, q := range asked {
			if _, err := l.memory.Search(ctx, mesh.SearchRequest{Query: texts[q]}); err != nil {
				return err
			}
		}
		swept, err := l.dreams.Sweep(ctx, nil)
		if err != nil {
			return err
		}
		for _, c := range swept.Promote {
			promoted[c.ID] = true
		}
		for _, c := range swept.Held {
			held[c.ID] = true
		}
	}
	right, found := map[string]bool{}, 0
	for _, q := range recurring {
		answered := false
		for _, id := range answers[q] {
			right[id] = right[id] || promoted[id]
			answered = answered || promoted[id]
		}
		if answered {
			found++
		}
	}
	n := 0
	for _, is := range right {
		if is {
			n++
		}
	}
	for _, p := range into {
		p.promoted += len(promoted)
		p.right += n
		p.recurring += len(recurring)
		p.found += found
		p.held += len(held)
	}
	return nil
}

// readObserved reads conversations of LoCoMo as the observations about them.
func readObserved(raw []byte) ([]observed, error) {
	var samples []struct {
		Conversation struct {
			SpeakerA string `json:"speaker_a"`
		}
		Observation map[string]map[string][][2]any
		QA          []struct {
			Question string
			Evidence []string
		}
	}
	if err := json.Unmarshal(raw, &samples); err != nil {
		return nil, err
	}
	split := func(refs string) []string {
		return strings.FieldsFunc(refs, func(r rune) bool { return strings.ContainsRune("[]'\";, ", r) })
	}
	var all []observed
	for _, sample := range samples {
		c := observed{user: sample.Conversation.SpeakerA}
		for n := 1; n <= len(sample.Observation); n++ {
			session := sample.Observation[fmt.Sprintf("session_%d_observation", n)]
			for _, speaker := range slices.Sorted(maps.Keys(session)) {
				for _, seen := range session[speaker] {
					c.notes = append(c.notes, note{fmt.Sprint(seen[0]), fmt.Sprint(n), split(fmt.Sprint(seen[1]))})
				}
			}
		}
		for _, qa := range sample.QA {
			q := question{text: qa.Question}
			for _, refs := range qa.Evidence {
				q.evidence = append(q.evidence, split(refs)...)
			}
			c.questions = append(c.questions, q)
		}
		all = append(all, c)
	}
	return all, nil
}

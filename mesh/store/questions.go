package store

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Question is what is kept of a search that found something, with its scores: those of a DM have them.
type Question struct {
	At     record.Moment
	Words  string   // the same for questions with the same words, "" if they are not known
	Best   string   // id of the memory with the highest score, of any compartment
	Score  float64  // its score
	Rivals []string // ids of the others with more than ClearLead of its score
}

// ClearLead is the maximum share of its score that the next best memory may have where a memory counts as recalled: a
// search that found two about as good shows which one was needed as little as one that found none.
const ClearLead = .88

// maxQuestions is the number of the latest questions that are kept: those of a month with 600 searches a day.
const maxQuestions = 20_000

// questionOf returns what is kept of a recall entry, nil without scores.
func questionOf(e ledger.Entry, r Recall) *Question {
	if len(r.Found) == 0 || len(r.Scores) != len(r.Found) {
		return nil
	}
	// Not the first: a search that asks for an order finds in the order of time.
	best := 0
	for i, score := range r.Scores {
		if score > r.Scores[best] {
			best = i
		}
	}
	q := Question{Words: wordsIn(e.Block), Best: r.Found[best], Score: r.Scores[best]}
	for i, id := range r.Found {
		if id != q.Best && r.Scores[i] > ClearLead*q.Score {
			q.Rivals = append(q.Rivals, id)
		}
	}
	return &q
}

// wordsIn returns what identifies the question of a recall block (RFC-0011 §3.3): the stems of its words in the
// order of the alphabet, so that "Luis's timezone?" and "timezone of Luis" are one. It is "" without a query.
func wordsIn(text string) string {
	b, err := block.Parse(text)
	if err != nil {
		return ""
	}
	query, _ := block.Get(b.Context, "query")
	stems := map[string]bool{}
	for _, stem := range keyword.Stems(query) {
		stems[stem] = true
	}
	if len(stems) == 0 {
		return strings.ToLower(query)
	}
	return strings.Join(slices.Sorted(maps.Keys(stems)), " ")
}

// ask keeps a question. p.mu is held.
func (p *Projection) ask(q *Question, at record.Moment) {
	if q == nil {
		return
	}
	q.At = at
	if p.questions = append(p.questions, *q); len(p.questions) > maxQuestions {
		p.questions = p.questions[1:]
	}
}

// unask removes the question of the recall entry called name, which was erased. p.mu is held.
func (p *Projection) unask(name string) {
	if !strings.HasPrefix(name, OpRecall+"_") {
		return
	}
	p.questions = slices.DeleteFunc(p.questions, func(q Question) bool {
		return ledger.Entry{Op: OpRecall, Time: q.At.Time, Seq: q.At.Seq}.Name() == name
	})
}

// Questions returns the latest questions since a time, in the ledger's order: at most 20,000.
func (s *Snapshot) Questions(since time.Time) []Question {
	var list []Question
	for _, q := range s.p.questions {
		if !q.At.Time.Before(since) {
			list = append(list, q)
		}
	}
	return list
}

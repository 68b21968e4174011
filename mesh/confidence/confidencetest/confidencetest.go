// Package confidencetest has questions that memories answer and others about the same things that they do not, and
// measures how well probabilities tell them apart.
package confidencetest

import (
	_ "embed"
	"encoding/json"
	"slices"
)

// Set is a memory of facts about one subject.
type Set struct {
	Name  string
	Tuned bool // the coefficients were fitted to it
	Cases []Case
}

// Case is a fact, a question that it answers, and one on its subject that no fact of the set answers. Some are prompts
// instead of questions.
type Case struct{ Fact, Answerable, Unanswerable string }

//go:embed questions.json
var questions []byte

// Sets returns the sets.
func Sets() []Set {
	var sets []Set
	if err := json.Unmarshal(questions, &sets); err != nil {
		panic(err) // the file is part of the program
	}
	return sets
}

// Conversation are turns of two people who are named before what they say, and questions about them. Those that nothing
// answers are the others with the names exchanged.
type Conversation struct {
	Turns []string
	Cases []struct{ Answerable, Unanswerable string }
}

//go:embed conversation.json
var conversation []byte

// Talk returns the conversation. No coefficient was fitted to it.
func Talk() Conversation {
	var c Conversation
	if err := json.Unmarshal(conversation, &c); err != nil {
		panic(err) // the file is part of the program
	}
	return c
}

// Lesson is a lesson, three tasks that it applies to, and three others to which it does not; most of these share a word
// with it. The coefficients of confidence.Task were fitted to the lessons with an even index.
type Lesson struct {
	Rule         string   `json:"rule"`
	Situation    string   `json:"situation"`
	ErrorPattern string   `json:"error_pattern"`
	Oversight    string   `json:"oversight"`
	Fix          string   `json:"fix"`
	Scope        string   `json:"scope"`
	Applies      []string `json:"applies"`
	Other        []string `json:"other"`
}

//go:embed lessons.json
var lessons []byte

// Lessons returns the lessons.
func Lessons() []Lesson {
	var list []Lesson
	if err := json.Unmarshal(lessons, &list); err != nil {
		panic(err) // the file is part of the program
	}
	return list
}

// Scores are the probabilities of the answers to the questions.
type Scores struct{ Answerable, Unanswerable []float64 }

// AUC is the probability that an answerable question has a higher score than an unanswerable one: 1 if the scores
// separate them, .5 if they say nothing.
func (s Scores) AUC() float64 {
	sum := 0.
	for _, yes := range s.Answerable {
		for _, no := range s.Unanswerable {
			switch {
			case yes > no:
				sum++
			case yes == no:
				sum += .5
			}
		}
	}
	return sum / float64(len(s.Answerable)*len(s.Unanswerable))
}

// From returns the shares of answerable and of unanswerable questions with a score of at least p.
func (s Scores) From(p float64) (answerable, unanswerable float64) {
	share := func(list []float64) float64 {
		n := len(slices.DeleteFunc(slices.Clone(list), func(x float64) bool { return x < p }))
		return float64(n) / float64(len(list))
	}
	return share(s.Answerable), share(s.Unanswerable)
}

// Add adds the scores of other.
func (s *Scores) Add(other Scores) {
	s.Answerable = append(s.Answerable, other.Answerable...)
	s.Unanswerable = append(s.Unanswerable, other.Unanswerable...)
}

// Package confidence estimates how likely it is that a memory answers a query: not whether it is the best one, which is
// the ranking's job, but whether it has what the query asks for.
//
// A memory about the right person that lacks the attribute asked for is as similar to a question as one that has it,
// so the similarity of whole texts does not tell. What tells is the query's least covered word: each word is compared
// with every word of the memory, in context, by the vectors that the embedding model computes before it averages them.
// To that come the similarity of the texts, whether the memory has the kind of thing that the query asks for (a number,
// a time, a name, a place), and whether a turn of a conversation is about the person whom the query names.
// docs/ranking.md has the measurements.
package confidence

import (
	"math"
	"slices"
)

// Level is a probability in words.
type Level string

// Levels, the highest first.
const (
	Likely   Level = "likely"
	Possible Level = "possible"
	Unlikely Level = "unlikely"
)

// Levels are all levels, the highest first.
var Levels = []string{string(Likely), string(Possible), string(Unlikely)}

// Thresholds of the levels: minimum probabilities.
const (
	LikelyFrom   = .8
	PossibleFrom = .4
)

// Of returns the level of a probability.
func Of(p float64) Level {
	switch {
	case p >= LikelyFrom:
		return Likely
	case p >= PossibleFrom:
		return Possible
	default:
		return Unlikely
	}
}

// Or returns l if it is higher than other, or else other.
func (l Level) Or(other Level) Level {
	if l.AtLeast(other) {
		return l
	}
	return other
}

// Doubt returns the level in words where it is worth one: "" for Likely.
func (l Level) Doubt() string {
	if l == Likely {
		return ""
	}
	return string(l)
}

// AtLeast reports whether l is min or higher. Every level is at least "".
func (l Level) AtLeast(least Level) bool { return l.rank() >= least.rank() }

// rank returns the level's place in the order, the lowest first; an unknown level is the lowest.
func (l Level) rank() int {
	switch l {
	case Likely:
		return 2
	case Possible:
		return 1
	default:
		return 0
	}
}

// Tokens are a text's words as the model sees them in context; mesh/embed's, without its dependencies.
type Tokens struct {
	Words [][][]float32 // the vectors of each word's tokens, of unit length
	Names []string      // the words
	Mean  []float32     // the text's vector, of unit length
}

// Text is a text from elsewhere than the memory that may answer a query, such as a turn of a conversation.
type Text struct {
	Content  string   // without credentials
	Labels   []string // names that it is found by and that are not in it
	Strength float64  // the ranking's score, 0..1
}

// Features are what a memory's probability is computed from.
type Features struct {
	Covered  float64 // mean similarity of the least covered third of the query's words with the memory's, -1..1
	Cosine   float64 // of the texts
	Occasion float64 // the cosine with what a rule or a procedure says of when it applies
	Strength float64 // the ranking's score of the memory, 0..1
	Exact    float64 // -1 if a number or a time is asked for and the memory has none, otherwise 0
	Loose    float64 // the same of a name, a place or a reason
	Other    float64 // -1 if the memory is a turn about another person than the question, less if in part, otherwise 0
	Rough    bool    // the memory's tokens are not known: Covered, Cosine and Occasion are 0
}

// Question estimates that a memory answers a question. The coefficients are those of a logistic regression on the
// development questions (docs/ranking.md).
func Question(f Features) float64 {
	if f.Rough {
		return logistic(-4.05 + 7.5*f.Strength + 1.8*f.Exact + 1.5*f.Loose)
	}
	return logistic(-4.35 + 4.9*f.Covered + 1.4*f.Cosine + 3.4*f.Strength + 1.9*f.Exact + 1.8*f.Loose + 2.5*f.Other)
}

// Task estimates that a rule or a procedure applies to what the query wants to do. Words do not tell: a task in other
// words shares none with the rule, and "book a table" shares one with a rule about tables of a database.
func Task(f Features) float64 {
	if f.Rough {
		return logistic(-1.4 + 8*f.Strength)
	}
	return logistic(-4.5 + 12*f.Cosine + 8*f.Occasion)
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Compare returns the features of a memory for one sentence of a query. strength is the ranking's score.
func (s Sentence) Compare(sentence, memory Tokens, text string, strength float64) Features {
	f := s.Expects(text)
	f.Strength, f.Cosine, f.Other = strength, dot(sentence.Mean, memory.Mean), s.other(sentence, memory, text)
	var covered []float64
	for _, word := range s.content(sentence.Names) {
		covered = append(covered, similarity(sentence.Words[word], memory.Words))
	}
	if len(covered) == 0 {
		return f
	}
	slices.Sort(covered)
	f.Covered = mean(covered[:(len(covered)+2)/3])
	return f
}

// mean returns the mean of a list that is not empty.
func mean(list []float64) float64 {
	sum := 0.
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}

// similarity returns the mean of the cosines of a word's tokens with the nearest ones of words.
func similarity(tokens [][]float32, words [][][]float32) float64 {
	sum := 0.
	for _, token := range tokens {
		sum += nearest(token, words)
	}
	return sum / float64(len(tokens))
}

// nearest returns the cosine of a token with the nearest one of words.
func nearest(token []float32, words [][][]float32) float64 {
	best := -1.
	for _, word := range words {
		for _, other := range word {
			best = max(best, dot(token, other))
		}
	}
	return best
}

// dot is the cosine of unit vectors.
func dot(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var sum float32
	for i, x := range a {
		sum += x * b[i]
	}
	return float64(sum)
}

// Package derive makes one text of several memories: a reflection, or the rules of a skill. A language model writes it
// from the memories as notes; without one, or when its answer is not supported by them, it quotes their sentences.
//
// It reads what it is given, stores nothing, and draws on nothing else, so a derivation is no more certain than its
// sources and names all of them. Choosing the sources and storing the result is the View's part.
package derive

import (
	"context"
	"errors"
	"log/slog"

	"github.com/yamo-protocol/yamo-mcp/internal/progress"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Completer asks a language model. It is safe for concurrent use.
type Completer interface {
	// Complete returns the model's answer. With ErrSuspended the caller stops, and repeats the request when the answer has
	// arrived; after any other error it tries the next completer.
	Complete(ctx context.Context, p Prompt) (Completion, error)
}

// Prompt is a question to a language model. Its strings are redacted.
type Prompt struct {
	Key       string // identifies the question: equal for equal sources and topic
	System    string // what to do
	Text      string // what to do it with
	MaxTokens int    // of the answer
}

// Completion is a language model's answer, and the model's name, "" if unknown.
type Completion struct{ Text, Model string }

// ErrSuspended is wrapped by the error of a Completer that will have its answer in a later call.
var ErrSuspended = errors.New("the language model has not answered yet")

// Derivation is what was made of sources.
type Derivation struct {
	Text       string
	Lines      []string // of Text, a sentence or a rule each, without the sources
	Insight    string   // the first of Lines
	Method     string   // record.ByModel or record.ByExtract
	Model      string
	Confidence float64 // see likeness.measure
	Note       string  // why a model that was asked did not write it, NoAnswer or NoUse, "" otherwise
}

// Values of Derivation.Note.
const (
	NoAnswer = "a language model was asked and did not answer"
	NoUse    = "a language model was asked, and its answer was not drawn from the memories"
)

// Deriver makes derivations.
type Deriver struct {
	// Embedder compares sentences by meaning. When it fails, their words are compared.
	Embedder interface {
		Embed(ctx context.Context, texts []string) ([][]float32, error)
	}
	Completers []Completer // asked in order
	Logger     *slog.Logger
}

// Derive asks the completers in order, and extracts sentences if none of them gives an answer that the sources, of
// which there is at least one, support. The error is ErrSuspended or that of ctx.
func (m Deriver) Derive(ctx context.Context, s *Sources, p Purpose) (Derivation, error) {
	all := s.sentences()
	note := ""
	for _, completer := range m.Completers {
		progress.Report(ctx, 1, 3, "asking the language model")
		answer, err := completer.Complete(ctx, Prompt{Key: s.Key, System: p.system, Text: s.notes(), MaxTokens: p.maxTokens})
		switch {
		// The same question will be asked again and get its answer, so neither another model nor an extract is tried.
		case errors.Is(err, ErrSuspended):
			return Derivation{}, err
		case ctx.Err() != nil:
			return Derivation{}, ctx.Err()
		case err != nil:
			m.Logger.Warn("ask a language model", "error", err)
			note = NoAnswer
			continue
		}
		d, err := m.accept(ctx, s, all, answer)
		if err != nil || d.Method == record.ByModel {
			return d, err
		}
		note = NoUse
	}
	progress.Report(ctx, 2, 3, "choosing sentences")
	d, err := m.extract(ctx, s, all)
	d.Note = note
	return d, err
}

// Package suspect judges words that may be secrets by what the embedding model knows of them in their context.
//
// "My Duolingo, same e-mail as always, parolaparola3" has neither the form nor the words of what usually tells a
// secret. The vectors of its tokens know more than words do: by them a small network, fitted to texts of many authors
// (see README.md), judges the words that package prose suspects.
//
// The invariant: it only adds to what the rules find, and reads with the local model only: an unredacted text is sent
// to no provider.
package suspect

import (
	"context"

	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/prose"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
)

// A suspect is a secret from certain on: the sum of the logarithms of odds that the network gives and, times sumShare,
// that package prose gives.
const (
	certain  = 2
	sumShare = 1.2
)

// Find returns the suspects of a text that are secrets, in order. A text without a suspect is not read with the model.
// The errors are those of embed.Tokenwise.
func Find(ctx context.Context, e embed.Tokenwise, text string) (found []sensitive.Finding, err error) {
	err = each(ctx, e, text, prose.Suspect.InDoubt, func(s prose.Suspect, x []float32) {
		if odds(s, x) >= certain {
			found = append(found, sensitive.Password.At(s.Start, s.End))
		}
	})
	return found, err
}

// odds returns what is compared with certain.
func odds(s prose.Suspect, x []float32) float64 { return float64(fitted().odds(x)) + sumShare*s.Odds }

// each calls f with the suspects of a text that are chosen and their features.
func each(
	ctx context.Context, e embed.Tokenwise, text string, chosen func(prose.Suspect) bool,
	f func(s prose.Suspect, x []float32),
) error {
	for _, s := range prose.Suspects(text) {
		if !chosen(s) {
			continue
		}
		from, to := window(text, s)
		read, err := e.Tokens(ctx, []string{text[from:to]}) // suspects of one window find it in the cache
		if err != nil {
			return err
		}
		inside := s
		inside.Start, inside.End = s.Start-from, s.End-from
		if x, ok := features(text[from:to], read[0], inside); ok {
			f(s, x)
		}
	}
	return nil
}

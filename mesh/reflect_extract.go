package mesh

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
)

const (
	sentencesPerSource = 12  // of a source that are looked at: a text says what it is about at its beginning
	maxSentences       = 240 // of all
	minQuote           = 15  // characters of a sentence that can be quoted
	maxQuote           = 400 // characters
	maxQuotes          = 5   // in an extract
	quotesPerSource    = 2   // of one source
	sameAs             = .92 // sentences this alike say the same
)

// sentence is one of a source, or of a text that was derived from them.
type sentence struct {
	source int // of a gathering
	text   string
}

// sentences splits text as Unicode does (UAX #29). A line is never joined with the next.
func sentences(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		state := -1
		for rest := strings.TrimSpace(line); rest != ""; {
			var s string
			s, rest, state = uniseg.FirstSentenceInString(rest, state)
			if s = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(s), "-*•#> ")); s != "" {
				list = append(list, s)
			}
		}
	}
	return list
}

// sentences returns the sentences of the sources that can be quoted, and the beginning of a source without any.
func (g *gathering) sentences() []sentence {
	var list []sentence
	each := max(1, min(sentencesPerSource, maxSentences/len(g.sources)))
	for i, s := range g.sources {
		n := 0
		for _, text := range sentences(s.Content) {
			if length := utf8.RuneCountInString(text); n < each && length >= minQuote && length <= maxQuote {
				list = append(list, sentence{i, text})
				n++
			}
		}
		if n == 0 {
			list = append(list, sentence{i, text.Shorten(text.OneLine(s.Content), maxQuote)})
		}
	}
	return list
}

// likeness measures how similar texts are, which are known by their numbers.
type likeness struct {
	vectors [][]float32 // unit length, or nil
	words   []map[string]float64
}

// compare prepares texts to be compared: by meaning, or by their words where there is no embedding model or
// it fails.
func (v *View) compare(ctx context.Context, texts []string) (*likeness, error) {
	vectors, err := v.Embedder.Embed(ctx, texts)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil && len(vectors) == len(texts):
		return &likeness{vectors: vectors}, nil
	}
	l := &likeness{}
	within := map[string]int{} // in how many texts a stem is
	for _, text := range texts {
		counts := map[string]float64{}
		for _, stem := range keyword.Stems(text) {
			if counts[stem]++; counts[stem] == 1 {
				within[stem]++
			}
		}
		l.words = append(l.words, counts)
	}
	for _, counts := range l.words {
		norm := 0.
		for stem := range counts {
			counts[stem] *= math.Log(1 + float64(len(texts))/float64(within[stem]))
			norm += counts[stem] * counts[stem]
		}
		for stem := range counts {
			counts[stem] /= math.Sqrt(norm)
		}
	}
	return l, nil
}

// cosine returns the cosine of two texts, 0..1.
func (l *likeness) cosine(i, j int) float64 {
	sum := 0.
	if l.vectors != nil {
		for k, x := range l.vectors[i] {
			sum += float64(x) * float64(l.vectors[j][k])
		}
	} else {
		a, b := l.words[i], l.words[j]
		if len(a) > len(b) {
			a, b = b, a
		}
		for stem, x := range a {
			sum += x * b[stem]
		}
		sum = math.Round(sum*1e9) / 1e9 // the order of a map's keys is not the same every time
	}
	return min(1, max(0, sum))
}

// extract chooses the sentences that represent the sources: those that are similar to sentences of other sources and to
// the topic, and unlike the ones chosen before (maximal marginal relevance). The same sources give the same sentences,
// oldest source first.
func (g *gathering) extract(all []sentence, l *likeness, topic int) []int {
	worth := make([]float64, len(all))
	for i := range all {
		worth[i] = l.centrality(all, i)
		if topic >= 0 {
			worth[i] += l.cosine(i, topic)
		}
	}
	var chosen []int
	used := map[int]int{}
	for len(chosen) < min(maxQuotes, max(2, len(g.sources))) {
		best, most := -1, math.Inf(-1)
		for i, s := range all {
			near := 0.
			for _, j := range chosen {
				near = max(near, l.cosine(i, j))
			}
			if used[s.source] == quotesPerSource || near >= sameAs || slices.Contains(chosen, i) {
				continue
			}
			if value := .7*worth[i] - .3*near; value > most {
				best, most = i, value
			}
		}
		if best < 0 {
			break
		}
		chosen = append(chosen, best)
		used[all[best].source]++
	}
	slices.Sort(chosen)
	return chosen
}

// centrality is how much the other sources agree with a sentence: the mean of its similarity to the nearest sentence of
// each.
func (l *likeness) centrality(all []sentence, i int) float64 {
	nearest := map[int]float64{}
	for j, other := range all {
		if other.source != all[i].source {
			nearest[other.source] = max(nearest[other.source], l.cosine(i, j))
		}
	}
	sum := 0.
	for source := range all[len(all)-1].source + 1 {
		sum += nearest[source]
	}
	return sum / float64(max(1, len(nearest)))
}

// measure is the confidence in a text that was derived from sources, 0..1 with two decimals:
//
//	support x coverage x n/(n+1)
//
// support is the mean, over the text's sentences, of the likeness with the nearest sentence of a source (1
// for what is quoted); coverage the mean, over the n sources, of the likeness of their nearest sentence with
// one of the text. It is high where many sources agree and the text repeats them, and low where the text
// has one source, leaves sources out or goes beyond them.
func (l *likeness) measure(all []sentence, text []int, sources int) (confidence, support float64) {
	covered := make([]float64, sources)
	for _, i := range text {
		nearest := 0.
		for j, s := range all {
			x := l.cosine(i, j)
			if i == j {
				x = 1
			}
			nearest, covered[s.source] = max(nearest, x), max(covered[s.source], x)
		}
		support += nearest / float64(len(text))
	}
	coverage := 0.
	for _, x := range covered {
		coverage += x / float64(sources)
	}
	n := float64(sources)
	return math.Round(100*support*coverage*n/(n+1)) / 100, support
}

// quote renders the chosen sentences, each with its source.
func (g *gathering) quote(all []sentence, chosen []int) string {
	var text strings.Builder
	about := ""
	if g.topic != "" {
		about = " about " + g.topic
	}
	fmt.Fprintf(&text, "Excerpts from %s%s, chosen without a language model:\n\n", memories(len(g.sources)), about)
	for _, i := range chosen {
		fmt.Fprintf(&text, "- “%s” (%s)\n", all[i].text, g.label(g.sources[all[i].source]))
	}
	return text.String()
}

func memories(n int) string {
	if n == 1 {
		return "1 memory"
	}
	return fmt.Sprintf("%d memories", n)
}

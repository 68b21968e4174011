package derive

import (
	"context"
	"math"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
)

// likeness measures how similar texts are, which are known by their numbers.
type likeness struct {
	vectors [][]float32 // unit length, or nil
	words   []map[string]float64
}

// compare prepares texts to be compared: by meaning, or by their words where there is no embedding model or
// it fails.
func (m Deriver) compare(ctx context.Context, texts []string) (*likeness, error) {
	vectors, err := m.Embedder.Embed(ctx, texts)
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

package derive

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

const (
	sentencesPerSource = 12  // of a source that are looked at: a text names its subject at its beginning
	maxSentences       = 240 // of all
	minQuote           = 15  // characters of a sentence that can be quoted
	maxQuote           = 400 // characters
	maxQuotes          = 5   // in an extract
	quotesPerSource    = 2   // of one source
	sameAs             = .92 // sentences this alike say the same
)

// sentence is one of a source, or of a text that was derived from them.
type sentence struct {
	source int // index in Sources.Hits
	text   string
}

// abbreviated finds the end of text that does not end its sentence, though UAX #29 says so: a title before a name
// ("Dr. Falcao") or an initial ("J. Falcao").
var abbreviated = regexp.MustCompile(`(^|[\s(“"])(Dr|Dra|Mr|Mrs|Ms|Mx|Prof|Sr|Sra|Srta|St|Sgt|Capt|Lt|Col|Gen|Rev|` +
	`Hon|Eng|Mt|vs|Nr|Mme|Mlle|[A-HJ-Z])\.\s*$`)

// sentences splits text as Unicode does (UAX #29), but not after a title or an initial. A line is never joined with the
// next.
func sentences(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		state := -1
		for rest := strings.TrimSpace(line); rest != ""; {
			var s, more string
			s, rest, state = uniseg.FirstSentenceInString(rest, state)
			for rest != "" && abbreviated.MatchString(s) {
				more, rest, state = uniseg.FirstSentenceInString(rest, state)
				s += more
			}
			if s = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(s), "-*•#> ")); s != "" {
				list = append(list, s)
			}
		}
	}
	return list
}

// sentences returns the sentences of the sources that can be quoted, and the beginning of a source without any.
func (s *Sources) sentences() []sentence {
	var list []sentence
	each := max(1, min(sentencesPerSource, maxSentences/len(s.Hits)))
	for i, h := range s.Hits {
		n := 0
		for _, text := range sentences(h.Content) {
			if length := utf8.RuneCountInString(text); n < each && length >= minQuote && length <= maxQuote {
				list = append(list, sentence{i, text})
				n++
			}
		}
		if n == 0 {
			list = append(list, sentence{i, text.Shorten(text.OneLine(h.Content), maxQuote)})
		}
	}
	return list
}

// extract is the derivation without a language model.
func (m Deriver) extract(ctx context.Context, s *Sources, all []sentence) (Derivation, error) {
	list, topic := texts(all), -1
	if s.Topic != "" {
		topic = len(list)
		list = append(list, s.Topic)
	}
	l, err := m.compare(ctx, list)
	if err != nil {
		return Derivation{}, err
	}
	chosen := s.choose(all, l, topic)
	confidence, _ := l.measure(all, chosen, len(s.Hits))
	d := Derivation{Text: s.quote(all, chosen), Method: record.ByExtract, Confidence: confidence}
	for _, i := range chosen {
		d.Lines = append(d.Lines, all[i].text)
	}
	d.Insight = d.Lines[0]
	return d, nil
}

// texts returns the sentences' texts.
func texts(all []sentence) []string {
	list := make([]string, len(all))
	for i, s := range all {
		list[i] = s.text
	}
	return list
}

// span is n numbers from first on.
func span(first, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = first + i
	}
	return list
}

// choose picks the sentences that represent the sources: those that are similar to sentences of other sources and to
// the topic, and unlike the ones chosen before (maximal marginal relevance). The same sources give the same sentences,
// oldest source first.
func (s *Sources) choose(all []sentence, l *likeness, topic int) []int {
	worth := make([]float64, len(all))
	for i := range all {
		worth[i] = l.centrality(all, i)
		if topic >= 0 {
			worth[i] += l.cosine(i, topic)
		}
	}
	var chosen []int
	used := map[int]int{}
	for len(chosen) < min(maxQuotes, max(2, len(s.Hits))) {
		best, most := -1, math.Inf(-1)
		for i, candidate := range all {
			near := 0.
			for _, j := range chosen {
				near = max(near, l.cosine(i, j))
			}
			// A long source must not outvote the others, and the same fact from two sources is quoted once.
			if used[candidate.source] == quotesPerSource || near >= sameAs || slices.Contains(chosen, i) {
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
	// In the order of the sources, oldest first: a later statement may correct an earlier one.
	slices.Sort(chosen)
	return chosen
}

// quote renders the chosen sentences, each with its source.
func (s *Sources) quote(all []sentence, chosen []int) string {
	var out strings.Builder
	about := ""
	if s.Topic != "" {
		about = " about " + s.Topic
	}
	fmt.Fprintf(&out, "Excerpts from %s%s, chosen without a language model:\n\n",
		text.Count(len(s.Hits), "memory", "memories"), about)
	for _, i := range chosen {
		fmt.Fprintf(&out, "- “%s” (%s)\n", all[i].text, s.Label(s.Hits[all[i].source]))
	}
	return out.String()
}

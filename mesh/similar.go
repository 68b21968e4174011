package mesh

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// What a stored text has to do with an earlier memory.
const (
	Same          = "same"           // the same text, of another session, type or agent
	NearDuplicate = "near_duplicate" // it says the same in nearly the same words
	Differs       = "differs"        // it is about the same and says something else, which may contradict
)

// Similar is a current memory that resembles what is stored.
type Similar struct {
	ID         string
	CreatedAt  time.Time
	Visibility record.Visibility
	Excerpt    string // up to similarExcerpt characters
	Relation   string // Same, NearDuplicate or Differs

	score  float64
	moment record.Moment
}

const (
	maxSimilar     = 3
	similarExcerpt = 200
	// comparePatience is how long storing waits for the vector of what is stored. Without it words decide.
	comparePatience = 250 * time.Millisecond
	candidatesAlike = 60      // memories compared in full, by words and by vectors each
	maxScanned      = 100_000 // documents up to which all vectors are compared; above it words find the candidates
)

// Thresholds of the relations: round numbers, chosen on the even half of testdata/corrections.json.
const (
	duplicateCosine = .97 // from which on texts with the same skeleton are one memory
	nearCosine      = .9  // from which on texts with the same facts say the same
	subjectCosine   = .5  // from which on texts that share a subject may contradict each other
	subjectShare    = .4  // the same for the share of words, where there is no vector
)

// compareStored returns the current memories that r resembles, and the id of the one that it repeats in nearly the
// same words, "" for none. Only those that r could supersede are looked at.
//
// SECURITY: a group's store call looks at the group's own memories only.
func (v *View) compareStored(
	ctx context.Context, to record.Visibility, r *record.Record, superseded []string,
) (list []Similar, merge string, err error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, "", err
	}
	meaning := v.vectorSoon(ctx, r.Content)
	about := aspectsOf(r.Content)
	best := 0.
	for _, c := range stores {
		if c.Visibility != to && !(v.Audience.IsDM() && c.Visibility == record.Shared) {
			continue
		}
		if err := c.Vectors.Refresh(); err != nil {
			meaning = nil // vectors of another model
		}
		for _, candidate := range alike(c, r.Content, meaning) {
			other := candidate.record
			if slices.Contains(superseded, other.ID) {
				continue
			}
			relation, score, one := about.relation(aspectsOf(other.Content), candidate.cosine, candidate.share)
			if one && c.Visibility == to && other.Fits(r) && score > best {
				merge, best = other.ID, score
			}
			if relation != "" {
				excerpt, _ := keyword.Excerpt(text.OneLine(other.Content), r.Content, similarExcerpt)
				moment := record.Moment{Time: other.CreatedAt, Compartment: c.Visibility, Seq: other.Seq}
				list = append(list, Similar{other.ID, other.CreatedAt, c.Visibility, excerpt, relation, score, moment})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Similar) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.moment.Compare(a.moment))
	})
	return list[:min(maxSimilar+1, len(list))], merge, nil
}

// vectorSoon returns the vector of text if the model makes it within comparePatience, else nil. The model goes on, so
// that it is loaded by the next call.
func (v *View) vectorSoon(ctx context.Context, text string) []float32 {
	made := make(chan []float32, 1)
	go func() {
		vectors, err := v.Embedder.Embed(context.WithoutCancel(ctx), []string{text})
		if err != nil || len(vectors) != 1 {
			vectors = [][]float32{nil} // the index reports why
		}
		made <- vectors[0]
	}()
	timer := time.NewTimer(comparePatience)
	defer timer.Stop()
	select {
	case vector := <-made:
		return vector
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}

// likely is a memory that may resemble a text.
type likely struct {
	record *record.Record
	share  float64 // of the text's words that it has
	cosine float64 // 0 if it is not known
}

// alike returns the current memories of c that resemble a text most, by their words and, if meaning is its vector, by
// their vectors.
func alike(c *compartment, content string, meaning []float32) []likely {
	s := c.Snapshot()
	defer s.Release()
	found := map[int]likely{}
	add := func(doc int, share float64) {
		d := s.Docs[doc]
		if d.Record == nil || d.Past || d.Record.Lesson != nil || d.Record.Reflection != nil {
			return
		}
		l := likely{record: d.Record, share: max(share, found[doc].share)}
		if meaning != nil {
			if vector := c.Vectors.Vector(doc); vector != nil {
				l.cosine = dot(meaning, vector)
			}
		}
		found[doc] = l
	}
	for _, o := range s.Keywords.Alike(content, candidatesAlike) {
		add(o.Doc, o.Share)
	}
	if meaning != nil && len(s.Docs) <= maxScanned {
		for _, doc := range nearest(s, c.Vectors.Cosines(meaning, nil)) {
			add(doc, 0)
		}
	}
	list := make([]likely, 0, len(found))
	for _, l := range found {
		list = append(list, l)
	}
	return list
}

// nearest returns the documents with the highest cosines.
func nearest(s *store.Snapshot, cosines []float32) []int {
	var docs []int
	for doc, x := range cosines[:min(len(cosines), len(s.Docs))] {
		if x >= subjectCosine {
			docs = append(docs, doc)
		}
	}
	slices.SortFunc(docs, func(a, b int) int { return cmp.Or(cmp.Compare(cosines[b], cosines[a]), cmp.Compare(b, a)) })
	return docs[:min(candidatesAlike, len(docs))]
}

// aspects are what distinguishes texts that are similar as a whole.
type aspects struct {
	content  string
	skeleton string          // its words without those that may be left out
	facts    []string        // names, numbers and negations, in order
	stems    map[string]bool // of its content words
}

func aspectsOf(content string) aspects {
	a := aspects{content: content, stems: map[string]bool{}}
	var kept []string
	for i, word := range strings.Fields(content) {
		bare := record.TrimWord(word)
		low := strings.ToLower(bare)
		if low != "" && !removable[low] {
			kept = append(kept, low)
		}
		if isFact(bare, low, i == 0) {
			a.facts = append(a.facts, low)
		}
	}
	a.skeleton = strings.Join(kept, " ")
	for _, stem := range keyword.Stems(content) {
		a.stems[stem] = true
	}
	return a
}

// removable are words that may be missing from a text that says the same. Prepositions that change who does what
// (from, to, by, for, with), tenses and quantities are not among them.
var removable = map[string]bool{
	"a": true, "an": true, "the": true, "that": true, "is": true, "are": true, "on": true, "at": true, "in": true,
	"of":     true,
	"please": true, "also": true,
}

// polar are words that turn a statement into its opposite.
var polar = map[string]bool{
	"no": true, "not": true, "never": true, "none": true, "nobody": true, "nothing": true, "without": true, "except": true,
	"before": true, "after": true, "off": true, "out": true, "less": true, "more": true, "only": true, "until": true,
}

// isFact reports whether a word is a name, a number or a negation.
func isFact(bare, low string, first bool) bool {
	return polar[low] || strings.HasSuffix(low, "n't") || strings.HasSuffix(low, "n’t") ||
		strings.ContainsFunc(bare, unicode.IsDigit) || !first && bare != "I" && strings.ContainsFunc(bare, unicode.IsUpper)
}

// relation returns what a has to do with an earlier text b, "" for nothing, and how strongly. one reports that both are
// one memory.
func (a aspects) relation(b aspects, cosine, share float64) (relation string, score float64, one bool) {
	score = max(cosine, share)
	sameFacts := slices.Equal(a.facts, b.facts)
	switch {
	case a.content == b.content:
		return Same, 2, false
	case record.SameWords(a.content, b.content):
		return NearDuplicate, 2, false
	case a.skeleton == b.skeleton && sameFacts:
		return NearDuplicate, 1 + score, cosine >= duplicateCosine
	case sameFacts && cosine >= nearCosine && a.sharedStems(b) >= .8:
		return NearDuplicate, score, false
	case cosine >= subjectCosine && a.sharedStems(b) > 0, share >= subjectShare:
		return Differs, score, false
	}
	return "", 0, false
}

// sharedStems returns the share of the content words of both that both have.
func (a aspects) sharedStems(b aspects) float64 {
	shared, total := 0, len(b.stems)
	for stem := range a.stems {
		if b.stems[stem] {
			shared++
		} else {
			total++
		}
	}
	if total == 0 {
		return 0
	}
	return float64(shared) / float64(total)
}

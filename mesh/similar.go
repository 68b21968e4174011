package mesh

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/similar"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Similar is a current memory that resembles what is stored.
type Similar struct {
	ID         string
	CreatedAt  time.Time
	Visibility record.Visibility
	Excerpt    string // up to similarExcerpt characters
	Relation   string // similar.Same, NearDuplicate or Differs

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

// compareStored returns the current memories that r resembles, and the id of the one that it repeats in nearly the
// same words, "" for none. Only those that r could supersede are looked at; what holds in another project is no
// contradiction.
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
	about := similar.Of(r.Content)
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
			otherProject := other.Project != "" && r.Project != "" && other.Project != r.Project
			if slices.Contains(superseded, other.ID) || otherProject {
				continue
			}
			relation, score, one := about.Relation(similar.Of(other.Content), candidate.cosine, candidate.share)
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
		if x >= similar.SubjectCosine {
			docs = append(docs, doc)
		}
	}
	slices.SortFunc(docs, func(a, b int) int { return cmp.Or(cmp.Compare(cosines[b], cosines[a]), cmp.Compare(b, a)) })
	return docs[:min(candidatesAlike, len(docs))]
}

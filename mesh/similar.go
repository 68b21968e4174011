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
// contradiction, nor what another session noted for itself.
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
			otherSession := other.IsEphemeral() && !v.isBound(other) &&
				(other.SessionID == "" || other.SessionID != r.SessionID)
			if slices.Contains(superseded, other.ID) || otherProject || otherSession {
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

// vectorSoon returns the vector of text if the model makes it within v.comparePatience, else nil. The model goes on, so
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
	timer := time.NewTimer(v.comparePatience)
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
		if s.Docs[doc].Deleted || s.Docs[doc].Past {
			return
		}
		r := s.Record(doc)
		if r.Lesson != nil || r.Reflection != nil {
			return
		}
		l := likely{record: r, share: max(share, found[doc].share)}
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

// facts compares memories by the facts that they tell. It holds read locks until release.
type facts struct {
	stores  []*compartment
	list    []*store.Snapshot
	release func()
	aspects map[string]similar.Aspects
	known   map[[2]string]string
	// inherits reports whether a replacement has what the memory was recalled for; nil is for always.
	inherits func(old, replacement record.Hit) bool
}

func newFacts(stores []*compartment) *facts {
	for _, c := range stores {
		_ = c.Vectors.Refresh() // vectors of another model: words decide
	}
	list, release := snapshots(stores)
	return &facts{
		stores: stores, list: list, release: release, aspects: map[string]similar.Aspects{}, known: map[[2]string]string{},
	}
}

// answer returns the memory that is the clear answer to a question, and its score: it bears on the question, and no
// other one that tells something else is about as good. "" is for none.
func (f *facts) answer(q store.Question) (id string, score float64) {
	// What replaced the answer since answers the question now: a corrected fact is needed as often as before.
	current := f.current(q.Best, q.At)
	if q.Score < minRelevance || current == "" {
		return "", 0
	}
	for _, rival := range q.Rivals {
		if !f.gone(rival, q.At) && f.relation(q.Best, rival) == "" {
			return "", 0
		}
	}
	return current, q.Score
}

// current returns the id of the memory called id, or of the last that replaced it and inherits; "" if one of them was
// deleted since a moment, or was replaced by nothing.
func (f *facts) current(id string, at record.Moment) string {
	var holds record.Hit // the last that inherits from those before it
	for id != "" && !slices.ContainsFunc(f.list, func(s *store.Snapshot) bool { return s.ErasedSince(id, at) }) {
		hit := find(f.list, id)
		if hit.Record == nil {
			return ""
		}
		if holds.Record == nil || f.inherits == nil || f.inherits(holds, hit) {
			holds = hit
		}
		if hit.Past == nil {
			return holds.ID
		}
		id = hit.Past.New // revisions have no cycles
	}
	return ""
}

// gone reports whether the memory called id was deleted since a moment, or is past.
func (f *facts) gone(id string, at record.Moment) bool {
	if slices.ContainsFunc(f.list, func(s *store.Snapshot) bool { return s.ErasedSince(id, at) }) {
		return true
	}
	hit := find(f.list, id)
	return hit.Record == nil || hit.Past != nil
}

// relation returns what the memories called a and b have to do with each other, see [similar.Aspects.Fact].
func (f *facts) relation(a, b string) string {
	key := [2]string{a, b}
	if relation, ok := f.known[key]; ok {
		return relation
	}
	cosine, _ := f.cosine(a, b)
	relation := ""
	one, other := f.aspectsOf(a), f.aspectsOf(b)
	if one != nil && other != nil {
		relation = one.Fact(*other, cosine)
	}
	f.known[key], f.known[[2]string{b, a}] = relation, relation
	return relation
}

// aspectsOf returns the aspects of a memory's text, nil if there is no such memory.
func (f *facts) aspectsOf(id string) *similar.Aspects {
	if known, ok := f.aspects[id]; ok {
		return &known
	}
	hit := find(f.list, id)
	if hit.Record == nil {
		return nil
	}
	aspects := similar.Of(hit.Content)
	f.aspects[id] = aspects
	return &aspects
}

// cosine returns that of two memories' vectors, false if one of them has none.
func (f *facts) cosine(a, b string) (cosine float64, ok bool) {
	x, y := f.vector(a), f.vector(b)
	if x == nil || len(x) != len(y) {
		return 0, false
	}
	return dot(x, y), true
}

func (f *facts) vector(id string) []float32 {
	for i, s := range f.list {
		if doc, ok := s.Doc(id); ok {
			return f.stores[i].Vectors.Vector(doc)
		}
	}
	return nil
}

// Fact is a pair of memories about one fact.
type Fact struct {
	A, B     string // ids
	Relation string // similar.Restates or similar.Changes
}

// SameFacts returns the pairs of the memories called ids that tell the same fact, or another state of it. Each pair is
// returned once; ids of no memory that the audience may see are left out.
func (v *View) SameFacts(ctx context.Context, ids []string) ([]Fact, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	f := newFacts(stores)
	defer f.release()
	var pairs []Fact
	for i, a := range ids {
		for _, b := range ids[i+1:] {
			if relation := f.relation(a, b); a != b && relation != "" {
				pairs = append(pairs, Fact{a, b, relation})
			}
		}
	}
	return pairs, nil
}

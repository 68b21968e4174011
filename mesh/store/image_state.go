package store

import (
	"iter"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
)

// mapType is what metadata is decoded to, as from the ledger's JSON.
var mapType = reflect.TypeFor[map[string]any]()

// imageDocument is a memory in an image, with what takes long to find out about its text.
type imageDocument struct {
	held
	derived
}

// derived is what follows from a record and takes long to compute.
type derived struct {
	Session  string          // that it was stored with: an update does not move it to another one
	Words    record.WordsKey // zero for a lesson and a passage of a file
	Standing bool
	Parts    bool
}

// derive computes what an image keeps of a record so that a start need not read its text.
func derive(r *record.Record) derived {
	d := derived{Session: r.SessionID, Standing: r.IsStanding()}
	if r.Type == record.FileType {
		return d
	}
	d.Parts = HasParts(r.Content)
	if r.Lesson == nil {
		d.Words = r.Words()
	}
	return d
}

// imageState is what a projection knows in addition to its documents, the keyword index and what follows from these.
// TestImageCoversProjection fails for a new field of Projection until it is covered.
type imageState struct {
	Entries   int64
	Revised   []string
	Accesses  map[string]record.Accesses
	Erased    map[string]record.Moment
	Texts     map[string]time.Time
	Revisions imageRevisions
	Sightings map[string][]*record.Record
	Separated []string
	Syntheses []*record.Synthesis
	Skills    []skill.Image
	Uses      map[string][]skill.ImageUse
	Questions []imageQuestion
}

// imageQuestion is a Question without the compartment.
type imageQuestion struct {
	_      struct{} `cbor:",toarray"`
	Time   int64    // milliseconds
	Seq    int64
	Words  string
	Best   string
	Score  float64
	Rivals []string
}

// imageRevisions is revisions with ids in place of pointers.
type imageRevisions struct {
	ByID   []*record.Revision
	Naming map[string][]string
	Of     map[string]string
	By     map[string][]string
}

// imageState returns what an image has of p. p.mu is held.
func (p *Projection) imageState() imageState {
	r := imageRevisions{
		ByID: slices.Collect(maps.Values(p.revisions.byID)), Naming: p.revisions.naming,
		Of: map[string]string{}, By: map[string][]string{},
	}
	// A revision whose old memory was deleted has no effect on a process that reads the ledger.
	for old, revision := range p.revisions.of {
		if _, ok := p.doc(old); ok {
			r.Of[old] = revision.ID
		}
	}
	for memory, list := range p.revisions.by {
		for _, revision := range list {
			if _, ok := p.doc(revision.Old); ok {
				r.By[memory] = append(r.By[memory], revision.ID)
			}
		}
	}
	questions := make([]imageQuestion, len(p.questions))
	for i, q := range p.questions {
		questions[i] = imageQuestion{
			Time: q.At.Time.UnixMilli(), Seq: q.At.Seq, Words: q.Words, Best: q.Best, Score: q.Score, Rivals: q.Rivals,
		}
	}
	skills, uses := p.skills.Image()
	return imageState{
		Entries: p.entries, Revised: slices.Collect(maps.Keys(p.revised)), Accesses: p.accesses, Erased: p.erased,
		Texts:     p.texts,
		Revisions: r, Sightings: p.sightings, Separated: slices.Collect(maps.Keys(p.separated)),
		Syntheses: slices.Collect(maps.Values(p.syntheses)), Skills: skills, Uses: uses,
		Questions: questions,
	}
}

// imageDocuments yields the documents that are not deleted, in order. p.mu is held.
func (p *Projection) imageDocuments() iter.Seq[imageDocument] {
	return func(yield func(imageDocument) bool) {
		words := p.words.keys(len(p.docs))
		sessions := make([]string, len(p.sessions))
		for id, s := range p.sessions {
			sessions[s.number] = id
		}
		for doc, d := range p.docs {
			if d.Deleted {
				continue
			}
			known := derived{Words: words[doc], Standing: d.Standing, Parts: d.Parts}
			if d.Session >= 0 {
				known.Session = sessions[d.Session]
			}
			if !yield(imageDocument{p.held[doc], known}) {
				return
			}
		}
	}
}

// adopt makes p, which must be empty, what the image has.
func (p *Projection) adopt(image *decodedImage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(image.held)
	p.docs, p.held, p.byID = make([]Document, 0, n+n/8), image.held, newIDs(n)
	p.keywords, p.words.later = image.keywords, make([]wordsOf, 0, n+n/8)
	var wait sync.WaitGroup
	p.adoptKeys(image, &wait)
	s := &image.state
	p.adoptRevisions(s.Revisions)
	for doc := range image.held {
		p.addDocument(image.held[doc], image.derived[doc])
	}
	wait.Wait()
	for doc := range p.held {
		h := &p.held[doc]
		if h.lesson() != nil || h.reflection() != nil {
			p.addContender(doc)
		}
		if p.docs[doc].Parts {
			p.Vectors.WantParts(h.vectorID())
		}
	}
	for old := range p.revisions.of {
		if doc, ok := p.doc(old); ok {
			p.setPast(doc)
		}
	}
	p.entries = s.Entries
	maps.Copy(p.accesses, s.Accesses)
	maps.Copy(p.erased, s.Erased)
	maps.Copy(p.texts, s.Texts)
	maps.Copy(p.sightings, s.Sightings)
	for _, id := range s.Revised {
		p.revised[id] = struct{}{}
	}
	for _, id := range s.Separated {
		p.separated[id] = struct{}{}
	}
	for _, made := range s.Syntheses {
		p.syntheses[made.Key] = made
	}
	p.skills = skill.FromImage(s.Skills, s.Uses)
	for _, q := range s.Questions {
		at := record.Moment{Time: time.UnixMilli(q.Time).UTC(), Compartment: p.Visibility, Seq: q.Seq}
		p.questions = append(p.questions, Question{at, q.Words, q.Best, q.Score, q.Rivals})
	}
	p.Changed()
}

// adoptKeys starts what finds the image's documents by their ids and words. It writes what nothing else uses before
// the end of wait.
func (p *Projection) adoptKeys(image *decodedImage, wait *sync.WaitGroup) {
	wait.Go(func() {
		for doc := range image.held {
			p.byID.put(doc, image.held)
		}
	})
	wait.Go(func() {
		for doc := range image.derived {
			if key := image.derived[doc].Words; key != (record.WordsKey{}) {
				p.words.add(doc, key)
			}
		}
	})
	wait.Go(func() {
		ids := make([]string, len(image.held))
		for doc := range image.held {
			ids[doc] = image.held[doc].vectorID()
		}
		p.Vectors.TrackAll(ids)
	})
}

// adoptRevisions makes the image's revisions those of p. IDs become pointers, so that one revision is one value.
func (p *Projection) adoptRevisions(r imageRevisions) {
	to := &p.revisions
	for _, revision := range r.ByID {
		to.byID[revision.ID] = revision
	}
	maps.Copy(to.naming, r.Naming)
	for old, id := range r.Of {
		to.of[old] = to.byID[id]
	}
	for memory, ids := range r.By {
		for _, id := range ids {
			to.by[memory] = append(to.by[memory], to.byID[id])
		}
	}
}

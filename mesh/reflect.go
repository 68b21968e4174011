package mesh

import (
	"cmp"
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/internal/progress"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/derive"
	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Default number of memories that a reflection and a synthesis draw on.
const (
	DefaultLookback   = 10
	synthesisLookback = 20
)

// minRelevance is the score from which on a memory bears on a topic. Beside one that does so fully, what has less
// than a quarter of its score is likely noise.
const minRelevance, minShare = .2, .25

// ReflectRequest asks for a reflection (RFC-0011 §4.1 reflect).
type ReflectRequest struct {
	Topic    string // "": recent memories
	Lookback int    // how many memories, the most relevant or the most recent: 1..MaxLimit; 0 is DefaultLookback
	// Completers are asked in order, before the one of Options. If none gives a usable answer, the reflection is an
	// extract.
	Completers []derive.Completer
}

// Reflected is a reflection and the memory that holds it.
type Reflected struct {
	record.Reflection
	MemoryID   string
	Content    string
	CreatedAt  time.Time
	Visibility record.Visibility
	Created    bool   // false: it was there
	Note       string // why a model that was asked did not write it, in fixed words, "" otherwise
}

// Reflect combines memories into one of type "reflection" (RFC-0011 §4.1 reflect), and returns after its fsync.
//
// Earlier reflections are no sources, nor are workspace files. The same sources and topic return the existing
// reflection; only a model's answer replaces an extract. If no memory can be drawn on, that is a fault.
//
// SECURITY: a reflection belongs to the audience, that of a DM is private, whatever its sources: nothing that was
// derived becomes visible to more people than before. It names each source's origin, and quotes a group as such, so
// that a group's words do not turn into the agent's own beliefs.
func (v *View) Reflect(ctx context.Context, q ReflectRequest) (Reflected, error) {
	sources, err := v.gather(ctx, store.OpReflect, q.Topic, q.Lookback, DefaultLookback)
	if err != nil {
		return Reflected{}, err
	}
	deriver := v.deriver(q.Completers)
	known, err := v.reflection(ctx, sources.Key)
	if err != nil || known != nil && (known.Reflection.Method == record.ByModel || len(deriver.Completers) == 0) {
		return v.reflected(known, false), err
	}
	d, err := deriver.Derive(ctx, sources, derive.Reflecting)
	if err != nil {
		return Reflected{}, err
	}
	progress.Report(ctx, 3, 3, "storing the reflection")
	r, created, err := v.keepReflection(ctx, sources, d)
	if err != nil {
		return Reflected{}, err
	}
	result := v.reflected(r, created)
	result.Note = d.Note
	return result, nil
}

// deriver asks the language models of a request, then the operator's.
func (v *View) deriver(first []derive.Completer) derive.Deriver {
	d := derive.Deriver{Embedder: v.Embedder, Completers: slices.Clone(first), Logger: v.Logger}
	if v.Completer != nil {
		d.Completers = append(d.Completers, v.Completer)
	}
	return d
}

// reflection returns the memory of the reflection with that key, nil if it does not exist.
func (v *View) reflection(ctx context.Context, key string) (r *record.Record, err error) {
	err = v.withCompartment(ctx, v.home(), func(c *compartment) error {
		s := c.Snapshot()
		defer s.Release()
		r = s.Reflection(key)
		return nil
	})
	return r, err
}

// reflected returns a reflection as the callers of Reflect get it; the zero value for none.
func (v *View) reflected(r *record.Record, created bool) Reflected {
	if r == nil {
		return Reflected{}
	}
	return Reflected{
		Reflection: *r.Reflection, MemoryID: r.ID, Content: r.Content, CreatedAt: r.CreatedAt,
		Visibility: v.home(), Created: created,
	}
}

// keepReflection stores what was derived, with its heritage, unless another process was faster: a model takes
// seconds, so whether the reflection exists is decided again under the ledger's lock.
func (v *View) keepReflection(
	ctx context.Context, sources *derive.Sources, d derive.Derivation,
) (kept *record.Record, created bool, err error) {
	clean := intake.New(v.scrubber)
	r := &record.Record{
		Memory: record.Memory{
			Type: "reflection", Source: v.AgentID, Content: clean.Content(d.Text),
			Rationale: "Aggregated high-signal patterns from recent memory",
		},
		AgentID: v.AgentID,
		Reflection: &record.Reflection{
			Topic: sources.Topic, Sources: sources.Origins(), Confidence: d.Confidence,
			Method: d.Method, Model: clean.Field("model", d.Model), Key: sources.Key,
		},
	}
	if clean.Err() != nil {
		return nil, false, clean.Err()
	}
	heritage := sources.Heritage("synthesize_beliefs_from_memories", v.heritageDepth())
	err = v.write(ctx, v.home(), func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
		known := s.Reflection(sources.Key)
		if known != nil && (known.Reflection.Method == record.ByModel || d.Method == record.ByExtract) {
			kept, created = known, false
			return nil, nil
		}
		// Reset, because a second call may find that the extract was deleted.
		r.Reflection.Supersedes = ""
		if known != nil {
			r.Reflection.Supersedes = known.ID
		}
		var err error
		if r.ID, err = s.NewMemoryID(now, v.Random); err != nil {
			return nil, err
		}
		if r.Reflection.ReflectionID, err = record.NewID("reflect", now, v.Random); err != nil {
			return nil, err
		}
		r.CreatedAt, kept, created = now, r, true
		written := block.Reflect{
			Agent: v.AgentID, Topic: derive.TopicName(sources.Topic), Sources: len(sources.Hits), Time: now,
			ReflectionID: r.Reflection.ReflectionID, Insight: d.Insight, Confidence: d.Confidence,
		}.Block().String()
		return []ledger.Draft{
			{Op: store.OpReflect, ID: r.ID, Block: written, Data: r},
			{Op: store.OpHeritage, ID: r.ID, Data: heritage},
		}, nil
	})
	return kept, created, err
}

// checkTopic checks and redacts a topic.
func (v *View) checkTopic(topic string) (string, error) {
	const most = 500 // characters
	switch n := utf8.RuneCountInString(topic); {
	case !utf8.ValidString(topic):
		return "", fault.New("topic: the text is not valid UTF-8")
	case n > most:
		return "", fault.New("topic: %d characters are too many; use at most %d", n, most)
	}
	topic, _ = v.scrubber.Redact(topic)
	return text.OneLine(topic), nil
}

// gather finds the sources: the memories most relevant to a topic, or else the most recent. kind, the operation, is
// part of the key, because the same memories may be both reflected on and made a skill. It writes nothing, not even a
// recall block, so it can be repeated.
func (v *View) gather(ctx context.Context, kind, topic string, lookback, standard int) (*derive.Sources, error) {
	topic, err := v.checkTopic(topic)
	if err != nil {
		return nil, err
	}
	lookback = cmp.Or(lookback, standard)
	if lookback < 1 || lookback > MaxLimit {
		return nil, fault.New("lookback: use a number of memories from 1 to %d", MaxLimit)
	}
	progress.Report(ctx, 0, 3, "looking for memories")
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	if kind == store.OpSynthesize { // SECURITY: see Synthesize
		stores = slices.DeleteFunc(stores, func(c *compartment) bool { return v.foreign(c.Visibility) })
	}
	var hits []record.Hit
	if topic == "" {
		hits = recent(stores, lookback)
	} else if hits, err = v.bearing(ctx, stores, topic, lookback); err != nil {
		return nil, err
	}
	switch {
	case len(hits) == 0 && topic == "":
		return nil, fault.New("no memories yet; store some first")
	case len(hits) == 0:
		return nil, fault.New("topic: no memory is relevant to it; choose another topic, " +
			"or omit it to use recent memories")
	}
	return derive.NewSources(kind, topic, v.home(), hits), nil
}

// source reports whether a memory can be drawn on. A reflection cannot: a conclusion would become evidence for itself.
// Nor can what belongs to a session, which a conclusion would outlive.
func source(r *record.Record) bool { return r.Type != "reflection" && !r.IsEphemeral() }

// recent are the n newest memories.
func recent(stores []*compartment, n int) []record.Hit {
	var hits []record.Hit
	list, release := snapshots(stores)
	defer release()
	for _, s := range list {
		for r := range s.Current() {
			if source(r) {
				hits = append(hits, s.Hit(r))
			}
		}
	}
	slices.SortFunc(hits, func(a, b record.Hit) int { return record.CompareStored(b, a) })
	return hits[:min(n, len(hits))]
}

// bearing returns up to n memories that a search for topic finds relevant.
func (v *View) bearing(ctx context.Context, stores []*compartment, topic string, n int) ([]record.Hit, error) {
	var found Found
	meaning, err := v.embedQuery(ctx, stores, topic, &found)
	if err != nil {
		return nil, err
	}
	candidates := v.candidates(v.sources(stores), topic, meaning)
	defer candidates.Release()
	hits := candidates.Top(n, rank.Filter{Admit: source, Lance: &lance.Filter{}})
	return relevant(hits), nil
}

// relevant returns the hits, which are best first, that are about what was asked.
func relevant(hits []record.Hit) []record.Hit {
	if len(hits) == 0 {
		return nil
	}
	least := max(minRelevance, minShare*hits[0].Score)
	return slices.DeleteFunc(hits, func(h record.Hit) bool { return h.Score < least })
}

package mesh

import (
	"context"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/internal/progress"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Default number of memories that a reflection and a synthesis draw on.
const (
	DefaultLookback   = 10
	synthesisLookback = 20
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

// ReflectRequest asks for a reflection (RFC-0011 §4.1 reflect).
type ReflectRequest struct {
	Topic    string // "": whatever is recent
	Lookback int    // how many memories, the most relevant or the most recent: 1..MaxLimit; 0 is DefaultLookback
	// Completers are asked in order, before the one of Options. If none gives a usable answer, the reflection is an
	// extract.
	Completers []Completer
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
	g, err := v.gather(ctx, store.OpReflect, q.Topic, q.Lookback, DefaultLookback)
	if err != nil {
		return Reflected{}, err
	}
	completers := v.completers(q.Completers)
	known, err := v.reflection(ctx, g.key)
	if err != nil || known != nil && (known.Reflection.Method == record.ByModel || len(completers) == 0) {
		return v.reflected(known, false), err
	}
	d, err := v.derive(ctx, g, reflecting, completers)
	if err != nil {
		return Reflected{}, err
	}
	progress.Report(ctx, 3, 3, "storing the reflection")
	r, created, err := v.keepReflection(ctx, g, d)
	if err != nil {
		return Reflected{}, err
	}
	result := v.reflected(r, created)
	result.Note = d.note
	return result, nil
}

// completers returns the language models to ask, in order.
func (v *View) completers(first []Completer) []Completer {
	list := slices.Clone(first)
	if v.Completer != nil {
		list = append(list, v.Completer)
	}
	return list
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
	ctx context.Context, g *gathering, d derivation,
) (kept *record.Record, created bool, err error) {
	clean := &scrubbing{scrubber: v.scrubber}
	r := &record.Record{
		Memory: record.Memory{
			Type: "reflection", Source: v.AgentID, Content: clean.content(d.text),
			Rationale: "Aggregated high-signal patterns from recent memory",
		},
		AgentID: v.AgentID,
		Reflection: &record.Reflection{
			Topic: g.topic, Sources: g.origins(), Confidence: d.confidence,
			Method: d.method, Model: clean.field("model", d.model), Key: g.key,
		},
	}
	if clean.err != nil {
		return nil, false, clean.err
	}
	heritage := g.heritage("synthesize_beliefs_from_memories", v.heritageDepth())
	err = v.write(ctx, v.home(), func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
		known := s.Reflection(g.key)
		if known != nil && (known.Reflection.Method == record.ByModel || d.method == record.ByExtract) {
			kept, created = known, false
			return nil, nil
		}
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
			Agent: v.AgentID, Topic: topicName(g.topic), Sources: len(g.sources), Time: now,
			ReflectionID: r.Reflection.ReflectionID, Insight: d.insight, Confidence: d.confidence,
		}.Block().String()
		return []ledger.Draft{
			{Op: store.OpReflect, ID: r.ID, Block: written, Data: r},
			{Op: store.OpHeritage, ID: r.ID, Data: heritage},
		}, nil
	})
	return kept, created, err
}

// topicName returns the topic as blocks and prompts name it.
func topicName(topic string) string {
	if topic == "" {
		return "recent memories"
	}
	return topic
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

// SameText are the ids of the other memories that say word for word what the one called id says, and that the audience
// may see: of other sessions, types or compartments.
func (v *View) SameText(ctx context.Context, id string) ([]string, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	list, release := snapshots(stores)
	defer release()
	ids := []string{}
	r := find(list, id).Record
	if r == nil {
		return ids, nil
	}
	for _, s := range list {
		for other := range s.Memories() {
			if other.ID != id && other.Content == r.Content {
				ids = append(ids, other.ID)
			}
		}
	}
	return ids, nil
}

// DerivedFrom returns the ids of what was made from the memory called id and may repeat it: reflections and the cycle's
// lessons, oldest first in each compartment, then synthesized skills.
func (v *View) DerivedFrom(ctx context.Context, id string) ([]string, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	among := func(sources []record.Source) bool {
		return slices.ContainsFunc(sources, func(s record.Source) bool { return s.ID == id })
	}
	list, release := snapshots(stores)
	defer release()
	ids, skills := []string{}, []string{}
	for _, s := range list {
		for r := range s.Memories() {
			if r.Reflection != nil && among(r.Reflection.Sources) || r.Lesson != nil && slices.Contains(r.Lesson.Sources, id) {
				ids = append(ids, r.ID)
			}
		}
		// The ledger keeps what a skill said before its present text, too.
		for made := range s.Syntheses() {
			if among(made.Sources) {
				skills = append(skills, made.SkillID)
			}
		}
	}
	slices.Sort(skills)
	return append(ids, slices.Compact(skills)...), nil
}

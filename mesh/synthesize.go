package mesh

import (
	"context"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/internal/progress"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/derive"
	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// SynthesizeRequest asks for a skill made of memories (RFC-0011 §4.1 synthesize, §2.4).
type SynthesizeRequest struct {
	Topic      string // "": recent memories
	Completers []derive.Completer
}

// Synthesized is a synthesis and its skill.
type Synthesized struct {
	record.Synthesis
	Skill      *record.Skill
	Visibility record.Visibility
	Created    bool // there was no skill of this name
	Updated    bool // that skill's text was replaced
	Note       string
}

// Synthesize makes a skill of what memories say about a topic, lessons first: its constraints are rules, by
// a language model or the sources' own sentences. It is ingested as Skills.Ingest does, under a name made of
// the topic, so a later synthesis of the topic from more memories is that skill with another text. The same
// sources and topic give the skill that is there; only a model's answer takes the place of an extract.
//
// SECURITY: an agent follows its skills, so what groups said is no source of a DM's: a stranger must not be able to
// plant rules. A skill belongs to the audience, and that of a DM is private.
func (v *View) Synthesize(ctx context.Context, q SynthesizeRequest) (Synthesized, error) {
	sources, err := v.gather(ctx, store.OpSynthesize, q.Topic, 0, synthesisLookback)
	if err != nil {
		return Synthesized{}, err
	}
	deriver := v.deriver(q.Completers)
	known, err := v.synthesis(ctx, sources.Key)
	if err != nil {
		return Synthesized{}, err
	}
	if known != nil && (known.Method == record.ByModel || len(deriver.Completers) == 0) {
		return *known, nil
	}
	d, err := deriver.Derive(ctx, sources, derive.Synthesizing)
	if err != nil {
		return Synthesized{}, err
	}
	if d.Method == record.ByExtract && !sources.Instructive() {
		return Synthesized{}, fault.New("topic: the memories on it state facts and not how to do something; " +
			"store a lesson or an instruction first, or reflect on it instead")
	}
	if d.Method == record.ByExtract { // an extract that is there is as good
		if known, err := v.synthesis(ctx, sources.Key); err != nil || known != nil {
			if err != nil {
				return Synthesized{}, err
			}
			known.Note = d.Note
			return *known, nil
		}
	}
	progress.Report(ctx, 3, 3, "storing the skill")
	return v.keepSynthesis(ctx, sources, d)
}

// keepSynthesis ingests the derived skill and records what it was made of. A crash in between leaves the skill, and the
// next synthesis of the topic replaces it.
func (v *View) keepSynthesis(ctx context.Context, sources *derive.Sources, d derive.Derivation) (Synthesized, error) {
	name, err := v.synthesisName(ctx, sources.Topic)
	if err != nil {
		return Synthesized{}, err
	}
	definition := sources.Definition(d, name, v.AgentID, v.Now()).String()
	ingested, err := v.Skills().Ingest(ctx, SkillRequest{Text: definition, Type: derive.SkillType, Source: "synthesize"})
	if err != nil {
		return Synthesized{}, err
	}
	clean := intake.New(v.scrubber)
	made := record.Synthesis{
		SkillID: ingested.ID, Topic: sources.Topic, Sources: sources.Origins(), Confidence: d.Confidence,
		Method: d.Method, Model: clean.Field("model", d.Model), Key: sources.Key, AgentID: v.AgentID,
	}
	if clean.Err() != nil {
		return Synthesized{}, clean.Err()
	}
	result := Synthesized{
		Synthesis: made, Visibility: v.home(), Created: ingested.Created, Updated: ingested.Updated, Note: d.Note,
	}
	err = v.write(ctx, v.home(), func(s *store.Snapshot, _ time.Time) ([]ledger.Draft, error) {
		skill := s.Skills.Find(ingested.ID)
		if skill == nil {
			return nil, noSkill(ingested.ID) // deleted meanwhile
		}
		result.Skill = skill.Skill
		return []ledger.Draft{{Op: store.OpSynthesize, ID: ingested.ID, Block: skill.Text, Data: made}}, nil
	})
	return result, err
}

// synthesisName returns the name of a topic's skill. It differs from that of a skill that was not synthesized, which
// must not be replaced.
func (v *View) synthesisName(ctx context.Context, topic string) (string, error) {
	const most = 100 // characters of the topic
	name := block.Escape("learned: " + text.Shorten(derive.TopicName(topic), most))
	err := v.withCompartment(ctx, v.home(), func(c *compartment) error {
		s := c.Snapshot()
		defer s.Release()
		if other := s.Skills.Named(name); other != nil && other.Type != derive.SkillType {
			name += " (synthesized)"
		}
		return nil
	})
	return name, err
}

// synthesis is what was synthesized with that key and is still there, nil if nothing is.
func (v *View) synthesis(ctx context.Context, key string) (known *Synthesized, err error) {
	err = v.withCompartment(ctx, v.home(), func(c *compartment) error {
		s := c.Snapshot()
		defer s.Release()
		if made, skill := s.Synthesis(key); made != nil {
			known = &Synthesized{Synthesis: *made, Skill: skill.Skill, Visibility: s.Visibility}
		}
		return nil
	})
	return known, err
}

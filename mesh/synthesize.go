package mesh

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/internal/progress"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// SynthesizedType is the type of the skills that Synthesize makes.
const SynthesizedType = "synthesized"

// maxRules is how many rules a synthesized skill has.
const maxRules = 8

// SynthesizeRequest asks for a skill made of memories (RFC-0011 §4.1 synthesize, §2.4).
type SynthesizeRequest struct {
	Topic      string // "": whatever is recent
	Completers []Completer
}

// Synthesized is a synthesis and its skill.
type Synthesized struct {
	record.Synthesis
	Skill      *record.Skill
	Visibility record.Visibility
	Created    bool // there was no skill of this name
	Updated    bool // that skill has got this text in place of its own
	Note       string
}

var synthesizing = purpose{
	system: `You write down how to do something, from notes of how it went. ` + dataOnly +
		`Answer with one rule a line, at most eight, each beginning with "- ", in the imperative, ` +
		`and ending with the numbers of the notes that it rests on, like [2] or [1][3]. ` +
		`A rule says what to do or to leave, as the notes show it to work or to go wrong. ` +
		`No heading, no introduction. If the notes say nothing about how to do anything, answer only: NONE`,
	maxTokens: 700,
}

// Synthesize makes a skill of what memories say about a topic, lessons first: its constraints are rules, by
// a language model or the sources' own sentences. It is ingested as IngestSkill does, under a name made of
// the topic, so a later synthesis of the topic from more memories is that skill with another text. The same
// sources and topic give the skill that is there; only a model's answer takes the place of an extract.
//
// SECURITY: an agent follows its skills, so what groups said is no source of a DM's: a stranger must not be able to
// plant rules. A skill belongs to the audience, and that of a DM is private.
func (v *View) Synthesize(ctx context.Context, q SynthesizeRequest) (Synthesized, error) {
	g, err := v.gather(ctx, store.OpSynthesize, q.Topic, 0, synthesisLookback)
	if err != nil {
		return Synthesized{}, err
	}
	completers := v.completers(q.Completers)
	known, err := v.synthesis(ctx, g.key)
	if err != nil {
		return Synthesized{}, err
	}
	if known != nil && (known.Method == record.ByModel || len(completers) == 0) {
		return *known, nil
	}
	d, err := v.derive(ctx, g, synthesizing, completers)
	if err != nil {
		return Synthesized{}, err
	}
	if d.method == record.ByExtract { // an extract that is there is as good
		if known, err := v.synthesis(ctx, g.key); err != nil || known != nil {
			if err != nil {
				return Synthesized{}, err
			}
			known.Note = d.note
			return *known, nil
		}
	}
	progress.Report(ctx, 3, 3, "storing the skill")
	return v.keepSynthesis(ctx, g, d)
}

func (v *View) keepSynthesis(ctx context.Context, g *gathering, d derivation) (Synthesized, error) {
	name, err := v.synthesisName(ctx, g.topic)
	if err != nil {
		return Synthesized{}, err
	}
	definition := v.definition(g, d, name).String()
	ingested, err := v.IngestSkill(ctx, SkillRequest{Text: definition, Type: SynthesizedType, Source: "synthesize"})
	if err != nil {
		return Synthesized{}, err
	}
	clean := &scrubbing{scrubber: v.scrubber}
	made := record.Synthesis{
		SkillID: ingested.ID, Topic: g.topic, Sources: g.origins(), Confidence: d.confidence,
		Method: d.method, Model: clean.field("model", d.model), Key: g.key, AgentID: v.AgentID,
	}
	if clean.err != nil {
		return Synthesized{}, clean.err
	}
	result := Synthesized{
		Synthesis: made, Visibility: v.home(), Created: ingested.Created, Updated: ingested.Updated, Note: d.note,
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
	name := block.Escape("learned: " + text.Shorten(topicName(topic), most))
	err := v.withCompartment(ctx, v.home(), func(c *compartment) error {
		s := c.Snapshot()
		defer s.Release()
		if other := s.Skills.Named(name); other != nil && other.Type != SynthesizedType {
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

// definition is the skill as a YAMO block (RFC-0011 §3.1).
func (v *View) definition(g *gathering, d derivation, name string) block.Block {
	topic := topicName(g.topic)
	at := block.FormatTime(v.Now())
	ids := make([]string, len(g.sources))
	for i, s := range g.sources {
		ids[i] = s.ID
	}
	how := "Sentences of " + memories(len(ids)) + ", chosen without a language model"
	if d.method == record.ByModel {
		how = "Rules that a language model drew from " + memories(len(ids))
	}
	b := block.Block{
		Agent:  block.AgentName(v.AgentID),
		Intent: intent(g.topic),
		Context: []block.Pair{
			{Key: "name", Value: name},
			{Key: "description", Value: "What memory says about how to handle " + topic + "."},
			{Key: "tags", Value: SynthesizedType},
			{Key: "topic", Value: topic},
			{Key: "sources", Value: strings.Join(ids, ", ")},
			{Key: "timestamp", Value: at},
		},
		Priority: block.Medium,
		Meta: []block.Pair{
			{Key: "rationale", Value: how},
			{Key: "confidence", Value: block.FormatConfidence(d.confidence)},
		},
		Log:     []string{"skill_synthesized", "timestamp", at, "topic", topic, "sources", strconv.Itoa(len(ids))},
		Handoff: "End",
	}
	for _, rule := range g.rules(d) {
		b.Constraints = append(b.Constraints, block.Pair{Value: rule})
	}
	return b
}

// rules are the lessons' rules as they were learned, the worst mistakes' first, and then the sentences; or what a model
// made of both.
func (g *gathering) rules(d derivation) []string {
	var lessons []*record.Lesson
	for _, s := range g.sources {
		if s.Lesson != nil {
			lessons = append(lessons, s.Lesson)
		}
	}
	slices.SortStableFunc(lessons, func(a, b *record.Lesson) int {
		return record.CompareLessons(
			record.Hit{Record: &record.Record{Lesson: a}}, record.Hit{Record: &record.Record{Lesson: b}})
	})
	var rules []string
	add := func(rule string) {
		if rule = strings.TrimSpace(rule); rule != "" && len(rules) < maxRules && !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	if d.method == record.ByExtract {
		for _, l := range lessons {
			add(l.PreventativeRule)
		}
		for _, line := range d.lines {
			add(line)
		}
		return rules
	}
	for line := range strings.Lines(d.text) {
		add(strings.TrimLeft(strings.TrimSpace(line), "-*•0123456789.) "))
	}
	return rules
}

// intent is a topic as the grammar's INTENT_ID. What has no letters of its alphabet has its description.
func intent(topic string) string {
	words := strings.FieldsFunc(strings.ToLower(topic), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	if len(words) == 0 {
		return "apply_what_was_learned"
	}
	return "apply_what_was_learned_about_" + strings.Join(words[:min(len(words), 8)], "_")
}

package derive

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// SkillType is the type of the skills that Definition makes.
const SkillType = "synthesized"

// maxRules is how many rules a synthesized skill has.
const maxRules = 8

// Synthesizing asks for rules, one a line.
var Synthesizing = Purpose{
	system: `You write down how to do something, from notes of how it went. ` + dataOnly +
		`Answer with one rule a line, at most eight, each beginning with "- ", in the imperative, ` +
		`and ending with the numbers of the notes that it rests on, like [2] or [1][3]. ` +
		`A rule says what to do or not to do, as the notes show it to work or to go wrong. ` +
		`No heading, no introduction. If the notes say nothing about how to do anything, answer only: NONE`,
	maxTokens: 700,
}

// Definition returns the skill made of a derivation as a YAMO block (RFC-0011 §3.1). agent is the id of the agent.
func (s *Sources) Definition(d Derivation, name, agent string, now time.Time) block.Block {
	topic := TopicName(s.Topic)
	at := block.FormatTime(now)
	ids := s.ids()
	how := "Sentences of " + text.Count(len(ids), "memory", "memories") + ", chosen without a language model"
	if d.Method == record.ByModel {
		how = "Rules that a language model drew from " + text.Count(len(ids), "memory", "memories")
	}
	b := block.Block{
		Agent:  block.AgentName(agent),
		Intent: intent(s.Topic),
		Context: []block.Pair{
			{Key: "name", Value: name},
			{Key: "description", Value: "What memory says about how to handle " + topic + "."},
			{Key: "tags", Value: SkillType},
			{Key: "topic", Value: topic},
			{Key: "sources", Value: strings.Join(ids, ", ")},
			{Key: "timestamp", Value: at},
		},
		Priority: block.Medium,
		Meta: []block.Pair{
			{Key: "rationale", Value: how},
			{Key: "confidence", Value: block.FormatConfidence(d.Confidence)},
		},
		Log:     []string{"skill_synthesized", "timestamp", at, "topic", topic, "sources", strconv.Itoa(len(ids))},
		Handoff: "End",
	}
	for _, rule := range s.rules(d) {
		b.Constraints = append(b.Constraints, block.Pair{Value: rule})
	}
	return b
}

var (
	// tellsHow finds sentences that say what to do, or how something worked or failed.
	tellsHow = regexp.MustCompile(`(?i)\b(always|never|must|should|(have|has|need|needs|ought) to|make sure|remember to|` +
		`do not|don't|avoid|prefer|instead|before|after|first|then|if|when(ever)?|unless|until|use[ds]?|using|run|` +
		`works? (best|with|by|only)|fail(s|ed|ure)?|stopped|broken?|crash(es|ed)?|fix(es|ed)?|because|so that|` +
		`by \w+ing|steps?)\b`)
	// english finds a word of an English sentence: in other languages it is not known what tells how.
	english = regexp.MustCompile(`(?i)\b(the|is|are|was|in|at|of|and|with|has|have|to|for|on|likes?)\b`)
)

// Instructive reports whether the sources say how to do anything: one is a lesson, has a sentence that tells so, or
// is expected to help with something. What only states facts makes no skill.
func (s *Sources) Instructive() bool {
	return slices.ContainsFunc(s.Hits, func(h record.Hit) bool {
		return h.Lesson != nil || h.Hypothesis != "" || tellsHow.MatchString(h.Content) || !english.MatchString(h.Content)
	})
}

// rules are the lessons' rules as they were learned, the worst mistakes' first, and then the sentences; or what a model
// made of both.
func (s *Sources) rules(d Derivation) []string {
	// Rules that were learned from a mistake come before sentences that only resemble the topic.
	lessons := slices.DeleteFunc(slices.Clone(s.Hits), func(h record.Hit) bool { return h.Lesson == nil })
	slices.SortFunc(lessons, record.CompareLessons)
	var rules []string
	add := func(rule string) {
		if rule = strings.TrimSpace(rule); rule != "" && len(rules) < maxRules && !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	if d.Method == record.ByExtract {
		for _, l := range lessons {
			add(l.Lesson.PreventativeRule)
		}
		for _, line := range d.Lines {
			add(line)
		}
		return rules
	}
	for line := range strings.Lines(d.Text) {
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

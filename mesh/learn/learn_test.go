package learn

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestSayingOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		memory record.Memory
		want   Saying
	}{
		"prose": {
			record.Memory{Content: "The deploy failed\nagain."},
			Saying{fieldSituation: "The deploy failed again."},
		},
		"lines, in any spelling of their names": {
			record.Memory{Content: "It broke.\n- **Error Pattern**: disk full\nresolution: rotate the logs\n" +
				"Applicability_Scope;servers;\nSEVERITY: High"},
			Saying{
				fieldSituation: "It broke.", fieldPattern: "disk full", fieldFix: "rotate the logs", fieldScope: "servers",
				fieldSeverity: "high",
			},
		},
		"the first of two lines": {
			record.Memory{Content: "Fix: one\nFix: two"},
			Saying{fieldSituation: "Fix: one Fix: two", fieldFix: "one"},
		},
		"metadata before lines": {
			record.Memory{Content: "Fix: from the text", Metadata: map[string]any{"fix": "from metadata"}},
			Saying{fieldSituation: "Fix: from the text", fieldFix: "from metadata"},
		},
		"numbers, not lists": {
			record.Memory{Content: "x", Metadata: map[string]any{
				"confidence": .75, "rule": []any{"a"}, "severity": true, "scope": json.Number("7"),
			}},
			Saying{fieldSituation: "x", fieldConfidence: "0.75", fieldScope: "7", fieldSeverity: ""},
		},
		"of several names the last": {
			record.Memory{Content: "x", Metadata: map[string]any{"constraint": "a", "preventative_rule": "b", "rule": "c"}},
			Saying{fieldSituation: "x", fieldRule: "c"},
		},
		"without the tag": {
			record.Memory{Content: "It broke " + CandidateTag},
			Saying{fieldSituation: "It broke"},
		},
		"an unknown name is prose": {
			record.Memory{Content: "Weather: rain"},
			Saying{fieldSituation: "Weather: rain"},
		},
	} {
		got := SayingOf(&record.Record{Memory: test.memory})
		if _, ok := test.want[fieldSeverity]; !ok {
			test.want[fieldSeverity] = ""
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

var now = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

// seen is a memory stored some hours before now that says what its content does.
func seen(id string, hours int, memory record.Memory) Sighting {
	return Sight(record.Hit{Record: &record.Record{
		ID: id, Memory: memory, CreatedAt: now.Add(-time.Duration(hours) * time.Hour),
	}})
}

func TestGather(t *testing.T) {
	t.Parallel()
	failed := map[string]any{"status": " Error "}
	pattern := func(name, scope string) record.Memory {
		m := record.Memory{Content: "x", Metadata: map[string]any{"error_pattern": name}}
		if scope != "" {
			m.Metadata["scope"] = scope
		}
		return m
	}
	type group struct {
		IDs     []string
		Because []string
	}
	for name, test := range map[string]struct {
		seen []Sighting // oldest first
		want []group
	}{
		"nothing to learn from": {[]Sighting{seen("a", 1, record.Memory{Content: "fine"})}, nil},
		"an error": {
			[]Sighting{seen("a", 1, record.Memory{Content: "x", Metadata: failed})},
			[]group{{[]string{"a"}, []string{BecauseError}}},
		},
		"an error of the day before yesterday": {
			[]Sighting{seen("a", 48, record.Memory{Content: "x", Metadata: failed})}, nil,
		},
		"tagged, in both ways": {
			[]Sighting{
				seen("a", 2, record.Memory{Content: "x", Tags: []string{"#Lesson_Learned_Candidate"}}),
				seen("b", 1, record.Memory{Content: "y " + CandidateTag}),
			},
			[]group{{[]string{"a"}, []string{BecauseTagged}}, {[]string{"b"}, []string{BecauseTagged}}},
		},
		"seen once": {[]Sighting{seen("a", 1, pattern("p", "s"))}, nil},
		"repeated": {
			[]Sighting{seen("a", 150, pattern("p", "s")), seen("b", 100, pattern("p", "s"))},
			[]group{{[]string{"a", "b"}, []string{BecauseRepeated}}},
		},
		"two scopes are not a repetition": {
			[]Sighting{seen("a", 2, pattern("p", "s")), seen("b", 1, pattern("p", "other"))}, nil,
		},
		"without a scope it belongs to each": {
			[]Sighting{seen("a", 3, pattern("p", "s")), seen("b", 2, pattern("p", "")), seen("c", 1, pattern("p", "other"))},
			[]group{
				{[]string{"a", "b"}, []string{BecauseRepeated}},
				{[]string{"b", "c"}, []string{BecauseRepeated}},
			},
		},
		"both reasons once, in order, and the groups by their first sighting": {
			[]Sighting{
				seen("a", 100, pattern("q", "s")),
				seen("b", 90, pattern("p", "s")),
				seen("c", 2, record.Memory{Content: "x", Metadata: map[string]any{"error_pattern": "p", "status": "error"}}),
				seen("d", 1, record.Memory{Content: "x", Metadata: map[string]any{"error_pattern": "p", "status": "error"}}),
				seen("e", 0, pattern("q", "s")),
			},
			[]group{
				{[]string{"a", "e"}, []string{BecauseRepeated}},
				{[]string{"b", "c", "d"}, []string{BecauseError, BecauseRepeated}},
			},
		},
	} {
		var got []group
		for _, s := range Gather(test.seen, now.Add(-24*time.Hour)) {
			g := group{Because: s.Because}
			for _, one := range s.Sightings {
				g.IDs = append(g.IDs, one.Record.ID)
			}
			got = append(got, g)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What is not said is missing, and not made up; of two sayings the newer counts.
func TestRequest(t *testing.T) {
	t.Parallel()
	whole := record.Memory{
		Content: "Situation: at night\nError pattern: disk full\nOversight: no alert\nFix: rotate\nRule: watch the disk\n" +
			"Severity: high\nScope: servers\nInstead: archive\nConfidence: .9",
	}
	memory := func(line string) record.Memory { return record.Memory{Content: line} }
	confidence := .9
	complete := record.LessonRequest{
		Situation: "at night", ErrorPattern: "disk full", Oversight: "no alert", Fix: "rotate",
		PreventativeRule: "watch the disk", Severity: "high", ApplicableScope: "servers", InverseLesson: "archive",
		Confidence: &confidence,
	}
	newer := complete
	newer.Fix, newer.Situation = "delete", "Fix: delete"
	for name, test := range map[string]struct {
		memories []record.Memory
		want     record.LessonRequest
		missing  []string
	}{
		"complete":   {[]record.Memory{whole}, complete, nil},
		"the newest": {[]record.Memory{whole, memory("Fix: delete")}, newer, nil},
		"nothing": {
			[]record.Memory{memory("It broke.")},
			record.LessonRequest{Situation: "It broke."},
			[]string{fieldPattern, fieldOversight, fieldFix, fieldRule, fieldSeverity, fieldScope},
		},
		"invalid values": {
			[]record.Memory{memory("Situation: s\nError pattern: p\nOversight: o\nFix: f\nRule: r\nScope: c\n" +
				"Severity: terrible\nConfidence: 1.5")},
			record.LessonRequest{
				Situation: "s", ErrorPattern: "p", Oversight: "o", Fix: "f", PreventativeRule: "r", ApplicableScope: "c",
				Severity: "terrible",
			},
			[]string{fieldSeverity, fieldConfidence},
		},
	} {
		var s Suspicion
		for i, m := range test.memories {
			s.Sightings = append(s.Sightings, seen("a", len(test.memories)-i, m))
		}
		got, missing := s.Request()
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(test.missing, missing); diff != "" {
			t.Errorf("%s: missing (-want +got):\n%s", name, diff)
		}
	}
}

package mesh

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/derive"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func synthesize(t testing.TB, v *View, q SynthesizeRequest) Synthesized {
	t.Helper()
	s, err := v.Synthesize(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// constraints are the rules of a skill's text, which is a block of RFC-0011 §3.1.
func constraints(t testing.TB, text string) (rules []string) {
	t.Helper()
	b, err := block.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, p := range b.Constraints {
		rules = append(rules, p.Value)
	}
	return rules
}

func TestSynthesizeByExtract(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), model(t))
	remember(t, v, greenhouse...)
	teach(t, v, "pump_without_filter", "high", .8, "Never run the irrigation pump without its filter")
	s := synthesize(t, v, SynthesizeRequest{Topic: "the irrigation pump"})
	switch {
	case !s.Created:
		t.Error("s.Created is false")
	case s.Updated:
		t.Error("s.Updated is true")
	case s.Method != record.ByExtract:
		t.Errorf("s.Method = %v, want %v", s.Method, record.ByExtract)
	case s.Visibility != record.Private:
		t.Errorf("s.Visibility = %v, want %v", s.Visibility, record.Private)
	case s.Skill == nil:
		t.Errorf("s.Skill = %v, must not be nil", s.Skill)
	case s.Skill.ID != s.SkillID:
		t.Errorf("s.Skill.ID = %v, want %v", s.Skill.ID, s.SkillID)
	case s.Skill.Name != "learned: the irrigation pump":
		t.Errorf(`s.Skill.Name = %v, want "learned: the irrigation pump"`, s.Skill.Name)
	case s.Skill.Type != derive.SkillType:
		t.Errorf("s.Skill.Type = %v, want %v", s.Skill.Type, derive.SkillType)
	case s.Confidence <= 0:
		t.Errorf("s.Confidence = %v, must not be <= 0", s.Confidence)
	}
	rules := constraints(t, s.Skill.Text)
	switch {
	case len(rules) < 3:
		t.Errorf("len(rules) = %v, must not be < 3", len(rules))
	case rules[0] != "Never run the irrigation pump without its filter":
		t.Errorf(`rules[0] = %v, want "Never run the irrigation pump without its filter"`, rules[0])
	case !slices.Contains(rules, "With the new filter the irrigation pump has run for ten days without a stop."):
		t.Error(`slices.Contains(rules, "With the new filter the irrigation pump has run …") is false`)
	}
	if !strings.Contains(s.Skill.Text, "chosen without a language model") {
		t.Error("it does not say how it was made")
	}
	if got := lastBlock(t, v, "synthesize"); got != s.Skill.Text {
		t.Error(cmp.Diff(s.Skill.Text, got))
	}
	again := synthesize(t, v, SynthesizeRequest{
		Topic:      "The irrigation pump",
		Completers: []derive.Completer{&oracle{err: errors.New("no")}},
	})
	switch {
	case again.Created:
		t.Error("again.Created is true")
	case again.Updated:
		t.Error("again.Updated is true")
	case again.SkillID != s.SkillID:
		t.Errorf("again.SkillID = %v, want %v", again.SkillID, s.SkillID)
	case again.Note != derive.NoAnswer:
		t.Errorf("again.Note = %v, want %v", again.Note, derive.NoAnswer)
	case again.Skill.Text != s.Skill.Text:
		t.Errorf("again.Skill.Text = %v, want %v", again.Skill.Text, s.Skill.Text)
	}
	remember(t, v, "Clean the filter of the irrigation pump every Sunday.")
	more := synthesize(t, v, SynthesizeRequest{Topic: "the irrigation pump"})
	switch {
	case more.Created:
		t.Error("more.Created is true")
	case !more.Updated:
		t.Error("more.Updated is false")
	case more.SkillID != s.SkillID:
		t.Errorf("more.SkillID = %v, want %v", more.SkillID, s.SkillID)
	case len(more.Sources) != len(s.Sources)+1:
		t.Errorf("len(more.Sources) = %v, want %v", len(more.Sources), len(s.Sources)+1)
	}
	if found, err := v.Skills().List(t.Context(), 10); err != nil || found.Total != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	// Deleted, it is made again.
	if err := v.Delete(t.Context(), s.SkillID, ""); err != nil {
		t.Fatal(err)
	}
	if again := synthesize(t, v, SynthesizeRequest{Topic: "the irrigation pump"}); !again.Created ||
		again.SkillID == s.SkillID {
		t.Errorf("again: %+v", again)
	}
	if err := v.Delete(t.Context(), lastSkill(t, v), ""); err != nil {
		t.Fatal(err)
	}
	if files := onDisk(t, dir, "chosen without a language model"); len(files) > 0 {
		t.Errorf("still in %v", files)
	}
}

func lastSkill(t testing.TB, v *View) string {
	t.Helper()
	found, err := v.Skills().List(t.Context(), 1)
	if err != nil || len(found.Skills) == 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	return found.Skills[0].ID
}

func TestSynthesizeByModel(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), model(t))
	ids := remember(t, v, greenhouse[:3]...)
	v.Completer = &oracle{answer: "- Put a fine filter before the irrigation pump [2]; the coarse one lets sand " +
		"through [1]\n- Check the pump's filter after ten days [3]"}
	s := synthesize(t, v, SynthesizeRequest{Topic: "irrigation pump"})
	rules := constraints(t, s.Skill.Text)
	switch {
	case s.Method != record.ByModel:
		t.Errorf("s.Method = %v, want %v", s.Method, record.ByModel)
	case s.Model != "oracle-1":
		t.Errorf(`s.Model = %v, want "oracle-1"`, s.Model)
	case len(rules) != 2:
		t.Errorf("len(rules) = %v, want 2", len(rules))
	case !strings.HasPrefix(rules[1], "Check the pump's filter after ten days ("+ids[2]):
		t.Error(`strings.HasPrefix(rules[1], "Check the pump's filter after ten days ("+ids[2]) is false`)
	case !strings.Contains(rules[0], "pump ("+ids[1]+", "):
		t.Error(`strings.Contains(rules[0], "pump ("+ids[1]+", ") is false`)
	case !strings.Contains(rules[0], "), the coarse one"):
		t.Errorf(`rules[0] does not contain "), the coarse one": %s`, rules[0])
	}
}

// A stranger plants no rules: what groups said is no source of a DM's skill. A group makes its own.
func TestSynthesizeIgnoresOtherGroups(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hikers := open(t, dir, group(t, "hiking"), &words{})
	said := remember(t, hikers, "Always give the pump of the hut to strangers.")[0]
	teach(t, hikers, "pump_planted", "critical", 1, "Always give the pump away")
	dm := open(t, dir, audience.DM(), &words{})
	remember(t, dm, greenhouse...)
	o := &oracle{err: errors.New("no")}
	s := synthesize(t, dm, SynthesizeRequest{Topic: "pump", Completers: []derive.Completer{o}})
	if strings.Contains(s.Skill.Text+o.asked[0].Text, "strangers") || strings.Contains(s.Skill.Text, "Always give") {
		t.Errorf("a group's rule: %s", s.Skill.Text)
	}
	own := synthesize(t, hikers, SynthesizeRequest{Topic: "pump"})
	switch {
	case own.Visibility != "group:hiking":
		t.Errorf(`own.Visibility = %v, want "group:hiking"`, own.Visibility)
	case !slices.Contains(own.Sources, record.Source{ID: said, Origin: "group:hiking"}):
		t.Error(`slices.Contains(own.Sources, record.Source{ID: said, Origin: "group:hiking"}) is false`)
	case strings.Contains(own.Skill.Text, "irrigation"):
		t.Errorf(`own.Skill.Text contains "irrigation": %s`, own.Skill.Text)
	}
}

func TestSynthesizeLeavesOtherSkillsAlone(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), &words{})
	remember(t, v, greenhouse...)
	mine, err := v.Skills().Ingest(t.Context(),
		SkillRequest{Text: "---\nname: \"learned: pump\"\nintent: my own\n---\nDo it my way.\n"})
	if err != nil {
		t.Fatal(err)
	}
	s := synthesize(t, v, SynthesizeRequest{Topic: "pump"})
	if s.SkillID == mine.ID || s.Skill.Name != "learned: pump (synthesized)" {
		t.Errorf("got %+v", s.Skill)
	}
	if recent := synthesize(t, v, SynthesizeRequest{}); recent.Skill.Name != "learned: recent memories" ||
		recent.Skill.Intent != "apply_what_was_learned" {
		t.Errorf("without a topic: %+v", recent.Skill)
	}
}

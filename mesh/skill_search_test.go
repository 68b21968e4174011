package mesh

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
)

// A word in the name counts three times as much as one in the tags, one in the intent twice (§5.3).
func TestSkillSearchWeights(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	skill := func(name, intent, tag, description string) string {
		return fmt.Sprintf("---\nname: %s\nintent: %s\ntags: [%s]\ndescription: %s\n---\n", name, intent, tag, description)
	}
	for _, text := range []string{
		skill("kiwi-one", "two", "three", "four"), skill("five", "harvest the kiwi", "six", "seven"),
		skill("eight", "nine", "kiwi", "ten"), skill("eleven", "twelve", "thirteen", "about kiwis"),
		skill("none", "of it", "at", "all"),
	} {
		ingestSkill(t, v, SkillRequest{Text: text})
	}
	got := map[string]float64{}
	for _, hit := range searchSkills(t, v, "kiwi").Skills {
		got[hit.Name] = hit.Keyword
		if want := rank.Round(float32(.7*hit.Keyword + .3*hit.Vector)); hit.Score < want-.011 || hit.Score > want+.011 {
			t.Errorf("%s: score %v of %v and %v", hit.Name, hit.Score, hit.Keyword, hit.Vector)
		}
		if hit.Vector < 0 || hit.Vector > 1 {
			t.Errorf("%s: vector score %v", hit.Name, hit.Vector)
		}
	}
	delete(got, "none") // by the chance of random vectors
	want := map[string]float64{"kiwi-one": .43, "five": .29, "eight": .14, "eleven": .14}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keyword scores (-want +got):\n%s", diff)
	}
	if hit := searchSkills(t, v, "Kiwi-One").Skills[0]; hit.Name != "kiwi-one" || hit.Keyword != 1 {
		t.Errorf("by its name: %+v", hit)
	}
	limited, err := v.Skills().Search(t.Context(), "kiwi", 2)
	if diff := cmp.Diff([]string{"five", "kiwi-one"}, skillNames(limited.Skills)); err != nil ||
		diff != "" { // the word is in five's vector
		t.Errorf("the best two: %v\n%s", err, diff)
	}
}

func TestSkillSearchByMeaning(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), model(t))
	for name, intent := range map[string]string{
		"pdf-forms":   "Fill in the fields of a PDF document",
		"web-release": "Deploy a new version of the website to production",
		"tax-return":  "Prepare the yearly income tax declaration", "plant-care": "Keep the balcony flowers alive in summer",
	} {
		ingestSkill(t, v, SkillRequest{Text: fmt.Sprintf("---\nname: %s\nintent: %s\n---\n", name, intent)})
	}
	settle(t, v)
	for query, want := range map[string]string{
		"ship our homepage": "web-release", "what do I owe the revenue office?": "tax-return",
		"my geraniums are drying out":              "plant-care",
		"type into the boxes of this acrobat file": "pdf-forms",
	} {
		found := searchSkills(t, v, query)
		switch {
		case len(found.Skills) == 0:
			t.Errorf("len(found.Skills) = %v, must not be 0", len(found.Skills))
		case found.Skills[0].Name != want:
			t.Errorf("found.Skills[0].Name = %v, want %v", found.Skills[0].Name, want)
		case found.Pending > 0:
			t.Errorf("found.Pending = %v, must not be > 0", found.Pending)
		}
	}
}

func TestSkillSearchWithoutModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := new(words)
	v := open(t, dir, audience.DM(), e)
	e.fail.Store(&embed.ErrNoAssets)
	if found := searchSkills(t, v, "rollback"); found.Off {
		t.Error("without a skill the model is asked for")
	}
	ingestSkill(t, v, SkillRequest{Text: yamoSkill})
	switch found := searchSkills(t, v, "rollbacks"); {
	case !found.Off:
		t.Error("found.Off is false")
	case len(found.Skills) != 1:
		t.Errorf("len(found.Skills) = %v, want 1", len(found.Skills))
	case found.Skills[0].Vector != 0:
		t.Errorf("found.Skills[0].Vector = %v, want 0", found.Skills[0].Vector)
	case found.Skills[0].Score == 0:
		t.Errorf("found.Skills[0].Score = %v, must not be 0", found.Skills[0].Score)
	}
	broken := errors.New("broken")
	e.fail.Store(&broken)
	if found := searchSkills(t, v, "rollback"); !found.Degraded || len(found.Skills) != 1 {
		t.Errorf("degraded: %+v", found)
	}
	e.fail.Store(nil)
	switch found := searchSkills(t, v, "rollback"); {
	case found.Off:
		t.Error("found.Off is true")
	case found.Degraded:
		t.Error("found.Degraded is true")
	case len(found.Skills) != 1:
		t.Errorf("len(found.Skills) = %v, want 1", len(found.Skills))
	case found.Skills[0].Vector == 0:
		t.Errorf("found.Skills[0].Vector = %v, must not be 0", found.Skills[0].Vector)
	}
}

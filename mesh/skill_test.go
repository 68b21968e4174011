package mesh

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
)

// markdownSkill is a skill as Markdown.
func markdownSkill(name, intent, body string) string {
	return fmt.Sprintf("---\nname: %s\nintent: %s\ntags: [release, ops]\ndescription: Steps that were tried out.\n---\n"+
		"# %s\n\n%s\n", name, intent, name, body)
}

const yamoSkill = `agent: RollbackPlanner;
intent: plan_a_rollback_before_deploying;
context:
  description;Writes down how to go back;
  tags;release, safety;
constraints:
  - name_the_last_good_version;
priority: high;
meta: rationale;A way back makes going forward cheap;
log: planned;timestamp;now;
handoff: Deployer;
`

func ingestSkill(t testing.TB, v *View, q SkillRequest) IngestedSkill {
	t.Helper()
	s, err := v.Skills().Ingest(t.Context(), q)
	if err != nil {
		t.Fatalf("ingest: %v", err)
	}
	return s
}

func searchSkills(t testing.TB, v *View, query string) FoundSkills {
	t.Helper()
	found, err := v.Skills().Search(t.Context(), query, 0)
	if err != nil {
		t.Fatalf("search for %q: %v", query, err)
	}
	return found
}

func listSkills(t testing.TB, v *View) []record.SkillHit {
	t.Helper()
	list, err := v.Skills().List(t.Context(), MaxLimit)
	if err != nil {
		t.Fatal(err)
	}
	return list.Skills
}

func skillNames(hits []record.SkillHit) (names []string) {
	for _, h := range hits {
		names = append(names, h.Name)
	}
	return names
}

func TestSkillIsIngestedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	text := markdownSkill("deploy", "Release a version of the web shop",
		"Ask jon@example.org, then\n\n    make   release\n")
	first := ingestSkill(t, v, SkillRequest{Text: text, Source: "deploy.md"})
	switch {
	case !first.Created:
		t.Error("first.Created is false")
	case first.Updated:
		t.Error("first.Updated is true")
	case first.Visibility != record.Private:
		t.Errorf("first.Visibility = %v, want %v", first.Visibility, record.Private)
	case !strings.HasPrefix(first.ID, "skill_"):
		t.Errorf(`first.ID does not begin with "skill_": %s`, first.ID)
	case len(first.Redactions) != 1:
		t.Errorf("len(first.Redactions) = %v, want 1", len(first.Redactions))
	case first.Redactions[0].Kind != "email":
		t.Errorf(`first.Redactions[0].Kind = %v, want "email"`, first.Redactions[0].Kind)
	case first.Redactions[0].Count != 1:
		t.Errorf("first.Redactions[0].Count = %v, want 1", first.Redactions[0].Count)
	}
	again := ingestSkill(t, v, SkillRequest{Text: strings.ReplaceAll(text, "\n", "\r\n") + "\n\n"})
	switch {
	case again.ID != first.ID:
		t.Errorf("again.ID = %v, want %v", again.ID, first.ID)
	case again.Created:
		t.Error("again.Created is true")
	case again.Updated:
		t.Error("again.Updated is true")
	}
	for range 2 {
		if _, err := v.Skills().Feedback(t.Context(), first.ID, false); err != nil {
			t.Fatal(err)
		}
	}
	switch got := listSkills(t, v)[0]; {
	case got.Reliability != .1:
		t.Errorf("got.Reliability = %v, want .1", got.Reliability)
	case got.UseCount != 2:
		t.Errorf("got.UseCount = %v, want 2", got.UseCount)
	case got.LastUsed.IsZero():
		t.Error("got.LastUsed.IsZero() is true")
	}
	better := ingestSkill(t, v, SkillRequest{
		Text: markdownSkill("Deploy", "Release a version safely", "Make a backup."),
		Type: "macro",
	})
	switch {
	case better.ID != first.ID:
		t.Errorf("better.ID = %v, want %v", better.ID, first.ID)
	case better.Created:
		t.Error("better.Created is true")
	case !better.Updated:
		t.Error("better.Updated is false")
	}
	for name, view := range map[string]*View{"the view": v, "a fresh one": open(t, dir, audience.DM(), new(words))} {
		list := listSkills(t, view)
		if len(list) != 1 {
			t.Fatalf("%s: %d skills", name, len(list))
		}
		got := list[0]
		switch {
		case got.Name != "Deploy":
			t.Errorf(`got.Name = %v, want "Deploy"`, got.Name)
		case got.Type != "macro":
			t.Errorf(`got.Type = %v, want "macro"`, got.Type)
		case got.Reliability != .5:
			t.Errorf("got.Reliability = %v, want .5", got.Reliability)
		case got.UseCount != 2:
			t.Errorf("got.UseCount = %v, want 2", got.UseCount)
		case got.UpdatedAt.IsZero():
			t.Error("got.UpdatedAt.IsZero() is true")
		case !strings.Contains(got.Text, "backup"):
			t.Errorf(`got.Text does not contain "backup": %s`, got.Text)
		}
	}
	if files := onDisk(t, dir, "jon@example.org"); len(files) > 0 {
		t.Errorf("an address is in %v", files)
	}
	s, err := v.Stats(t.Context())
	switch {
	case err != nil:
		t.Fatal(err)
	case s.Skills != 1:
		t.Errorf("s.Skills = %v, want 1", s.Skills)
	case s.Memories != 0:
		t.Errorf("s.Memories = %v, want 0", s.Memories)
	}
}

func TestSkillRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	for _, c := range []struct {
		q    SkillRequest
		want string
	}{
		{SkillRequest{Text: ""}, "text:"},
		{SkillRequest{Text: "\xff"}, "UTF-8"},
		{SkillRequest{Text: strings.Repeat("a", record.MaxContent+1)}, "too many"},
		{SkillRequest{Text: markdownSkill(strings.Repeat("n", intake.MaxSkillName+1), "x", "")}, "name:"},
		{SkillRequest{Text: markdownSkill("n", strings.Repeat("x", record.MaxField+1), "")}, "intent:"},
		{SkillRequest{Text: yamoSkill, Type: strings.Repeat("x", record.MaxTag+1)}, "type:"},
		{SkillRequest{Text: yamoSkill, Visibility: "group:red"}, "visibility:"},
	} {
		_, err := v.Skills().Ingest(t.Context(), c.q)
		wantFault(t, err, c.want)
	}
	_, err := v.Skills().Feedback(t.Context(), "skill_1_000000", true)
	wantFault(t, err, "id:")
	for _, threshold := range []float64{-.1, 1.1} {
		_, err := v.Skills().Prune(t.Context(), threshold)
		wantFault(t, err, "threshold:")
	}
	_, err = v.Skills().List(t.Context(), MaxLimit+1)
	wantFault(t, err, "limit:")
	for _, query := range []string{" ", "\xff", strings.Repeat("x", maxQuery+1)} {
		_, err := v.Skills().Search(t.Context(), query, 0)
		wantFault(t, err, "query:")
	}
	if names := tree(t, dir); len(names) > 1 {
		t.Errorf("refusals created %v", names)
	}
}

// tableSkills is what synthesized_skills holds, by name.
func tableSkills(t testing.TB, c *compartment) map[string]lance.Skill {
	t.Helper()
	rows := map[string]lance.Skill{}
	for row, err := range c.index.Tables.Skills(t.Context(), true) {
		if err != nil {
			t.Fatal(err)
		}
		rows[row.Name] = row
	}
	return rows
}

func TestSkillTableFollowsTheLedger(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := new(words)
	v := open(t, dir, audience.DM(), e)
	keep(t, v, record.Memory{Content: "a memory beside the skills"})
	one := ingestSkill(t, v, SkillRequest{Text: markdownSkill("one", "the first thing", "x")}).ID
	ingestSkill(t, v, SkillRequest{Text: markdownSkill("two", "the second thing", "y")})
	settle(t, v)
	c := v.stores[record.Private]
	rows := tableSkills(t, c)
	if diff := cmp.Diff([]string{"one", "two"}, slices.Sorted(maps.Keys(rows))); diff != "" {
		t.Fatal(diff)
	}
	row := rows["one"]
	stored, err := v.Skills().Get(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	switch want := stored.CreatedAt; {
	case row.ID != one:
		t.Errorf("row.ID = %v, want %v", row.ID, one)
	case row.Intent != "the first thing":
		t.Errorf(`row.Intent = %v, want "the first thing"`, row.Intent)
	case !strings.HasPrefix(row.Text, "---\nname: one\n"):
		t.Error(`strings.HasPrefix(row.Text, "---\nname: one\n") is false`)
	case !row.CreatedAt.Equal(want):
		t.Error("row.CreatedAt.Equal(want) is false")
	case !strings.HasPrefix(row.Metadata, `{"reliability":0.5,"use_count":0,"last_used":null,"created_at":"`):
		t.Error("strings.HasPrefix(row.Metadata, " +
			"`{\"reliability\":0.5,\"use_count\":0,\"last_used\":null,\"created_at\":\"`) is false")
	}
	if diff := cmp.Diff(wordVector("the first thing"), row.Vector); diff != "" {
		t.Errorf("the vector is not the intent's: %s", diff)
	}
	mark := readMark(t, v)
	if _, err := v.Skills().Feedback(t.Context(), one, true); err != nil {
		t.Fatal(err)
	}
	settle(t, v)
	metadata := tableSkills(t, c)["one"].Metadata
	if !strings.HasPrefix(metadata, `{"reliability":0.6,"use_count":1,"last_used":"`) {
		t.Errorf("after feedback: %s", metadata)
	}
	if after := readMark(t, v); after["rows"] != mark["rows"] || after["seq"] <= mark["seq"] {
		t.Errorf("skills count as blocks: %+v, then %+v", mark, after)
	}
	texts := e.texts.Load()
	fresh := open(t, dir, audience.DM(), e)
	settle(t, fresh)
	if found := searchSkills(t, fresh, "second thing"); found.Skills[0].Name != "two" {
		t.Errorf("a fresh view finds %v", skillNames(found.Skills))
	}
	if n := e.texts.Load() - texts; n != 1 {
		t.Errorf("%d texts were embedded, want only the query", n)
	}
	if err := v.Maintenance().Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one", "two"}, slices.Sorted(maps.Keys(tableSkills(t, c)))); diff != "" {
		t.Errorf("after a rebuild: %s", diff)
	}
	if n := e.texts.Load() - texts; n < 4 {
		t.Errorf("a rebuild embedded %d texts", n)
	}
}

func TestPrunedSkillsAreGoneFromDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	bad := ingestSkill(t, v, SkillRequest{Text: markdownSkill("bad", "do the cadmium thing", "gadolinium")}).ID
	ingestSkill(t, v, SkillRequest{Text: markdownSkill("bad", "do the cadmium thing", "holmium")})
	good := ingestSkill(t, v, SkillRequest{Text: markdownSkill("good", "do the copper thing", "copper")}).ID
	settle(t, v)
	if n := len(onDisk(t, dir, "holmium")); n < 2 {
		t.Fatalf("the skill is in %d files", n)
	}
	none, err := v.Skills().Prune(t.Context(), skill.DefaultPruneThreshold)
	switch {
	case err != nil:
		t.Fatal(err)
	case len(none.Skills) != 0:
		t.Fatalf("len(none.Skills) = %v, want 0", len(none.Skills))
	case none.Remaining != 2:
		t.Fatalf("none.Remaining = %v, want 2", none.Remaining)
	}
	for range 2 {
		if _, err := v.Skills().Feedback(t.Context(), bad, false); err != nil {
			t.Fatal(err)
		}
	}
	pruned, err := v.Skills().Prune(t.Context(), skill.DefaultPruneThreshold)
	switch {
	case err != nil:
		t.Fatal(err)
	case len(pruned.Skills) != 1:
		t.Fatalf("len(pruned.Skills) = %v, want 1", len(pruned.Skills))
	case pruned.Skills[0].ID != bad:
		t.Fatalf("pruned.Skills[0].ID = %v, want %v", pruned.Skills[0].ID, bad)
	case pruned.Remaining != 1:
		t.Fatalf("pruned.Remaining = %v, want 1", pruned.Remaining)
	}
	for _, text := range []string{"gadolinium", "holmium", "cadmium", `"success":false`} {
		if files := onDisk(t, dir, text); len(files) > 0 {
			t.Errorf("%s is still in %v", text, files)
		}
	}
	for _, view := range []*View{v, open(t, dir, audience.DM(), new(words))} {
		if diff := cmp.Diff([]string{"good"}, skillNames(listSkills(t, view))); diff != "" {
			t.Error(diff)
		}
	}
	if err := v.Delete(t.Context(), good, "asked to"); err != nil {
		t.Fatal(err)
	}
	wantFault(t, v.Delete(t.Context(), good, ""), "no skill")
	if files := onDisk(t, dir, "copper"); len(files) > 0 {
		t.Errorf("the deleted skill is still in %v", files)
	}
	again := ingestSkill(t, v, SkillRequest{Text: markdownSkill("good", "do the copper thing", "copper")})
	if !again.Created || again.ID == good {
		t.Errorf("a deleted skill again: %+v", again)
	}
	reports, err := v.Maintenance().Verify(t.Context())
	if err != nil || !reports[0].Intact() {
		t.Errorf("the ledger: %+v, %v", reports, err)
	}
}

func TestSkillsStayWithTheirAudience(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, red, blue := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "red"), new(words)),
		open(t, dir, group(t, "blue"), new(words))
	private := ingestSkill(t, dm, SkillRequest{Text: markdownSkill("private", "thing", "x")}).ID
	shared := ingestSkill(t, dm, SkillRequest{Text: markdownSkill("shared", "thing", "x"), Visibility: record.Shared}).ID
	own := ingestSkill(t, red, SkillRequest{Text: markdownSkill("red", "thing", "x")})
	if own.Visibility != "group:red" {
		t.Errorf("a group's skill is %s", own.Visibility)
	}
	_, err := red.Skills().Ingest(t.Context(), SkillRequest{Text: yamoSkill, Visibility: record.Shared})
	wantFault(t, err, "visibility:")
	for view, want := range map[*View][]string{
		dm: {"private", "red", "shared"}, red: {"red", "shared"},
		blue: {"shared"},
	} {
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(skillNames(listSkills(t, view))))); diff != "" {
			t.Errorf("%s lists (-want +got):\n%s", view.home(), diff)
		}
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(skillNames(searchSkills(t, view,
			"thing").Skills)))); diff != "" {
			t.Errorf("%s finds (-want +got):\n%s", view.home(), diff)
		}
	}
	absent := func(id string) string {
		_, err := blue.Skills().Feedback(t.Context(), id, true)
		return strings.ReplaceAll(fmt.Sprint(err), id, "ID")
	}
	if a, b := absent(private), absent("skill_1_abcdef"); a != b {
		t.Errorf("a group is told %q of a private skill, and %q of none", a, b)
	}
	wantFault(t, blue.Delete(t.Context(), own.ID, ""), "no skill")
	wantFault(t, blue.Delete(t.Context(), shared, ""), "direct conversation")

	// What a DM does with a shared skill is the DM's affair, and what a group does the group's.
	for range 3 {
		if _, err := dm.Skills().Feedback(t.Context(), shared, true); err != nil {
			t.Fatal(err)
		}
	}
	hit, err := blue.Skills().Feedback(t.Context(), shared, false)
	switch {
	case err != nil:
		t.Fatal(err)
	case hit.Reliability != .3:
		t.Errorf("hit.Reliability = %v, want .3", hit.Reliability)
	case hit.UseCount != 1:
		t.Errorf("hit.UseCount = %v, want 1", hit.UseCount)
	}
	for view, want := range map[*View]float64{dm: .8, red: .5, blue: .3} {
		for _, hit := range listSkills(t, view) {
			if hit.ID == shared && hit.Reliability != want {
				t.Errorf("%s sees a reliability of %v, want %v", view.home(), hit.Reliability, want)
			}
		}
	}
	settle(t, dm)
	if row := tableSkills(t, dm.stores[record.Shared])["shared"]; !strings.Contains(row.Metadata, `"use_count":0`) {
		t.Errorf("the shared table tells of uses: %s", row.Metadata)
	}
	if pruned, err := blue.Skills().Prune(t.Context(), .4); err != nil || len(pruned.Skills) != 0 {
		t.Errorf("a group pruned %+v, %v", pruned, err)
	}
	switch pruned, err := dm.Skills().Prune(t.Context(), 1); {
	case err != nil:
		t.Fatal(err)
	case len(pruned.Skills) != 2:
		t.Errorf("len(pruned.Skills) = %v, want 2", len(pruned.Skills))
	case pruned.Remaining != 1:
		t.Errorf("pruned.Remaining = %v, want 1", pruned.Remaining)
	}
	if diff := cmp.Diff([]string{"red"}, skillNames(listSkills(t, red))); diff != "" {
		t.Error(diff)
	}
	if files := onDisk(t, dir+"/.yamo/private", `"success":true`); len(files) > 0 {
		t.Errorf("feedback on a pruned skill is still in %v", files)
	}
}

func TestTwoProcessesIngestASkillOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	results := make(chan string)
	for range 2 {
		cmd := command(t, "ingest", dir)
		go func() {
			out, err := cmd.Output()
			if err != nil {
				out = append(out, err.Error()...)
			}
			results <- string(out)
		}()
	}
	ids := strings.Fields(<-results + <-results)
	if len(ids) != 100 {
		t.Fatalf("%d answers: %v", len(ids), ids)
	}
	slices.Sort(ids)
	if distinct := slices.Compact(ids); len(distinct) != 1 {
		t.Errorf("the skill was ingested as %v", distinct)
	}
	v := open(t, dir, audience.DM(), new(words))
	if list := listSkills(t, v); len(list) != 1 || list[0].UseCount != 100 {
		t.Errorf("listed %+v", list)
	}
}

// ingestChild is a process of TestTwoProcessesIngestASkillOnce.
func ingestChild(ctx context.Context, v *View) error {
	for range 50 {
		s, err := v.Skills().Ingest(ctx, SkillRequest{Text: yamoSkill})
		if err != nil {
			return err
		}
		if _, err := v.Skills().Feedback(ctx, s.ID, true); err != nil {
			return err
		}
		fmt.Println(s.ID)
	}
	return nil
}

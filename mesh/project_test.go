package mesh

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// projectCases is testdata/projects.json. The weight of a project in the ranking was chosen on the topics with an even
// index; the others are held back.
type projectCases struct {
	Projects []string
	Topics   []struct {
		Question, Named string
		Facts           []string // one of each project
	}
	Personal, General []struct{ Fact, Question string }
}

func readProjects(t testing.TB) (c projectCases) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "projects.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// in is the context of a session about a project.
func in(ctx context.Context, project string) context.Context {
	return WithProject(ctx, func() string { return project })
}

// store keeps every fact; how says how a memory carries its project.
func (c projectCases) store(t testing.TB, v *View, how func(name string, m *record.Memory) (session string)) {
	t.Helper()
	put := func(ctx context.Context, m record.Memory) {
		if _, err := v.Store(ctx, m, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, topic := range c.Topics {
		for i, fact := range topic.Facts {
			if fact == "" {
				continue
			}
			m := record.Memory{Content: fact}
			session := how(c.Projects[i], &m)
			put(in(t.Context(), session), m)
		}
	}
	for i, fact := range c.Personal {
		put(in(t.Context(), c.Projects[i%len(c.Projects)]), record.Memory{Content: fact.Fact})
	}
	for _, fact := range c.General {
		put(t.Context(), record.Memory{Content: fact.Fact})
	}
	settle(t, v)
}

// findsFirst reports whether a search finds want first.
func findsFirst(t testing.TB, v *View, project, query, want string) bool {
	t.Helper()
	found, err := v.Search(in(t.Context(), project), SearchRequest{Query: query, Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Hits) > 0 && found.Hits[0].Content == want {
		return true
	}
	t.Logf("in %q, %q: want %q of %q", project, query, want, contents(found.Hits))
	return false
}

// halves counts how often something is right, apart for the cases that were tuned on and those held back.
type halves [2]struct{ right, total int }

func (h *halves) add(i int, right bool) {
	h[i%2].total++
	if right {
		h[i%2].right++
	}
}

func (h *halves) require(t *testing.T, what string, least float64) {
	t.Helper()
	t.Logf("%s: %d of %d tuned on, %d of %d held back", what, h[0].right, h[0].total, h[1].right, h[1].total)
	for i, name := range []string{"tuned on", "held back"} {
		if share := float64(h[i].right) / float64(h[i].total); share < least {
			t.Errorf("%s, %s: %.2f, want at least %.2f", what, name, share, least)
		}
	}
}

// The project of the session ranks first, a project that the query names before it, however a memory carries its
// project; what is about the person, or has no project, holds everywhere.
func TestProjectsRankFirst(t *testing.T) {
	t.Parallel()
	c := readProjects(t)
	model := model(t)
	name := record.ProjectName
	for how, carry := range map[string]func(string, *record.Memory) string{
		"project": func(p string, _ *record.Memory) string { return p },
		"tag":     func(p string, m *record.Memory) string { m.Tags = []string{"ops", name(p)}; return "" },
		"source":  func(p string, m *record.Memory) string { m.Source = name(p) + " README"; return "" },
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			v := open(t, t.TempDir(), audience.DM(), model)
			c.store(t, v, carry)
			c.measure(t, v, how == "project")
		})
	}
}

func (c projectCases) measure(t *testing.T, v *View, hasProject bool) {
	var here, named, namedElsewhere halves
	for i, topic := range c.Topics {
		for j, project := range c.Projects {
			query := fmt.Sprintf(topic.Named, record.ProjectName(project))
			named.add(i, findsFirst(t, v, "", query, topic.Facts[j]))
			namedElsewhere.add(i, findsFirst(t, v, c.Projects[(j+1)%3], query, topic.Facts[j]))
			if hasProject {
				here.add(i, findsFirst(t, v, project, topic.Question, topic.Facts[j]))
			}
		}
	}
	named.require(t, "a query that names the project", .8)
	namedElsewhere.require(t, "the same in another project's session", .8)
	if hasProject {
		here.require(t, "the session's project", .85)
	}
	for i, fact := range c.Personal {
		if !findsFirst(t, v, c.Projects[(i+1)%3], fact.Question, fact.Fact) {
			t.Errorf("%q is not first in another project", fact.Fact)
		}
	}
	for i, fact := range c.General {
		if !findsFirst(t, v, c.Projects[i%3], fact.Question, fact.Fact) {
			t.Errorf("%q is not first in a project", fact.Fact)
		}
	}
}

// What only another project knows is found all the same.
func TestOtherProjectsAreFound(t *testing.T) {
	t.Parallel()
	c := readProjects(t)
	for i := range c.Topics {
		c.Topics[i].Facts = slices.Clone(c.Topics[i].Facts)
		c.Topics[i].Facts[i%3] = ""
	}
	v := open(t, t.TempDir(), audience.DM(), model(t))
	c.store(t, v, func(p string, _ *record.Memory) string { return p })
	var found halves
	for i, topic := range c.Topics {
		ok := slices.ContainsFunc(topic.Facts, func(fact string) bool {
			return fact != "" && findsFirst(t, v, c.Projects[i%3], topic.Question, fact)
		})
		found.add(i, ok)
	}
	found.require(t, "a question that only another project answers", .9)
}

// The same words of two projects are two memories; without a project they are the one that is known.
func TestSameTextInTwoProjects(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), index.Embedder(new(words)))
	put := func(project string) Stored {
		s, err := v.Store(in(t.Context(), project), record.Memory{Content: "Run the tests with make test."}, "")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	mare, otter := put("github.com/acme/mare"), put("github.com/acme/otter")
	if !otter.Created {
		t.Error("the memory of another project was taken for the same")
	}
	if again := put("github.com/acme/mare"); again.ID != mare.ID {
		t.Errorf("stored again in its project: %s, want %s", again.ID, mare.ID)
	}
	if again := put(""); again.Created {
		t.Error("stored again without a project: a new memory")
	}
	settle(t, v)
	for _, project := range []string{"mare", "github.com/acme/mare", "MARE"} {
		found := search(t, v, SearchRequest{Query: "run the tests", Project: project})
		if len(found.Hits) != 1 || found.Hits[0].ID != mare.ID {
			t.Errorf("only of %s: %q", project, contents(found.Hits))
		}
		list, err := v.List(t.Context(), SearchRequest{Project: project}, "")
		if err != nil || len(list.Hits) != 1 || list.Hits[0].ID != mare.ID {
			t.Errorf("list of %s: %q, %v", project, contents(list.Hits), err)
		}
	}
}

// SECURITY: groups have no projects, learn of none, and sharing a memory does not tell them.
func TestGroupsHaveNoProjects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, g := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "chess"), new(words))
	ctx := in(t.Context(), "github.com/acme/secretproject")
	if _, err := dm.Store(ctx, record.Memory{Content: "The tests run with make check."}, record.Shared); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Store(ctx, record.Memory{Content: "Games are on Friday."}, ""); err != nil {
		t.Fatal(err)
	}
	if files := onDisk(t, dir, "secretproject"); len(files) > 0 {
		t.Errorf("the project is in %s", files)
	}
	if _, err := dm.Store(ctx, record.Memory{Content: "The key is below the mat."}, ""); err != nil {
		t.Fatal(err)
	}
	for _, file := range onDisk(t, dir, "secretproject") {
		if !strings.Contains(file, "private") {
			t.Errorf("the project of a private memory is in %s", file)
		}
	}
	found, err := g.Search(ctx, SearchRequest{Query: "secretproject tests"})
	if err != nil {
		t.Fatal(err)
	}
	for _, hit := range found.Hits {
		if hit.Project != "" {
			t.Errorf("a group sees the project of %q", hit.Content)
		}
	}
}

// Tags that change are searched as they are now, and after a restart.
func TestChangedLabelsAreSearched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	one := keep(t, v, record.Memory{Content: "The filter is changed in spring.", Tags: []string{"boiler"}})
	keep(t, v, record.Memory{Content: "Bring the blue form along.", Tags: []string{"passport"}})
	keep(t, v, record.Memory{Content: "The filter is changed in spring.", Tags: []string{"aquarium"}})
	for _, v := range []*View{v, open(t, dir, audience.DM(), new(words))} {
		if found := search(t, v, SearchRequest{Query: "aquarium"}); len(found.Hits) == 0 || found.Hits[0].ID != one.ID {
			t.Errorf("by the new tag: %q", contents(found.Hits))
		}
		if finds(search(t, v, SearchRequest{Query: "boiler"}), one.ID) {
			t.Error("found by the old tag")
		}
	}
	if err := v.Delete(t.Context(), one.ID, ""); err != nil {
		t.Fatal(err)
	}
	if finds(search(t, v, SearchRequest{Query: "aquarium"}), one.ID) {
		t.Error("found by its tag after it was deleted")
	}
}

func finds(found Found, id string) bool {
	return slices.ContainsFunc(found.Hits, func(hit record.Hit) bool { return hit.ID == id })
}

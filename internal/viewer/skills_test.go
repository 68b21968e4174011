package viewer

import (
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/tools"
)

const poster = "---\nname: print-poster\nintent: Print the club's poster in three steps.\n---\nOpen the <b>file</b>.\n"

// teach keeps a skill of the person and returns its id.
func (f *fixture) teach() string {
	f.Helper()
	kept, err := f.person.Memory.Skills().Ingest(f.Context(), mesh.SkillRequest{Text: poster})
	if err != nil {
		f.Fatal(err)
	}
	return kept.ID
}

// shareIt shares a memory or a skill as the person does, and returns the page that follows.
func (f *fixture) shareIt(id string) string {
	f.Helper()
	path := "/memory/" + id + "/share"
	found := digestField.FindStringSubmatch(f.get(path, http.StatusOK))
	if found == nil {
		f.Fatalf("%s has no form", path)
	}
	return f.get(f.post(path, http.StatusSeeOther, url.Values{"digest": {found[1]}}), http.StatusOK)
}

var digestField = regexp.MustCompile(`name="digest" value="([0-9a-f]+)"`)

// What a person has just shared is on the page that follows, next to the files that every group reads.
func TestSharedHasSkillsAndFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.lacks(f.get("/shared", http.StatusOK), "print-poster")
	page := f.shareIt(f.teach())
	f.shows(page, "Shared. Every group can read this", "print-poster", "Open the &lt;b&gt;file", `href="/files/SOUL.md"`,
		`href="/files/IDENTITY.md"`, `href="/files/AGENTS.md"`, "There are no memories here.")
	f.lacks(page, `href="/files/MEMORY.md"`, "Nothing was remembered")
	f.lacks(f.get("/shared?text=poster", http.StatusOK), "print-poster", "SOUL.md") // the filter is for memories
}

// Before a skill is forgotten, the page says that its shared copy stays.
func TestForgetSkillNamesItsCopy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.teach()
	f.lacks(f.get("/memory/"+id+"/forget", http.StatusOK), "What follows stays")
	f.shareIt(id)
	page := f.get("/memory/"+id+"/forget", http.StatusOK)
	f.shows(page, "What else has it", "What follows stays", `<article class="row shared"`)
	f.post("/memory/"+id+"/forget", http.StatusSeeOther, nil)
	f.shows(f.get("/shared", http.StatusOK), "print-poster")
}

// serveGroup gives the group's member a server with the tools, and returns the member.
func (f *fixture) serveGroup(name string, of func(*mesh.View) []tools.Tool) Member {
	f.Helper()
	who, err := audience.Group(name)
	if err != nil {
		f.Fatal(err)
	}
	m, err := f.site.member(who)
	if err != nil {
		f.Fatal(err)
	}
	m.Server = server.NewMCPServer("yamo-mcp", "test")
	for _, tool := range of(m.Memory) {
		m.Server.AddTools(tool.Server(tools.Env{Logger: slog.New(slog.DiscardHandler)}))
	}
	f.site.mu.Lock()
	f.site.members[who].member = m
	f.site.mu.Unlock()
	return m
}

// The group's page has the skills that its server returns: its own and the shared ones.
func TestGroupSeesItsSkills(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := f.serveGroup("hiking", func(v *mesh.View) []tools.Tool { return []tools.Tool{tools.Skills(v)} })
	f.shows(f.get("/as/hiking/skills", http.StatusOK), "Its sessions find no skills.")
	private := f.teach()
	f.lacks(f.get("/as/hiking/skills", http.StatusOK), "print-poster")
	f.get("/as/hiking/skills/"+private, http.StatusNotFound)
	f.shareIt(private)
	own := "---\nname: pack-bag\nintent: Pack the bag.\n---\nWater first.\n"
	kept, err := m.Memory.Skills().Ingest(t.Context(), mesh.SkillRequest{Text: own})
	if err != nil {
		t.Fatal(err)
	}
	page := f.get("/as/hiking/skills", http.StatusOK)
	f.shows(page, "print-poster", "pack-bag", `href="/as/hiking/skills/`+kept.ID+`"`, `<body class="as">`)
	f.lacks(page, private, "Water first")
	f.shows(f.get("/as/hiking/skills/"+kept.ID, http.StatusOK), "Water first.")
	f.shows(f.get("/groups/hiking", http.StatusOK), "pack-bag")
	f.lacks(f.get("/groups/hiking", http.StatusOK), "print-poster")
}

// Without the tool, the page says why there are none.
func TestGroupWithoutSkills(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serveGroup("hiking", func(v *mesh.View) []tools.Tool { return []tools.Tool{tools.Lessons(v)} })
	f.shareIt(f.teach())
	page := f.get("/as/hiking/skills", http.StatusOK)
	f.shows(page, "The set of tools <code>learning</code> has it.")
	f.lacks(page, "print-poster")
}

// A group of which nothing is stored may be a mistake in writing.
func TestStoredNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := f.serveGroup("hiking", func(*mesh.View) []tools.Tool { return nil })
	f.store(record.Memory{Content: "The hut is open in May"}, record.Shared)
	if nothing, err := storedNothing(t.Context(), m); err != nil || !nothing {
		t.Errorf("of a new group, storedNothing = %t, %v", nothing, err)
	}
	if _, err := m.Memory.Store(t.Context(), record.Memory{Content: "Rui brings the map"}, ""); err != nil {
		t.Fatal(err)
	}
	if nothing, err := storedNothing(t.Context(), m); err != nil || nothing {
		t.Errorf("of a group with a memory, storedNothing = %t, %v", nothing, err)
	}
}

package viewer

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestTimelinesAreApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.store(record.Memory{Content: "Ana is Robin's sister", Source: "user"}, "")
	f.store(record.Memory{Content: "The hut is open in May"}, record.Shared)
	who, err := audience.Group("hiking")
	if err != nil {
		t.Fatal(err)
	}
	group, err := f.site.member(who)
	if err != nil {
		t.Fatal(err)
	}
	said := record.Memory{Content: "Rui brings the map", Source: "user"}
	if _, err := group.Memory.Store(t.Context(), said, ""); err != nil {
		t.Fatal(err)
	}
	private, shared, hiking := f.get("/", http.StatusOK), f.get("/shared", http.StatusOK), f.get("/groups/hiking", 200)
	f.shows(private, "Ana is Robin&#39;s sister", "said by you", `<body class="private">`)
	f.lacks(private, "The hut is open", "Rui brings")
	f.lacks(shared, unknownSource) // on its own page only
	id := f.store(record.Memory{Content: "The map is in the car"}, "")
	f.shows(f.get("/memory/"+id, http.StatusOK), unknownSource)
	f.shows(shared, "The hut is open in May", `<body class="shared">`, "Every group that your agent is in can read this.")
	f.lacks(shared, "Ana is", "Rui brings")
	f.shows(hiking, "Rui brings the map", `<body class="group">`, "said in the group by &#34;user&#34;")
	f.lacks(hiking, "Ana is", "The hut is open")
	f.shows(f.get("/groups", 200), `href="/groups/hiking"`, "1 memory, 0 skills")
	f.get("/groups/..%2Fprivate", http.StatusNotFound)
}

func TestTimelineFilters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.store(record.Memory{Content: "Ana likes tea", Type: "event", Tags: []string{"drinks"}}, "")
	f.store(record.Memory{Content: "Rui likes coffee", Source: "Zoe"}, "")
	for query, want := range map[string]string{
		"text=ana+TEA": "Ana likes tea", "text=zoe": "Rui likes coffee", "text=drinks": "Ana likes tea",
		"type=event": "Ana likes tea", "type=global": "Rui likes coffee",
	} {
		got := f.get("/?"+query, 200)
		f.shows(got, want)
		if strings.Count(got, `<article class="row`) != 1 {
			t.Errorf("%s: not one memory:\n%s", query, mainOf(got))
		}
	}
	f.shows(f.get("/?type=global", 200), `<option value="global" selected>memory</option>`, "<details open>")
	f.lacks(f.get("/?text=tea", 200), "<details open>")
	f.shows(f.get("/?until=yesterday", 200), "Nothing was remembered here that fits the filter.")
	f.shows(f.get("/?since=soonish", http.StatusUnprocessableEntity), "since: ", `value="soonish"`)
	f.shows(f.get("/?after=mem_1_abcdef", http.StatusUnprocessableEntity), "after: ")
}

func TestTimelineHasPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var memories []record.Memory
	for i := range pageSize + 1 {
		memories = append(memories, record.Memory{Content: "fact " + strings.Repeat("x", i+1) + " of many"})
	}
	if _, err := f.person.Memory.StoreFiles(t.Context(), memories); err != nil {
		t.Fatal(err)
	}
	first := f.get("/?text=fact", 200)
	_, older, _ := strings.Cut(first, `<a class="button" href="/?after=`)
	older, _, ok := strings.Cut(older, `"`)
	if !ok {
		t.Fatalf("no link to what is older:\n%s", mainOf(first))
	}
	second := f.get("/?after="+strings.ReplaceAll(older, "&amp;", "&"), 200)
	f.shows(second, ">fact x of many<")
	f.lacks(second, "Show what is older", ">fact xx of many<")
}

func TestCorrect(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	old := f.store(record.Memory{Content: "The dentist is on 24 March 2031", Tags: []string{"health"}}, "")
	next := f.post("/memory/"+old+"/correct", http.StatusSeeOther, url.Values{
		"text": {"The dentist is on 25 March 2031\r\nat 11:00"}, "why": {"moved"},
	})
	page := f.get(next, 200)
	f.shows(page, "Corrected.", "25 March 2031\nat 11:00", "24 March 2031", "Not current since", ": moved", "health",
		"said by you", "about 25 March 2031")
	hit, err := f.person.Memory.Get(t.Context(), old)
	if err != nil || hit.Past == nil || hit.Past.Why != "moved" {
		t.Errorf("the old memory is %+v, %v; want it superseded", hit.Past, err)
	}
	f.lacks(f.get("/", 200), "24 March 2031")
	f.shows(f.get("/?all=1", 200), "24 March 2031", "What replaced it")
	// What was typed is not lost when it is refused.
	f.shows(f.post("/memory/"+strings.TrimPrefix(strings.TrimSuffix(next, "?done=corrected"), "/memory/")+"/correct",
		http.StatusUnprocessableEntity, url.Values{
			"text": {"Some other day"}, "happened": {"whenever"}, "why": {"a reason"},
		}),
		"occurred_at: ", "Some other day</textarea>", `value="whenever"`, `value="a reason"`)
	f.post("/memory/mem_1_abcdef/correct", http.StatusNotFound, url.Values{"text": {"x"}})
}

// A correction stays a memory of the agent that it is about, whose filter finds it; so does what is shared.
func TestCorrectKeepsTheAgent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	v := mesh.Open(mesh.Options{
		Dir: filepath.Join(f.dir, ".yamo"), Audience: audience.DM(), AgentID: "robin", Embedder: noModel{},
	})
	old, err := v.Store(t.Context(), record.Memory{Content: "The ferry leaves at eight"}, "")
	if err := errors.Join(err, v.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	next := f.post("/memory/"+old.ID+"/correct", http.StatusSeeOther, url.Values{"text": {"The ferry leaves at nine"}})
	id := strings.TrimSuffix(strings.TrimPrefix(next, "/memory/"), "?done=corrected")
	_, digest, _ := strings.Cut(f.get("/memory/"+id+"/share", http.StatusOK), `name="digest" value="`)
	digest, _, _ = strings.Cut(digest, `"`)
	f.post("/memory/"+id+"/share", http.StatusSeeOther, url.Values{"digest": {digest}})
	hits, err := f.person.Memory.All(t.Context(), 0)
	if err != nil || len(hits) < 2 {
		t.Fatalf("%d memories, %v; want the correction, and its shared copy", len(hits), err)
	}
	for _, hit := range hits {
		if hit.AgentID != "robin" {
			t.Errorf("%q (%s) is a memory of the agent %q", hit.Content, hit.Visibility, hit.AgentID)
		}
	}
}

// When an event happened is kept by a correction that does not touch it.
func TestCorrectKeepsTheDate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ before, happened, after, typed, want string }{
		{"Ana married in Rome", "2019-05-04", "Ana married in Milan", "", "2019-05-04"},
		{"Ana married in Rome", "2019-05-04", "Ana married in Milan", "2019-05-05", "2019-05-05"},
		{"Ana married in Rome", "2019-05-04", "Ana married on 6 May 2019", "", "2019-05-06"},
		{"The dentist is on 24 November 2026", "", "The dentist is in Porto", "", "2026-11-24"},
	} {
		f := newFixture(t)
		id := f.store(record.Memory{Content: test.before, OccurredAt: test.happened}, "")
		next := f.post("/memory/"+id+"/correct", http.StatusSeeOther, url.Values{
			"text": {test.after}, "happened": {test.typed},
		})
		kept := strings.TrimSuffix(strings.TrimPrefix(next, "/memory/"), "?done=corrected")
		hit, err := f.person.Memory.Get(t.Context(), kept)
		if err != nil || hit.OccurredAt != test.want {
			t.Errorf("%q of %q to %q with %q: happened %q, %v; want %q", test.before, test.happened, test.after, test.typed,
				hit.OccurredAt, err, test.want)
		}
	}
}

// A form of a page that is out of date makes no second truth.
func TestCorrectOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.store(record.Memory{Content: "Petra lives in Rome"}, "")
	next := f.post("/memory/"+id+"/correct", http.StatusSeeOther, url.Values{"text": {"Petra lives in Milan"}})
	f.shows(f.post("/memory/"+id+"/correct", http.StatusUnprocessableEntity, url.Values{"text": {"Petra lives in Turin"}}),
		"it is not current any more", "Petra lives in Milan")
	f.shows(f.post("/memory/"+id+"/share", http.StatusNotFound, nil), "it is not current any more")
	f.shows(f.get(strings.TrimSuffix(next, "?done=corrected")+"/forget", 200), "Without it, that is current again.",
		"Petra lives in Rome")
}

// The person's reason for correcting what groups read is not given to the groups.
func TestReasonStaysPrivate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.store(record.Memory{Content: "The trip costs 90 euro"}, record.Shared)
	f.lacks(f.get("/memory/"+id, 200), "Why you correct it")
	next := f.post("/memory/"+id+"/correct", http.StatusSeeOther, url.Values{
		"text": {"The trip costs 80 euro"}, "why": {"my therapist told me"},
	})
	kept := strings.TrimSuffix(strings.TrimPrefix(next, "/memory/"), "?done=corrected")
	hit, err := f.person.Memory.Get(t.Context(), kept)
	if err != nil || hit.Rationale != "" {
		t.Errorf("the shared memory has the reason %q, %v", hit.Rationale, err)
	}
}

func TestRetire(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.store(record.Memory{Content: "Rui has a red car"}, "")
	next := f.post("/memory/"+id+"/retire", http.StatusSeeOther, url.Values{"why": {"sold"}})
	f.shows(f.get(next, 200), "Retired.", ": sold")
	stays := f.store(record.Memory{Content: "Rui has a blue car"}, "")
	long := url.Values{"why": {strings.Repeat("x", 3000)}}
	f.shows(f.post("/memory/"+stays+"/retire", http.StatusUnprocessableEntity, long), "why: 3000 characters are too many",
		"Retire it, because")
	f.shows(f.post("/memory/"+stays+"/forget", http.StatusUnprocessableEntity, long), "reason: 3000 characters")
	f.shows(f.get("/memory/"+stays, 200), "Rui has a blue car")
	f.lacks(f.get("/", 200), "red car")
	shared := f.store(record.Memory{Content: "The hut is open in May"}, record.Shared)
	f.shows(f.post("/memory/"+shared+"/retire", http.StatusUnprocessableEntity, nil),
		"only private memories can be retired")
}

func TestForget(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.store(record.Memory{Content: "Ana likes tea"}, "")
	f.shows(f.get("/memory/"+id+"/forget", 200), "This cannot be undone.", `In the file <a href="/files/MEMORY.md">`,
		"section People")
	f.shows(f.get("/memory/"+id, 200), "Ana likes tea")
	f.shows(f.get(f.post("/memory/"+id+"/forget", http.StatusSeeOther, nil), 200), "Forgotten.")
	f.get("/memory/"+id, http.StatusNotFound)
	ledger, err := os.ReadFile(filepath.Join(f.dir, ".yamo", "private", "ledger.ndjson"))
	if err != nil || strings.Contains(string(ledger), "Ana likes tea") {
		t.Errorf("the ledger still has the text, or cannot be read: %v", err)
	}
}

func TestForgetSubject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.store(record.Memory{Content: "Ana lives in Porto"}, "")
	plan := f.get("/forget?about=Ana", 200)
	f.shows(plan, "This would be erased permanently:", "Ana lives in Porto", "Ana likes tea", "1 memory,")
	f.shows(f.get("/", 200), "Ana lives in Porto") // nothing is erased yet
	// What was not listed is not erased.
	form := digestOfForm(plan, "/forget")
	form.Set("about", "Ana")
	f.store(record.Memory{Content: "Ana has a cat"}, "")
	again := f.post("/forget", http.StatusUnprocessableEntity, form)
	f.shows(again, "it has changed since you looked at it", "Ana has a cat", "Ana lives in Porto")
	form = digestOfForm(again, "/forget")
	form.Set("about", "Ana")
	form.Set("keep", "nothing.md")
	f.shows(f.post("/forget", http.StatusUnprocessableEntity, form), "is not in the list")
	form.Del("keep")
	erased := f.post("/forget", 200, form)
	f.shows(erased, "Erased: 2 memories")
	f.lacks(erased, "Nothing is erased yet")
	f.lacks(f.get("/", 200), "Ana lives in Porto", "Ana has a cat")
	data, err := os.ReadFile(filepath.Join(f.dir, "MEMORY.md"))
	if err != nil || strings.Contains(string(data), "Ana") {
		t.Errorf("MEMORY.md is %q, %v", data, err)
	}
	f.shows(f.get("/forget?about=the", http.StatusUnprocessableEntity), "give a name or a few words", `value="the"`)
	// A name that is a word too, and a memory that the person keeps.
	stays := f.store(record.Memory{Content: "Yesterday Rose called"}, "")
	f.store(record.Memory{Content: "We met Rose in Oslo"}, "")
	f.store(record.Memory{Content: "In spring the prices rose"}, "")
	plan = f.get("/forget?about=Rose", 200)
	f.shows(plan, "2 memories,", "it may contain only the word", "the prices rose",
		`name="keep" value="`+stays+`" form="erase"`)
	form = digestOfForm(plan, "/forget")
	form.Set("about", "Rose")
	form.Set("keep", stays)
	f.shows(f.post("/forget", 200, form), "Erased: 1 memory")
	f.shows(f.get("/", 200), "Yesterday Rose called", "the prices rose")
	f.lacks(f.get("/", 200), "We met Rose")
}

func TestShareShowsAllThatGroupsCanRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hut := record.Memory{Content: "The hut is open in May", Rationale: "so that all come", Tags: []string{"hut"}}
	id := f.store(hut, "")
	ask := f.get("/memory/"+id+"/share", 200)
	f.shows(ask, "The hut is open in May", "so that all come", "tags: hut")
	f.lacks(f.get("/shared", 200), "The hut is open")
	f.shows(f.post("/memory/"+id+"/share", http.StatusUnprocessableEntity, url.Values{"digest": {"something else"}}),
		"it has changed since you looked at it")
	_, digest, _ := strings.Cut(ask, `name="digest" value="`)
	digest, _, _ = strings.Cut(digest, `"`)
	f.shows(f.get(f.post("/memory/"+id+"/share", http.StatusSeeOther, url.Values{"digest": {digest}}), 200),
		"The hut is open in May", "Shared.")
}

func TestSearchExplains(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.store(record.Memory{Content: "The dentist of Robin is Dr Weber"}, "")
	f.shows(f.get("/search?q=who+is+the+dentist", 200), "Dr Weber", "Why was this found?", "its own words",
		"run yamo-mcp setup")
	r := f.get("/search", 200)
	f.lacks(r, "Nothing was found")
	activity, err := f.person.Memory.Activity(t.Context(), f.person.Workspace.Now().AddDate(0, 0, -1))
	if err != nil || activity.Recalls != 0 {
		t.Errorf("a search in the viewer counts as %d recalls: %v", activity.Recalls, err)
	}
}

// What replaced the user's word unconfirmed says so wherever it is shown.
func TestDispute(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	own := f.store(record.Memory{Content: "The boat lies in Faro", Source: "user"}, "")
	scrubbed, err := f.person.Memory.Scrub(record.Memory{
		Content: "The boat lies in Porto", Source: "https://example.org/boats",
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	page, err := f.person.Memory.Remember(t.Context(), scrubbed, mesh.Intent{Supersedes: []string{own}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/memory/" + page.ID, "/search?q=where+does+the+boat+lie"} {
		f.shows(f.get(path, 200), "In dispute: from a page, document or tool, not confirmed",
			"the user said: &#34;The boat lies in Faro&#34;")
	}
	f.lacks(f.get("/memory/"+own, 200), "In dispute")
}

func TestHostileTextStaysText(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const hostile = `</p><img src=x onerror=alert(1)> [[click]](javascript:alert(1)) {{.Token}}`
	id := f.store(record.Memory{
		Content: "see `" + hostile + "`", Source: `"><script>alert(2)</script>`, Tags: []string{"<i>t"},
		Rationale: "<b>why</b>",
	}, "")
	for _, path := range []string{
		"/", "/memory/" + id, "/memory/" + id + "/forget", "/memory/" + id + "/share", "/search?q=click+see",
		"/forget?about=click",
		"/?text=%22%3E%3Cscript%3E", "/search?q=%3Cscript%3Ealert%3C%2Fscript%3E", "/?type=%3Cscript%3E",
		"/groups/%3Cscript%3E",
		"/memory/%3Cscript%3E", "/forget?about=%22%3E%3Cscript%3E",
	} {
		w := f.look(path)
		f.lacks(w, "<img", "<script>", "<i>t", "<b>why", `href="javascript`)
	}
}

// A pinned memory has the tag with which the brief of a session begins; a group's cannot be pinned.
func TestPinMemory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.store(record.Memory{Content: "Ana is allergic to nuts", Tags: []string{"#pinned", "health"}}, "")
	path := "/memory/" + id
	tags := func() string {
		hit, err := f.person.Memory.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(hit.Tags, " ")
	}
	f.shows(f.get(path, 200), "Remove the pin")
	page := f.get(f.post(path+"/pin", http.StatusSeeOther, url.Values{"op": {"unpin"}}), 200)
	f.shows(page, "The pin was removed.", ">Pin it<")
	if got := tags(); got != "health" {
		t.Errorf("without the pin the tags are %q", got)
	}
	page = f.get(f.post(path+"/pin", http.StatusSeeOther, url.Values{"op": {"pin"}}), 200)
	f.shows(page, "Pinned. Each session that may read it starts with it.", "Remove the pin")
	if got := tags(); got != "health pinned" {
		t.Errorf("with the pin the tags are %q", got)
	}
	f.shows(f.post(path+"/pin", http.StatusUnprocessableEntity, url.Values{"op": {"lock"}}), "op: use pin or unpin")
	f.post("/memory/mem_1_abcdef/pin", http.StatusNotFound, url.Values{"op": {"pin"}})

	who, err := audience.Group("hiking")
	if err != nil {
		t.Fatal(err)
	}
	group, err := f.site.member(who)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := group.Memory.Store(t.Context(), record.Memory{Content: "Rui brings the map"}, "")
	if err != nil {
		t.Fatal(err)
	}
	f.lacks(f.get("/memory/"+kept.ID, 200), ">Pin it<")
	f.shows(f.post("/memory/"+kept.ID+"/pin", http.StatusUnprocessableEntity, url.Values{"op": {"pin"}}),
		"belongs to the group:hiking memory")
}

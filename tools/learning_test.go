package tools

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

var localModel = sync.OnceValue(func() *embed.Local { return embed.NewLocal(embed.Options{}) })

// memoryView opens the memory in dir, with the real model and LanceDB.
func memoryView(t *testing.T, dir string, who audience.Audience) *mesh.View {
	t.Helper()
	v := mesh.Open(mesh.Options{
		Dir: filepath.Join(dir, ".yamo"), Audience: who, AgentID: "tester",
		Embedder: localModel(),
	})
	t.Cleanup(func() {
		if err := v.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return v
}

func hikers(t *testing.T) audience.Audience {
	t.Helper()
	a, err := audience.Group("hiking")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

const lessonArguments = `{"situation":"The deployment failed","error_pattern":"no_rollback",
	"oversight":"no plan back","fix":"restored a backup",
	"preventative_rule":"Write a rollback plan before every deployment",
	"severity":%q,"applicable_scope":%q,"confidence":%v}`

func TestLessonsTool(t *testing.T) {
	t.Parallel()
	v := memoryView(t, t.TempDir(), audience.DM())
	tool := Lessons(v)
	if list := answer[lessonList](t, tool, `{}`); len(list.Lessons) != 0 || list.Semantic != "" {
		t.Errorf("of an empty memory: %+v", list)
	}
	low := answer[lessonBlock](t, DistillLesson(v), fmt.Sprintf(lessonArguments, "low", "deployments", .8))
	high := answer[lessonBlock](t, DistillLesson(v), fmt.Sprintf(lessonArguments, "high", "databases", .8))
	list := answer[lessonList](t, tool, `{}`)
	if len(list.Lessons) != 2 {
		t.Fatalf("by severity: %+v", list)
	}
	equal(t, "most severe lesson", list.Lessons[0].LessonID, high.LessonID)
	equal(t, "least severe lesson", list.Lessons[1].LessonID, low.LessonID)
	list = answer[lessonList](t, tool, `{"query":"putting a new release into production","limit":1}`)
	if len(list.Lessons) != 1 {
		t.Fatalf("by meaning: %+v", list)
	}
	equal(t, "semantic", list.Semantic, "on")
	if list.Lessons[0].Score == 0 {
		t.Error("the lesson found by meaning has no score")
	}
	better := answer[lessonBlock](t, DistillLesson(v), fmt.Sprintf(lessonArguments, "low", "deployments", .9))
	list = answer[lessonList](t, tool, `{"pattern_id":"`+low.PatternID+`"}`)
	if len(list.Lessons) != 2 {
		t.Fatalf("by pattern: %+v", list)
	}
	equal(t, "lesson of the pattern", list.Lessons[0].LessonID, better.LessonID)
	equal(t, "superseded lesson", list.Lessons[0].Supersedes, low.LessonID)
	if got := refusal(t, tool, `{"pattern_id":"x","query":"y"}`); !strings.Contains(got, "pattern_id") {
		t.Errorf("refused with %q", got)
	}
}

func TestMemoryGetAndDelete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := memoryView(t, dir, audience.DM())
	long := strings.Repeat("The ferry leaves at noon on every second day. ", 20) + "End."
	id := answer[stored](t, MemoryStore(v), fmt.Sprintf(`{"content":%q,"importance":0.5,"metadata":{"dock":7}}`, long)).ID
	got := answer[memoryWhole](t, MemoryGet(v, nil), `{"id":"`+id+`"}`)
	if !strings.HasSuffix(got.Content, "End.") {
		t.Errorf("content ends in %q", got.Content[max(0, len(got.Content)-40):])
	}
	if got.Details == nil {
		t.Fatal("no details")
	}
	equal(t, "metadata", got.Details.Metadata["dock"], any(7.))
	equal(t, "lesson", got.Lesson, nil)
	equal(t, "visibility", got.Visibility, "private")
	if _, err := v.InsertHeritage(t.Context(), id,
		record.Heritage{IntentChain: []string{"plan the crossing"}}); err != nil {
		t.Fatal(err)
	}
	if got := answer[memoryWhole](t, MemoryGet(v, nil), `{"id":"`+id+`"}`); got.Heritage == nil ||
		got.Heritage.IntentChain[0] != "plan the crossing" {
		t.Errorf("with heritage: %+v", got)
	}
	learned := answer[lessonBlock](t, DistillLesson(v), fmt.Sprintf(lessonArguments, "low", "deployments", .8))
	if got := answer[memoryWhole](t, MemoryGet(v, nil), `{"id":"`+learned.MemoryID+`"}`); got.Lesson == nil ||
		got.Lesson.LessonID != learned.LessonID {
		t.Errorf("a lesson's memory: %+v", got)
	}

	hikers := memoryView(t, dir, hikers(t))
	absent := strings.ReplaceAll(refusal(t, MemoryGet(hikers, nil), `{"id":"mem_1_abcdef"}`), "mem_1_abcdef", id)
	if got := refusal(t, MemoryGet(hikers, nil), `{"id":"`+id+`"}`); got != absent {
		t.Errorf("a group is told %q of a private memory, and %q of none", got, absent)
	}
	if got := refusal(t, MemoryDelete(hikers, nil, nil), `{"id":"`+id+`","confirm":true}`); got != absent {
		t.Errorf("a group that deletes is told %q of a private memory, and %q of none", got, absent)
	}

	for _, arguments := range []string{`{"id":"` + id + `"}`, `{"id":"` + id + `","confirm":false}`} {
		if got := refusal(t, MemoryDelete(v, nil, nil), arguments); !strings.Contains(got, "confirm") {
			t.Errorf("%s: %q", arguments, got)
		}
	}
	if got := answer[memoryDeleted](t, MemoryDelete(v, nil, nil),
		`{"id":"`+id+`","confirm":true,"reason":"asked to"}`); !got.Deleted || got.ID != id {
		t.Errorf("deleted %+v", got)
	}
	refusal(t, MemoryGet(v, nil), `{"id":"`+id+`"}`)
}

// The answer to a deletion tells what else contains the text: files, former texts of files, other memories.
func TestMemoryDeleteTellsOfCopies(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	v := memoryView(t, f.Dir(), audience.DM())
	editor, err := edit.Open(edit.Options{
		View: f.dm(), Dir: filepath.Join(f.Dir(), ".yamo"),
		Now: func() time.Time { return f.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	const content = "The ferry leaves at noon on every second day."
	id := answer[stored](t, MemoryStore(v), `{"content":"`+content+`","session_id":"r"}`).ID
	twin := answer[stored](t, MemoryStore(v), `{"content":"`+content+`","session_id":"s"}`).ID
	unsaid := answer[stored](t, MemoryStore(v), `{"content":"Nobody else knows where the boat is."}`).ID
	answer[curated](t, CurateMemory(f.dm(), editor, "kate"),
		`{"section":"Ferries","add":["`+content+`"],"rationale":"r","evidence_refs":["`+id+`"]}`)
	got := answer[memoryDeleted](t, MemoryDelete(v, f.dm(), editor), `{"id":"`+id+`","confirm":true}`)
	want := memoryDeleted{
		ID: id, Deleted: true, Same: []string{twin}, Copies: []workspace.Place{{File: "MEMORY.md", Section: "Ferries"}},
		Recorded: []string{"MEMORY.md"}, Hint: got.Hint,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, part := range []string{
		"Other memories may repeat it", "curate_memory (retire)",
		"`yamo-mcp record erase FILE`",
	} {
		if !strings.Contains(got.Hint, part) {
			t.Errorf("the hint has no %q: %s", part, got.Hint)
		}
	}
	answer[curated](t, CurateMemory(f.dm(), editor, "kate"),
		`{"section":"Ferries","retire":["2026-02-14: The ferry"],"rationale":"r"}`)
	if got := answer[memoryDeleted](t, MemoryDelete(v, f.dm(), editor),
		`{"id":"`+twin+`","confirm":true}`); len(got.Copies) != 0 || fmt.Sprint(got.Recorded) != "[MEMORY.md]" {
		t.Errorf("retired, and still told of: %+v", got)
	}
	if got := answer[memoryDeleted](t, MemoryDelete(v, f.dm(), editor),
		`{"id":"`+unsaid+`","confirm":true}`); len(got.Copies)+len(got.Recorded) != 0 || got.Hint != "" {
		t.Errorf("of text without copies: %+v", got)
	}
}

func TestSkillsTool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := memoryView(t, dir, audience.DM())
	tool := Skills(v)
	const text = `---\nname: web-release\nintent: Deploy a new version of the website\n` +
		`tags: [ops]\n---\n1. Tell jon@example.org\n`
	if got := answer[skillAnswer](t, tool, `{"action":"list"}`); len(got.Skills) != 0 || got.Total != 0 {
		t.Errorf("of an empty memory: %+v", got)
	}
	kept := answer[skillAnswer](t, tool, `{"action":"ingest","text":"`+text+`","type":"macro"}`)
	equal(t, "outcome", kept.Outcome, "created")
	equal(t, "redactions", len(kept.Redactions), 1)
	equal(t, "visibility", kept.Skills[0].Visibility, "private")
	equal(t, "reliability", kept.Skills[0].Reliability, .5)
	equal(t, "text", kept.Skills[0].Text, "")
	id := kept.Skills[0].ID
	if again := answer[skillAnswer](t, tool, `{"action":"ingest","text":"`+text+`"}`); again.Outcome != "unchanged" ||
		again.Skills[0].ID != id {
		t.Errorf("again: %+v", again)
	}
	if got := answer[skillAnswer](t, tool, `{"action":"ingest","text":"`+text+`2. Watch"}`); got.Outcome != "updated" ||
		got.Skills[0].ID != id {
		t.Errorf("another text: %+v", got)
	}
	found := answer[skillAnswer](t, tool, `{"action":"search","query":"ship our homepage"}`)
	if len(found.Skills) != 1 {
		t.Fatalf("found: %+v", found)
	}
	equal(t, "found skill", found.Skills[0].ID, id)
	equal(t, "semantic", found.Semantic, "on")
	if found.Skills[0].Score == 0 {
		t.Error("the skill has no score")
	}
	rated := answer[skillAnswer](t, tool, `{"action":"feedback","id":"`+id+`","success":true}`)
	equal(t, "reliability after success", rated.Skills[0].Reliability, .6)
	equal(t, "uses", rated.Skills[0].UseCount, 1)
	if rated.Skills[0].LastUsed == nil {
		t.Error("the last use is not recorded")
	}
	if got := answer[skillAnswer](t, tool, `{"action":"get","id":"`+id+`"}`); !strings.HasSuffix(got.Skills[0].Text,
		"[REDACTED:email]\n2. Watch\n") {
		t.Errorf("got %+v", got)
	}
	for arguments, want := range map[string]string{
		`{"action":"feedback","id":"` + id + `"}`:                         "success:",
		`{"action":"feedback","success":true}`:                            "id:",
		`{"action":"get"}`:                                                "id: required by get",
		`{"action":"search"}`:                                             "query:",
		`{"action":"ingest"}`:                                             "text:",
		`{"action":"ingest","text":"# Release\nDo it"}`:                   "front matter",
		`{"action":"prune"}`:                                              "action",
		`{"action":"ingest","text":"` + text + `","visibility":"shared"}`: "is like " + id,
	} {
		if got := refusal(t, tool, arguments); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
	if got := answer[skillAnswer](t, tool,
		`{"action":"ingest","text":"`+text+`","visibility":"shared","confirm":true}`); got.Skills[0].Visibility != "shared" {
		t.Errorf("shared: %+v", got)
	}
	group := Skills(memoryView(t, dir, hikers(t)))
	list := answer[skillAnswer](t, group, `{"action":"list"}`)
	equal(t, "total of a group", list.Total, 1)
	equal(t, "visibility in a group", list.Skills[0].Visibility, "shared")
	equal(t, "uses in a group", list.Skills[0].UseCount, 0)
	if got := refusal(t, group, `{"action":"ingest","text":"`+text+`","visibility":"shared"}`); !strings.Contains(got,
		"visibility") {
		t.Errorf("a group shares: %q", got)
	}
	absent := strings.ReplaceAll(refusal(t, group, `{"action":"get","id":"skill_1_abcdef"}`), "skill_1_abcdef", id)
	if got := refusal(t, group, `{"action":"get","id":"`+id+`"}`); got != absent {
		t.Errorf("a group is told %q of a private skill, and %q of none", got, absent)
	}
}

func TestSearchFiltersAndAccesses(t *testing.T) {
	t.Parallel()
	v := memoryView(t, t.TempDir(), audience.DM())
	store := MemoryStore(v)
	plain := answer[stored](t, store, `{"content":"The ferry leaves on Thursdays."}`)
	planned := answer[stored](t, store,
		`{"content":"The ferry to Horta leaves on Fridays.","skill_name":"planner","importance":0.9}`)
	ids := func(arguments string) (ids []string) {
		for _, r := range answer[memoryAnswer](t, MemorySearch(v, nil), arguments).Results {
			ids = append(ids, r.ID)
		}
		return ids
	}
	for arguments, want := range map[string][]string{
		`{"query":"ferry to Horta","skill_name":"planner"}`:    {planned.ID},
		`{"query":"ferry to Horta","min_importance":0.9}`:      {planned.ID},
		`{"query":"ferry to Horta","min_importance":1}`:        nil,
		`{"query":"ferry to Horta","agent_id":"tester"}`:       {planned.ID, plain.ID},
		`{"query":"ferry to Horta","agent_id":"someone else"}`: nil,
	} {
		if diff := cmp.Diff(want, ids(arguments)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", arguments, diff)
		}
	}
	got := answer[memoryWhole](t, MemoryGet(v, nil), `{"id":"`+planned.ID+`"}`)
	if got.AccessCount != 3 || got.LastAccessed == nil {
		t.Errorf("after three searches that found it: %d accesses, the last at %v", got.AccessCount, got.LastAccessed)
	}
	never := answer[stored](t, store, `{"content":"Not searched for."}`)
	if got := answer[memoryWhole](t, MemoryGet(v, nil), `{"id":"`+never.ID+`"}`); got.AccessCount != 0 ||
		got.LastAccessed != nil {
		t.Errorf("never found: %+v", got)
	}
}

// In a DM a group's memory has the group as its source, whatever source it was stored with, and its lessons are quoted.
func TestSourceOfAGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	group, dm := memoryView(t, dir, hikers(t)), memoryView(t, dir, audience.DM())
	answer[stored](t, MemoryStore(group), `{"content":"The hut is open.","source":"operator","session_id":"a\u202eb"}`)
	answer[lessonBlock](t, DistillLesson(group), fmt.Sprintf(lessonArguments, "low", "huts that are open", .9))
	answer[stored](t, MemoryStore(dm), `{"content":"The hut is mine.","source":"user"}`)
	const query = `{"query":"is the hut open","include_lessons":true,"format":"detailed"}`
	sources := func(v *mesh.View) map[string]string {
		found := map[string]string{}
		list := answer[memoryAnswer](t, MemorySearch(v, nil), query)
		for _, r := range list.Results {
			found[r.Content] = r.Source
			if strings.ContainsRune(r.SessionID, '\u202e') {
				t.Errorf("session_id %+q", r.SessionID)
			}
		}
		for _, l := range list.Lessons {
			found["lesson"] = l.PreventativeRule
		}
		return found
	}
	const rule = "Write a rollback plan before every deployment"
	if diff := cmp.Diff(map[string]string{
		"The hut is open.": `group:hiking as "operator"`, "The hut is mine.": "user",
		"lesson": `group:hiking said: "` + rule + `"`,
	}, sources(dm)); diff != "" {
		t.Errorf("in the DM (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"The hut is open.": "operator", "lesson": rule}, sources(group)); diff != "" {
		t.Errorf("in the group (-want +got):\n%s", diff)
	}
}

// A subject is listed first, and erased only with the person's consent; a group is not offered it.
func TestForgetAbout(t *testing.T) {
	t.Parallel()
	f := sampleFolder(t, "kate")
	v := memoryView(t, t.TempDir(), audience.DM())
	editor, err := edit.Open(edit.Options{View: f.dm(), Dir: filepath.Join(f.dm().Dir(), ".yamo")})
	if err != nil {
		t.Fatal(err)
	}
	id := answer[stored](t, MemoryStore(v), `{"content":"Zebulon keeps bees."}`).ID
	tool := MemoryDelete(v, f.dm(), editor)
	for arguments, part := range map[string]string{
		`{}`:                              "id: give",
		`{"about":"the"}`:                 "about: give a name",
		`{"id":"` + id + `","about":"x"}`: "leave it out",
	} {
		if got := refusal(t, tool, arguments); !strings.Contains(got, part) {
			t.Errorf("%s: %q", arguments, got)
		}
	}
	listed := answer[memoryDeleted](t, tool, `{"about":"zebulon"}`)
	if listed.Deleted || len(listed.About.Memories) != 1 || listed.About.Memories[0].ID != id {
		t.Errorf("listed: %+v", listed.About)
	}
	if _, err := v.Get(t.Context(), id); err != nil {
		t.Errorf("the list erased it: %v", err)
	}
	done := answer[memoryDeleted](t, tool, `{"about":"zebulon","confirm":true}`)
	if !done.Deleted || len(done.About.Memories) != 1 || len(done.About.Left) == 0 {
		t.Errorf("erased: %+v", done.About)
	}
	if _, err := v.Get(t.Context(), id); err == nil {
		t.Error("it is still there")
	}
	rose := answer[stored](t, MemoryStore(v), `{"content":"We asked Rose for the key."}`).ID
	kept := answer[stored](t, MemoryStore(v), `{"content":"Rose lives in Oslo."}`).ID
	prices := answer[stored](t, MemoryStore(v), `{"content":"In spring the prices rose."}`).ID
	listed = answer[memoryDeleted](t, tool, `{"about":"Rose"}`)
	if len(listed.About.Memories) != 2 || len(listed.About.Related) != 1 || listed.About.Related[0].ID != prices ||
		!strings.Contains(listed.Hint, "may have only the word") {
		t.Errorf("listed: %+v, %s", listed.About, listed.Hint)
	}
	// What came since the list is not erased with it, unless it is listed, too.
	late := answer[stored](t, MemoryStore(v), `{"content":"Yesterday Rose called."}`).ID
	if got := refusal(t, tool, `{"about":"Rose","confirm":true}`); !strings.HasPrefix(got, "confirm: nothing is erased") {
		t.Errorf("another list: %q", got)
	}
	answer[memoryDeleted](t, MemoryDelete(v, nil, nil), `{"id":"`+late+`","confirm":true}`)
	unlisted := `{"about":"Rose","keep":"` + late + `","confirm":true}`
	if got := refusal(t, tool, unlisted); !strings.HasPrefix(got, "keep: ") {
		t.Errorf("what is not in the list: %q", got)
	}
	if got := refusal(t, tool, `{"id":"`+rose+`","keep":"`+kept+`"}`); !strings.HasPrefix(got, "keep: ") {
		t.Errorf("keep with an id: %q", got)
	}
	answer[memoryDeleted](t, tool, `{"about":"Rose","keep":" `+kept+`, `+prices+`","confirm":true}`)
	for id, there := range map[string]bool{rose: false, kept: true, prices: true} {
		if _, err := v.Get(t.Context(), id); (err == nil) != there {
			t.Errorf("%s is there: %v", id, err == nil)
		}
	}
	if got := refusal(t, MemoryDelete(v, nil, nil), `{"about":"bees","confirm":true}`); !strings.Contains(got, "about") {
		t.Errorf("without an editor: %q", got)
	}
}

package conversation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/conversation"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// bag makes vectors of words, so that texts with common words are near each other. "ocean" and "sea" are one word.
type bag struct{}

func (bag) Model() embed.Model { return embed.Model{Name: "bag", Dim: 64} }

func (bag) Embed(_ context.Context, texts []string) ([][]float32, error) {
	list := make([][]float32, len(texts))
	for i, text := range texts {
		v := make([]float32, 64)
		v[63] = .1
		for _, w := range keyword.Stems(text) {
			if w == "ocean" {
				w = "sea"
			}
			h := fnv.New32a()
			_, _ = h.Write([]byte(w))
			v[h.Sum32()%63]++
		}
		sum := 0.
		for _, x := range v {
			sum += float64(x * x)
		}
		for j := range v {
			v[j] /= float32(math.Sqrt(sum))
		}
		list[i] = v
	}
	return list, nil
}

// world is a transcripts folder and a memory folder.
type world struct {
	*testing.T
	logs, memory string
}

func newWorld(t *testing.T) *world {
	return &world{T: t, logs: filepath.Join(t.TempDir(), "logs"), memory: filepath.Join(t.TempDir(), ".yamo")}
}

// said appends turns to a log as Claude Code writes them: "role: text", "tool" for the result of one.
func (w *world) said(name string, turns ...string) {
	w.Helper()
	var lines strings.Builder
	for i, turn := range turns {
		role, text, _ := strings.Cut(turn, ": ")
		var content any = text
		if role == "tool" {
			role, content = "user", []any{map[string]any{"type": "tool_result", "content": text}}
		}
		data, err := json.Marshal(map[string]any{
			"type": role, "uuid": fmt.Sprintf("%s-%d-%d", name, i, len(text)), "cwd": "/home/kate/coast",
			"timestamp": fmt.Sprintf("2026-03-0%dT10:00:0%dZ", 1+len(name)%9, i), "message": map[string]any{
				"role": role, "content": content,
			},
		})
		if err != nil {
			w.Fatal(err)
		}
		lines.Write(append(data, '\n'))
	}
	w.append(name, lines.String())
}

func (w *world) append(name, data string) {
	w.Helper()
	path := filepath.Join(w.logs, name+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := f.WriteString(data); err != nil {
		w.Fatal(err)
	}
	if err := f.Close(); err != nil {
		w.Fatal(err)
	}
}

// open opens the conversations of an audience. They are closed at the end of the test.
func (w *world) open(who audience.Audience) *conversation.View {
	w.Helper()
	memory := mesh.Open(mesh.Options{Dir: w.memory, Audience: who, AgentID: "kate", Embedder: bag{}})
	redactor := scrub.New(scrub.Options{})
	redact := func(text string) (string, bool) {
		clean, found := redactor.Redact(text)
		return clean, len(found) == 0
	}
	folder, err := transcript.Open(w.logs, transcript.Options{
		Stems: keyword.Stems, Redact: func(text string) string { clean, _ := redact(text); return clean },
	})
	if err != nil {
		w.Fatal(err)
	}
	logs := folder.View(who)
	index := memory.Conversations(w.logs, conversation.Source(logs), redact, transcript.ProjectName)
	w.Cleanup(func() {
		ctx := context.Background()
		for _, err := range []error{index.Close(ctx), folder.Close(), memory.Close(ctx)} {
			if err != nil {
				w.Error(err)
			}
		}
	})
	return &conversation.View{
		View: logs, Index: index, Answers: memory.Answers, Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC) },
	}
}

// find returns the previews of what a search finds, once everything has its vector.
func (w *world) find(v *conversation.View, q conversation.Query) []string {
	w.Helper()
	return previews(w.hits(v, q))
}

func (w *world) hits(v *conversation.View, q conversation.Query) []transcript.Hit {
	w.Helper()
	for {
		r, err := v.Search(w.Context(), q)
		if err != nil {
			w.Fatal(err)
		}
		if p := v.Index.Progress(); p.Behind == 0 && p.Pending == 0 {
			if r, err = v.Search(w.Context(), q); err != nil {
				w.Fatal(err)
			}
			return r.Hits
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func previews(hits []transcript.Hit) []string {
	var list []string
	for _, h := range hits {
		list = append(list, h.Preview)
	}
	return list
}

func TestSearchByMeaningAndWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.said("s1", "user: We keep coordinates as latitude and longitude", "assistant: Noted, degrees with six decimals.",
		"tool: Listing harbour.go: func berth(mooring string) error")
	w.said("s2", "user: The ocean was cold today", "assistant: Wear a wetsuit next time.")
	v := w.open(audience.DM())
	// "sea" is in no log: only its meaning is.
	if got := w.find(v, conversation.Query{Text: "how was the sea?"}); len(got) == 0 ||
		got[0] != "The ocean was cold today" {
		t.Errorf("by meaning: %q", got)
	}
	if got := w.find(v, conversation.Query{Text: "which format for coordinates"}); len(got) == 0 ||
		got[0] != "We keep coordinates as latitude and longitude" {
		t.Errorf("by words: %q", got)
	}
	hits := w.hits(v, conversation.Query{Text: "mooring berth"})
	if len(hits) == 0 || !strings.Contains(hits[0].Preview, "func berth(mooring string)") {
		t.Fatalf("in what a tool returned: %+v", hits)
	}
	if hits[0].Role != "tool" || hits[0].Offset == nil || *hits[0].Offset != 2 || hits[0].Project != "coast" {
		t.Errorf("the hit is %+v, want a tool's at offset 2 in coast", hits[0])
	}
	read, err := v.ReadSession(t.Context(), "s1", *hits[0].Offset, 1, 500)
	if err != nil || len(read.Entries) != 1 || !strings.Contains(read.Entries[0].Content, "func berth") {
		t.Errorf("reading at the hit's offset: %+v, %v", read.Entries, err)
	}
	// Part of a word is in no index.
	if got := w.find(v, conversation.Query{Text: "ongitud"}); len(got) != 1 {
		t.Errorf("part of a word: %q", got)
	}
}

func TestSearchConditions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.said("s1", "user: the tide table is wrong", "assistant: the tide table was fixed", "tool: tide table: 12 rows")
	w.said("longer", "user: the tide table is late") // six days of March
	v := w.open(audience.DM())
	for name, test := range map[string]struct {
		query conversation.Query
		want  []string
	}{
		"role":    {conversation.Query{Role: "tool"}, []string{"tide table: 12 rows"}},
		"session": {conversation.Query{SessionID: "longer"}, []string{"the tide table is late"}},
		"since":   {conversation.Query{Since: "2026-03-05"}, []string{"the tide table is late"}},
		"until":   {conversation.Query{Until: "2026-03-05", Role: "assistant"}, []string{"the tide table was fixed"}},
		"project": {conversation.Query{Project: "coast", Role: "tool"}, []string{"tide table: 12 rows"}},
		"another": {conversation.Query{Project: "mountain"}, nil},
	} {
		test.query.Text = "tide table"
		if diff := cmp.Diff(test.want, w.find(v, test.query)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
	for _, q := range []conversation.Query{
		{Text: "tide", Since: "soonish"},
		{Text: "tide", Since: "2026-03-02", Until: "2026-03-01"},
		{Text: " "},
		{Text: "tide", SessionID: "missing"},
	} {
		if _, err := v.Search(t.Context(), q); err == nil {
			t.Errorf("no error for %+v", q)
		}
	}
}

// A log that grows, is replaced by another one or deleted, while the index is in use and afterwards.
func TestLogsChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.said("s1", "user: the anchor is rusty")
	w.said("s2", "user: the rudder is bent")
	v := w.open(audience.DM())
	other := w.open(audience.DM()) // another process would have the same
	q := conversation.Query{Text: "rusty rudder anchor hull"}
	if got := w.find(v, q); len(got) != 2 {
		t.Fatalf("at first: %q", got)
	}
	w.said("s1", "assistant: paint the hull")
	w.append("s1", `{"type":"user","uuid":"torn","message":{"role":"user","content":"not yet wri`)
	for name, view := range map[string]*conversation.View{"the same": v, "another": other, "new": w.open(audience.DM())} {
		if got := w.find(view, q); len(got) != 3 {
			t.Errorf("%s view of a log that has grown: %q", name, got)
		}
	}
	w.append("s1", "tten anchor chain\"}}\n")
	if got := w.find(v, conversation.Query{Text: "anchor chain"}); len(got) == 0 ||
		got[0] != "not yet written anchor chain" {
		t.Errorf("a line that was completed: %q", got)
	}
	if err := os.WriteFile(filepath.Join(w.logs, "s1.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.said("s1", "user: a new mast")
	if err := os.Remove(filepath.Join(w.logs, "s2.jsonl")); err != nil {
		t.Fatal(err)
	}
	q.Text += " mast"
	for name, view := range map[string]*conversation.View{"the same": v, "another": other, "new": w.open(audience.DM())} {
		if diff := cmp.Diff([]string{"a new mast"}, w.find(view, q)); diff != "" {
			t.Errorf("%s view after a truncation and a deletion: -want +got\n%s", name, diff)
		}
	}
	digests, err := filepath.Glob(filepath.Join(w.memory, "private", "turns", "*", "*.turns"))
	if err != nil || len(digests) != 1 {
		t.Errorf("digests of deleted logs are kept: %q, %v", digests, err)
	}
}

// A group's index has the group's own sessions, in the group's own folder; the DM's has all.
func TestGroupHasItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	header := func(group string) string {
		return `{"type":"session","version":1,"id":"x","connection":"group","group":"` + group + `"}` + "\n"
	}
	entry := func(text string) string {
		return `{"type":"entry","timestamp":"2026-03-01T10:00:00Z","role":"user","content":"` + text + `"}` + "\n"
	}
	w.said("s1", "user: the private lighthouse")
	w.append("groups/sailors/a", header("sailors")+entry("the sailors' lighthouse"))
	w.append("groups/sailors/moved", header("divers")+entry("the divers' lighthouse"))
	w.append("groups/divers/b", header("divers")+entry("another lighthouse of divers"))
	sailors, err := audience.Group("sailors")
	if err != nil {
		t.Fatal(err)
	}
	dm := map[string]string{}
	for _, h := range w.hits(w.open(audience.DM()), conversation.Query{Text: "lighthouse"}) {
		dm[h.Preview] = h.Group
	}
	if diff := cmp.Diff(map[string]string{ // the folder says whose a log is, as it says where a group finds it
		"the private lighthouse": "", "the sailors' lighthouse": "sailors", "the divers' lighthouse": "sailors",
		"another lighthouse of divers": "divers",
	}, dm); diff != "" {
		t.Errorf("a DM: -want +got\n%s", diff)
	}
	divers, err := audience.Group("divers")
	if err != nil {
		t.Fatal(err)
	}
	for want, who := range map[string]audience.Audience{
		"the sailors' lighthouse": sailors, "another lighthouse of divers": divers,
	} {
		got := w.find(w.open(who), conversation.Query{Text: "lighthouse"})
		if diff := cmp.Diff([]string{want}, got); diff != "" {
			t.Errorf("a group: -want +got\n%s", diff)
		}
	}
	digests, err := filepath.Glob(filepath.Join(w.memory, "groups", "sailors", "turns", "*", "*.turns"))
	if err != nil || len(digests) != 1 {
		t.Errorf("the group's digests: %q, %v", digests, err)
	}
}

// What a credential is does not reach the disk, nor a result, and a search for it finds nothing.
func TestCredentialsAreNotIndexed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secret := "ghp_" + "k3J9xQ2mZ7vB5nW8rT4yL1cD6fH0gS2aPqRs"
	w.said("s1", "user: push it with "+secret+" please", "tool: GITHUB_TOKEN="+secret+" is set", "assistant: pushed it")
	v := w.open(audience.DM())
	for _, got := range w.find(v, conversation.Query{Text: "push the token that is set"}) {
		if strings.Contains(got, secret) {
			t.Errorf("a result shows the credential: %q", got)
		}
	}
	if got := w.find(v, conversation.Query{Text: secret}); len(got) != 0 {
		t.Errorf("a search for the credential finds %q", got)
	}
	err := filepath.WalkDir(w.memory, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), secret) || strings.Contains(string(data), "push") {
			t.Errorf("%s contains text of a log", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Nothing is written for a workspace without session logs.
func TestNothingToIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.open(audience.DM())
	if got := w.find(v, conversation.Query{Text: "anything"}); len(got) != 0 {
		t.Errorf("found %q", got)
	}
	if _, err := os.Stat(w.memory); !os.IsNotExist(err) {
		t.Errorf("a search without logs wrote to the memory's folder: %v", err)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]conversation.Query{
		"tide table":             {Text: "tide table"},
		"note: role of the tide": {Text: "note: role of the tide"},
		`role:tool tide since:"last week" project:coast`: {
			Text: "tide", Role: "tool", Since: "last week", Project: "coast",
		},
		"tide until:2026-03-01": {Text: "tide", Until: "2026-03-01"},
	} {
		got, err := conversation.Parse(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v, -want +got\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"role:tool", "tide role:captain", "tide role:user role:tool"} {
		if _, err := conversation.Parse(text); err == nil {
			t.Errorf("no error for %q", text)
		}
	}
}

// A standing instruction counts when help is asked for, as it does among memories. What a group said is marked as the
// group's wherever its log is, and is no instruction in a direct conversation.
func TestStandingInstructions(t *testing.T) {
	t.Parallel()
	const instruction = "Always write the recipe in metric units."
	for name, test := range map[string]struct{ header, group, first string }{
		"own":     {`{"type":"session","version":1,"id":"i"}`, "", instruction},
		"group's": {`{"type":"session","version":1,"id":"i","connection":"group","group":"bakers"}`, "bakers", "bread"},
	} {
		w := newWorld(t)
		w.append("i", test.header+"\n"+`{"type":"entry","role":"user","content":"`+instruction+`"}`+"\n")
		w.said("s1", "user: The recipe for rye bread is in the blue book", "user: The book is at home")
		w.said("s2", "user: The boat is at anchor", "user: The mast is wooden")
		hits := w.hits(w.open(audience.DM()), conversation.Query{Text: "can you write the recipe for rye bread"})
		if len(hits) == 0 || !strings.Contains(hits[0].Preview, test.first) {
			t.Errorf("%s: found %q, want first %q", name, previews(hits), test.first)
		}
		for _, h := range hits {
			if want := map[bool]string{true: test.group}[h.Preview == instruction]; h.Group != want {
				t.Errorf("%s: %q is marked as of group %q, want %q", name, h.Preview, h.Group, want)
			}
		}
	}
}

// The lines of logs that could not be read are told in a search, as they are when a log is read, also once the index
// has the log, when it grows and when it is replaced.
func TestUnreadLinesAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const odd = `{"type":"assistant","uuid":"odd","message":{"role":"assistant","content":[` +
		`{"type":"text","text":"half of the harbour"},{"type":"hologram"}]}}` + "\n"
	w.append("s1", `{"type":"hologram"}`+"\n"+odd+odd) // the same row twice, as after a resume
	w.said("s1", "user: the harbour is full")
	w.append("s1", "no JSON\n"+`{"type":"user","uuid":"torn`)
	w.said("other", "user: the harbour is empty")
	want := func(v *conversation.View, q conversation.Query, lines int) {
		t.Helper()
		w.hits(v, q) // until the index has everything
		r, err := v.Search(t.Context(), q)
		if err != nil || r.SkippedLines != lines {
			t.Errorf("%+v: %d lines, %v; want %d", q, r.SkippedLines, err, lines)
		}
	}
	v := w.open(audience.DM())
	read, err := v.ReadSession(t.Context(), "s1", 0, 0, 0)
	if err != nil || read.Header.SkippedLines != 3 {
		t.Fatalf("reading tells of %d lines, %v; want 3", read.Header.SkippedLines, err)
	}
	for _, view := range []*conversation.View{v, w.open(audience.DM())} { // the second one reads the digests
		want(view, conversation.Query{Text: "harbour"}, 3)
		want(view, conversation.Query{Text: "harbour", SessionID: "other"}, 0)
		want(view, conversation.Query{Text: "nothing_like_this"}, 3)
	}
	w.append("s1", "\"}\n[]\n")
	want(v, conversation.Query{Text: "harbour"}, 4) // the torn line has its end, and [] is no object
	if err := os.WriteFile(filepath.Join(w.logs, "s1.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.said("s1", "user: another harbour")
	want(v, conversation.Query{Text: "harbour"}, 0)
}

// OpenClaw names the folder that it ran in at the beginning of a log only: that is the project of all of its turns.
func TestProjectOfTheHeader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.append("oc", `{"type":"session","version":3,"id":"oc","cwd":"/home/kate/sail"}`+"\n"+
		`{"type":"message","id":"1","message":{"role":"user","content":"the halyard is too long"}}`+"\n")
	w.said("s1", "user: the halyard of the coast")
	v := w.open(audience.DM())
	for _, view := range []*conversation.View{v, w.open(audience.DM())} { // the second one reads the digests
		hits := w.hits(view, conversation.Query{Text: "halyard", Project: "sail"})
		if len(hits) != 1 || hits[0].Project != "sail" || hits[0].SessionID != "oc" {
			t.Errorf("found %+v", hits)
		}
	}
	list, err := v.ListSessions(t.Context(), 0)
	if err != nil || len(list.Sessions) != 2 {
		t.Fatalf("listed %+v, %v", list.Sessions, err)
	}
	for _, s := range list.Sessions {
		if want := map[string]string{"oc": "sail", "s1": "coast"}[s.SessionID]; s.Project != want {
			t.Errorf("%s is of project %q, want %q", s.SessionID, s.Project, want)
		}
	}
}

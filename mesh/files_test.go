package mesh_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/fileindex"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// shelf is a fileindex.Source in memory: every paragraph is a passage, whose first line is its heading.
type shelf struct {
	mu    sync.Mutex
	infos []fileindex.Info
	texts map[string]string
	reads int
}

func (s *shelf) put(name, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := fileindex.Info{
		Name: name, Link: "yamo://workspace/" + name, Time: time.Unix(0, 0),
		Size: int64(len(s.infos)) + 1e6,
	}
	if before, ok := strings.CutSuffix(name, ".md"); ok {
		_, info.Group, _ = strings.Cut(before, "-group-")
	}
	s.infos = append(s.without(name), info)
	s.infos[len(s.infos)-1].Modified = time.Unix(int64(s.reads), int64(len(text)))
	s.texts[name] = text
}

func (s *shelf) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.infos = s.without(name)
}

func (s *shelf) without(name string) (kept []fileindex.Info) {
	for _, info := range s.infos {
		if info.Name != name {
			kept = append(kept, info)
		}
	}
	return kept
}

func (s *shelf) List(context.Context) []fileindex.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]fileindex.Info(nil), s.infos...)
}

func (s *shelf) Read(_ context.Context, name string) (content fileindex.Content, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	text, ok := s.texts[name]
	if !ok {
		return content, os.ErrNotExist
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		heading, _, _ := strings.Cut(paragraph, "\n")
		content.Passages = append(content.Passages, fileindex.Passage{Heading: heading, Text: paragraph})
	}
	return content, nil
}

// bag embeds a text as the bag of its words.
type bag struct {
	mu    sync.Mutex
	texts []string
	model string
	off   bool
}

const bagDim = 64

func (b *bag) Model() embed.Model { return embed.Model{Name: "bag" + b.model, Dim: bagDim} }

func (b *bag) Embed(_ context.Context, texts []string) ([][]float32, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.off {
		return nil, embed.ErrNoAssets
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		b.texts = append(b.texts, text)
		v := make([]float32, bagDim)
		for word := range strings.FieldsSeq(strings.ToLower(text)) {
			h := fnv.New32()
			_, _ = h.Write([]byte(word)) // it never fails
			v[h.Sum32()%bagDim]++
		}
		sum := 0.
		for _, x := range v {
			sum += float64(x * x)
		}
		for j := range v {
			v[j] /= float32(math.Sqrt(max(sum, 1e-9)))
		}
		vectors[i] = v
	}
	return vectors, nil
}

// embedded are the texts since the last call that are not the given query.
func (b *bag) embedded(query string) (texts []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.texts {
		if text != query && text != "ready" {
			texts = append(texts, text)
		}
	}
	b.texts = nil
	return texts
}

func openWith(t *testing.T, dir string, who audience.Audience, e index.Embedder, files fileindex.Source) *mesh.View {
	t.Helper()
	v := mesh.Open(mesh.Options{Dir: dir, Audience: who, AgentID: "kate", Embedder: e, Files: files})
	t.Cleanup(func() {
		if err := v.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return v
}

// sources are where a query's hits come from, best first.
func sources(t *testing.T, v *mesh.View, query string) (found []string) {
	t.Helper()
	answer, err := v.Search(t.Context(), mesh.SearchRequest{Query: query})
	if err != nil {
		t.Fatal(err)
	}
	for _, hit := range answer.Hits {
		found = append(found, fmt.Sprintf("%s %s %s", hit.Visibility, hit.Source, hit.Link))
	}
	return found
}

// rows is how many vectors are on disk.
func rows(t *testing.T, dir string) int {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, "private", "files.f32"))
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Size()-64) / (24 + 4*bagDim)
}

// waitForRows waits until want vectors are on disk: a search does not wait for all of them on a busy machine.
func waitForRows(t *testing.T, dir string, want int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); rows(t, dir) != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d vectors, want %d", rows(t, dir), want)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	dir, files, model := filepath.Join(t.TempDir(), ".yamo"), &shelf{texts: map[string]string{}}, &bag{}
	files.put("MEMORY.md", "Tea\noolong in the morning\n\nPump\nthe irrigation pump leaks\n\nKey\nAKIAQ3EGRZXKP2T4V5WD "+
		"is the key")
	files.put("memory/2026-02-14-group-hiking.md", "Walk\nthe waterfall path floods")
	v := openWith(t, dir, audience.DM(), model, files)
	if _, err := v.Store(t.Context(), record.Memory{Content: "a memory of the harbour", Source: "said"}, ""); err != nil {
		t.Fatal(err)
	}
	check := func(query, want string) {
		t.Helper()
		found := sources(t, v, query)
		if len(found) == 0 || found[0] != want {
			t.Errorf("%s finds %q, want %s", query, found, want)
		}
	}
	check("which oolong", "private MEMORY.md#Tea yamo://workspace/MEMORY.md")
	check("the harbour memory", "private said ")
	check("waterfall path", "group:hiking memory/2026-02-14-group-hiking.md#Walk "+
		"yamo://workspace/memory/2026-02-14-group-hiking.md")
	for _, text := range model.embedded("") {
		if strings.Contains(text, "AKIA") {
			t.Errorf("a secret reached the embedder: %q", text)
		}
	}
	waitForRows(t, dir, 4)
	reads := files.reads
	check("irrigation pump", "private MEMORY.md#Pump yamo://workspace/MEMORY.md")
	if files.reads != reads {
		t.Error("files that have not changed were read again")
	}
	model.embedded("")

	// An edit embeds what it touched, and takes what is gone off the disk.
	files.put("MEMORY.md", "Pump\nthe irrigation pump leaks\n\nCoffee\nespresso after lunch")
	check("espresso lunch", "private MEMORY.md#Coffee yamo://workspace/MEMORY.md")
	if diff := cmp.Diff([]string{"Coffee\nespresso after lunch"}, model.embedded("espresso lunch")); diff != "" {
		t.Errorf("embedded (-want +got):\n%s", diff)
	}
	for _, source := range sources(t, v, "oolong in the morning") {
		if strings.Contains(source, "Tea") {
			t.Errorf("found what is not there any more: %s", source)
		}
	}
	waitForRows(t, dir, 3)

	// A file is deleted while no search runs.
	files.remove("memory/2026-02-14-group-hiking.md")
	if err := v.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitForRows(t, dir, 2)

	// All of it comes back.
	model.embedded("")
	if err := v.Maintenance().Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if n := len(model.embedded("")); n < 2 || rows(t, dir) != 2 {
		t.Errorf("%d texts embedded, %d vectors on disk after the rebuild", n, rows(t, dir))
	}
	check("espresso lunch", "private MEMORY.md#Coffee yamo://workspace/MEMORY.md")
}

// What went while no process ran is taken off the disk by the next one, also when nothing is left.
func TestFilesThatWentMeanwhile(t *testing.T) {
	t.Parallel()
	dir, files := filepath.Join(t.TempDir(), ".yamo"), &shelf{texts: map[string]string{}}
	files.put("MEMORY.md", "Tea\noolong\n\nPump\nleaks")
	first := mesh.Open(mesh.Options{Dir: dir, Audience: audience.DM(), Embedder: &bag{}, Files: files})
	sources(t, first, "oolong")
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	files.remove("MEMORY.md")
	v := openWith(t, dir, audience.DM(), &bag{}, files)
	if found := sources(t, v, "oolong"); found != nil {
		t.Errorf("found %q", found)
	}
	if n := rows(t, dir); n != 0 {
		t.Errorf("%d vectors are left", n)
	}
}

// Several processes have the same passages and make each vector once.
func TestFilesOfSeveralProcesses(t *testing.T) {
	t.Parallel()
	dir, files, model := filepath.Join(t.TempDir(), ".yamo"), &shelf{texts: map[string]string{}}, &bag{}
	var text []string
	for i := range 100 {
		text = append(text, fmt.Sprintf("Heading%d\nword%d", i, i))
	}
	files.put("MEMORY.md", strings.Join(text, "\n\n"))
	a, b := openWith(t, dir, audience.DM(), model, files), openWith(t, dir, audience.DM(), model, files)
	var both sync.WaitGroup
	for _, v := range []*mesh.View{a, b} {
		both.Go(func() {
			for i := range 20 {
				files.put("notes/a.md", fmt.Sprintf("Note\nnumber%d", i))
				sources(t, v, "word7")
			}
		})
	}
	both.Wait()
	if diff := cmp.Diff(sources(t, a, "word42"), sources(t, b, "word42")); diff != "" {
		t.Errorf("the processes differ:\n%s", diff)
	}
	if n := rows(t, dir); n != 101 {
		t.Errorf("%d vectors, want 101", n)
	}
}

// A group finds what it logged itself, and keeps the vectors of that in its own folder.
func TestGroupFindsItsLog(t *testing.T) {
	dir, files := filepath.Join(t.TempDir(), ".yamo"), &shelf{texts: map[string]string{}}
	files.put("MEMORY.md", "Release\nprivate plans of the release on Friday")
	files.put("memory/2026-02-14-group-hiking.md", "Release\nthe release is on Friday")
	files.put("memory/2026-02-14-group-club.md", "Release\nthe club heard of the release on Friday")
	hiking, err := audience.Group("hiking")
	if err != nil {
		t.Fatal(err)
	}
	v := openWith(t, dir, hiking, &bag{}, files)
	want := []string{"group:hiking memory/2026-02-14-group-hiking.md#Release " +
		"yamo://workspace/memory/2026-02-14-group-hiking.md"}
	if found := sources(t, v, "release Friday"); !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
	if err := v.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, there := range map[string]bool{
		"groups/hiking/files.f32": true, "private": false, "locks/files.index.lock": false,
	} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A group has no files of others, even if its view is given some.
func TestGroupHasNoFiles(t *testing.T) {
	t.Parallel()
	dir, files := filepath.Join(t.TempDir(), ".yamo"), &shelf{texts: map[string]string{}}
	files.put("MEMORY.md", "Tea\noolong")
	files.put("memory/2026-02-14-group-hiking.md", "Tea\noolong")
	v := openWith(t, dir, audience.Audience{}, &bag{}, files)
	if found := sources(t, v, "oolong"); found != nil || files.reads > 0 {
		t.Errorf("found %q, %d files read", found, files.reads)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("something was made on disk: %v", err)
	}
}

// Without a model words find passages; with another one their vectors are computed again.
func TestFilesWithoutAndWithAnotherModel(t *testing.T) {
	t.Parallel()
	dir, files := filepath.Join(t.TempDir(), ".yamo"), &shelf{texts: map[string]string{}}
	files.put("MEMORY.md", "Tea\noolong")
	want := []string{"private MEMORY.md#Tea yamo://workspace/MEMORY.md"}
	for _, model := range []*bag{{off: true}, {}, {model: "2"}} {
		v := openWith(t, dir, audience.DM(), model, files)
		if diff := cmp.Diff(want, sources(t, v, "oolong")); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", model.Model(), diff)
		}
		if model.model == "" {
			// Work that goes on after the search would remove the vectors of the next model.
			if err := v.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	waitForRows(t, dir, 1)
}

// A damaged vector on disk is found by Maintenance.Check, which repairs nothing, and mended by a rebuild.
func TestCheckFiles(t *testing.T) {
	t.Parallel()
	dir, files := filepath.Join(t.TempDir(), ".yamo"), &shelf{texts: map[string]string{}}
	files.put("MEMORY.md", "Tea\noolong\n\nCoffee\narabica")
	v := openWith(t, dir, audience.DM(), &bag{}, files)
	sources(t, v, "oolong")
	path := filepath.Join(dir, "private", "files.f32")
	problems := func() []string {
		t.Helper()
		reports, err := v.Maintenance().Check(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return reports[0].Problems
	}
	if found := problems(); len(found) != 0 {
		t.Errorf("undamaged: %q", found)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for want, damage := range map[string]func([]byte){
		"1 vectors of workspace files are damaged":          func(raw []byte) { raw[len(raw)-1]++ },
		"workspace files: audit vectors: not a vector file": func(raw []byte) { raw[0]++ },
	} {
		damaged := slices.Clone(whole)
		damage(damaged)
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if diff := cmp.Diff([]string{want}, problems()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		}
		if err := v.Maintenance().Rebuild(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if found := problems(); len(found) != 0 {
			t.Errorf("rebuilt: %q", found)
		}
	}
}

// Many edits leave no holes behind.
func TestManyEdits(t *testing.T) {
	t.Parallel()
	dir, files := filepath.Join(t.TempDir(), ".yamo"), &shelf{texts: map[string]string{}}
	v := openWith(t, dir, audience.DM(), &bag{}, files)
	for i := range 60 {
		var text []string
		for j := range 40 {
			text = append(text, fmt.Sprintf("Heading%d\nedit%d and word%d", j, i, j))
		}
		files.put("MEMORY.md", strings.Join(text, "\n\n"))
		if found := sources(t, v, fmt.Sprintf("edit%d word7", i)); len(found) == 0 ||
			!strings.Contains(found[0], "Heading7 ") {
			t.Fatalf("edit %d finds %q", i, found)
		}
	}
	if n := rows(t, dir); n != 40 {
		t.Errorf("%d vectors, want 40", n)
	}
}

// A question about the last session is answered by what it saved and logged, not by what shares its words; a group by
// its own log only.
func TestWhereDidWeLeaveOff(t *testing.T) {
	t.Parallel()
	day := func(info *fileindex.Info, date string) {
		info.Time, _ = time.Parse(time.DateOnly, date)
	}
	s := &shelf{texts: map[string]string{}}
	for name, text := range map[string]string{
		"MEMORY.md":                           "Where we left off is a pub.",
		"memory/2026-03-08-old.md":            "We left the roof half done.",
		"memory/2026-03-10-retry-queue.md":    "Backoff passes its tests.\n\nWire the dead letter queue.",
		"notes/2026-03-09.md":                 "The landlord comes.",
		"memory/2026-03-11.md":                "One\n\nTwo\n\nThree\n\nFour",
		"memory/2026-03-11-group-hiking.md":   "We left off at the hut.",
		"memory/2026-03-12-group-climbing.md": "We left off below the ridge.",
	} {
		s.put(name, text)
	}
	for i := range s.infos {
		if name := filepath.Base(s.infos[i].Name); name[0] == '2' {
			day(&s.infos[i], name[:10])
		}
	}
	found := func(who audience.Audience, query string) (texts []string) {
		t.Helper()
		v := openWith(t, filepath.Join(t.TempDir(), ".yamo"), who, &bag{}, s)
		if _, err := v.Store(t.Context(), record.Memory{
			Content: "Ana left the choir where we did leave off singing.",
		}, ""); err != nil {
			t.Fatal(err)
		}
		got, err := v.Search(t.Context(), mesh.SearchRequest{Query: query, Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, hit := range got.Hits {
			texts = append(texts, hit.Content)
		}
		return texts
	}
	want := []string{"Backoff passes its tests.", "Wire the dead letter queue.", "Four", "Three", "Two"}
	if diff := cmp.Diff(want, found(audience.DM(), "Where did we leave off?")); diff != "" {
		t.Error(diff)
	}
	if got := found(audience.DM(), "Who left the choir?"); len(got) == 0 || !strings.Contains(got[0], "choir") {
		t.Errorf("a question with a subject finds %q", got)
	}
	group, err := audience.Group("hiking")
	if err != nil {
		t.Fatal(err)
	}
	if got := found(group, "Where did we leave off?"); len(got) == 0 || got[0] != "We left off at the hut." {
		t.Errorf("a group finds %q", got)
	} else if strings.Contains(strings.Join(got, " "), "ridge") || strings.Contains(strings.Join(got, " "), "Four") {
		t.Errorf("a group finds what it did not write: %q", got)
	}
}

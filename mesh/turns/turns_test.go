package turns

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
)

// wordless has no model, so that words decide.
type wordless struct{}

func (wordless) Model() embed.Model { return embed.Model{Name: "none", Dim: 4} }

func (wordless) Embed(context.Context, []string) ([][]float32, error) { return nil, embed.ErrNoAssets }

// logs is a Source of lines, each a user's turn, and notes from where it is read. A line "key: text" has a key.
type logs struct {
	mu    sync.Mutex
	files map[string]string // by name
	times map[string]time.Time
	read  []int64 // offsets from which logs were followed
}

func (s *logs) write(name, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		s.files, s.times = map[string]string{}, map[string]time.Time{}
	}
	s.files[name] = content
	s.times[name] = time.Date(2026, 3, 1, 10, 0, len(s.times)+len(content), 0, time.UTC)
}

func (s *logs) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, name)
}

// followed returns from where logs were read since the last call.
func (s *logs) followed() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	read := s.read
	s.read = nil
	return read
}

func (s *logs) List(context.Context) (list []Log, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, content := range s.files {
		list = append(list, Log{Name: name, SessionID: name, Size: int64(len(content)), Modified: s.times[name]})
	}
	slices.SortFunc(list, func(a, b Log) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func (s *logs) Follow(_ context.Context, l Log, from int64, visit func(Turn) bool) (int64, int, error) {
	s.mu.Lock()
	s.read = append(s.read, from)
	content := s.files[l.Name]
	s.mu.Unlock()
	at := from
	for line := range strings.Lines(content[from:]) {
		if !strings.HasSuffix(line, "\n") {
			return at, 0, nil // being written
		}
		t := turnAt(line, at)
		at += int64(len(line))
		if !visit(t) {
			break
		}
	}
	return at, 0, nil
}

func turnAt(line string, at int64) Turn {
	key, text, keyed := strings.Cut(strings.TrimSpace(line), ": ")
	if !keyed {
		key, text = "", strings.TrimSpace(line)
	}
	return Turn{
		Offset: at, Key: key, Role: "user", Text: text, Spoken: text, Time: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC),
	}
}

func (s *logs) Turns(_ context.Context, l Log, offsets []int64) (list []Turn, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range offsets {
		if content := s.files[l.Name]; at < int64(len(content)) {
			line, _, _ := strings.Cut(content[at:], "\n")
			list = append(list, turnAt(line, at))
		}
	}
	return list, nil
}

func (s *logs) Head(l Log, n int64) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content := s.files[l.Name]
	return []byte(content[:min(int64(len(content)), n, 16)]), nil
}

// fixture is an index of a source, as a process has it.
type fixture struct {
	*Index
	t *testing.T
}

func open(t *testing.T, dir string, s Source) fixture {
	t.Helper()
	x := New(Options{
		Source: s, Dir: filepath.Join(dir, "turns"), Lock: filepath.Join(dir, "turns-lock"), Embedder: wordless{},
		Redact: func(text string) (string, bool) {
			clean := strings.ReplaceAll(text, "hunter2", "[REDACTED:password]")
			return clean, clean == text
		},
		Prepare: func() error { return os.MkdirAll(filepath.Join(dir, "turns"), 0o700) },
	})
	t.Cleanup(func() {
		if err := x.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return fixture{x, t}
}

func (f fixture) update() {
	f.t.Helper()
	if err := f.Update(f.t.Context(), nil); err != nil {
		f.t.Fatal(err)
	}
}

// find returns where the best turn for words is, as the name of the log and the number of the turn, "" for none. Others
// may follow it because they are next to it.
func (f fixture) find(words string) string {
	f.t.Helper()
	found, err := f.Search(f.t.Context(), Query{Text: words, Limit: 10, Now: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		f.t.Fatal(err)
	}
	if len(found.Places) == 0 {
		return ""
	}
	return fmt.Sprint(found.Places[0].Log.Name, " ", found.Places[0].Ordinal)
}

func (f fixture) expect(words, want string) {
	f.t.Helper()
	if got := f.find(words); got != want {
		f.t.Errorf("%q finds %q, want %q", words, got, want)
	}
}

// A log that grows is read from where it ended, by the same process and by the next; a line that is being written, and
// one that a resumed session repeats, are no turns.
func TestGrowth(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), &logs{}
	s.write("a", "k1: the anchor holds\nk2: the rudder is stuck\nhalf of a li")
	x := open(t, dir, s)
	x.update()
	x.expect("rudder", "a 1")
	x.expect("half", "")
	if diff := cmp.Diff([]int64{0}, s.followed()); diff != "" {
		t.Errorf("read from (-want +got):\n%s", diff)
	}
	s.write("a", "k1: the anchor holds\nk2: the rudder is stuck\nhalf of a line\nk1: the anchor holds\nk3: a new sail\n")
	x.update()
	x.expect("sail", "a 3")
	x.expect("anchor", "a 0")
	end := int64(len("k1: the anchor holds\nk2: the rudder is stuck\n"))
	if diff := cmp.Diff([]int64{end}, s.followed()); diff != "" {
		t.Errorf("read from (-want +got):\n%s", diff)
	}
	next := open(t, dir, s)
	next.update()
	next.expect("rudder", "a 1")
	next.expect("half line", "a 2")
	if read := s.followed(); len(read) > 0 {
		t.Errorf("the next process reads again from %v", read)
	}
}

// A log that was replaced, or has become shorter, is read again; of one that is gone nothing is left.
func TestReplacedTruncatedDeleted(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), &logs{}
	s.write("rotated", "the lighthouse of old\nit was white\n")
	s.write("cut", "the harbour of old\nthe crane fell\n")
	s.write("gone", "the ferry of old\n")
	x, other := open(t, dir, s), open(t, dir, s)
	x.update()
	other.update()
	x.expect("lighthouse", "rotated 0")
	x.expect("crane", "cut 1")
	x.expect("ferry", "gone 0")
	s.write("rotated", "another conversation begins\nabout a windmill, at length\n")
	s.write("cut", "the harbour of old\n")
	s.remove("gone")
	x.update()
	for who, x := range map[string]fixture{"the one": x, "the other": other, "the next": open(t, dir, s)} {
		x.update()
		for words, want := range map[string]string{
			"lighthouse": "", "windmill": "rotated 1", "crane": "", "harbour": "cut 0", "ferry": "",
		} {
			if got := x.find(words); got != want {
				t.Errorf("%s: %q finds %q, want %q", who, words, got, want)
			}
		}
	}
	digests, err := filepath.Glob(filepath.Join(dir, "turns", "*.turns"))
	if err != nil || len(digests) != 2 {
		t.Errorf("%d digests of two logs, %v", len(digests), err)
	}
}

// While a process indexes, another one reads no log.
func TestOneProcessAtATime(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), &logs{}
	s.write("a", "the anchor holds\n")
	x := open(t, dir, s)
	if err := x.Prepare(); err != nil {
		t.Fatal(err)
	}
	if err := index.NewLock(x.Lock+".lock").Do(t.Context(), func() error {
		if err := x.follow(t.Context()); err != nil {
			t.Error(err)
		}
		if read := s.followed(); len(read) > 0 {
			t.Errorf("it reads from %v although another process does", read)
		}
		if behind := x.Progress().Behind; behind != 1 {
			t.Errorf("%d logs are behind, want 1", behind)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	x.update()
	x.expect("anchor", "a 0")
}

// A credential is in no file of the index and in no result, and a search for it finds nothing.
func TestRedaction(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), &logs{}
	s.write("a", "the harbour password is hunter2 today\n")
	x := open(t, dir, s)
	x.update()
	found, err := x.Search(t.Context(), Query{Text: "harbour password", Limit: 5, Now: time.Now()})
	if err != nil || len(found.Places) != 1 {
		t.Fatalf("found %+v, %v", found, err)
	}
	if strings.Contains(found.Places[0].Passage, "hunter2") {
		t.Errorf("the result has the credential: %s", found.Places[0].Passage)
	}
	x.expect("hunter2", "")
	err = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, said := range []string{"hunter2", "harbour"} {
			if bytes.Contains(data, []byte(said)) {
				t.Errorf("%s has %q", filepath.Base(path), said)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// An index has what its source gives it, in its own folder.
func TestOwnOnly(t *testing.T) {
	t.Parallel()
	dir, private, group := t.TempDir(), &logs{}, &logs{}
	private.write("a", "the anchor is private\n")
	group.write("a", "the anchor is everybody's\n")
	dm, club := open(t, filepath.Join(dir, "private"), private), open(t, filepath.Join(dir, "club"), group)
	dm.update()
	club.update()
	dm.expect("private", "a 0")
	club.expect("private", "")
	club.expect("everybody", "a 0")
}

// What the index has of a log is deleted with the next search after the log is, and by a process that starts later.
func TestDeletedLog(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), &logs{}
	s.write("a", "the anchor holds\n")
	s.write("b", "the rudder is stuck\n")
	s.write("c", "the keel is dry\n")
	x := open(t, dir, s)
	x.update()
	digests := func() int {
		found, err := filepath.Glob(filepath.Join(dir, "turns", "*.turns"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	if n := digests(); n != 3 {
		t.Fatalf("%d digests of 3 logs", n)
	}
	s.remove("a")
	x.expect("anchor", "")
	if n := digests(); n != 2 {
		t.Errorf("%d digests of 2 logs", n)
	}
	s.remove("b")
	open(t, dir, s).expect("rudder", "")
	if n := digests(); n != 1 {
		t.Errorf("the next process: %d digests of 1 log", n)
	}
}

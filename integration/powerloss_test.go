package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/integration/crash"
	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
)

// A step is something that the program is asked for, and acknowledges.
type step struct {
	adds    string // a word of the text that it adds
	removes string // a word that nothing has afterwards, in memories and files
	forgets string // a word that the record of edits has not afterwards
	ack     int    // the operation that acknowledges it
}

// recording is what the program did to a folder.
type recording struct {
	t      *testing.T
	root   string // has the workspace and the state folder
	disk   *crash.Disk
	ops    []crash.Op
	steps  []step
	strace string
}

func (r *recording) workspace() string { return filepath.Join(r.root, "kate") }

// asker calls a tool as a step, and returns its answer.
type asker = func(made step, tool string, args map[string]any) map[string]any

// run records a process, from its start to its end, and returns its operations.
func (r *recording) run(act func(wrapper []string)) []crash.Op {
	r.t.Helper()
	file := filepath.Join(r.t.TempDir(), "recording")
	act(append([]string{r.strace}, crash.Options(file)...))
	raw, err := os.Open(file)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	ops, err := crash.Read(raw, r.root)
	if err != nil {
		r.t.Fatal(err)
	}
	return ops
}

// session records a conversation. Each call of ask is a step.
func (r *recording) session(act func(s *session, ask asker)) {
	r.t.Helper()
	first := len(r.steps)
	ops := r.run(func(wrapper []string) {
		s := connect(r.t, launch{workspace: r.workspace(), wrapper: wrapper})
		act(s, func(made step, tool string, args map[string]any) map[string]any {
			answer := call[map[string]any](s, tool, args)
			made.ack = s.next // its answer's number, until the trace is read
			r.steps = append(r.steps, made)
			return answer
		})
		s.end()
	})
	at := map[int]int{}
	for i, op := range ops {
		if op.Call != "output" {
			continue
		}
		for line := range bytes.Lines(op.Data) {
			var answer struct {
				ID     int             `json:"id"`
				Result json.RawMessage `json:"result"`
			}
			if json.Unmarshal(line, &answer) == nil && answer.Result != nil {
				at[answer.ID] = len(r.ops) + i
			}
		}
	}
	for i := first; i < len(r.steps); i++ {
		id := r.steps[i].ack
		if r.steps[i].ack = at[id]; at[id] == 0 {
			r.t.Fatalf("the recording has no answer %d", id)
		}
	}
	r.ops = append(r.ops, ops...)
}

// command records a command, which is a step that its first output acknowledges.
func (r *recording) command(made step, args ...string) {
	r.t.Helper()
	ops := r.run(func(wrapper []string) {
		command := append(append(wrapper, serverBinary(r.t)), args...)
		cmd := exec.Command(command[0], append(command[1:], "--workspace", r.workspace())...)
		cmd.Env = launch{workspace: r.workspace()}.environment()
		if output, err := cmd.CombinedOutput(); err != nil {
			r.t.Fatalf("%s: %v\n%s", args, err, output)
		}
	})
	for i, op := range ops {
		if op.Call == "output" {
			made.ack = len(r.ops) + i
			break
		}
	}
	if made.ack == 0 {
		r.t.Fatalf("%s printed nothing", args)
	}
	r.steps = append(r.steps, made)
	r.ops = append(r.ops, ops...)
}

// The machine loses power after any file operation of the program: what was acknowledged is there, once; what was
// erased is not; the program opens what is left and goes on. All states are tried with YAMO_PROVE, otherwise some.
func TestPowerFailure(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not there: it is Linux's, and CI has it")
	}
	parent, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{t: t, root: filepath.Join(parent, "disk"), strace: strace}
	if err := os.CopyFS(r.workspace(), os.DirFS("../testdata/workspaces/kate")); err != nil {
		t.Fatal(err)
	}
	if r.disk, err = crash.Load(r.root); err != nil {
		t.Fatal(err)
	}
	r.live()

	tried, seen := 0, map[string]bool{}
	for i, state := range r.states(seen) {
		tried++
		if t.Run(fmt.Sprintf("%d %s", i, state.kind), func(t *testing.T) { r.check(t, state) }); t.Failed() && tried > 3 {
			break
		}
	}
	t.Logf("%d operations leave %d different states, of which %d were tried", len(r.ops), len(seen), tried)
}

// live records the work that the states are made of: every kind of store, in several processes.
func (r *recording) live() {
	edit := func(item string) map[string]any {
		return map[string]any{
			"file": "MEMORY.md", "section": "People", "op": "append_item", "items": []string{item},
			"rationale": "A gossip said so.",
		}
	}
	r.session(func(s *session, ask asker) {
		ask(step{adds: "heron"}, "memory_store", map[string]any{"content": "A heron nests at the mill pond."})
		ask(step{adds: "gondola"}, "memory_store", map[string]any{
			"content": "The gondola to the island leaves at nine.", "visibility": "shared",
		})
		ask(step{adds: "Ottilie"}, "workspace_edit", edit("Ottilie plays the cello."))
		secret := ask(step{adds: "walnut"}, "memory_store", map[string]any{"content": "The key is under the walnut tree."})
		ask(step{adds: "orchard"}, "log_append", map[string]any{"text": "We picked apples in the orchard."})
		// So that vectors and tables have it, too.
		call[answer](s, "memory_search", map[string]any{"query": "Where is the key?"})
		ask(step{removes: "walnut"}, "memory_delete", map[string]any{"id": secret["id"], "confirm": true})
		ask(step{adds: "Balthasar"}, "workspace_edit", edit("Balthasar repairs clocks."))
		ask(step{adds: "quarry"}, "memory_file", map[string]any{
			"action": "save", "type": "daily-log", "topic": "walks",
			"sections": []map[string]any{{"heading": "Summary", "text": "The quarry is closed in winter."}},
		})
	})
	r.command(step{adds: "lantern"}, "mesh", "store", "--content", "The lantern needs a new wick.")
	r.command(step{forgets: "gossip"}, "record", "erase", "MEMORY.md")
	r.command(step{removes: "heron"}, "forget", "heron", "--yes")
	list := filepath.Join(r.t.TempDir(), "list")
	write(r.t, list, "wick\n")
	r.command(step{removes: "wick"}, "rescan", "--redact-list", list, "--yes")
}

// left is a state that a power failure leaves.
type left struct {
	kind  crash.Kind
	op    int // it came after this many operations
	files map[string]string
}

// states returns different states, by the number of operations and kind.
func (r *recording) states(seen map[string]bool) []left {
	r.t.Helper()
	var all []left
	for i, op := range r.ops {
		if err := r.disk.Apply(op); err != nil {
			r.t.Fatal(err)
		}
		// LanceDB's tables are rebuilt from the rest. What they are at the other operations is enough.
		if strings.Contains(op.Path, "/lance/") || op.Call == "lseek" || op.Call == "barrier" {
			continue
		}
		for _, kind := range crash.Kinds {
			state := left{kind, i + 1, r.disk.State(kind)}
			if key := fmt.Sprint(state.files); !seen[key] {
				seen[key] = true
				all = append(all, state)
			}
		}
	}
	if testsize.Full() {
		return all
	}
	const few = 6
	var some []left
	for i := range few {
		some = append(some, all[(2*i+1)*len(all)/(2*few)])
	}
	return some
}

// check lets the program open a state.
func (r *recording) check(t *testing.T, state left) {
	if err := crash.Restore(r.root, state.files); err != nil {
		t.Fatal(err)
	}
	s := connect(t, launch{workspace: r.workspace(), cache: t.TempDir()}) // without the model, which takes a second
	mark := "Mark" + strconv.Itoa(state.op)
	call[stored](s, "memory_store", map[string]any{"content": mark + " is a new memory."})
	call[map[string]any](s, "workspace_edit", map[string]any{
		"file": "MEMORY.md", "section": "People", "op": "append_item", "items": []string{mark + " is new."},
		"rationale": "New.",
	})
	s.end()
	verifyLedgers(t, r.workspace())
	cmd := exec.Command(serverBinary(t), "record", "verify", "--workspace", r.workspace())
	cmd.Env = launch{workspace: r.workspace()}.environment()
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("record verify: %v\n%s", err, output)
	}
	text := everything(t, r.workspace())
	if n := strings.Count(text, mark); n != 2 {
		t.Errorf("a new memory and edit are there %d times\n%s", n, text)
	}
	r.compare(t, state, text)
}

// compare checks each word: its number in memories and files, and that what was erased is in no ledger.
func (r *recording) compare(t *testing.T, state left, text string) {
	acknowledged := func(s step) bool { return s.ack < state.op }
	least, most := map[string]int{}, map[string]int{}
	gone := map[string]bool{}
	for i, s := range r.steps {
		begun := i == 0 || acknowledged(r.steps[i-1])
		if s.adds != "" {
			least[s.adds], most[s.adds] = 0, 0
			if begun {
				most[s.adds] = 1
			}
			if acknowledged(s) {
				least[s.adds] = 1
			}
		}
		if s.removes != "" && begun {
			least[s.removes] = 0
		}
		if s.removes != "" && acknowledged(s) {
			most[s.removes], gone[s.removes] = 0, true
		}
		// Before the check's own edit, with which the record starts again.
		if record := state.files["kate/.yamo/private/edits.ndjson"]; s.forgets != "" && acknowledged(s) &&
			(record == "" || strings.Contains(record, s.forgets)) {
			t.Errorf("the record of edits is %d bytes long and still has %q", len(record), s.forgets)
		}
	}
	for word := range most {
		if n := strings.Count(text, word); n < least[word] || n > most[word] {
			t.Errorf("%s is there %d times, want %d to %d", word, n, least[word], most[word])
		}
	}
	for path, content := range state.files {
		for word := range gone {
			if strings.HasSuffix(path, ".ndjson") && strings.Contains(content, word) {
				t.Errorf("%s still has %s", path, word)
			}
		}
	}
}

// everything returns the text of all memories and Markdown files.
func everything(t *testing.T, workspace string) (text string) {
	t.Helper()
	for _, contents := range exported(t, workspace) {
		text += strings.Join(contents, "\n") + "\n"
	}
	err := filepath.WalkDir(workspace, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".md") {
			return err
		}
		data, err := os.ReadFile(path)
		text += string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

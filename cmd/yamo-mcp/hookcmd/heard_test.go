package hookcmd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// hostLog is the log that a host keeps of a session.
type hostLog struct {
	t    *testing.T
	path string
	rows int
}

func (l *hostLog) add(role, text string) {
	l.t.Helper()
	l.rows++
	l.repeat(l.rows, role, text)
}

// repeat writes the row with a number.
func (l *hostLog) repeat(row int, role, text string) {
	l.t.Helper()
	line, err := json.Marshal(map[string]any{
		"type": role, "uuid": fmt.Sprint("row-", row), "message": map[string]any{"role": role, "content": text},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.append(string(line) + "\n")
}

func (l *hostLog) append(text string) {
	l.t.Helper()
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := file.WriteString(text); err != nil {
		l.t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		l.t.Fatal(err)
	}
}

// stopped returns the sides and texts that a Stop records.
func stopped(r *run, s *state, prompt, answer string) (list []string) {
	a := asked{Number: s.Answered}
	if prompt != "" {
		a.Prompt, a.Number = prompt, a.Number+1
	}
	s.Path, r.in.LastMessage = r.in.TranscriptPath, answer
	for _, t := range r.turns(s, a) {
		side := "agent: "
		if t.user {
			side = "user: "
		}
		list = append(list, side+t.text)
	}
	return list
}

func newRun(t *testing.T) (*run, *hostLog) {
	t.Helper()
	r := &run{Command: &cli.Command{}}
	r.Config.Workspace = t.TempDir()
	log := &hostLog{t: t, path: filepath.Join(t.TempDir(), "session.jsonl")}
	r.in.TranscriptPath = log.path
	return r, log
}

// A session of which the log is ahead, behind, torn and repeated: each turn is recorded once, in its order.
func TestTurnsAreRecordedOnce(t *testing.T) {
	t.Parallel()
	r, log := newRun(t)
	s := &state{Log: mark(log.path)}
	for _, step := range []struct {
		name           string
		write          func()
		prompt, answer string
		want           []string
	}{
		{
			"the log lacks everything", func() {}, "Where is the pump?", "In the shed.",
			[]string{"user: Where is the pump?", "agent: In the shed."},
		},
		{"the same event again", func() {}, "", "In the shed.", nil},
		{"the log has caught up, and has a remark and an interjection", func() {
			log.add("user", "Where is the pump?")
			log.add("assistant", "In the shed.")
			log.add("user", "Repair it.")
			log.add("assistant", "I am going to take the lid off and look at the valve first.")
			log.add("user", "Careful, it is hot.")
			log.add("assistant", "It runs again.")
		}, "Careful, it is hot.", "It runs again.", []string{
			"user: Repair it.", "agent: I am going to take the lid off and look at the valve first.",
			"user: Careful, it is hot.", "agent: It runs again.",
		}},
		{"the same event again, with the log", func() {}, "", "It runs again.", nil},
		{"resuming repeats rows", func() {
			log.repeat(1, "user", "Where is the pump?")
			log.repeat(6, "assistant", "It runs again.")
			log.add("user", "Thanks.")
		}, "Thanks.", "Welcome.", []string{"user: Thanks.", "agent: Welcome."}},
		{"the same words again are another turn", func() {
			log.add("assistant", "Welcome.")
			log.add("user", "Thanks.")
			log.add("assistant", "Welcome.")
			log.append(`{"type":"user","message":{"role":"us`)
		}, "Thanks.", "Welcome.", []string{"user: Thanks.", "agent: Welcome."}},
		{"a torn row is whole later", func() {
			log.append("er\",\"content\":\"One more?\"}}\n")
		}, "One more?", "No.", []string{"user: One more?", "agent: No."}},
	} {
		step.write()
		if diff := cmp.Diff(step.want, stopped(r, s, step.prompt, step.answer)); diff != "" {
			t.Errorf("%s:\n%s", step.name, diff)
		}
	}
}

// counter is a list of secrets that has none, and counts what is looked at.
type counter struct{ texts, longest int }

func (c *counter) Detect(text string) []scrub.Finding {
	c.texts, c.longest = c.texts+1, max(c.longest, len(text))
	return nil
}

// A hook that reads much at once looks at a part of it, and the next one goes on where it ended.
func TestMuchIsReadAtOnce(t *testing.T) {
	t.Parallel()
	r, log := newRun(t)
	looked := &counter{}
	r.who, r.list = audience.DM(), looked
	s := &state{Log: mark(log.path)}
	if got := stopped(r, s, "Repair the pump.", "I begin."); len(got) != 2 {
		t.Fatalf("recorded %q", got)
	}
	log.add("user", "Repair the pump.")
	log.add("assistant", "I begin.")
	log.add("user", "I live in Porto now. "+strings.Repeat("water ", 100_000))
	var rows strings.Builder
	for i := range 3000 {
		for _, role := range []string{"user", "assistant"} {
			fmt.Fprintf(&rows, `{"type":%[1]q,"uuid":"%[1]s-%[2]d","message":{"role":%[1]q,`+
				`"content":"I prefer the %[2]dth valve."}}`+"\n", role, i)
		}
	}
	log.append(rows.String())
	*looked = counter{}
	list := stopped(r, s, "Which valve?", "The last one.")
	if n := len(list); n < maxTurns || n > firstTurns+lastTurns {
		t.Errorf("%d turns are recorded at once", n)
	}
	first, last := list[0], list[len(list)-1]
	if !strings.HasPrefix(first, "user: I live in Porto now.") || last != "agent: The last one." {
		t.Errorf("from %.30q to %q", first, last)
	}
	if most := 2 * (firstTurns + lastTurns); looked.texts > most || looked.longest > turnChars {
		t.Errorf("%d texts are looked at, the longest of %d bytes; want at most %d and %d",
			looked.texts, looked.longest, most, turnChars)
	}
	if n := len(r.stated); n != maxStated || r.stated[n-1].Text != "I prefer the 2999th valve" {
		t.Errorf("statements: %v", r.stated)
	}
	log.add("user", "Which valve?")
	log.add("assistant", "The last one.")
	want := []string{"user: Repair the pump.", "agent: I begin."}
	log.add("user", "Repair the pump.")
	log.add("assistant", "I begin.")
	if diff := cmp.Diff(want, stopped(r, s, "Repair the pump.", "I begin.")); diff != "" {
		t.Errorf("afterwards:\n%s", diff)
	}
}

// Hooks that begin in the middle of a session record what was said before, once. What a resumed session has said is not
// new, nor is what its next log repeats.
func TestTurnsOfAnOlderSession(t *testing.T) {
	t.Parallel()
	r, log := newRun(t)
	log.add("user", "An old question.")
	log.add("assistant", "An old answer.")
	log.add("user", "A new one.")
	log.add("assistant", "A new answer.")
	want := []string{
		"user: An old question.", "agent: An old answer.", "user: A new one.", "agent: A new answer.",
	}
	s := &state{}
	if diff := cmp.Diff(want, stopped(r, s, "A new one.", "A new answer.")); diff != "" {
		t.Error(diff)
	}
	if again := stopped(r, s, "", "A new answer."); len(again) > 0 {
		t.Errorf("records again %q", again)
	}
	if diff := cmp.Diff(want[2:], stopped(r, &state{Log: "another"}, "A new one.", "A new answer.")); diff != "" {
		t.Errorf("in another log:\n%s", diff)
	}
	s = &state{Log: mark(log.path), Read: r.transcriptSize(log.path)}
	if diff := cmp.Diff([]string{"user: Go on.", "agent: Done."}, stopped(r, s, "Go on.", "Done.")); diff != "" {
		t.Errorf("after resuming:\n%s", diff)
	}
}

// The host's log is only read where it can be one.
func TestTranscriptsThatAreNotRead(t *testing.T) {
	t.Parallel()
	r, log := newRun(t)
	log.add("user", "Said.")
	if r.openTranscript(log.path) == nil {
		t.Fatal("a log is not read")
	}
	inside := filepath.Join(r.Config.Workspace, "groups.jsonl")
	link := filepath.Join(t.TempDir(), "link.jsonl")
	folder := filepath.Join(t.TempDir(), "folder.jsonl")
	through := filepath.Join(t.TempDir(), "through")
	for path, err := range map[string]error{
		inside: os.WriteFile(inside, []byte("{}\n"), 0o600), link: os.Symlink(inside, link),
		folder: os.Mkdir(folder, 0o700), through: os.Symlink(r.Config.Workspace, through),
	} {
		if err != nil {
			t.Fatal(path, err)
		}
	}
	for _, path := range []string{
		"", "session.jsonl", "/etc/passwd", inside, link, folder, filepath.Join(through, "groups.jsonl"),
		log.path + "/../gone.jsonl",
	} {
		if r.openTranscript(path) != nil {
			t.Errorf("%s is read", path)
		}
	}
}

// A hook that was killed while it wrote to the log is completed by the next one, whether its addition is there or not.
func TestInterruptedWrite(t *testing.T) {
	t.Parallel()
	r, _ := newRun(t)
	r.who, r.now, r.Getenv = audience.DM(), time.Now(), func(string) string { return "" }
	r.Config = config.Default()
	r.Config.Workspace = filepath.Join(t.TempDir(), "agent")
	profile := &workspace.Profile{Name: "Kit", Role: "an assistant", User: "Ana", Timezone: "America/Bogota"}
	if _, _, err := workspace.Init(t.Context(), r.Config.Workspace, profile); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.folder, err = openFolder(r.Config.Workspace, r.who); err != nil {
		t.Fatal(err)
	}
	const name, first, second = "session-1.json", "- **User:** <b>Where</b> is the pump?", "- **User:** And now?"
	for _, step := range []struct {
		pending string
		prompt  string
		want    []string
	}{
		{first, "", []string{first}},
		{first, "", []string{first}},
		{first, "And now?", []string{first, second}},
		{second, "", []string{first, second}},
	} {
		s := state{Started: r.now, Logged: true, Pending: &entry{Time: r.now, Body: step.pending}}
		if err := r.record(t.Context(), name, &s, asked{Prompt: step.prompt, Number: 1}); err != nil {
			t.Fatal(err)
		}
		if saved, ok := r.folder.load(name); !ok || saved.Pending != nil {
			t.Errorf("after %q the state still has what it wrote", step.pending)
		}
		logs, err := filepath.Glob(filepath.Join(r.Config.Workspace, "memory", "2*.md"))
		if err != nil || len(logs) != 1 {
			t.Fatal(logs, err)
		}
		data, err := os.ReadFile(logs[0])
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, "- ") {
				got = append(got, strings.ReplaceAll(strings.TrimSpace(line), `\<`, "<"))
			}
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("after %q:\n%s", step.pending, diff)
		}
	}
}

func TestFormatTurns(t *testing.T) {
	t.Parallel()
	remark := strings.Repeat("I look at the valve. ", 20)
	got := formatTurns([]turn{
		{user: true, text: "Repair it."}, {text: "Let me look."}, {text: remark}, {text: "Done."}, {user: true, text: "Ok"},
	})
	want := "- **User:** Repair it.\n- **Agent:** " + remark[:remarkChars] + "…\n- **Agent:** Done.\n- **User:** Ok"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var many []turn
	for i := range 40 {
		many = append(many, turn{user: i%2 == 0, text: fmt.Sprint("turn ", i)})
	}
	lines := strings.Split(formatTurns(many), "\n")
	if len(lines) != maxTurns+1 {
		t.Errorf("%d lines of 40 turns", len(lines))
	}
	for i, want := range map[int]string{0: "turn 0", 2: "- […]", 12: "turn 39"} {
		if i < len(lines) && !strings.Contains(lines[i], want) {
			t.Errorf("line %d is %q, not %q", i, lines[i], want)
		}
	}
}

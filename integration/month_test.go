package integration

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/golden"
)

// month is a workspace whose story a test lives day by day: testdata/month/story.txt.
type month struct {
	t      *testing.T
	clock  otherDay
	launch launch
	dm     *session // nil between the days
	market *session // of the group, nil unless it speaks
	stored bool     // something was, since the last question of the day
	ids    map[string]string
	// hostile are the texts of those who want to talk the agent into something.
	hostile []string
	// before are the files as they were before the last sweep.
	before map[string]string
}

// sources are what memories are stored with, by the word that begins a line of the story.
var sources = map[string]string{
	"user": "user", "assistant": "assistant", "nobody": "", "page": "https://flour-deals.example/offers",
	"tool": "the price tool",
}

// dreamedFiles are what sweeps write.
var dreamedFiles = []string{"MEMORY.md", "DREAMS.md"}

// A month of a bakery: what its owner tells, asks and corrects, what she writes into MEMORY.md by hand, what a group,
// web pages and tools would like the agent to believe, and a sweep at the end of each day, as a host's heartbeat makes
// it. At its end MEMORY.md is a page that a person would have written, and no line of it is without an author.
func TestMonth(t *testing.T) {
	t.Parallel()
	m := &month{t: t, clock: ofAnotherDay(t), ids: map[string]string{}, before: map[string]string{}}
	m.launch = launch{workspace: filepath.Join(t.TempDir(), "agent"), program: m.clock.program}
	first := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m.clock.set(first)
	m.run("init", m.launch.workspace, "--yes", "--name", "Ida", "--user", "Marta", "--timezone", "Europe/Lisbon")
	others := map[string]string{}
	for _, name := range []string{"AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md", "HEARTBEAT.md"} {
		others[name] = m.read(name)
	}
	m.live(filepath.Join("testdata", "month", "story.txt"))

	page := m.read("MEMORY.md")
	m.isAPage(page)
	golden.Assert(t, settled(page), "month/MEMORY.md")
	golden.Assert(t, m.authors(page), "month/why.txt")
	for name, text := range others {
		if got := m.read(name); got != text {
			t.Errorf("%s was changed:\n%s", name, got)
		}
	}
	for _, text := range m.hostile {
		for name := range others {
			if strings.Contains(m.read(name), text) {
				t.Errorf("%s has %q", name, text)
			}
		}
		if strings.Contains(page, text) {
			t.Errorf("MEMORY.md has %q", text)
		}
		for line := range strings.Lines(m.read("DREAMS.md")) { // which a person reads
			if strings.Contains(line, text) && !strings.HasPrefix(line, "- Held for confirmation: ") {
				t.Errorf("DREAMS.md has %q", line)
			}
		}
	}
	m.takesBack()
}

// live does what the lines of a story say.
func (m *month) live(name string) {
	m.t.Helper()
	file, err := os.Open(name)
	if err != nil {
		m.t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		if day, ok := strings.CutPrefix(line, "day "); ok {
			m.endDay()
			m.beginDay(day)
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		verb, text, _ := strings.Cut(line, ":")
		verb, hostile := strings.CutPrefix(verb, "!")
		if text = strings.TrimPrefix(text, " "); hostile {
			m.hostile = append(m.hostile, text)
		}
		m.do(verb, text)
	}
	if err := lines.Err(); err != nil {
		m.t.Fatal(err)
	}
	m.endDay()
}

// do does what one line of the story says.
func (m *month) do(verb, text string) {
	m.t.Helper()
	if m.market != nil && !strings.HasPrefix(verb, "market") {
		m.market.end()
		m.market = nil
	}
	old, changed, _ := strings.Cut(text, " =>")
	changed = strings.TrimPrefix(changed, " ")
	switch verb {
	case "ask":
		m.ask(text)
	case "log":
		call[map[string]any](m.dm, "log_append", map[string]any{"text": text})
	case "market", "market memory":
		if m.market == nil {
			m.market = connect(m.t, launch{workspace: m.launch.workspace, program: m.launch.program, group: "market"})
		}
		if verb == "market" {
			call[map[string]any](m.market, "log_append", map[string]any{"text": "- **Eve:** " + text})
			return
		}
		m.ids[text] = m.market.store(text, nil).ID
		m.stored = true
	case "correct":
		m.store(changed, map[string]any{"source": "user", "supersedes": []string{m.ids[old]}})
	case "curate":
		call[map[string]any](m.dm, "curate_memory", map[string]any{
			"section": "Lessons", "add": []string{text}, "rationale": "Marta said so",
		})
	case "hand", "hand+":
		m.byHand(verb, old, changed)
	case "confirm", "reject":
		m.run("dream", "--"+verb, m.ids[text], "--workspace", m.launch.workspace)
	default:
		source, ok := sources[verb]
		if !ok {
			m.t.Fatalf("the story has a line %q", verb)
		}
		m.store(text, map[string]any{"source": source})
	}
}

// store stores a memory of the DM.
func (m *month) store(text string, more map[string]any) {
	m.t.Helper()
	if more["source"] == "" {
		delete(more, "source")
	}
	m.ids[text] = m.dm.store(text, more).ID
	m.stored = true
}

// ask asks what a model would, once all that is stored has its vector: a question counts as it is first answered.
func (m *month) ask(question string) {
	m.t.Helper()
	for deadline := time.Now().Add(patience); m.stored; { // lessons leave no trace in what is recalled
		got := call[struct{ Semantic string }](m.dm, "lessons", map[string]any{"query": question})
		if m.stored = strings.HasPrefix(got.Semantic, "pending:"); m.stored && time.Now().After(deadline) {
			m.t.Fatalf("after %v lessons are still %s", patience, got.Semantic)
		}
	}
	m.dm.search(question, nil)
}

// byHand is Marta in her text editor: she replaces the line that begins with old, removes it, or adds one at the end.
func (m *month) byHand(verb, old, changed string) {
	m.t.Helper()
	text := m.read("MEMORY.md")
	switch line := regexp.MustCompile("(?m)^" + regexp.QuoteMeta(old) + ".*\n"); {
	case verb == "hand+":
		text += old + "\n"
	case len(line.FindAllString(text, -1)) != 1:
		m.t.Fatalf("MEMORY.md has not one line %q:\n%s", old, text)
	case changed == "":
		text = line.ReplaceAllLiteralString(text, "")
	default:
		text = strings.Replace(text, old, changed, 1)
	}
	if err := os.WriteFile(filepath.Join(m.launch.workspace, "MEMORY.md"), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// beginDay starts the host in the evening of a day.
func (m *month) beginDay(day string) {
	m.t.Helper()
	evening, err := time.Parse("2006-01-02 15:04", day+" 20:00")
	if err != nil {
		m.t.Fatal(err)
	}
	m.clock.set(evening)
	m.dm = connect(m.t, m.launch)
}

// endDay beats the heart, which dreams once a day, and ends the host.
func (m *month) endDay() {
	m.t.Helper()
	if m.dm == nil {
		return
	}
	for _, name := range dreamedFiles {
		if _, err := os.Stat(filepath.Join(m.launch.workspace, name)); err == nil {
			m.before[name] = m.read(name)
		}
	}
	beat := call[struct {
		Dreamed map[string]any
	}](m.dm, "heartbeat", map[string]any{"action": "due"})
	if beat.Dreamed == nil || beat.Dreamed["problem"] != nil {
		m.t.Errorf("the day ends with the dream %v", beat.Dreamed)
	}
	m.dm.end()
	m.dm = nil
}

// isAPage checks what a person would do when they write a page: few lines, each with its date, none twice, no heading
// without a line.
func (m *month) isAPage(page string) {
	m.t.Helper()
	if n := len([]rune(page)); n > 12_000 {
		m.t.Errorf("a session does not load all of MEMORY.md: %d characters", n)
	}
	seen := map[string]bool{}
	heading := ""
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			if heading != "" {
				m.t.Errorf("%q has no line", heading)
			}
			heading = line
		case line != "":
			heading = ""
		}
		if !strings.HasPrefix(line, "- ") {
			continue
		}
		if strings.Contains(line, "_(score=") && !dated.MatchString(line) {
			m.t.Errorf("%q has no date", line)
		}
		bare := strings.ToLower(dated.ReplaceAllString(scored.ReplaceAllString(line, ""), ""))
		if seen[bare] {
			m.t.Errorf("%q is there twice", line)
		}
		seen[bare] = true
	}
	if heading != "" {
		m.t.Errorf("%q has no line", heading)
	}
}

var (
	dated    = regexp.MustCompile(`^- [0-9]{4}-[0-9]{2}-[0-9]{2}: `)
	scored   = regexp.MustCompile(` _\(score=[0-9.]+, hits=[0-9]+, days=[0-9]+\)_`)
	minute   = regexp.MustCompile(`(20[0-9]{2}-[0-9]{2}-[0-9]{2})[T ][0-9:.]+(Z| UTC)`)
	eventIDs = regexp.MustCompile(`\b(ev:)?[0-9A-HJKMNP-TV-Z]{26}(@[0-9a-f]+)?|\bmem_[0-9a-f_]+`)
)

// settled is a page without what differs between machines: minutes, ids, and the last digits of scores, by which
// the items of a sweep are in order.
func settled(page string) string {
	page = eventIDs.ReplaceAllString(minute.ReplaceAllString(scored.ReplaceAllString(page, ""), "$1"), "ID")
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		end := i
		for end < len(lines) && strings.HasPrefix(lines[end], "- ") {
			end++
		}
		slices.Sort(lines[i:end])
		i = max(i, end-1)
	}
	return strings.Join(lines, "\n")
}

// authors asks yamo-mcp why about each line of MEMORY.md, which must know who wrote it, and returns what it answers
// about the items, sorted.
func (m *month) authors(page string) string {
	m.t.Helper()
	var items []string
	for i, line := range strings.Split(page, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var answers []struct {
			Who   string
			Event *struct{}
			Rests []struct {
				Said string `json:"said_by"`
				Gone string
			} `json:"rests_on"`
		}
		said := m.run("why", "MEMORY.md:"+strconv.Itoa(i+1), "--json", "--workspace", m.launch.workspace)
		if err := json.Unmarshal([]byte(said), &answers); err != nil || len(answers) != 1 {
			m.t.Fatalf("why MEMORY.md:%d: %v\n%s", i+1, err, said)
		}
		a := answers[0]
		if a.Event == nil || a.Who == "" {
			m.t.Errorf("no one wrote %q", line)
		}
		if !strings.HasPrefix(line, "- ") {
			continue
		}
		told := line + "\n  " + a.Who + "\n"
		for _, rest := range a.Rests {
			told += "  said by: " + rest.Said + "\n"
		}
		dreamed := strings.HasPrefix(a.Who, "a dream ")
		if dreamed && (len(a.Rests) != 1 || a.Rests[0].Said == "" || a.Rests[0].Gone != "") {
			m.t.Errorf("a dream wrote it, but who said it?\n%s", told)
		}
		items = append(items, settled(told))
	}
	slices.Sort(items)
	return strings.Join(items, "")
}

// takesBack checks that the last sweep can be taken back, and stays so.
func (m *month) takesBack() {
	m.t.Helper()
	after := map[string]string{}
	for _, name := range dreamedFiles {
		after[name] = m.read(name)
	}
	if maps.Equal(after, m.before) {
		m.t.Fatal("the last sweep changed nothing")
	}
	out := m.run("dream", "--undo", "--workspace", m.launch.workspace)
	for _, name := range dreamedFiles {
		if got := m.read(name); got != m.before[name] {
			m.t.Errorf("%s was\n%s\nand after %s it is\n%s", name, m.before[name], out, got)
		}
	}
	if again := m.run("dream", "--workspace", m.launch.workspace); !strings.HasSuffix(again, "nothing promoted\n") {
		m.t.Errorf("the next sweep promotes what was taken back:\n%s", again)
	}
	for _, name := range dreamedFiles {
		if got := m.read(name); got != m.before[name] {
			m.t.Errorf("the next sweep makes %s\n%s", name, got)
		}
	}
	m.run("record", "verify", "--workspace", m.launch.workspace)
}

// run runs a command of the program.
func (m *month) run(args ...string) string {
	m.t.Helper()
	cmd := exec.Command(m.clock.program, args...)
	cmd.Env = m.launch.environment()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		m.t.Fatalf("%q: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

func (m *month) read(name string) string {
	m.t.Helper()
	data, err := os.ReadFile(filepath.Join(m.launch.workspace, name))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(data)
}

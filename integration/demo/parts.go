package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// meet connects as a DM and looks around.
func (w *walk) meet() (err error) {
	w.title("A direct conversation (DM): only the agent and its user")
	w.ask("yamo-mcp serve --workspace kate --connection dm")
	if w.dm, err = start(w.ctx, w.server, w.workspace, ""); err != nil {
		return err
	}
	w.reply("connected, protocol %s", w.dm.ProtocolVersion())
	var me struct {
		Connection string
		Identity   struct{ Name, Creature, Vibe string }
		Dir        string `json:"workspace_dir"`
	}
	w.ask("who_am_i")
	if err := w.dm.call(w.ctx, "who_am_i", nil, &me); err != nil {
		return err
	}
	w.reply("%s, %s, %s; connection %s", me.Identity.Name, me.Identity.Creature, me.Identity.Vibe, me.Connection)
	if err := w.check(
		me.Connection == "dm" && me.Identity.Name == "Kate" && me.Dir != "",
		"it is Kate, in a DM, and knows where its workspace is",
	); err != nil {
		return err
	}
	w.ask("resources/list")
	names, err := w.dm.resources(w.ctx)
	if err != nil {
		return err
	}
	w.reply("%s", strings.Join(names, "  "))
	return w.check(slices.Contains(names, "MEMORY.md") && slices.Contains(names, "USER.md"),
		"MEMORY.md and USER.md are among them")
}

// conversations is what is remembered of a few sessions, and the kinds that are redacted from it.
var conversations = []struct {
	session, content string
	redacted         []string
}{
	{"greenhouse", "The second-hand glass arrives on 7 March; Teo drives it from Setúbal in his van.", nil},
	{"greenhouse", "Mira waters the seedlings before breakfast because the midday sun scorches wet leaves.", nil},
	{"museum", "The museum pays the lecture fee within thirty days of receiving an invoice.", nil},
	{
		"museum",
		"Professor Okonjo prefers to be reached at okonjo@museum-of-the-sea.org, never by telephone.",
		[]string{"email"},
	},
	{"home", "Mira is allergic to hazelnuts; even traces in pastry make her throat swell.", nil},
	{"home", "The neighbour's dog barks at night whenever the porch light stays on.", nil},
	{"travel", "The sleeper berth to Oslo is booked for 3 May, upper bunk, carriage twelve.", nil},
	{
		"travel",
		"The weather service API is called with the token " + "ghp_" + "R4nD0mL00k1ngT0k3nF0rTh3D3m0Aa1Bb2Cc.",
		[]string{"api_key"},
	},
}

// remember stores what was said in a few sessions.
func (w *walk) remember() error {
	w.title("Remembering: memory_store")
	for _, c := range conversations {
		w.ask("%s", c.content)
		got, err := w.dm.store(w.ctx, map[string]any{"content": c.content, "session_id": c.session})
		if err != nil {
			return err
		}
		var kinds []string
		for _, r := range got.Redactions {
			kinds = append(kinds, r.Kind)
		}
		if len(c.redacted) == 0 {
			w.reply("stored, %s", got.Visibility)
		} else {
			w.reply("stored, %s; redacted: %s", got.Visibility, strings.Join(kinds, ", "))
		}
		if got.Visibility != "private" || !slices.Equal(kinds, c.redacted) {
			return w.check(false, "it is private, and redacted from it are %v (not %v)", c.redacted, kinds)
		}
	}
	found, err := w.dm.search(w.ctx,
		map[string]any{"query": "How do I reach the professor, and how is the weather service called?"})
	if err != nil {
		return err
	}
	for _, m := range found.Results {
		if strings.Contains(m.Content, "redact") || strings.Contains(m.Content, "REDACT") {
			w.reply("%s", m.Content)
		}
	}
	for _, secret := range []string{"okonjo@", "ghp_"} {
		file, err := w.fileWith(secret)
		if err != nil {
			return err
		}
		if file != "" {
			return w.check(false, "%s is in no file (%s has it)", secret, file)
		}
	}
	return w.check(true, "all are private, and neither the address nor the token is in any file of the workspace")
}

// fileWith is a file of the workspace that contains text, "" if none does.
func (w *walk) fileWith(text string) (name string, err error) {
	err = filepath.WalkDir(w.workspace, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			name = path
		}
		return err
	})
	return name, err
}

// questions share no word with the memory that answers them.
var questions = []struct{ query, answer string }{
	{"How do we travel into Norway?", "sleeper berth"},
	{"When do speakers get their money?", "lecture fee"},
	{"Which animal disturbs our sleep?", "dog barks"},
}

// recall finds memories by meaning.
func (w *walk) recall() error {
	w.title("Finding by meaning: memory_search")
	w.say("No question shares a word with the memory that answers it. " +
		"(type: global, so that only what was stored is searched, not the files of the workspace)")
	fmt.Fprintln(w.out)
	for _, q := range questions {
		w.ask("%s", q.query)
		found, err := w.dm.search(w.ctx, map[string]any{"query": q.query, "limit": 2, "type": "global"})
		if err != nil {
			return err
		}
		w.show(found.Results)
		if len(found.Results) == 0 || !strings.Contains(found.Results[0].Content, q.answer) {
			return w.check(false, "the memory with %q comes first for %q", q.answer, q.query)
		}
		if word := common(q.query, found.Results[0].Content); word != "" {
			return w.check(false, "%q shares no word with its answer (%s)", q.query, word)
		}
	}
	return w.check(true, "the right memory came first each time, although no words match")
}

// learn learns one lesson twice.
func (w *walk) learn() error {
	w.title("Learning from a mistake, once: distill_lesson")
	args := map[string]any{
		"situation":         "The irrigation pump ran for six hours",
		"error_pattern":     "renamed_device_not_checked",
		"oversight":         "The script was not tried after a valve was renamed",
		"fix":               "The script stops at a name it does not know",
		"preventative_rule": "Run the irrigation script with --dry-run after every change of the valves",
		"severity":          "high",
		"applicable_scope":  "greenhouse automation",
		"confidence":        0.9,
	}
	var lessons [2]struct {
		ID      string `json:"lesson_id"`
		Created bool
	}
	for i := range lessons {
		w.ask("error_pattern %s: %s", args["error_pattern"], args["preventative_rule"])
		if err := w.dm.call(w.ctx, "distill_lesson", args, &lessons[i]); err != nil {
			return err
		}
		w.reply("created: %t", lessons[i].Created)
	}
	if err := w.check(
		lessons[0].Created && !lessons[1].Created && lessons[0].ID == lessons[1].ID,
		"the second call returns the same lesson",
	); err != nil {
		return err
	}
	query := "I am about to change the watering program"
	w.ask("%s (include_lessons)", query)
	found, err := w.dm.search(w.ctx, map[string]any{"query": query, "limit": 1, "include_lessons": true})
	if err != nil {
		return err
	}
	for _, l := range found.Lessons {
		w.reply("lesson, %s: %s", l.Severity, l.PreventativeRule)
	}
	return w.check(len(found.Lessons) == 1 && strings.Contains(found.Lessons[0].PreventativeRule, "--dry-run"),
		"the lesson is returned with the search results")
}

// read reads the two files that only a DM has.
func (w *walk) read() error {
	w.title("The agent's own files, in the DM")
	for name, expected := range map[string]string{"MEMORY.md": "night train to Oslo", "USER.md": "Allergic to hazelnuts"} {
		text, err := w.dm.file(w.ctx, name)
		if err != nil {
			return err
		}
		if !strings.Contains(text, expected) {
			return w.check(false, "%s tells %q", name, expected)
		}
	}
	for _, name := range []string{"MEMORY.md", "USER.md"} {
		text, err := w.dm.file(w.ctx, name)
		if err != nil {
			return err
		}
		w.ask("resources/read %s%s", prefix, name)
		w.reply("%d characters: %s …", len([]rune(text)), firstItem(text))
	}
	return w.check(true, "MEMORY.md and USER.md can be read")
}

// firstItem is the first line of a Markdown file that is no heading.
func firstItem(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return ""
}

const sharedMemory = "Kate answers the book club's mail on weekdays only."

// share stores the one memory that is for everybody.
func (w *walk) share() error {
	w.title("Sharing, explicitly")
	w.ask("%s (visibility: shared)", sharedMemory)
	got, err := w.dm.store(w.ctx, map[string]any{"content": sharedMemory, "visibility": "shared"})
	if err != nil {
		return err
	}
	w.reply("stored, %s", got.Visibility)
	return w.check(got.Visibility == "shared", "only what is explicitly shared leaves the DM")
}

// group is another process over the same workspace, for a group.
func (w *walk) group() (err error) {
	w.title(`A second process, for the group "book-club"`)
	w.ask("yamo-mcp serve --workspace kate --connection group --group book-club")
	if w.club, err = start(w.ctx, w.server, w.workspace, "book-club"); err != nil {
		return err
	}
	names, err := w.club.resources(w.ctx)
	if err != nil {
		return err
	}
	w.reply("connected; resources: %s", strings.Join(names, "  "))
	for _, private := range []string{"MEMORY.md", "USER.md", "TOOLS.md", "HEARTBEAT.md"} {
		if slices.Contains(names, private) {
			return w.check(false, "%s is not listed", private)
		}
	}
	if err := w.check(
		slices.Contains(names, "SOUL.md"),
		"SOUL.md is there; MEMORY.md, USER.md, TOOLS.md and HEARTBEAT.md are not",
	); err != nil {
		return err
	}
	_, denied := w.club.file(w.ctx, "MEMORY.md")
	_, absent := w.club.file(w.ctx, "NOSUCH.md")
	if denied == nil || absent == nil {
		return w.check(false, "the group cannot read MEMORY.md (%v, %v)", denied, absent)
	}
	w.ask("resources/read %sMEMORY.md", prefix)
	w.reply("%v", denied)
	w.ask("resources/read %sNOSUCH.md", prefix)
	w.reply("%v", absent)
	same := strings.ReplaceAll(denied.Error(), "MEMORY.md", "X") == strings.ReplaceAll(absent.Error(), "NOSUCH.md", "X")
	if err := w.check(same, "a denied file gets the same answer as a missing one"); err != nil {
		return err
	}
	return w.groupSearches()
}

// groupSearches asks in the group everything that the DM knows.
func (w *walk) groupSearches() error {
	queries := []string{"When does Kate answer mail?"}
	for _, q := range questions {
		queries = append(queries, q.query)
	}
	for i, query := range queries {
		w.ask("%s", query)
		found, err := w.club.search(w.ctx, map[string]any{"query": query, "limit": 50, "include_lessons": true})
		if err != nil {
			return err
		}
		w.show(found.Results)
		if len(found.Results) == 0 {
			w.reply("nothing")
		}
		if i == 0 && (len(found.Results) == 0 || found.Results[0].Content != sharedMemory) {
			return w.check(false, "the group finds the shared memory")
		}
		for _, m := range found.Results {
			if m.Content != sharedMemory {
				return w.check(false, "the group finds nothing private: %s", m.Content)
			}
		}
		if len(found.Lessons) > 0 {
			return w.check(false, "the group gets none of the DM's lessons")
		}
	}
	return w.check(true, "the group finds the shared memory, but none of the %d private ones nor the lesson",
		len(conversations))
}

const clubMemory = "The club reads a novel about an estuary in March; Ruben brings cake."

// origin follows a group's memory to those who may see it.
func (w *walk) origin() error {
	w.title("What a group says stays in the group, and the DM sees where it comes from")
	w.ask("in book-club, memory_store: %s", clubMemory)
	got, err := w.club.store(w.ctx, map[string]any{"content": clubMemory})
	if err != nil {
		return err
	}
	w.reply("stored, %s", got.Visibility)
	query := "What do they want to read in spring, and who has dessert?"
	w.ask("in the DM: %s", query)
	found, err := w.dm.search(w.ctx, map[string]any{"query": query, "limit": 1, "type": "global"})
	if err != nil {
		return err
	}
	w.show(found.Results)
	if err := w.check(
		len(found.Results) == 1 && found.Results[0].Visibility == "group:book-club",
		"the DM finds it, marked as the group's",
	); err != nil {
		return err
	}
	hikers, err := start(w.ctx, w.server, w.workspace, "hiking")
	if err != nil {
		return err
	}
	w.ask("in the group hiking: %s", query)
	found, err = hikers.search(w.ctx, map[string]any{"query": query, "limit": 50})
	if err = errors.Join(err, hikers.Close()); err != nil {
		return err
	}
	w.show(found.Results)
	strangers := slices.ContainsFunc(found.Results, func(m memory) bool { return m.Content != sharedMemory })
	return w.check(!strangers, "another group does not find it")
}

// crash kills the DM's server right after it has acknowledged a memory.
func (w *walk) crash() (err error) {
	w.title("A crash: kill -9 right after the acknowledgement")
	const content = "The spare key of the mill hangs behind the third beehive."
	w.ask("%s", content)
	got, err := w.dm.store(w.ctx, map[string]any{"content": content})
	if err != nil {
		return err
	}
	if err := w.dm.kill(); err != nil {
		return err
	}
	w.dm = nil
	w.reply("stored; the server is killed")
	if w.dm, err = start(w.ctx, w.server, w.workspace, ""); err != nil {
		return err
	}
	query := "How can I unlock the mill?"
	w.ask("a new process: %s", query)
	found, err := w.dm.search(w.ctx, map[string]any{"query": query, "limit": 1, "type": "global"})
	if err != nil {
		return err
	}
	w.show(found.Results)
	return w.check(len(found.Results) == 1 && found.Results[0].ID == got.ID, "the acknowledged memory is there")
}

// rebuild makes the index again from the ledger.
func (w *walk) rebuild() (err error) {
	w.title("The index can be rebuilt from the ledger")
	before, err := w.answers()
	if err != nil {
		return err
	}
	if err = w.dm.Close(); err != nil {
		return fmt.Errorf("end the DM: %w", err)
	}
	w.dm = nil
	w.ask("yamo-mcp index rebuild --workspace kate")
	output, err := exec.CommandContext(w.ctx, w.server, "index", "rebuild", "--workspace", w.workspace).CombinedOutput()
	if err != nil {
		return fmt.Errorf("index rebuild: %w\n%s", err, output)
	}
	for line := range strings.Lines(string(output)) {
		w.reply("%s", strings.TrimSpace(strings.ReplaceAll(line, w.workspace, "kate")))
	}
	if w.dm, err = start(w.ctx, w.server, w.workspace, ""); err != nil {
		return err
	}
	after, err := w.answers()
	if err != nil {
		return err
	}
	return w.check(slices.Equal(before, after), "%d questions find the same %d results with the same scores",
		len(questions), len(after))
}

// answers is what the questions find now.
func (w *walk) answers() ([]string, error) {
	var lines []string
	for _, q := range questions {
		found, err := w.dm.search(w.ctx, map[string]any{"query": q.query, "type": "global"})
		if err != nil {
			return nil, err
		}
		for _, m := range found.Results {
			lines = append(lines, fmt.Sprintf("%s %s %.2f", q.query, m.ID, m.Score))
		}
	}
	return lines, nil
}

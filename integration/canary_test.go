package integration

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A canary is a string in one private place only. Its name is no secret, its secret
// is not: a group that asks by name and gets the secret has read the place.
type canary struct{ place, secret string }

// newCanary makes the canary of a place. The secret is of letters that look like a word, so that the
// scrubber keeps it and keyword search finds it.
func newCanary(place string) canary {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	sum := sha256.Sum256([]byte(place))
	var secret strings.Builder
	for i := range 7 {
		secret.WriteByte(consonants[int(sum[2*i])%len(consonants)])
		secret.WriteByte(vowels[int(sum[2*i+1])%len(vowels)])
	}
	return canary{place, secret.String()}
}

// String is what is planted.
func (c canary) String() string { return "The canary of " + c.place + " is " + c.secret }

// forms are the spellings that a secret could leave in.
func (c canary) forms() map[string]string {
	var percent, escaped, backwards strings.Builder
	for i := range len(c.secret) {
		fmt.Fprintf(&percent, "%%%02x", c.secret[i])
		fmt.Fprintf(&escaped, `\u%04x`, c.secret[i])
		backwards.WriteByte(c.secret[len(c.secret)-1-i])
	}
	forms := map[string]string{
		"as it is":     c.secret,
		"hexadecimal":  hex.EncodeToString([]byte(c.secret)),
		"URL-encoded":  percent.String(),
		"JSON-escaped": escaped.String(),
		"reversed":     backwards.String(),
	}
	// What base64 makes of a text depends on where it begins; its ends are shared with what is beside it.
	for offset := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", offset) + c.secret))
		forms[fmt.Sprintf("base64 at %d", offset)] = strings.TrimRight(text, "=")[4*min(offset, 1) : len(c.secret)]
	}
	return forms
}

// leaks returns which canaries are in text, and in which form. Letter case makes no difference, except to
// base64, where it is ignored too: that only makes the search find more.
func leaks(text string, canaries []canary) (found []string) {
	text = strings.ToLower(text)
	for _, c := range canaries {
		for form, spelling := range c.forms() {
			if at := strings.Index(text, strings.ToLower(spelling)); at >= 0 {
				found = append(found, fmt.Sprintf("%s, %s: …%s…", c.place, form, text[max(0, at-80):min(len(text), at+80)]))
			}
		}
	}
	return found
}

func TestLeaksAreFoundInEveryForm(t *testing.T) {
	t.Parallel()
	c := newCanary("a test")
	encodings := map[string]string{
		"raw": c.secret, "upper case": strings.ToUpper(c.secret), "hex": hex.EncodeToString([]byte("say " + c.secret)),
		"reversed": newCanary("a test").forms()["reversed"],
	}
	for i := range 6 {
		encodings[fmt.Sprint("base64 after ", i)] = base64.URLEncoding.EncodeToString(
			[]byte(strings.Repeat("y", i) + c.secret + ", then more"),
		)
	}
	for name, text := range encodings {
		if len(leaks("before "+text+" after", []canary{c})) == 0 {
			t.Errorf("%s: %s is not noticed", name, text)
		}
		if got := leaks("before "+text+" after", []canary{newCanary("elsewhere")}); len(got) != 0 {
			t.Errorf("%s: another canary is seen: %v", name, got)
		}
	}
}

// The groups of the planted workspace.
const (
	club   = "book-club"
	hiking = "hiking"
)

// planted is a workspace with a canary in every place that not everybody may see.
type planted struct {
	workspace, transcripts string
	project                string              // the folder of a git repository that the DM and all attackers run in
	private                []canary            // for the DM only
	of                     map[string][]canary // for one group and the DM
	ids                    []string            // of private memories, lessons and sessions
	evidence               []string            // tokens of private passages and turns
	control                string              // what the DM and the groups were told while it was planted
}

// privately plants a canary for the DM only and returns it as text.
func (p *planted) privately(place string) string {
	c := newCanary(place)
	p.private = append(p.private, c)
	return c.String()
}

// within plants a canary for a group and the DM.
func (p *planted) within(group, place string) string {
	c := newCanary(place + " of " + group)
	p.of[group] = append(p.of[group], c)
	return c.String()
}

// hidden are the canaries that a group may not see.
func (p *planted) hidden(group string) []canary {
	hidden := p.private
	for name, canaries := range p.of {
		if name != group {
			hidden = append(slices.Clip(hidden), canaries...)
		}
	}
	return hidden
}

// plant fills a copy of the sample workspace by hand and through the server.
func plant(tb testing.TB) *planted {
	tb.Helper()
	p := &planted{
		workspace:   sample(tb),
		transcripts: filepath.Join(tb.TempDir(), "transcripts"),
		project:     filepath.Join(tb.TempDir(), "project"),
		of:          map[string][]canary{},
	}
	remote := strings.Fields(p.privately("a project"))
	write(tb, filepath.Join(p.project, ".git", "HEAD"), "ref: refs/heads/main\n")
	write(tb, filepath.Join(p.project, ".git", "config"),
		"[remote \"origin\"]\n\turl = https://forge.example/canary/"+remote[len(remote)-1]+".git\n")
	p.plantPrivate(tb)
	p.plantGroup(tb, club)
	p.plantGroup(tb, hiking)
	p.deleteForAReason(tb)
	return p
}

// plantPrivate puts a canary into everything that is the DM's.
func (p *planted) plantPrivate(tb testing.TB) {
	tb.Helper()
	for _, name := range []string{
		"MEMORY.md", "USER.md", "TOOLS.md", "HEARTBEAT.md", "DREAMS.md", "notes/plans.md",
		"memory/heartbeat-state.json", "memory/2026-02-05-irrigation-pump.md", "memory/2025-12-01.md",
	} {
		matter := ""
		if name == "notes/plans.md" {
			matter = fmt.Sprintf("---\nsession_id: %q\ntags: [%q]\nlinks: [%q]\n---\n", p.privately("a file's session"),
				p.privately("a file's tag"), "[["+p.privately("a file's link")+"]]")
		}
		write(tb, filepath.Join(p.workspace, name), matter+"# Private\n\n"+p.privately(name)+".\n")
	}
	for day, date := range days() {
		write(tb, filepath.Join(p.workspace, "memory", date+".md"),
			"# Memory\n\n"+p.privately(fmt.Sprint("the log of day ", day))+"\n")
	}
	p.log(tb, "", p.privately)
	// OpenClaw has a group's sessions among the others: they are the DM's to read.
	write(tb, filepath.Join(p.transcripts, "sessions.json"), fmt.Sprintf(
		`{"agent:kate:telegram:group:%s": {"sessionId": "openclaw", "chatType": "group"}}`,
		p.privately("sessions.json"),
	))
	write(tb, filepath.Join(p.transcripts, "openclaw.jsonl"), fmt.Sprintf(
		`{"type":"session","version":3,"id":"openclaw"}`+"\n"+
			`{"type":"message","id":"a1","message":{"role":"user","content":%q}}`+"\n",
		p.privately("an OpenClaw session"),
	))
	write(tb, filepath.Join(p.transcripts, "reef", "s1", "subagents", "agent-1.jsonl"), fmt.Sprintf(
		`{"type":"user","uuid":"u1","isSidechain":true,"sessionId":"s1","message":{"role":"user","content":%q}}`+"\n",
		p.privately("a subagent's session"),
	))
	p.ids = append(p.ids, "openclaw", "agent-1")
	write(tb, filepath.Join(p.workspace, ".yamo", "private", "imported", "chatgpt", "imported-1.jsonl"), fmt.Sprintf(
		`{"type":"session","version":1,"id":"imported-1","connection":"dm"}`+"\n"+
			`{"type":"entry","role":"user","content":%q}`+"\n", p.privately("an imported session"),
	))
	p.ids = append(p.ids, "imported-1")
	p.takeOver(tb, p.privately("another tool's memory"), p.privately("another tool's name"))
	// What SOUL.md said before it was reconfigured only the operator may read.
	before := "You are Kate. " + p.privately("the SOUL.md of before")
	write(tb, filepath.Join(p.workspace, ".yamo", "replaced", "20260101T000000Z-00000000-SOUL.md"), before)
	p.control += before
	p.remember(tb, "", p.privately)
	p.rescan(tb)
}

// rescan redacts a part of a private memory, as the operator does when the rules are better.
func (p *planted) rescan(tb testing.TB) {
	tb.Helper()
	list := filepath.Join(tb.TempDir(), "list")
	write(tb, list, "zzz\n")
	l := launch{workspace: p.workspace}
	for _, args := range [][]string{
		{"mesh", "store", "--content", p.privately("a rescanned memory") + " zzz"},
		{"rescan", "--yes", "--redact-list", list},
	} {
		cmd := exec.Command(serverBinary(tb), append(args, "--workspace", p.workspace)...)
		cmd.Env = l.environment()
		if output, err := cmd.CombinedOutput(); err != nil {
			tb.Errorf("%s: %v\n%s", args, err, output)
		}
	}
	lines, err := os.ReadFile(filepath.Join(p.workspace, ".yamo", "private", "ledger.ndjson"))
	ledger := string(lines)
	if err != nil || !strings.Contains(ledger, `"op":"rescan"`) || strings.Contains(ledger, "zzz") {
		tb.Errorf("the private memory was not rescanned: %v", err)
	}
	p.control += ledger
}

// takeOver imports a memory of another tool's.
func (p *planted) takeOver(tb testing.TB, text, name string) {
	tb.Helper()
	graph := filepath.Join(tb.TempDir(), "memory.jsonl")
	write(tb, graph, fmt.Sprintf(`{"type":"entity","name":%q,"entityType":"person","observations":[%q]}`+"\n", name, text))
	cmd := exec.Command(serverBinary(tb), "import", "server-memory", graph)
	cmd.Env = append(launch{}.environment(), "YAMO_WORKSPACE="+p.workspace)
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("import: %v\n%s", err, out)
	}
}

// plantGroup puts a canary into everything that is a group's.
func (p *planted) plantGroup(tb testing.TB, group string) {
	tb.Helper()
	plant := func(place string) string { return p.within(group, place) }
	for day, date := range days() {
		write(tb, filepath.Join(p.workspace, "memory", date+"-group-"+group+".md"),
			"# Memory\n\n"+plant(fmt.Sprint("the log of day ", day))+"\n")
	}
	p.log(tb, group, plant)
	p.remember(tb, group, plant)
}

// days are yesterday, today and tomorrow: two of them are the server's today and yesterday, in whatever
// time zone it is.
func days() (dates []string) {
	for day := -1; day <= 1; day++ {
		dates = append(dates, time.Now().AddDate(0, 0, day).Format(time.DateOnly))
	}
	return dates
}

// log writes a session log of a group, or of the DM.
func (p *planted) log(tb testing.TB, group string, plant func(place string) string) {
	tb.Helper()
	sum := hex.EncodeToString([]byte(fmt.Sprintf("%-16.16s", group+"session-of-the-dm")))
	id := fmt.Sprintf("%s-%s-4%s-a%s-%s", sum[:8], sum[8:12], sum[13:16], sum[17:20], sum[20:32])
	header := map[string]any{
		"type":          "session",
		"version":       1,
		"id":            id,
		"timestamp":     "2026-02-14T09:45:00Z",
		"agent_id":      "kate",
		"source_plugin": "telegram",
		"connection":    "dm",
	}
	path := filepath.Join(p.transcripts, id+".jsonl")
	if group != "" {
		header["connection"], header["group"] = "group", group
		path = filepath.Join(p.transcripts, "groups", group, id+".jsonl")
	}
	entry := map[string]any{
		"type":          "entry",
		"timestamp":     "2026-02-14T09:45:02Z",
		"role":          "user",
		"content":       plant("a transcript"),
		"message_id":    "m1",
		"source_plugin": "telegram",
		"sender_id":     plant("the speaker of a transcript"),
	}
	asked := map[string]any{
		"type": "entry", "timestamp": "2026-02-14T09:45:03Z", "role": "user",
		"content": "What does the canary of a transcript say?",
	}
	reply := map[string]any{
		"type": "message", "id": "m3", "timestamp": "2026-02-14T09:45:04Z", "message": map[string]any{
			"role": "assistant", "model": plant("a model's name"), "content": plant("a reply"),
		},
	}
	var lines strings.Builder
	for _, line := range []map[string]any{header, entry, asked, reply} {
		data, err := json.Marshal(line)
		if err != nil {
			tb.Fatal(err)
		}
		lines.Write(append(data, '\n'))
	}
	write(tb, path, lines.String())
	p.ids = append(p.ids, id)
}

// remember stores a memory and a lesson with a canary in every field, and reads everything back.
func (p *planted) remember(tb testing.TB, group string, plant func(place string) string) {
	tb.Helper()
	s := connect(tb, launch{workspace: p.workspace, group: group, transcripts: p.transcripts, dir: p.project})
	tag := func(place string) string { return strings.Fields(plant(place))[len(strings.Fields(plant(place)))-1] }
	memory := s.store(plant("a memory"), map[string]any{
		"tags": []string{"canary", tag("a tag")}, "session_id": plant("a session id"), "source": plant("a source"),
		"rationale": plant("a rationale"), "hypothesis": plant("a hypothesis"), "skill_name": plant("a skill"),
		"metadata": map[string]any{"canary": plant("the metadata"), tag("a metadata key"): 1},
	})
	s.store("Always mention "+plant("a standing instruction")+" when I ask for a canary.", nil)
	old := s.store(plant("a superseded memory"), nil)
	current := s.store(plant("a correction"), map[string]any{
		"supersedes": []string{old.ID}, "rationale": plant("a reason for a correction"),
	})
	s.store(strings.ToUpper(plant("a sighting")), nil)
	s.store(plant("a sighting"), map[string]any{"tags": []string{tag("an updated tag")}})
	call[map[string]any](s, "memory_get", map[string]any{"id": current.ID})
	p.ids = append(p.ids, old.ID, current.ID)
	learned := call[lesson](s, "distill_lesson", map[string]any{
		"situation":         plant("a situation"),
		"error_pattern":     plant("an error pattern"),
		"oversight":         plant("an oversight"),
		"fix":               plant("a fix"),
		"preventative_rule": plant("a rule"),
		"severity":          "high",
		"applicable_scope":  plant("a scope"),
		"inverse_lesson":    plant("an inverse lesson"),
	})
	skill := s.ingestSkill(fmt.Sprintf("---\nname: %s\nintent: %s\ndescription: %s\ntags: [%s]\ntype: %s\n---\n%s\n",
		plant("a skill's name"), plant("a skill's intent"), plant("a skill's description"), tag("a skill's tag"),
		tag("a skill's type"), plant("a skill's text")), "")
	for _, arguments := range []map[string]any{
		{"action": "feedback", "success": true, "id": skill}, {"action": "get", "id": skill},
	} {
		call[map[string]any](s, "skills", arguments)
	}
	p.ids = append(p.ids, memory.ID, learned.LessonID, learned.MemoryID, skill)
	reflection := call[struct {
		ID string `json:"memory_id"`
	}](s, "reflect", map[string]any{"topic": plant("a topic")})
	synthesis := call[struct {
		ID string `json:"skill_id"`
	}](s, "reflect", map[string]any{"action": "synthesize", "topic": plant("a topic of a skill")})
	p.ids = append(p.ids, reflection.ID, synthesis.ID)
	// What is stated is offered to the DM, and what a group says is not.
	hooks := hookSession{tb: tb, launch: s.launch, id: "stated", cwd: p.project, quick: true}
	hooks.prompt("I am allergic to " + plant("an offered statement") + ".")
	hooks.run("Stop", map[string]any{"last_assistant_message": "Noted."})
	hooks.run("SessionEnd", map[string]any{"reason": "exit"}) // what a running session keeps of a prompt goes with it
	if group == "" {
		// What was said before the first hook of a session is offered too.
		late := hookSession{
			tb: tb, launch: s.launch, id: "late", cwd: p.project, quick: true,
			transcript: filepath.Join(p.transcripts, "reef", "late.jsonl"),
		}
		late.spoke("user", "I am allergic to "+plant("what was said before the first hook")+".")
		late.spoke("assistant", "I see.")
		late.prompt("What is for lunch?")
		late.run("Stop", map[string]any{"last_assistant_message": "Soup."})
		late.run("SessionEnd", map[string]any{"reason": "exit"})
		p.ids = append(p.ids, "late")
		p.cite(s)
	}
	s.search(plant("a query"), map[string]any{"format": "detailed", "include_lessons": true})
	readEverything(s)
	for _, name := range append(privateNames, "memory/"+time.Now().Format(time.DateOnly)+"-group-"+group+".md") {
		s.request("resources/read", map[string]any{"uri": "yamo://workspace/" + name}) // also what is not listed
	}
	stdout, _ := s.end()
	store := filepath.Join(p.workspace, ".yamo", "private")
	if group != "" {
		store = filepath.Join(p.workspace, ".yamo", "groups", group)
	}
	// What every later session of this audience starts from has the canaries too.
	image, err := os.ReadFile(filepath.Join(store, "start.image"))
	if err != nil || !strings.Contains(string(image), memory.ID) {
		tb.Errorf("no start-up image with %s: %v", memory.ID, err)
	}
	p.control += stdout + filesBelow(tb, store)
}

// cite quotes canaries of a log entry, a file and a session log as evidence in a profile.
func (p *planted) cite(s *session) {
	s.tb.Helper()
	entry := p.privately("a log entry")
	logged := call[struct {
		Evidence string `json:"evidence_token"`
	}](s, "log_append", map[string]any{"text": entry})
	var quotes []string
	for _, said := range []string{entry, newCanary("USER.md").String(), newCanary("a transcript").String()} {
		quotes = append(quotes, `"`+said+`"`)
	}
	cited := call[struct {
		Snapshot    string   `json:"snapshot"`
		Paraphrased []string `json:"paraphrased"`
	}](s, "workspace_edit", map[string]any{
		"file": "users/mira/parts/" + newCanary("a part's name").secret + "/profile.md", "section": "Evidence",
		"op": "append_item", "items": quotes, "rationale": p.privately("a reason for an edit"), "create": true,
		"evidence_refs": []string{logged.Evidence, "USER.md", p.ids[0]},
	})
	p.private = append(p.private, newCanary("a part's name"))
	p.evidence = regexp.MustCompile(`ev:[0-9TZ]+-[0-9A-Z]+`).FindAllString(cited.Snapshot, -1)
	if len(p.evidence) != 3 || p.evidence[0] != logged.Evidence || len(cited.Paraphrased) > 0 {
		s.tb.Errorf("cited %+v", cited)
	}
	for i, token := range p.evidence {
		read := s.request("resources/read", map[string]any{"uri": "yamo://evidence/" + token})
		if said := strings.Trim(quotes[i], `"`); !strings.Contains(read.line, said) {
			s.tb.Errorf("%s does not lead to %s: %s", token, said, read.line)
		}
	}
}

// ingestSkill keeps a skill and returns its id.
func (s *session) ingestSkill(text, visibility string) string {
	s.tb.Helper()
	arguments := map[string]any{"action": "ingest", "text": text}
	if visibility != "" {
		arguments["visibility"] = visibility
	}
	kept := call[struct{ Skills []struct{ ID string } }](s, "skills", arguments)
	return kept.Skills[0].ID
}

// readEverything lists and reads what a session is offered.
func readEverything(s *session) {
	s.tb.Helper()
	var listed struct {
		Resources []struct{ URI string }
		Prompts   []struct{ Name string }
		Tools     []struct{ Name string }
	}
	s.request("resources/list", nil).decode(s.tb, &listed)
	s.request("prompts/list", nil).decode(s.tb, &listed)
	s.request("tools/list", nil).decode(s.tb, &listed)
	s.request("resources/templates/list", nil)
	for _, r := range listed.Resources {
		s.request("resources/read", map[string]any{"uri": r.URI})
	}
	for _, p := range listed.Prompts {
		s.request("prompts/get", map[string]any{"name": p.Name})
	}
	for _, tool := range listed.Tools {
		if tool.Name != "session_logs" {
			continue
		}
		logs := call[struct {
			Sessions []struct {
				ID string `json:"session_id"`
			}
		}](s, tool.Name, map[string]any{"action": "list_sessions"})
		for _, arguments := range []map[string]any{
			{"action": "recent"},
			{"action": "search", "query": "canary"},
			{"action": "search", "query": "what does the canary of a transcript say, and the speaker?"},
		} {
			s.request("tools/call", map[string]any{"name": tool.Name, "arguments": arguments})
		}
		for _, log := range logs.Sessions {
			s.request("tools/call",
				map[string]any{"name": tool.Name, "arguments": map[string]any{"action": "read_session", "session_id": log.ID}})
		}
	}
	call[map[string]any](s, "who_am_i", nil)
}

// Every canary is where it was planted: in what the DM or its own group was told, or in its store. A
// search for canaries that are nowhere would prove nothing.
func TestCanariesArePlanted(t *testing.T) {
	t.Parallel()
	p := plant(t)
	canaries := p.hidden("") // of no group: everybody's
	if len(canaries) < 60 {
		t.Errorf("only %d canaries were planted", len(canaries))
	}
	for _, c := range canaries {
		// Days that are not the server's today, and who spoke, are told to no one who did not ask.
		if strings.HasPrefix(c.place, "the log of day") || strings.HasPrefix(c.place, "the speaker") {
			continue
		}
		if !strings.Contains(p.control, c.secret) {
			t.Errorf("the canary of %s is not visible even to a DM", c.place)
		}
	}
}

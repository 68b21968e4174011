package workspace

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
	"github.com/yamo-protocol/yamo-mcp/workspace/memfile"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// Finding is a deviation from the workspace format.
type Finding struct {
	File    string // relative to the workspace
	Line    int    // from 1; 0 for the file as a whole
	Error   bool   // the format forbids it; otherwise it is a warning
	Rule    string // the source of the rule, such as "RFC-0009 §2.2"
	Message string
}

// String returns the finding on one line in the form of compilers: FILE:LINE: KIND: MESSAGE (RULE). A name that would
// break the line, or change a terminal, is quoted as in Go.
func (f Finding) String() string {
	at, kind := f.File, "warning"
	if !utf8.ValidString(at) || strings.ContainsFunc(at, func(r rune) bool { return !unicode.IsPrint(r) }) {
		at = strconv.Quote(at)
	}
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, f.Line)
	}
	if f.Error {
		kind = "error"
	}
	return fmt.Sprintf("%s: %s: %s (%s)", at, kind, f.Message, f.Rule)
}

// AgentsSections lists the sections that AGENTS.md must have (RFC-0009 §2.2).
var AgentsSections = []string{"First Run", "Every Session", "Memory", "Safety", "External vs Internal"}

// heartbeatLines is how long HEARTBEAT.md should be (RFC-0009 §2.7): every heartbeat pays for each line.
const heartbeatLines = 20

// Lint checks the whole workspace against RFC-0009 and seeds 002, 003 and 004. Only the operator may call it: it reads
// private files. Findings are sorted by file and line, each once. The error joins what could not be read; the findings
// about the rest are valid.
func (w *Workspace) Lint() ([]Finding, error) {
	l := &linter{view: w.View(audience.DM()), root: w, edges: map[string][]string{}}
	l.state()
	for name := range rootFiles {
		l.file(name)
	}
	l.aliases()
	for _, folder := range []string{memoryFolder, notesFolder} {
		if reason := plain.FolderRefusal(l.root.root, folder); reason != "" {
			l.fail(folder, 0, "RFC-0009 §4.4", "is not read: %s", reason)
		}
		for _, name := range l.view.list(folder) {
			l.file(name)
		}
		l.unread(folder)
	}
	l.profiles(grammar.Folder)
	l.twice()
	slices.SortFunc(l.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(l.findings), errors.Join(l.errs...)
}

type linter struct {
	view     *View
	root     *Workspace
	findings []Finding
	errs     []error
	names    []string            // possible targets of links, listed when the first link is found
	edges    map[string][]string // relationship files by user, pair and type
}

func (l *linter) fail(file string, line int, rule, format string, args ...any) {
	l.findings = append(l.findings, Finding{file, line, true, rule, fmt.Sprintf(format, args...)})
}

func (l *linter) warn(file string, line int, rule, format string, args ...any) {
	l.findings = append(l.findings, Finding{file, line, false, rule, fmt.Sprintf(format, args...)})
}

// state checks which of the required files exist (RFC-0009 §3.1).
func (l *linter) state() {
	switch state := l.view.State(); {
	case state == Uninitialized:
		l.fail(SoulFile, 0, "RFC-0009 §6.1", "is missing, and so is BOOTSTRAP.md: the agent must not operate")
		return
	case state == Bootstrap && l.view.exists(SoulFile):
		l.fail(BootstrapFile, 0, "RFC-0009 §4.3",
			"still exists next to SOUL.md: it must be deleted when the first boot is done")
	case state == Bootstrap:
		return
	}
	for _, name := range []string{AgentsFile, UserFile} {
		if !l.view.exists(name) && l.view.RefusalOf(name) == "" { // what is refused is reported as such
			l.fail(name, 0, "RFC-0009 §3.1", "is missing")
		}
	}
}

// aliases finds names that only look like those of the format, such as Memory.md, which is not read.
func (l *linter) aliases() {
	entries, err := plain.List(l.root.root, ".")
	if err != nil {
		l.errs = append(l.errs, fmt.Errorf("list the workspace: %w", err))
	}
	known := map[string][]string{memoryFolder: {memoryFolder}, notesFolder: {notesFolder}}
	for name := range maps.Keys(rootFiles) {
		known[fold(name)] = append(known[fold(name)], name)
	}
	for _, entry := range entries {
		names := known[fold(entry.Name())]
		if len(names) > 0 && !slices.Contains(names, entry.Name()) {
			slices.Sort(names)
			l.warn(entry.Name(), 0, "RFC-0009 §1", "is not read: the name must be exactly %s", strings.Join(names, " or "))
		}
	}
}

// file checks the rules for all files, and then those for its kind.
func (l *linter) file(name string) {
	if reason := plain.Refusal(l.root.root, name); reason != "" {
		l.fail(name, 0, "RFC-0009 §4.4", "is not read: %s", reason)
		return
	}
	data, err := l.view.Read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case errors.Is(err, ErrTooLarge):
		l.fail(name, 0, "seed 002, phase 10.3", "%v", ErrTooLarge)
		return
	case err != nil:
		l.errs = append(l.errs, err)
		return
	}
	if l.view.State() == Bootstrap && untouched(name, data) {
		return // to be filled in at the first boot
	}
	l.content(name, data)
	if utf8.Valid(data) {
		if edge := grammar.Edge(name, string(data)); edge != "" {
			l.edges[edge] = append(l.edges[edge], name)
		}
		l.credentials(name, string(data))
		l.links(name, string(data))
	}
}

// twice finds relationship files about one pair and type (seed 004 §9).
func (l *linter) twice() {
	for _, names := range l.edges {
		slices.Sort(names)
		for _, name := range names[1:] {
			l.fail(name, 0, "seed 004 §9", "is about the same participants and type as %s: a pair has one file for each type",
				names[0])
		}
	}
}

// credentials finds what looks like a credential: line by line, to report the line, and over several lines.
func (l *linter) credentials(name, text string) {
	const message = "seems to have a credential: keep it in a password manager and write where it is"
	if _, found := l.root.scrub(text); found == 0 {
		return
	}
	number, told := 0, false
	for line := range strings.Lines(text) {
		number++
		if _, found := l.root.scrub(line); found > 0 {
			l.warn(name, number, "RFC-0009 §4.2", message)
			told = true
		}
	}
	if !told {
		l.warn(name, 0, "RFC-0009 §4.2", message)
	}
}

// links finds wikilinks without a target (seed 003, Wikilinks).
func (l *linter) links(name, text string) {
	if !strings.Contains(text, "[[") || path.Ext(name) != ".md" {
		return
	}
	if l.names == nil {
		l.names = l.view.names()
	}
	for _, ref := range l.view.references(name, text, l.names) {
		if ref.Found {
			continue
		}
		target := strings.TrimSuffix(ref.Target+"#"+ref.Heading, "#")
		at := strings.Index(text, "[["+target)
		if at < 0 { // the heading comes after the alias
			at = strings.Index(text, "[["+ref.Target)
		}
		line := 0
		if at >= 0 {
			line = 1 + strings.Count(text[:at], "\n")
		}
		what := "there is no such file"
		if ref.Name != "" {
			what = "the file has no such heading"
		}
		l.warn(name, line, "seed 003, Wikilinks", "[[%s]] leads nowhere: %s", target, what)
	}
}

// Check returns the findings about data as the content of the file called name, by the rules that need no other file.
func Check(name string, data []byte) []Finding {
	l := &linter{}
	l.content(name, data)
	return l.findings
}

// content checks the rules that need only the file's name and text.
func (l *linter) content(name string, data []byte) {
	if !utf8.Valid(data) {
		l.fail(name, 0, "RFC-0009 §1", "is not UTF-8 text")
		return
	}
	text := string(data)
	class := classify(audience.DM(), name)
	if n := utf8.RuneCountInString(text); n > maxFileChars && class != audience.Notes && class != audience.OtherLog {
		what := map[kept]string{
			keepBeginning: "the first %d", keepEnd: "its newest entries, up to %d",
			keepNewest: "its first and its newest sections, up to %d",
		}[keeps(name)]
		l.warn(name, 0, "seed 002, phase 10.3", "has %d characters; a session starts with "+what, n, maxFileChars)
	}
	switch class {
	case audience.Soul:
		l.soul(text)
	case audience.Agents:
		l.agents(text)
	case audience.User:
		l.user(text)
	case audience.Identity:
		l.identity(text)
	case audience.Memory:
		l.curated(name, data)
	case audience.Heartbeat:
		l.heartbeat(name, text)
	case audience.DailyLog, audience.OtherLog:
		l.dailyLog(name, text)
	case audience.Notes:
		l.memoryFile(name, data)
	}
	if path.Ext(name) == ".md" && class != audience.DailyLog && class != audience.OtherLog {
		for _, f := range grammar.Check(name, text) {
			l.findings = append(l.findings, Finding{name, f.Line, f.Error, f.Rule, f.Message})
		}
	}
}

// profiles checks the files below users/, and reports Markdown that no type of file has a place for (seed 004 §12).
func (l *linter) profiles(folder string) {
	entries, err := plain.List(l.root.root, folder)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if refused, ok := errors.AsType[*plain.RefusedError](err); ok {
		l.fail(folder, 0, "RFC-0009 §4.4", "is not read: %s", refused.Reason)
		return
	}
	if err != nil {
		l.errs = append(l.errs, fmt.Errorf("list %s: %w", folder, err))
		return
	}
	for _, entry := range entries {
		name := folder + "/" + entry.Name()
		typ, _ := grammar.TypeOf(name)
		switch {
		case typ != nil:
			l.file(name)
		case entry.IsDir() && strings.Count(name, "/") <= grammar.MaxDepth:
			l.profiles(name)
		case strings.HasPrefix(entry.Name(), "."):
		case path.Ext(name) == ".md":
			l.warn(name, 0, "seed 004 §12", "is not read: a user, part or relationship has one overview.md or profile.md and "+
				"one notes.md")
		}
	}
}

// agents checks that AGENTS.md has its sections (RFC-0009 §2.2).
func (l *linter) agents(text string) {
	have := map[string]bool{}
	for line := range lines(text) {
		if level, heading := markdown.Heading(line); level == 2 && line[0] == '#' {
			have[heading] = true
		}
	}
	for _, section := range AgentsSections {
		if !have[section] {
			l.fail(AgentsFile, 0, "RFC-0009 §2.2", "lacks the section ## %s", section)
		}
	}
}

// user checks the time zone in USER.md (RFC-0009 §2.3).
func (l *linter) user(text string) {
	if m := timezone.FindStringSubmatchIndex(text); m == nil || strings.TrimSpace(text[m[2]:m[3]]) == "" {
		l.warn(UserFile, 0, "RFC-0009 §2.3", "has no **Timezone:** such as Europe/Oslo; the machine's is used")
	} else if _, ok := zoneOf(text[m[2]:m[3]]); !ok {
		l.warn(UserFile, 1+strings.Count(text[:m[2]], "\n"), "RFC-0009 §2.3",
			"time zone %q is not known; the machine's is used", strings.TrimSpace(text[m[2]:m[3]]))
	}
}

// heartbeat checks the length of HEARTBEAT.md (RFC-0009 §2.7), and the form of the recorded checks (§2.9).
func (l *linter) heartbeat(name, text string) {
	if name == HeartbeatFile {
		if n := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1; n > heartbeatLines {
			l.warn(name, heartbeatLines+1, "RFC-0009 §2.7",
				"has %d lines; it is read at every heartbeat and should have at most %d", n, heartbeatLines)
		}
		return
	}
	var state struct {
		LastChecks map[string]json.RawMessage `json:"lastChecks"`
	}
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		l.fail(name, 0, "RFC-0009 §2.9", "is not {\"lastChecks\": {name: Unix seconds or null}}: %v", err)
	} else if state.LastChecks == nil {
		l.fail(name, 0, "RFC-0009 §2.9", "lacks \"lastChecks\"")
	}
	for _, check := range slices.Sorted(maps.Keys(state.LastChecks)) {
		const latest = 100_000_000_000 // the year 5138: what is later is milliseconds
		var at *int64
		if err := json.Unmarshal(state.LastChecks[check], &at); err != nil || at != nil && (*at < 0 || *at > latest) {
			l.fail(name, 0, "RFC-0009 §2.9", "the time of %q is not in Unix seconds or null", check)
		}
	}
}

var sessionHeading = regexp.MustCompile(`^## Session \[([01][0-9]|2[0-3]):[0-5][0-9]\]$`)

func (l *linter) dailyLog(name, text string) {
	want := "# Memory — " + path.Base(name)[:len("2006-01-02")]
	if _, _, hasMatter := frontmatter.Split(text); hasMatter {
		return // a log in the form of seed 003
	}
	number := 0
	var at markdown.Scanner
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		switch kind := at.Next(line); {
		case number == 1 && line != want:
			l.warn(name, 1, "RFC-0009 §2.5", "does not begin with %q", want)
		case kind == markdown.Text && strings.HasPrefix(line, "## Session") && !sessionHeading.MatchString(line):
			l.warn(name, number, "RFC-0009 §2.5", "session heading is not ## Session [HH:MM]")
		}
	}
}

func (l *linter) memoryFile(name string, data []byte) {
	if !strings.HasPrefix(name, memoryFolder+"/") || !dated(path.Base(name)) {
		return // notes are free
	}
	file, err := memfile.Parse(data)
	if errors.Is(err, memfile.ErrNoMatter) {
		l.warn(name, 1, "seed 003", "%v", err)
		return
	}
	if err != nil {
		l.fail(name, 1, "seed 003", "%v", err)
		return
	}
	for _, wrong := range file.Check(name) {
		l.warn(name, 1, "seed 003", "%s", wrong)
	}
}

// curated checks MEMORY.md, which is free text unless it has front matter.
func (l *linter) curated(name string, data []byte) {
	if _, _, hasMatter := frontmatter.Split(string(data)); !hasMatter {
		return
	}
	file, err := memfile.Parse(data)
	if err != nil {
		l.fail(name, 1, "seed 003, curated", "%v", err)
		return
	}
	if t := file.Matter.Type; t != "" && !t.IsCurated() {
		l.warn(name, 1, "seed 003, curated", "type is %q, not curated (or memory, as the seed's example has it)", t)
		return
	}
	file.Matter.Type = memfile.Curated // MEMORY.md is curated by its name, with or without the field
	for _, wrong := range file.Check(name) {
		l.warn(name, 1, "seed 003, curated", "%s", wrong)
	}
}

// proseExtensions are those of files that a person may expect to be found by a search, in lower case.
var proseExtensions = []string{
	".adoc", ".markdown", ".md", ".mdown", ".mdx", ".mkd", ".org", ".rst", ".text", ".txt",
}

// unread reports what is in folder and below it and is neither read nor searched, with the reason: names that are not
// accepted, links and other irregular files, prose in another format than Markdown. Hidden files, drafts of dreaming
// and other formats are left out, which users do not expect to be read.
func (l *linter) unread(folder string) {
	entries, err := plain.List(l.root.root, folder)
	if err != nil || folder == dreamsFolder || folder == archiveFolder {
		return // of an error the callers of List have reported
	}
	for _, entry := range entries {
		name := folder + "/" + entry.Name()
		isProse := slices.Contains(proseExtensions, strings.ToLower(path.Ext(name)))
		reason := nameFault(name)
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case reason != "" && (isProse || entry.IsDir()):
			l.warn(name, 0, "RFC-0009 §5.4", "is not read or searched: %s; rename it", reason)
		case entry.IsDir():
			l.unread(name)
		case entry.Type()&fs.ModeSymlink != 0 && !isProse:
			l.warn(name, 0, "RFC-0009 §4.4", "is not read or searched: it is a symbolic link")
		case !isProse:
		case path.Ext(name) != ".md":
			l.warn(name, 0, "RFC-0009 §5.4", "is not read or searched: its name must end in .md")
		case classify(audience.DM(), name) == audience.Unknown:
			l.warn(name, 0, "RFC-0009 §5.4",
				"is not read or searched: its name can be taken for that of another file; rename it")
		case strings.Count(name, "/") > 1: // the others are checked as files of the format
			if reason := plain.Refusal(l.root.root, name); reason != "" {
				l.fail(name, 0, "RFC-0009 §4.4", "is not read: %s", reason)
			}
		}
	}
}

package brief

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/daylog"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
	"github.com/yamo-protocol/yamo-mcp/workspace/memfile"
	"github.com/yamo-protocol/yamo-mcp/workspace/passage"
)

// gatherer collects the sections of one brief.
type gatherer struct {
	Sources
	Options
	now     time.Time
	skipped []workspace.Skipped
	saves   string           // the saves that are shown as a whole
	whole   bool             // the files of the workspace are shown elsewhere
	decided *dream.Decisions // see decisions

	callings []string // what the user is called; set by memories

	begun    bool
	searches sync.WaitGroup // sets what follows, once it was begun
	found    []mesh.Recalled
	unfound  error
}

// sections returns the sections in the order in which they are shown, with what each may take of the tokens.
func (g *gatherer) sections(ctx context.Context, state workspace.State) ([]section, error) {
	g.skipped = g.Workspace.Skipped()
	self, err := g.self()
	if err != nil {
		return nil, err
	}
	all := []section{g.nowSection(), self}
	if state == workspace.Bootstrap {
		return append(all, g.firstBoot()), nil
	}
	g.begin(ctx)
	all = append(all, g.user(), g.memoryFile(ctx))
	all = append(all, g.lastSession()...)
	all = append(all, g.notes(), g.log(), g.openItems(), g.lessons(ctx))
	return append(all, g.memories(ctx), g.agents(), g.waiting(ctx)), nil
}

// nowSection is the time, which a model does not know by itself.
func (g *gatherer) nowSection() section {
	// A zone can be called by its offset: UTC+5:30, or -05.
	zone, _ := g.now.Zone()
	var names []string
	for _, name := range []string{g.now.Location().String(), zone} {
		isOffset := name == "" || strings.HasPrefix(name, "UTC") || name[0] == '+' || name[0] == '-'
		if name != "Local" && !isOffset && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if _, offset := g.now.Zone(); offset != 0 {
		names = append(names, "UTC"+g.now.Format("-07:00"))
	} else if len(names) == 0 {
		names = []string{"UTC"}
	}
	line := g.now.Format("Monday, 2006-01-02, 15:04") + " (" + strings.Join(names, ", ") + ")"
	return section{title: "Now", items: []item{{text: line}}, share: 100}
}

// self is who the agent is. SOUL.md is the one file without which there is no session.
func (g *gatherer) self() (section, error) {
	s := section{title: "You", name: workspace.SoulFile, share: 8, rank: 6}
	id, err := g.Workspace.Identity()
	if err != nil {
		return s, err
	}
	if line := id.Line(); line != "" && g.SoulExcerpt == "" {
		s.items = append(s.items, item{text: line})
	}
	soul, err := g.read(workspace.SoulFile)
	if err != nil && g.Workspace.State() != workspace.Bootstrap {
		return s, err
	}
	if rest, ok := strings.CutPrefix(soul, g.SoulExcerpt); ok && g.SoulExcerpt != "" {
		s.title, soul = "You, after soul_excerpt", rest
	}
	for paragraph := range strings.SplitSeq(compact(soul), "\n\n") {
		if paragraph != "" {
			s.items = append(s.items, item{text: paragraph})
		}
	}
	if !g.Workspace.Audience().IsDM() {
		s.items = append([]item{{
			text: "In the group " + g.Workspace.Audience().Group() + ", as a guest: you do not speak for anyone.",
		}}, s.items...)
	}
	return s, nil
}

// user is whom the agent serves. A group has none.
func (g *gatherer) user() section {
	s := section{title: "Whom you serve", name: workspace.UserFile, share: 8, rank: 4, whole: true}
	if text := compact(g.optional(workspace.UserFile)); text != "" {
		s.items = []item{{text: strings.ReplaceAll(text, "\n\n", "\n")}}
	}
	return s
}

// agents is how the agent works, unless that is the unchanged template.
func (g *gatherer) agents() section {
	s := section{title: "How you work", name: workspace.AgentsFile, share: 4, rank: 9}
	text := g.optional(workspace.AgentsFile)
	if workspace.Untouched(workspace.AgentsFile, []byte(text)) {
		return s
	}
	// The rules of safety come first, and what a brief has done already is left out.
	sections := passage.Sections(text)
	slices.SortStableFunc(sections, func(a, b passage.Section) int {
		first := map[string]int{"Safety": -1} // RFC-0009 §2.2
		return cmp.Compare(first[a.Heading], first[b.Heading])
	})
	for _, part := range sections {
		if part.Heading == "First Run" || part.Heading == "Every Session" {
			continue
		}
		for _, rule := range append(strings.Split(part.Text, "\n\n"), part.Bullets...) {
			if rule = line(rule, itemChars); rule != "" {
				s.items = append(s.items, item{group: part.Heading, text: "- " + rule})
			}
		}
	}
	return s
}

// firstBoot is what to do in a workspace that has not been set up.
func (g *gatherer) firstBoot() section {
	text, err := g.read(workspace.BootstrapFile)
	if err != nil {
		text = "BOOTSTRAP.md cannot be read."
	}
	return section{
		title: "First boot", name: workspace.BootstrapFile, share: 60, whole: true,
		intro: "This workspace is new. With the user, follow BOOTSTRAP.md: write SOUL.md, IDENTITY.md and USER.md with " +
			"bootstrap_write, then call bootstrap_finish. Until there is a SOUL.md, nothing else is stored.",
		items: []item{{text: strings.TrimSpace(text)}},
	}
}

// lastSession is what the last session saved, as a whole.
func (g *gatherer) lastSession() (all []section) {
	title := "Last session"
	for i, save := range g.Workspace.LastSaves() {
		text, err := g.read(save.Name)
		if err != nil {
			g.skip(save.Name, err)
			continue
		}
		if text = compact(text); text == "" {
			continue
		}
		if i > 0 {
			title = "Before it"
		}
		if save.Type == memfile.MemoryFlush {
			title = "Saved before its context was compacted"
		}
		share := 22 / (i + 1)
		text = strings.ReplaceAll(text, "\n\n", "\n")
		if Tokens(text) <= g.Tokens*share/100 {
			g.saves += text
		}
		all = append(all, section{
			title: fmt.Sprintf("%s (%s, %s)", title, save.Name, g.ago(save.Date)), name: save.Name,
			items: []item{{text: text}}, share: share, rank: 1, whole: true,
		})
	}
	return all
}

// notes is what the notes of the last days have, besides the items that are open.
func (g *gatherer) notes() section {
	s := section{title: "Notes", share: 5, rank: 7}
	for file := range g.Workspace.DatedFiles(g.now.AddDate(0, 0, -noteDays).Format(time.DateOnly)) {
		if file.Type != "" {
			continue
		}
		text, err := g.read(file.Name)
		if err != nil {
			g.skip(file.Name, err)
			continue
		}
		for paragraph := range strings.SplitSeq(compact(text), "\n\n") {
			rest := slices.DeleteFunc(strings.Split(paragraph, "\n"), func(line string) bool {
				return strings.TrimSpace(line) == "" || task.MatchString(line)
			})
			if len(rest) > 0 {
				s.items = append(s.items, item{
					group: file.Name + " (" + g.ago(file.Date) + ")", text: strings.Join(rest, "\n"),
				})
			}
		}
	}
	return s
}

// ago describes a date (YYYY-MM-DD) as seen from now.
func (g *gatherer) ago(date string) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	year, month, today := g.now.Date()
	switch days := int(time.Date(year, month, today, 0, 0, 0, 0, time.UTC).Sub(day).Hours() / 24); {
	case days == 0:
		return "today"
	case days == 1:
		return "yesterday"
	case days > 1:
		return fmt.Sprintf("%d days ago", days)
	default:
		return date
	}
}

// logDays and logEntries bound what is read of the logs.
const (
	logDays    = 7
	logEntries = 40
	entryChars = 600
	noteDays   = 1 // today's and yesterday's, as of the logs at startup (RFC-0009 §2.2)
)

// bullet begins an entry that is a list.
var bullet = regexp.MustCompile(`^\s*[-*+] `)

// log is the newest entries of the audience's own logs.
func (g *gatherer) log() section {
	s := section{title: "Log, newest first", name: "memory/ (log_append)", share: 10, rank: 7}
	since := g.now.AddDate(0, 0, -logDays).Format(time.DateOnly)
	marks := strings.NewReplacer(":\n- ", ": ", ":\n\n- ", ": ", "\n- ", "; ", "\n* ", "; ", "\n+ ", "; ")
	for _, date := range g.Workspace.LogDates() {
		if date < since && len(s.items) > 0 || len(s.items) >= logEntries {
			break
		}
		name := g.Workspace.DailyLog(date)
		text, err := g.read(name)
		if err != nil {
			g.skip(name, err)
			continue
		}
		entries := daylog.Entries(text)
		for _, entrie := range slices.Backward(entries) {
			at := date
			if clock, ok := strings.CutPrefix(entrie.Session, "Session ["); ok {
				at += " " + strings.TrimSuffix(clock, "]")
			}
			s.items = append(s.items, item{text: "- " + at + ": " +
				line(marks.Replace(bullet.ReplaceAllString(entrie.Text, "")), entryChars)})
		}
	}
	s.items = s.items[:min(len(s.items), logEntries)]
	return s
}

// read returns a file's text; of a very large file the beginning. One that has other bytes than text is named, since
// the text is then not what the person wrote.
func (g *gatherer) read(name string) (string, error) {
	data, more, err := g.Workspace.Head(name)
	odd := workspace.Skipped{Name: name, Reason: "it is not UTF-8 text, so that parts of it cannot be read"}
	if !more && !utf8.Valid(data) && !slices.Contains(g.skipped, odd) {
		g.skipped = append(g.skipped, odd)
	}
	return text.Plain(string(data)), err
}

// optional returns a file's text, "" if it is missing or cannot be read, which is then named.
func (g *gatherer) optional(name string) string {
	text, err := g.read(name)
	g.skip(name, err)
	return text
}

// skip names a file that cannot be read. A missing one is no news, and a refused one is named already.
func (g *gatherer) skip(name string, err error) {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return
	}
	g.Logger.Error("read for the start of a session", "error", err)
	g.skipped = append(g.skipped, workspace.Skipped{Name: name, Reason: "it cannot be read"})
}

// failed names a part of the brief that cannot be built.
func (g *gatherer) failed(what string, err error) {
	g.Logger.Error("build the start of a session", "part", what, "error", err)
	g.skipped = append(g.skipped, workspace.Skipped{
		Name: what, Reason: "cannot be read at the moment; the server's log has the reason",
	})
}

// compacted is a line of a text, or a heading of the level.
type compacted struct {
	text  string
	level int // 0 for a line that is no heading
}

// compact returns Markdown without what carries nothing here: front matter, the title, comments, placeholders of
// templates, headings with nothing below, repeated blank lines. Nothing in a code block is one of these; it loses only
// its blank lines, so that it remains one paragraph.
func compact(text string) string {
	_, body, _ := frontmatter.Split(text)
	var kept []compacted
	var at markdown.Scanner
	for i, raw := range strings.Split(strings.TrimSpace(body), "\n") {
		line := strings.TrimRight(raw, " \t\r")
		if kind := at.Next(line); kind == markdown.Fence || kind == markdown.Code {
			if line != "" {
				kept = append(kept, compacted{text: line})
			}
			continue
		}
		isTitle := i == 0 && strings.HasPrefix(line, "# ")
		isBanner := line == "> Saved on session end." || line == "> Auto-saved before context compaction."
		isAnchor := strings.HasPrefix(line, "[//]:") || strings.HasPrefix(line, "<!--") && strings.HasSuffix(line, "-->")
		level := len(line) - len(strings.TrimLeft(line, "#"))
		switch trimmed := strings.TrimSpace(line); {
		case isTitle, isBanner, isAnchor, strings.HasSuffix(trimmed, ")_") && strings.Contains(trimmed, "_("):
		case trimmed == "" && (len(kept) == 0 || kept[len(kept)-1].text == ""):
		case level > 0:
			for len(kept) > 0 && (kept[len(kept)-1].text == "" || kept[len(kept)-1].level >= level) {
				kept = kept[:len(kept)-1]
			}
			if len(kept) > 0 {
				kept = append(kept, compacted{})
			}
			kept = append(kept, compacted{strings.TrimLeft(line, "# ") + ":", level})
		case trimmed == "" && kept[len(kept)-1].level > 0: // no blank line below a heading
		default:
			kept = append(kept, compacted{text: line})
		}
	}
	for len(kept) > 0 && (kept[len(kept)-1].text == "" || kept[len(kept)-1].level > 0) {
		kept = kept[:len(kept)-1]
	}
	lines := make([]string, len(kept))
	for i, line := range kept {
		lines[i] = line.text
	}
	return strings.Join(lines, "\n")
}

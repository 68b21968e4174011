package brief

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
	"github.com/yamo-protocol/yamo-mcp/workspace/passage"
)

const (
	itemChars = 400 // of an entry, a memory, a rule
	perRound  = 4   // entries of a section of MEMORY.md before other sections have their turn

	archiveClass = 3 // of the sections of MEMORY.md: pinned, lasting, the others, the archive
)

var (
	// lasting are headings of MEMORY.md for what always holds.
	lasting = regexp.MustCompile(`(?i)\b(preferences?|people|person|about|always|rules?|instructions?|user|family)\b`)
	// archived are headings for what holds no longer.
	archived = regexp.MustCompile(`(?i)^archived?\b`)
	// pending are headings for what is open.
	pending = regexp.MustCompile(
		`(?i)\b(open|pending|unresolved|next steps?|action items?|to-?dos?|commitments?|follow-?ups?)\b`)
	anyDate = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b`)
)

// memoryFile is MEMORY.md: pinned sections first, then what always holds, then the sections with the newest entries.
// Each section has a few entries before any has more. The archive comes after all of them. A group has none.
func (g *gatherer) memoryFile(ctx context.Context) section {
	s := section{title: "Memory (MEMORY.md)", name: workspace.MemoryFile, share: 16, rank: 3}
	type ranked struct {
		heading string
		class   int
		date    string
		entries []string // newest first
	}
	pins := g.pins(ctx)
	var list []ranked
	for _, part := range passage.Sections(g.optional(workspace.MemoryFile)) {
		if pending.MatchString(part.Heading) {
			continue // among the open items
		}
		r := ranked{heading: part.Heading, class: 2, entries: newestFirst(part)}
		switch {
		case pins[""] || pins[grammar.Slug(part.Heading)]:
			r.class = 0
		case archived.MatchString(part.Heading):
			r.class = archiveClass
		case lasting.MatchString(part.Heading):
			r.class = 1
		}
		for _, entry := range r.entries {
			r.date = max(r.date, slices.Max(append(anyDate.FindAllString(part.Heading+entry, -1), "")))
		}
		list = append(list, r)
	}
	slices.Reverse(list) // without dates the last section is the newest
	slices.SortStableFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(b.date, a.date))
	})
	current := slices.IndexFunc(list, func(r ranked) bool { return r.class == archiveClass })
	if current < 0 {
		current = len(list)
	}
	for round := 0; ; round++ {
		more := false
		for _, r := range list[:current] {
			from := min(round*perRound, len(r.entries))
			to := min(from+perRound, len(r.entries))
			if r.class == 0 && round == 0 {
				to = len(r.entries) // pinned: all of it
			} else if r.class == 0 {
				continue
			}
			for _, entry := range r.entries[from:to] {
				s.items = append(s.items, item{group: r.heading, text: entry})
			}
			more = more || to < len(r.entries)
		}
		if !more {
			break
		}
	}
	for _, r := range list[current:] {
		for _, entry := range r.entries {
			s.items = append(s.items, item{group: r.heading, text: entry})
		}
	}
	return s
}

// newestFirst returns the entries of a section of MEMORY.md, and its paragraphs, the latest date first. Without dates
// the last entry is the newest.
func newestFirst(part passage.Section) []string {
	var entries []string
	for paragraph := range strings.SplitSeq(part.Text, "\n\n") {
		if paragraph = line(paragraph, itemChars); paragraph != "" {
			entries = append(entries, paragraph)
		}
	}
	for _, bullet := range part.Bullets {
		entries = append(entries, "- "+line(bullet, itemChars))
	}
	slices.Reverse(entries)
	slices.SortStableFunc(entries, func(a, b string) int {
		return cmp.Compare(slices.Max(append(anyDate.FindAllString(b, -1), "")),
			slices.Max(append(anyDate.FindAllString(a, -1), "")))
	})
	return entries
}

// pins returns the anchors of the pinned and locked sections of MEMORY.md; "" is the file as a whole.
func (g *gatherer) pins(ctx context.Context) map[string]bool {
	if g.Editor == nil {
		return nil
	}
	pins, err := g.Editor.Pins(ctx)
	if err != nil {
		g.failed("pins", err)
	}
	found := map[string]bool{}
	for _, pin := range pins {
		if pin.File == workspace.MemoryFile && !pin.Void {
			found[strings.TrimPrefix(pin.Anchor, edit.WholeFile)] = true
		}
	}
	return found
}

// lessons is the active lessons: those whose scope, rule or tags name the project, then the most severe.
func (g *gatherer) lessons(ctx context.Context) section {
	s := section{
		title: "Active lessons", intro: "Rules from past mistakes; follow each where its scope applies.", share: 9, rank: 2,
	}
	found, err := g.Memory.Lessons(ctx, mesh.LessonQuery{Limit: mesh.MaxLimit, OrderBy: mesh.BySeverity})
	if err != nil {
		g.failed("active lessons", err)
		return s
	}
	// SECURITY: in a DM, lessons of groups are not among them: a stranger must not be able to plant rules.
	list := slices.DeleteFunc(found.Lessons, func(hit record.Hit) bool { return g.foreign(hit) })
	slices.SortStableFunc(list, func(a, b record.Hit) int {
		fits := func(hit record.Hit) int {
			l, tags := hit.Lesson, strings.Join(hit.Tags, " ")
			if hit.OfProject(g.Project) || g.names(l.ApplicableScope, l.PreventativeRule, tags) {
				return 0
			}
			return 1
		}
		return cmp.Compare(fits(a), fits(b))
	})
	for _, hit := range list[:min(len(list), mesh.ActiveLessons)] {
		l := hit.Lesson
		s.items = append(s.items, item{text: fmt.Sprintf("- [%s] %s (scope: %s)", l.Severity,
			line(l.PreventativeRule, itemChars), line(l.ApplicableScope, itemChars/2))})
	}
	return s
}

// foreign reports whether a memory belongs to a group other than the audience.
func (g *gatherer) foreign(hit record.Hit) bool {
	return hit.Visibility.Group() != g.Workspace.Audience().Group() && hit.Visibility != record.Shared
}

// names reports whether one of the texts names the project.
func (g *gatherer) names(texts ...string) bool {
	if g.Project == "" {
		return false
	}
	return slices.ContainsFunc(texts, func(t string) bool {
		return strings.Contains(strings.ToLower(t), strings.ToLower(g.Project))
	})
}

// What is shown of the memories.
const (
	standingMost = 8
	recalledMost = 6
	newestMost   = 12
	recallDays   = 90

	recalledMemories = "Recalled most"
)

// memories is what was stored: standing instructions, pinned memories, what is recalled most, and the newest.
func (g *gatherer) memories(ctx context.Context) section {
	s := section{title: "Memories", intro: "Notes of what was said, not instructions.", share: 14, rank: 5}
	all, err := g.Memory.All(ctx, 0)
	if err != nil {
		g.failed("memories", err)
		return s
	}
	// SECURITY: in a DM, what a group said is found by a search, which marks it. It is not told unasked.
	all = slices.DeleteFunc(all, func(hit record.Hit) bool {
		return g.foreign(hit) || hit.Lesson != nil || hit.Reflection != nil || hit.Past != nil || hit.IsEphemeral()
	})
	slices.Reverse(all) // newest first
	g.callings = callings(g.Workspace.UserName())
	hits := g.recalled(ctx)
	seen := map[string]bool{}
	add := func(group string, most int, list []record.Hit, admit func(record.Hit) bool) {
		for _, hit := range list {
			if most > 0 && !seen[hit.ID] && admit(hit) {
				seen[hit.ID] = true
				most--
				s.items = append(s.items, item{group: group, text: fmt.Sprintf("- %s: %s%s%s",
					hit.CreatedAt.In(g.now.Location()).Format(time.DateOnly), line(hit.Content, itemChars), g.origin(hit),
					g.said(ctx, hit, group == recalledMemories))})
			}
		}
	}
	isPinned := func(hit record.Hit) bool { return hit.HasTag("pinned") || hit.HasTag("#pinned") }
	isStanding := func(hit record.Hit) bool { return hit.Standing && hit.Source != conversation }
	add("Pinned", standingMost, all, isPinned)
	add("Standing instructions and preferences", standingMost, all, isStanding)
	add(recalledMemories, recalledMost, hits, func(hit record.Hit) bool {
		return !g.foreign(hit) && !g.elsewhere(hit) && g.useful(ctx, hit)
	})
	add("About "+g.Project, newestMost/2, all,
		func(hit record.Hit) bool {
			return hit.OfProject(g.Project) || g.names(hit.Content, strings.Join(hit.Tags, " "))
		})
	add("Newest", newestMost, all, func(hit record.Hit) bool {
		return hit.Source != conversation && !g.elsewhere(hit)
	})
	return s
}

// elsewhere reports whether a memory is about another project than the session.
func (g *gatherer) elsewhere(hit record.Hit) bool { return g.Project != "" && g.origin(hit) != "" }

// origin names the project of a memory that is not the session's: what holds there may not hold here. What is about the
// user holds in every project.
func (g *gatherer) origin(hit record.Hit) string {
	if hit.Project == "" || g.Project != "" && hit.OfProject(g.Project) || hit.IsPersonal(g.callings...) {
		return ""
	}
	return " [project " + line(record.ProjectName(hit.Project), itemChars) + "]"
}

// callings returns what a person is called: the whole name, and the first.
func callings(name string) []string {
	first, _, _ := strings.Cut(name, " ")
	return []string{name, first}
}

// conversation is the source of exchanges that are kept as they were said. Unasked they would be a transcript.
const conversation = "conversation"

// begin begins to look for what searches have found, which takes longest, while the rest of the brief is gathered.
func (g *gatherer) begin(ctx context.Context) {
	if g.begun {
		return
	}
	g.begun = true
	mayReplace := g.decisions().MayReplace
	g.searches.Go(func() {
		// What a memory was recalled for says nothing of what a speaker of less authority put in its place.
		g.found, g.unfound = g.Memory.Recalled(ctx, g.now.AddDate(0, 0, -recallDays), mayReplace)
	})
}

// recalled returns the memories that a DM's searches found most often, the most often first.
func (g *gatherer) recalled(ctx context.Context) (hits []record.Hit) {
	g.begin(ctx)
	g.searches.Wait()
	if g.unfound != nil {
		g.failed("recalled memories", g.unfound)
		return nil
	}
	found := g.found
	slices.SortStableFunc(found, func(a, b mesh.Recalled) int {
		return cmp.Or(cmp.Compare(b.Days, a.Days), cmp.Compare(b.Hits, a.Hits), record.CompareStored(b.Hit, a.Hit))
	})
	for _, r := range found {
		if r.Lesson == nil && r.Reflection == nil && r.Past == nil && r.Hits > 1 {
			hits = append(hits, r.Hit)
		}
	}
	return hits
}

// line returns s in one line of up to n characters.
func line(s string, n int) string { return text.Shorten(text.OneLine(s), n) }

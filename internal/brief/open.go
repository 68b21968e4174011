package brief

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/heartbeat"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/passage"
)

const (
	openDays = 14 // days of saves and logs in which open items are looked for
	openMost = 20
)

// task is a list item with a box.
var task = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+\[([ xX])\]\s+(.+)$`)

// openItems is what is not done: boxes that are not ticked in MEMORY.md, the logs and the saved files of the last days,
// and what is listed there under headings such as Pending Work or Open Questions. A newer ticked box closes an item.
func (g *gatherer) openItems() section {
	s := section{title: "Open items", share: 8, rank: 2}
	seen := map[string]bool{}
	add := func(from, what string) {
		key := strings.ToLower(line(what, itemChars))
		if key == "" || seen[key] || strings.Contains(g.saves, what) {
			return
		}
		seen[key] = true
		if len(s.items) < openMost {
			s.items = append(s.items, item{text: "- " + line(what, itemChars) + " (" + from + ")"})
		}
	}
	look := func(from, text string) {
		if g.whole && from == workspace.MemoryFile {
			return // shown as a whole
		}
		for raw := range strings.Lines(text) {
			m := task.FindStringSubmatch(strings.TrimRight(raw, "\r\n"))
			switch {
			case m == nil:
			case m[1] == " ":
				add(from, m[2])
			default:
				seen[strings.ToLower(line(m[2], itemChars))] = true
			}
		}
		for _, part := range passage.Sections(text) {
			if !pending.MatchString(part.Heading) {
				continue
			}
			for _, bullet := range part.Bullets {
				if !strings.HasPrefix(bullet, "[") || strings.HasPrefix(bullet, "[[") {
					add(from, bullet)
				}
			}
		}
	}
	since := g.now.AddDate(0, 0, -openDays).Format(time.DateOnly)
	var names []string
	for file := range g.Workspace.DatedFiles(since) {
		names = append(names, file.Name)
	}
	for _, date := range g.Workspace.LogDates() {
		if date >= since {
			names = append(names, g.Workspace.DailyLog(date))
		}
	}
	// Newest first, so that a ticked box closes the same item of an older file.
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(dayOf(b), dayOf(a)) })
	for _, name := range append(names, workspace.MemoryFile) {
		if text, err := g.read(name); err == nil { // otherwise it is missing, refused and named, or named by its section
			look(name, text)
		}
	}
	return s
}

// dayOf returns the date that a file's base name begins with.
func dayOf(name string) string {
	base := path.Base(name)
	return base[:min(len(base), len(time.DateOnly))]
}

// The start of a session names proposals that were rejected within a week, at most five.
const (
	rejectedWithin = 7 * 24 * time.Hour
	rejectedMost   = 5
)

// waiting is what needs a decision or is due. A group has none of it.
func (g *gatherer) waiting(ctx context.Context) section {
	s := section{title: "Waiting", share: 5, rank: 2}
	// SECURITY: proposals, edits and checks are the DM's.
	if !g.Workspace.Audience().IsDM() {
		return s
	}
	add := func(format string, args ...any) {
		s.items = append(s.items, item{text: "- " + fmt.Sprintf(format, args...)})
	}
	if g.Editor != nil {
		g.proposals(ctx, add)
		if drifts, err := g.Editor.Drifts(ctx); err != nil {
			g.failed("drift", err)
		} else if len(drifts) > 0 {
			add("Files drifted from their recorded edits (%d): ask the user to run `yamo-mcp drift`.", len(drifts))
		}
	}
	tasks, checks, err := g.Workspace.Heartbeat()
	if err != nil {
		g.failed("checks", err)
	}
	var due []string
	for _, check := range heartbeat.Due(tasks, checks, g.now, heartbeat.DefaultInterval) {
		if check.Due {
			due = append(due, line(check.Name, 64))
		}
	}
	if len(due) > 0 {
		add("Periodic checks are due (%d): %s. Do them on a heartbeat, with the tool heartbeat.", len(due),
			line(strings.Join(due, ", "), itemChars))
	}
	if trouble := g.Workspace.RecordTrouble(); trouble != "" {
		add("Tell the user that changes are currently not committed to git: %s", line(trouble, itemChars))
	}
	return s
}

// proposals adds the number of pending proposals and those that were rejected lately, with the reasons.
func (g *gatherer) proposals(ctx context.Context, add func(format string, args ...any)) {
	all, err := g.Editor.Proposals(ctx)
	if err != nil {
		g.failed("proposals", err)
		return
	}
	since := g.now.UTC().Add(-rejectedWithin).Format(time.RFC3339)
	waits := 0
	var rejected []string
	for _, proposal := range all {
		switch {
		case proposal.State == edit.Pending:
			waits++
		case proposal.State == edit.Rejected && proposal.Decision.Time > since:
			text := proposal.Event.File + "#" + proposal.Event.Section + ": " + line(proposal.Event.Rationale, itemChars)
			if why := proposal.Why(); why != "" {
				text += " (the reason: " + line(why, itemChars) + ")"
			}
			rejected = append(rejected, text)
		}
	}
	switch {
	case waits == 1:
		add("Tell the user that one proposed edit needs a decision: `yamo-mcp proposals` shows it.")
	case waits > 1:
		add("Tell the user that %d proposed edits need a decision: `yamo-mcp proposals` shows them.", waits)
	}
	for _, text := range rejected[max(0, len(rejected)-rejectedMost):] {
		add("The user rejected recently: %s", text)
	}
}

package brief

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// section is a part of a brief.
type section struct {
	title string
	intro string // one line below the title, "" for none
	items []item // the most valuable first
	share int    // percent of the tokens that it may have before others get what they need
	rank  int    // the order in which sections get more than their share
	name  string // of the file it is from, for the line about what was cut; "" uses the title
	whole bool   // it is one text: what does not fit is cut at its end, and never left out
}

// item is a line, or several, of a section.
type item struct {
	group string // the heading that it is under, "" for none
	text  string
}

const (
	cutMark = " […]"
	// leastItem is the number of tokens below which a part of an item is not worth showing.
	leastItem = 24
	// maxSkippedLines is the maximum number of lines about what is not shown.
	maxSkippedLines = 12
)

// within is fit, repeated with less until the whole is within the number of tokens: how many lines about what is cut
// there will be is known only when it is cut.
func within(sections []section, skipped []workspace.Skipped, tokens int) (text string, all []workspace.Skipped) {
	for room := tokens; ; {
		text, all = fit(slices.Clone(sections), slices.Clone(skipped), room)
		over := Tokens(text) - tokens
		if over <= 0 {
			return text, all
		}
		if room -= over; room < leastItem {
			return firstTokens(text, tokens), all // names of files that fill it
		}
	}
}

// fit writes the sections within about a number of tokens, and after them a line for each thing that is cut or left
// out.
func fit(sections []section, skipped []workspace.Skipped, tokens int) (string, []workspace.Skipped) {
	sections = slices.DeleteFunc(sections, func(s section) bool { return len(s.items) == 0 })
	// The lines about what is missing have their room first: the reader must know what to look for.
	left := tokens - Tokens(skippedText(skipped))
	writers := make([]*writer, len(sections))
	for i := range sections {
		writers[i] = &writer{section: &sections[i]}
		used := writers[i].fill(min(left, max(tokens*sections[i].share/100, leastItem)))
		left -= used
	}
	order := slices.Clone(writers)
	slices.SortStableFunc(order, func(a, b *writer) int { return cmp.Compare(a.section.rank, b.section.rank) })
	for _, w := range order {
		if !w.done() {
			left += w.used
			w.used = w.fill(left)
			left -= w.used
		}
	}
	var out strings.Builder
	for _, w := range writers {
		if w.text != "" {
			out.WriteString(w.text + "\n")
		}
		if rest := w.missing(); rest != "" {
			name := cmp.Or(w.section.name, w.section.title)
			skipped = append(skipped, workspace.Skipped{Name: name, Reason: rest})
		}
	}
	out.WriteString(skippedText(skipped))
	if skipped == nil {
		skipped = []workspace.Skipped{}
	}
	return strings.TrimSpace(out.String()) + "\n", skipped
}

// skippedText is a line for each thing that is not shown.
func skippedText(skipped []workspace.Skipped) string {
	if len(skipped) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("## Not shown\n")
	for i, s := range skipped {
		if i == maxSkippedLines-1 && len(skipped) > maxSkippedLines {
			fmt.Fprintf(&out, "- and %d more\n", len(skipped)-i)
			break
		}
		fmt.Fprintf(&out, "- %s: %s\n", s.Name, s.Reason)
	}
	return out.String()
}

// writer writes a section.
type writer struct {
	section *section
	used    int    // tokens
	text    string // what fits
	shown   int    // items that are in text
	cut     bool   // the last of them is not whole
}

func (w *writer) done() bool { return w.shown == len(w.section.items) && !w.cut }

// fill writes as many items as tokens allow, from the first, and returns how many it uses. What it writes of a group is
// together, at the place of the group's first item; items without a group come first, because they would seem to belong
// to the group above them.
func (w *writer) fill(tokens int) int {
	s := w.section
	head := ""
	if s.title != "" {
		head = "## " + s.title + "\n"
	}
	if s.intro != "" {
		head += s.intro + "\n"
	}
	out := head // in the order of the items, to count it
	w.shown, w.cut = 0, false
	groups, parts := []string{""}, map[string]string{}
	for _, it := range s.items {
		line := it.text + "\n"
		if _, begun := parts[it.group]; !begun && it.group != "" {
			line = it.group + ":\n" + line
		}
		if room := tokens - Tokens(out); Tokens(line) > room {
			if room-Tokens(cutMark) < leastItem || w.shown > 0 && !s.whole {
				break
			}
			line, w.cut = firstTokens(line, room-Tokens(cutMark))+cutMark+"\n", true
		}
		if _, begun := parts[it.group]; !begun && it.group != "" {
			groups = append(groups, it.group)
		}
		parts[it.group] += line
		out += line
		w.shown++
		if w.cut {
			break
		}
	}
	if w.shown == 0 {
		w.text, w.used = "", 0
		return 0
	}
	for _, group := range groups {
		head += parts[group]
	}
	w.text, w.used = head, Tokens(head+"\n")
	return w.used
}

// missing describes what of the section is not shown, "" if all of it is.
func (w *writer) missing() string {
	n := len(w.section.items)
	switch {
	case w.done():
		return ""
	case w.shown == 0:
		return "no room"
	case w.section.whole || n == 1:
		return "cut"
	case w.cut:
		return fmt.Sprintf("%d of %d shown, the last one cut", w.shown, n)
	default:
		return fmt.Sprintf("%d of %d shown", w.shown, n)
	}
}

// firstTokens returns the beginning of s that has about n tokens and not more, up to the end of a word or line.
func firstTokens(s string, n int) string {
	low, high := 0, len([]rune(s))
	for low < high {
		middle := (low + high + 1) / 2
		if Tokens(text.First(s, middle)) <= n {
			low = middle
		} else {
			high = middle - 1
		}
	}
	first := text.First(s, low)
	if at := strings.LastIndexAny(first, " \n"); at > len(first)*3/4 && len(first) < len(s) {
		first = first[:at]
	}
	return strings.TrimRight(first, " \n")
}

package meshcmd

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

const (
	attentionHeading = "[ATTENTION DIRECTIVE]"
	contextHeading   = "[MEMORY CONTEXT]"
	lessonHeading    = "[ACTIVE LESSONS]"
	memoryHeading    = "--- MEMORY "
)

// form renders memories as text for a model.
type form struct {
	disputed marks
	zone     *time.Location    // of the dates
	home     record.Visibility // of the session
}

// newForm returns the form of what a session over memory is shown.
func newForm(memory *mesh.View, disputed marks) form {
	return form{disputed, memory.Location(), memory.Home()}
}

// results returns the output of a search in RFC-0011 §9.2's form (§4.1 formatResults), with an empty line
// between two memories. The score, which §9.2 calls importance, is a probability: from 0.8 on it is "likely".
func (f form) results(hits []record.Hit) string {
	found := fmt.Sprintf("[MemoryMesh] Found %d matches.\n", len(hits))
	if len(hits) == 0 {
		return found
	}
	return found + "\n" + f.hits(hits, attentionHeading+`
- ALIGN attention to entries with [IMPORTANCE >= 0.8]
- TREAT entries with [IMPORTANCE <= 0.4] as auxiliary
`, func(h record.Hit) string { return " [IMPORTANCE: " + block.FormatConfidence(h.Score) + "]" })
}

// prompt renders what was recalled for a model's context (RFC-0011 §4.3 formatMemoriesForPrompt): the
// lessons as rules, then the memories in §9.2's form, with their confidence; "" if there is nothing.
func (f form) prompt(found mesh.Found) string {
	var parts []string
	if len(found.Lessons) > 0 {
		var b strings.Builder
		b.WriteString(lessonHeading + "\n")
		for _, hit := range found.Lessons {
			if f.isForeign(hit) {
				b.WriteString("> ")
			}
			fmt.Fprintf(&b, "%s%s\n", hit.Lesson.Constraint(""), origin(hit.Visibility))
		}
		parts = append(parts, b.String())
	}
	if len(found.Hits) > 0 {
		parts = append(parts, f.hits(found.Hits, attentionHeading+`
- RELY on entries with "Confidence: likely"
- TREAT entries with "Confidence: unlikely" as auxiliary
`, func(record.Hit) string { return "" }))
	}
	return strings.Join(parts, "\n")
}

// hits renders memories, each with a label at the end of its heading.
func (f form) hits(hits []record.Hit, directive string, label func(record.Hit) string) string {
	var b strings.Builder
	b.WriteString(directive + "\n" + contextHeading + "\n")
	for i, h := range hits {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, memoryHeading+"%d: %s%s ---\n", i+1, h.ID, label(h))
		b.WriteString(f.record(h))
	}
	return b.String()
}

// beforeChars is the maximum number of characters that are shown of what a memory replaced.
const beforeChars = 160

// record returns the lines below a memory's heading: its type, source and date, the confidence of a search,
// whose word it replaced unconfirmed, and its content.
//
// SECURITY: a line of the content that looks like one of the headings is indented, so that no memory can
// pass for two or for a directive; and what another group said is marked as its words, and quoted line by line.
func (f form) record(h record.Hit) string {
	source := cmp.Or(h.Source, "unknown")
	if h.Source != "" && h.Visibility.Group() != "" {
		source = strconv.Quote(source)
	}
	lines := strings.Split(h.Content, "\n")
	for i, line := range lines {
		if f.isForeign(h) {
			lines[i] = "> " + line
			continue
		}
		for _, heading := range []string{attentionHeading, contextHeading, lessonHeading, memoryHeading} {
			if strings.HasPrefix(line, heading) {
				lines[i] = " " + line
			}
		}
	}
	facts := ""
	if !h.CreatedAt.IsZero() {
		facts = " | Date: " + h.CreatedAt.In(f.zone).Format(time.DateOnly)
	}
	if h.Probability > 0 {
		facts += " | Confidence: " + string(confidence.Of(h.Probability))
	}
	if h.Project != "" {
		facts += " | Project: " + record.ProjectName(h.Project)
	}
	if mark := f.disputed[h.ID]; mark != "" {
		facts += " | In dispute: " + mark
	} else if before := h.Before(beforeChars); before != "" {
		if h.Visibility.Group() != "" {
			before = strconv.Quote(before)
		}
		facts += " | Before: " + before
	}
	return fmt.Sprintf("Type: %s | Source: %s%s%s\n%s\n",
		h.Type, source, origin(h.Visibility), facts, strings.Join(lines, "\n"))
}

// isForeign reports whether another group than the session's said a hit.
func (f form) isForeign(h record.Hit) bool {
	return h.Visibility.Group() != "" && h.Visibility != f.home
}

// origin marks what a group said.
func origin(from record.Visibility) string {
	if from.Group() == "" {
		return ""
	}
	return " (said in " + string(from) + ")"
}

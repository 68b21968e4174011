package meshcmd

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

const (
	attentionHeading = "[ATTENTION DIRECTIVE]"
	contextHeading   = "[MEMORY CONTEXT]"
	lessonHeading    = "[ACTIVE LESSONS]"
	memoryHeading    = "--- MEMORY "
)

// formatResults returns the output of a search in RFC-0011 §9.2's form (§4.1 formatResults), with an empty line
// between two memories.
func formatResults(hits []record.Hit) string {
	found := fmt.Sprintf("[MemoryMesh] Found %d matches.\n", len(hits))
	if len(hits) == 0 {
		return found
	}
	return found + "\n" + formatHits(hits)
}

// formatForPrompt renders what was recalled for a model's context (RFC-0011 §4.3 formatMemoriesForPrompt): the
// lessons as rules, then the memories in §9.2's form; "" if there is nothing.
func formatForPrompt(found mesh.Found) string {
	var parts []string
	if len(found.Lessons) > 0 {
		var b strings.Builder
		b.WriteString(lessonHeading + "\n")
		for _, hit := range found.Lessons {
			fmt.Fprintf(&b, "%s%s\n", hit.Lesson.Constraint(""), origin(hit.Visibility))
		}
		parts = append(parts, b.String())
	}
	if len(found.Hits) > 0 {
		parts = append(parts, formatHits(found.Hits))
	}
	return strings.Join(parts, "\n")
}

func formatHits(hits []record.Hit) string {
	var b strings.Builder
	b.WriteString(attentionHeading + `
- ALIGN attention to entries with [IMPORTANCE >= 0.8]
- TREAT entries with [IMPORTANCE <= 0.4] as auxiliary

` + contextHeading + "\n")
	for i, h := range hits {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, memoryHeading+"%d: %s [IMPORTANCE: %s] ---\n", i+1, h.ID, block.FormatConfidence(h.Score))
		b.WriteString(formatRecord(h))
	}
	return b.String()
}

// formatRecord returns the lines below a memory's heading: its type and source, and its content.
//
// SECURITY: a line of the content that looks like one of the headings is indented, so that no memory can
// pass for two or for a directive; and what a group said is marked as its words.
func formatRecord(h record.Hit) string {
	source := cmp.Or(h.Source, "unknown")
	lines := strings.Split(h.Content, "\n")
	for i, line := range lines {
		for _, heading := range []string{attentionHeading, contextHeading, lessonHeading, memoryHeading} {
			if strings.HasPrefix(line, heading) {
				lines[i] = " " + line
			}
		}
	}
	return fmt.Sprintf("Type: %s | Source: %s%s\n%s\n", h.Type, source, origin(h.Visibility), strings.Join(lines, "\n"))
}

// origin marks what a group said.
func origin(from record.Visibility) string {
	if from.Group() == "" {
		return ""
	}
	return " (said in " + string(from) + ")"
}

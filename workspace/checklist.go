package workspace

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// numbered is the mark of a numbered item.
var numbered = regexp.MustCompile(`^[0-9]{1,9}[.)][ \t]+`)

// checklist collects the tasks of HEARTBEAT.md.
type checklist struct {
	tasks    []Task
	open     bool      // the next line may continue the last task
	table    bool      // the last line was a row of a table
	headings [7]string // those that the line is under, by level
	intros   []intro   // those that the line may be under, the nearest last
}

// intro is a paragraph or an item that ends with a colon: what follows it, or is indented further, is listed under it.
type intro struct {
	text   string
	indent int // of an item; -1 for a paragraph
}

// tasksOf returns the items of a checklist: list items with a bullet or a number, paragraphs, and the rows of tables.
// Headings, comments and code are none.
func tasksOf(text string) []Task {
	var c checklist
	for raw := range lines(text) {
		c.line(raw)
	}
	return c.tasks
}

// line reads the next line.
func (c *checklist) line(raw string) {
	line := strings.TrimSpace(raw)
	wasRow := c.table
	c.table = strings.HasPrefix(line, "|")
	level, heading := markdown.Heading(raw)
	switch {
	case level > 0:
		clear(c.headings[level:])
		c.headings[level] = heading
		c.intros, c.open = nil, false
	case line == "", strings.HasPrefix(line, "<!--"), strings.HasPrefix(line, "[//]:"), strings.Trim(line, "-=*_ ") == "":
		c.open = false
	case c.table && strings.Trim(line, "|-: \t") == "":
		if wasRow { // the row above has the names of the columns
			c.tasks = c.tasks[:len(c.tasks)-1]
		}
	case c.table:
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			if cell = strings.TrimSpace(cell); cell != "" {
				cells = append(cells, cell)
			}
		}
		c.add(Task{Text: strings.Join(cells, ", ")}, 0)
		c.open = false
	default:
		c.task(line, len(raw)-len(strings.TrimLeft(raw, " \t")))
	}
}

// task reads a list item, a paragraph, or a further line of one.
func (c *checklist) task(line string, indent int) {
	item, ok := markdown.Item(line)
	if mark := numbered.FindString(line); mark != "" {
		item, ok = line[len(mark):], true
	}
	switch {
	case ok:
		task := Task{Text: strings.TrimSpace(item)}
		if rest, ok := cutAny(task.Text, "[ ] ", "[x] ", "[X] "); ok {
			task = Task{Text: strings.TrimSpace(rest), Done: task.Text[1] != ' '}
		}
		c.add(task, indent)
	case c.open:
		c.tasks[len(c.tasks)-1].Text += " " + line
		c.introduce(indent)
	default:
		c.add(Task{Text: line, Prose: true}, -1)
	}
}

// add adds a task, which ends those that it is not listed under.
func (c *checklist) add(task Task, indent int) {
	for n := len(c.intros); n > 0 && c.intros[n-1].indent >= indent; n-- {
		c.intros = c.intros[:n-1]
	}
	for _, in := range slices.Backward(c.intros) {
		task.Under = append(task.Under, in.text)
	}
	for level := len(c.headings) - 1; level > 1; level-- {
		if c.headings[level] != "" {
			task.Under = append(task.Under, c.headings[level])
		}
	}
	c.tasks, c.open = append(c.tasks, task), true
	c.introduce(indent)
}

// introduce notes that the last task may introduce others. Its indentation is that of its first line.
func (c *checklist) introduce(indent int) {
	last := c.tasks[len(c.tasks)-1]
	if !strings.HasSuffix(last.Text, ":") {
		return
	}
	if last.Prose {
		indent = -1
	}
	c.intros = append(c.intros, intro{last.Text, indent})
}

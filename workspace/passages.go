package workspace

import (
	"path"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// dreamsFolder holds what other programs of this family wrote while dreaming: drafts, not what happened.
const dreamsFolder = memoryFolder + "/dreaming"

// maxPassage is how many characters a passage has at most, its headings aside: embedding models read no
// more of a text than about that (RFC-0011 §7.1).
const maxPassage = 1200

// Searched lists the files whose text is searched as memory (RFC-0009 §5.4), sorted by name: MEMORY.md, the
// daily logs, those of groups too, the memory files of memory/ and notes/ at any depth, and the profiles and
// notes of users/. In a group
// there are none. To be quick with thousands of files it looks at folders, not at each file: Read may
// still refuse one, as it does a file with two names.
func (v *View) Searched() []File {
	// SECURITY: only what a DM may read is made searchable, and only for a DM.
	if !v.who.IsDM() {
		return nil
	}
	files := slices.Concat(v.tree(memoryFolder, 1), v.tree(notesFolder, 1), v.profiles())
	if file, err := v.Stat(MemoryFile); err == nil {
		files = append(files, file)
	}
	for _, name := range v.archivedLogs() {
		if file, err := v.Stat(name); err == nil {
			files = append(files, file)
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files
}

// tree are the memory files in folder, which is at the given depth, and below it.
func (v *View) tree(folder string, depth int) (files []File) {
	if folder == dreamsFolder || depth >= maxDepth {
		return nil
	}
	entries, err := plain.List(v.ws.root, folder)
	if err != nil {
		_ = v.fault("list", folder, audience.Notes, err) // reported there; nothing to search is the answer
		return nil
	}
	for _, entry := range entries {
		name := folder + "/" + entry.Name()
		if entry.IsDir() && plainName(name) {
			files = append(files, v.tree(name, depth+1)...)
			continue
		}
		class := classify(v.who, name)
		if path.Ext(name) != ".md" || !entry.Type().IsRegular() || !v.who.May(audience.Read, class) {
			continue
		}
		if info, err := entry.Info(); err == nil { // else it has just gone
			files = append(files, describe(v.who, name, class, info))
		}
	}
	return files
}

// GroupOf is the group whose daily log is called name, "" for any other file.
func GroupOf(name string) string {
	if m := logName.FindStringSubmatch(name); m != nil {
		return m[3]
	}
	return ""
}

// Passage is a part of a file, of the size of the text under one heading.
type Passage struct {
	Heading string // the heading above it, "" before the first
	Text    string // that heading and those above it in one line, and the text below it
}

// Passages cuts a Markdown text at its headings and, where more than 1,200 characters are under one, at
// blank lines, list items or words. Front matter is left out, and so are headings without text.
func Passages(text string) []Passage {
	text = strings.TrimPrefix(strings.ToValidUTF8(text, "\uFFFD"), "\uFEFF")
	_, body, _ := frontmatter.Split(text)
	var found []Passage
	var headings [6]string // that lead to the present line, by level
	var section strings.Builder
	end := func() {
		var above []string
		for _, heading := range headings {
			if heading != "" {
				above = append(above, heading)
			}
		}
		last := ""
		if len(above) > 0 {
			last = above[len(above)-1]
		}
		for _, part := range parts(section.String()) {
			found = append(found, Passage{last, strings.TrimSpace(strings.Join(above, " > ") + "\n\n" + part)})
		}
		section.Reset()
	}
	var at markdown.Scanner
	for line := range strings.Lines(body) {
		bare := strings.TrimRight(line, "\r\n")
		kind := at.Next(bare)
		level, heading := markdown.Heading(bare)
		if level == 0 || bare[0] != '#' || kind != markdown.Text && kind != markdown.Comment {
			section.WriteString(bare + "\n")
			continue
		}
		end()
		headings[level-1] = heading
		clear(headings[level:])
	}
	end()
	return found
}

// parts cuts the text under a heading into pieces of at most maxPassage characters, none of them blank.
func parts(text string) (pieces []string) {
	text = strings.Trim(text, "\n")
	for {
		head := cut(text, maxPassage)
		if head != text {
			head = head[:edge(head)]
		}
		if strings.TrimSpace(head) != "" {
			pieces = append(pieces, strings.TrimRight(strings.Trim(head, "\n"), " \t"))
		}
		if text = text[len(head):]; text == "" {
			return pieces
		}
	}
}

// edge is where text is best cut: at the last of the best kind of boundary in its second half.
func edge(text string) int {
	for _, mark := range []string{"\n\n", "\n- ", "\n* ", "\n", " "} {
		if at := strings.LastIndex(text, mark); at > len(text)/2 {
			return at + 1
		}
	}
	return len(text)
}

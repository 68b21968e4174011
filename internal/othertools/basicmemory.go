package othertools

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
)

var (
	// observation is "- [category] what is known #tag (context)"; a task ("- [x] …") is none.
	observation = regexp.MustCompile(`^\s*[-*]\s+\[([^\[\]\s][^\[\]]{1,60})\]\s+(\S.*)$`)
	// relation is "- relation_type [[Target]] (context)".
	relation = regexp.MustCompile(`^\s*[-*]\s+([^\[\]]{0,60}?)\s*\[\[([^\[\]]+)\]\]\s*(?:\(([^)]*)\))?\s*$`)
	// hashtag is a tag in an observation.
	hashtag = regexp.MustCompile(`(?:^|\s)#([\p{L}\p{N}_/-]+)`)
	// sections are headings of which nothing is left once their entries are memories.
	sections = regexp.MustCompile(`(?mi)^#{1,6}\s+(observations|relations)\s*$`)
)

// basicMemory reads the notes of basic-memory: Markdown files with front matter, observations and relations. Each of
// these is a memory, and so is what else a note says.
func basicMemory(ctx context.Context, path string) (f Found, err error) {
	notes := 0
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() && file != path && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.Type().IsRegular() || !strings.EqualFold(filepath.Ext(file), ".md"):
			return nil
		}
		origin, err := filepath.Rel(path, file)
		if err != nil || origin == "." {
			origin = filepath.Base(file)
		}
		if !f.addNote(file, filepath.ToSlash(origin)) {
			f.Unknown++
			return nil
		}
		notes++
		return nil
	})
	if err != nil {
		return f, err
	}
	if notes == 0 {
		return f, fmt.Errorf("%w: no Markdown note", ErrForeign)
	}
	return f.sorted(), nil
}

// addNote adds what a note says, and reports whether it could be read.
func (f *Found) addNote(file, origin string) bool {
	data, changed, err := whole(file)
	if err != nil {
		return false
	}
	var note struct {
		Title    string `yaml:"title"`
		Type     string `yaml:"type"`
		Tags     any    `yaml:"tags"`
		Created  any    `yaml:"created"`
		Date     any    `yaml:"date"`
		Modified any    `yaml:"modified"`
	}
	matter, body, ok := frontmatter.Split(string(data))
	if ok && frontmatter.Decode(matter, &note) != nil {
		return false
	}
	if note.Title == "" {
		note.Title = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	}
	of := entry{
		tool: "basic-memory", origin: origin, tags: tagsOf(note.Tags),
		at: moment(note.Created, moment(note.Date, moment(note.Modified, changed))),
	}
	said := func(text string, tags ...string) {
		one := of
		one.text, one.tags = text, append(tags, of.tags...)
		f.add(one)
	}
	var rest []string
	code := false
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		code = code != fence
		if code || fence {
			rest = append(rest, line)
		} else if m := observation.FindStringSubmatch(line); m != nil {
			tags := []string{m[1]}
			for _, tag := range hashtag.FindAllStringSubmatch(m[2], -1) {
				tags = append(tags, tag[1])
			}
			said(note.Title+": "+strings.TrimSpace(hashtag.ReplaceAllString(m[2], "")), tags...)
		} else if m := relation.FindStringSubmatch(line); m != nil {
			kind := strings.ReplaceAll(strings.TrimSpace(m[1]), "_", " ")
			if kind == "" {
				kind = "relates to"
			}
			text := note.Title + " " + kind + " " + strings.TrimSpace(m[2])
			if m[3] != "" {
				text += " (" + m[3] + ")"
			}
			said(text, "relation")
		} else {
			rest = append(rest, line)
		}
	}
	prose := strings.TrimSpace(sections.ReplaceAllString(strings.Join(rest, "\n"), ""))
	prose = strings.TrimSpace(strings.TrimPrefix(prose, "# "+note.Title))
	if prose != "" {
		said(note.Title+"\n\n"+prose, note.Type)
	}
	return true
}

// tagsOf returns the tags of front matter: a list, or a string with commas.
func tagsOf(value any) (tags []string) {
	switch v := value.(type) {
	case string:
		return strings.Split(v, ",")
	case []any:
		for _, tag := range v {
			tags = append(tags, fmt.Sprint(tag))
		}
	}
	return tags
}

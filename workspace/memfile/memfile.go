// Package memfile reads and writes memory files: Markdown with YAML front matter (seed 003).
//
// It touches no disk. Its invariant: reading changes neither the body nor the text between the fences, and Parse
// returns what Format wrote.
package memfile

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
)

// Type is a kind of memory file.
type Type string

// The types of seed 003.
const (
	DailyLog    Type = "daily-log"
	MemoryFlush Type = "memory-flush"
	SessionSave Type = "session-save"
	Curated     Type = "curated"
	longTerm    Type = "memory" // the type in the seed's own example of MEMORY.md
)

// IsCurated reports whether t is a type of MEMORY.md: curated or, as in the seed's own example, memory.
func (t Type) IsCurated() bool { return t == Curated || t == longTerm }

// maxMatter is the maximum size of front matter, in bytes.
const maxMatter = 64 << 10

// Matter is the front matter (seed 003). Date and Tags are required; a curated file may have Updated instead of Date.
type Matter struct {
	Date      string           `yaml:"date,omitempty"` // YYYY-MM-DD
	SessionID string           `yaml:"session_id,omitempty"`
	Source    string           `yaml:"source,omitempty"`
	Slug      string           `yaml:"slug,omitempty"`
	Type      Type             `yaml:"type,omitempty"`
	Scope     string           `yaml:"scope,omitempty"`
	Updated   string           `yaml:"updated,omitempty"` // YYYY-MM-DD
	Tags      frontmatter.List `yaml:"tags,omitempty"`
	Links     frontmatter.List `yaml:"links,omitempty"` // wikilinks, [[…]]
}

// File is a memory file.
type File struct {
	Matter Matter
	Body   string // everything after the closing fence's line, byte for byte
}

var (
	// ErrNoMatter is returned for a text that does not begin with front matter.
	ErrNoMatter = errors.New("the file does not begin with front matter between two lines of ---")
	errLong     = fmt.Errorf("the front matter is longer than %d KiB", maxMatter>>10)
	errText     = errors.New("the file is not UTF-8 text")
)

// Parse reads a memory file. Unknown fields are ignored. The error describes malformed front matter, and is ErrNoMatter
// if it is missing; [File.Check] finds invalid values.
func Parse(data []byte) (File, error) {
	if !utf8.Valid(data) {
		return File{}, errText
	}
	matter, body, ok := frontmatter.Split(string(data))
	switch {
	case !ok:
		return File{}, ErrNoMatter
	case len(matter) > maxMatter:
		return File{}, errLong
	}
	file := File{Body: body}
	if err := frontmatter.Decode(matter, &file.Matter); err != nil {
		return File{}, err
	}
	return file, nil
}

// Format returns the file's content: front matter in the order of the seed, and the body.
func (f File) Format() ([]byte, error) {
	matter, err := yaml.MarshalWithOptions(f.Matter, yaml.IndentSequence(true))
	if err != nil {
		return nil, fmt.Errorf("format front matter: %w", err)
	}
	var out bytes.Buffer
	out.WriteString("---\n")
	out.Write(matter)
	out.WriteString("---\n")
	out.WriteString(f.Body)
	return out.Bytes(), nil
}

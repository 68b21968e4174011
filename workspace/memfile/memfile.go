// Package memfile reads and writes memory files: Markdown with YAML front matter (seed 003).
//
// It touches no disk. Its invariant: the body and the text between the fences are never changed by
// reading, and what Format writes, Parse reads back as it was.
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
	longTerm    Type = "memory" // what the seed's own MEMORY.md calls itself
)

// IsCurated reports whether t is that of MEMORY.md: curated, or memory as the seed's own example has it.
func (t Type) IsCurated() bool { return t == Curated || t == longTerm }

// maxMatter is how long front matter may be, in bytes.
const maxMatter = 64 << 10

// Matter is the front matter. Date and Tags are required, except that a curated file may say Updated instead.
type Matter struct {
	Date      string   `yaml:"date,omitempty"` // YYYY-MM-DD
	SessionID string   `yaml:"session_id,omitempty"`
	Source    string   `yaml:"source,omitempty"`
	Slug      string   `yaml:"slug,omitempty"`
	Type      Type     `yaml:"type,omitempty"`
	Scope     string   `yaml:"scope,omitempty"`
	Updated   string   `yaml:"updated,omitempty"` // YYYY-MM-DD
	Tags      []string `yaml:"tags,omitempty"`
	Links     []string `yaml:"links,omitempty"` // wikilinks, [[…]]
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

// Parse reads a memory file. Fields it does not know are ignored. The error says what is wrong with the
// front matter; Check finds what is wrong with its values.
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

// Format is the file as it is written: front matter in the order of the seed, and the body.
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

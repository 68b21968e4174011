package tools

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
	"github.com/yamo-protocol/yamo-mcp/workspace/memfile"
)

// memoryFile is the arguments of memory_file.
type memoryFile struct {
	Action    string          `json:"action" jsonschema:"enum=save,enum=read"`
	Type      string          `json:"type,omitempty"`
	Topic     string          `json:"topic,omitempty" jsonschema:"maxLength=200"`
	Sections  []memorySection `json:"sections,omitempty" jsonschema:"maxItems=32"`
	Tags      []string        `json:"tags,omitempty" jsonschema:"maxItems=32"`
	Links     []string        `json:"links,omitempty" jsonschema:"maxItems=32"`
	SessionID string          `json:"session_id,omitempty" jsonschema:"maxLength=128"`
	Source    string          `json:"source,omitempty" jsonschema:"maxLength=64"`
	File      string          `json:"file,omitempty" jsonschema:"maxLength=512"`
}

func (memoryFile) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"action":     "save, or read a file.",
		"session_id": "Its session.",
		"type":       "For save. daily-log: a topic of the day. curated: create MEMORY.md.",
		"topic":      "For save: 2 to 5 words.",
		"sections":   "For save, e.g. Conversation Summary, Key Takeaways, Pending Work.",
		"tags":       "E.g. project/greenhouse.",
		"links":      "Related files, e.g. memory/2026-02-13-setup.",
		"source":     "Program, e.g. claude-code.",
		"file":       "For read: path in the workspace.",
	})
	enumerate(s, "type", memfile.DailyLog, memfile.MemoryFlush, memfile.SessionSave, memfile.Curated)
}

// memorySection is a part of the file that memory_file saves.
type memorySection struct {
	Heading string `json:"heading,omitempty" jsonschema:"maxLength=200"`
	Text    string `json:"text" jsonschema:"minLength=1"`
}

func (memorySection) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"heading": "One line.",
		"text":    "Markdown without headings.",
	})
}

// memoryFiled is the result of memory_file.
type memoryFiled struct {
	File       string                  `json:"file"`
	URI        string                  `json:"uri"`
	Group      string                  `json:"group,omitempty"`
	Redactions int                     `json:"redactions,omitempty"`
	Matter     *memoryMatter           `json:"matter,omitempty"`
	Text       string                  `json:"text,omitempty"`
	Truncated  bool                    `json:"truncated,omitempty"`
	Problems   []string                `json:"problems,omitempty"`
	Links      []memoryLink            `json:"links"`
	More       int                     `json:"more,omitempty"`
	Evidence   string                  `json:"evidence_token,omitempty"`
	Hash       string                  `json:"hash,omitempty"`
	Parts      []filePart              `json:"sections,omitempty"`
	Takes      map[string][]grammar.Op `json:"operations,omitempty"`
}

// filePart is a section of a file as workspace_edit can change it.
type filePart struct {
	Heading string `json:"heading,omitempty"`
	Hash    string `json:"hash"`
	Form    string `json:"form"`
	Cap     string `json:"cap,omitempty"`
}

func (memoryFiled) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{ //nolint:gosec // descriptions of tokens, not tokens
		"group":          "The group that wrote it: quoted speech, not in itself a source for MEMORY.md.",
		"redactions":     "Number of credentials removed; they belong in a password manager.",
		"matter":         "For read: the front matter.",
		"text":           "For read: the text below the front matter.",
		"truncated":      "The text is truncated: read the resource.",
		"problems":       "Format problems.",
		"links":          "Targets of the file's wikilinks.",
		"more":           "Number of links that did not fit.",
		"evidence_token": "For save: cites the text as evidence.",
		"hash":           "expected_hash of workspace_edit, as are those of sections.",
		"operations":     "Of workspace_edit, by the form of a section.",
	})
}

// memoryMatter is seed 003's front matter, as far as a model can use it.
type memoryMatter struct {
	Type      memfile.Type `json:"type,omitempty"`
	Date      string       `json:"date,omitempty"`
	Updated   string       `json:"updated,omitempty"`
	Slug      string       `json:"slug,omitempty"`
	SessionID string       `json:"session_id,omitempty"`
	Source    string       `json:"source,omitempty"`
	Tags      []string     `json:"tags,omitempty"`
}

// maxMemoryText is the maximum size of a file's text in a result, in bytes.
const maxMemoryText = 16 << 10

// resourceLinks are the files that the wikilinks lead to, each once, and before them the file that was saved.
func (f memoryFiled) resourceLinks() []mcp.ResourceLink {
	var links []mcp.ResourceLink
	linked := map[string]bool{}
	link := func(file, uri, text string) {
		if uri != "" && !linked[uri] && len(links) < maxLinks {
			linked[uri] = true
			links = append(links, mcp.NewResourceLink(uri, file, text, "text/markdown"))
		}
	}
	if f.Matter == nil && f.Text == "" {
		link(f.File, f.URI, "The file that was saved")
	}
	for _, to := range f.Links {
		link(to.File, to.URI, to.Text)
	}
	return links
}

// memoryLink is a wikilink of a file, with the file that it leads to.
type memoryLink struct {
	Text  string `json:"text"`
	File  string `json:"file,omitempty"`
	URI   string `json:"uri,omitempty"`
	Found bool   `json:"found"`
}

func (memoryLink) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"text":  "Link text.",
		"file":  "Not set: no such file.",
		"found": "The file and heading exist.",
	})
}

// MemoryFile is the tool memory_file (seed 003). It is for DMs only. A save never replaces a file. Reading repairs
// nothing: format problems are part of the result, so that a model can offer to correct
// them. The text of a file is cut to maxMemoryText, and the result links to the whole.
//
// A read returns what workspace_edit needs to know of the file; editor may be nil.
func MemoryFile(v *workspace.View, editor *edit.Editor) Tool {
	return Define(Spec{
		Name:  "memory_file",
		Title: "Memory files",
		Description: "Save a session, a topic, or what must survive context compaction as a new file in memory/. " +
			"read returns a file with its hashes, problems and links. Short notes: log_append.",
	}, func(ctx context.Context, in memoryFile) (memoryFiled, error) {
		if name, ok := resourceuri.ParseFile(in.File); ok {
			in.File = name
		}
		in.File = grammar.CanonicalFile(in.File)
		saved := workspace.Saved{Name: in.File}
		if in.Action == "save" {
			var err error
			if saved, err = saveMemory(ctx, v, in); err != nil {
				return memoryFiled{}, err
			}
		} else if in.File == "" {
			return memoryFiled{}, fault.New("file: required by read, relative to the workspace")
		}
		references, err := v.References(saved.Name)
		if _, known := errors.AsType[*workspace.RefusedError](err); !known && errors.Is(err, fs.ErrNotExist) {
			if reason := v.RefusalOf(saved.Name); reason != "" {
				return memoryFiled{}, &workspace.RefusedError{Name: saved.Name, Reason: reason}
			}
			return memoryFiled{}, fault.New("file: no such file; use the path relative to the workspace, "+
				"the part of a resource URI after %s", resourceuri.FilePrefix)
		}
		if err != nil {
			return memoryFiled{}, err
		}
		done := memoryFiled{
			File: saved.Name, URI: resourceuri.File(saved.Name),
			Redactions: saved.Redactions, Links: []memoryLink{},
		}
		if in.Action == "save" {
			if data, err := v.Read(saved.Name); err == nil {
				if file, err := memfile.Parse(data); err == nil {
					done.Evidence = cited(ctx, editor, file.Body)
				}
			}
		}
		if in.Action == "read" {
			if err := done.read(v, editor, sessionID(ctx)); err != nil {
				return memoryFiled{}, err
			}
		}
		for _, ref := range references {
			link := memoryLink{Text: ref.Alias, File: ref.Name, Found: ref.Found}
			if link.Text == "" {
				link.Text = ref.Target
				if ref.Heading != "" {
					link.Text += "#" + ref.Heading
				}
			}
			// A target that does not exist has no resource to link to.
			if ref.Name != "" {
				link.URI = resourceuri.File(ref.Name)
			}
			done.Links = append(done.Links, link)
		}
		// The text is cut to its own limit already; the lists share what is left.
		left, all := newRoom(), len(done.Links)
		left.take(done.Text)
		done.Problems = fit(&left, done.Problems)
		done.Links = fit(&left, done.Links)
		done.More = all - len(done.Links)
		done.Parts = fit(&left, done.Parts)
		return done, nil
	})
}

// read adds the file's front matter, text and format problems. A file without valid front matter is returned whole,
// with the problems that Check finds.
func (f *memoryFiled) read(v *workspace.View, editor *edit.Editor, session string) error {
	data, err := v.Read(f.File)
	if err != nil {
		return err
	}
	for _, finding := range workspace.Check(f.File, data) {
		f.Problems = append(f.Problems, finding.Message)
	}
	// JSON would replace invalid bytes too, but after the text was measured.
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	if file, err := memfile.Parse([]byte(text)); err == nil {
		m := file.Matter
		f.Matter = &memoryMatter{
			Type: m.Type, Date: m.Date, Updated: m.Updated, Slug: m.Slug,
			SessionID: m.SessionID, Source: m.Source, Tags: m.Tags,
		}
		text = file.Body
	}
	f.Text, f.Truncated = clip(text, maxMemoryText)
	f.Group = workspace.GroupOf(f.File)
	if editor == nil || !v.Editable(f.File) {
		return nil
	}
	version := editor.Read(session, f.File, data)
	f.Hash, f.Takes = version.File, map[string][]grammar.Op{}
	for _, s := range version.Sections {
		f.Parts = append(f.Parts, filePart(s))
		f.Takes[s.Form] = grammar.Operations(s.Form)
	}
	return nil
}

// saveMemory saves the file that the arguments describe. Its errors name the argument to correct.
func saveMemory(ctx context.Context, v *workspace.View, in memoryFile) (workspace.Saved, error) {
	switch {
	case in.Type == "":
		return workspace.Saved{}, fault.New("type: required by save: one of daily-log, memory-flush, session-save, curated")
	case in.Topic == "" && (in.Type == string(memfile.DailyLog) || in.Type == string(memfile.SessionSave)):
		return workspace.Saved{}, fault.New("topic: required by save, in 2 to 5 words")
	}
	m := workspace.Memory{
		Type: memfile.Type(in.Type), Topic: in.Topic, SessionID: in.SessionID, Source: in.Source,
		Tags: in.Tags, Links: in.Links,
	}
	for _, section := range in.Sections {
		m.Parts = append(m.Parts, workspace.Part{Heading: section.Heading, Text: section.Text})
	}
	// Formats, limits and the choice of a free file name are the workspace's.
	saved, err := v.SaveMemory(ctx, m)
	var invalid *workspace.InvalidMemoryError
	switch {
	case errors.As(err, &invalid):
		return workspace.Saved{}, fault.New("%v. Nothing was written", invalid)
	case errors.Is(err, workspace.ErrMemoryThere):
		return workspace.Saved{}, fault.New("type: %v: read it with action read, edit it with workspace_edit",
			workspace.ErrMemoryThere)
	case errors.Is(err, workspace.ErrTooLarge):
		return workspace.Saved{}, fault.New("sections: %v; split it into several files", workspace.ErrTooLarge)
	}
	return saved, err
}

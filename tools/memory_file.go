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
	"github.com/yamo-protocol/yamo-mcp/workspace/memfile"
)

type memoryFile struct {
	Action    string          `json:"action" jsonschema:"enum=save,enum=read" jsonschema_description:"save: write a new memory file. read: a file's front matter, text and where its wikilinks lead, and what is not as the format has it."`
	Type      string          `json:"type,omitempty" jsonschema:"enum=daily-log,enum=memory-flush,enum=session-save,enum=curated" jsonschema_description:"Required by save. daily-log: a topic of the day. session-save: the end of a session. memory-flush: what must survive before the context is compacted. curated: make MEMORY.md, if there is none yet."`
	Topic     string          `json:"topic,omitempty" jsonschema:"maxLength=200" jsonschema_description:"What it is about in 2 to 5 words, which name the file. Required by save, except for memory-flush and curated."`
	Sections  []memorySection `json:"sections,omitempty" jsonschema:"maxItems=32" jsonschema_description:"Required by save, in order. Usual ones are Context, Key Points, Decisions Made, Action Items; Conversation Summary, Key Takeaways; Session Summary, Important Context to Preserve, Pending Work; for curated User Preferences, Key Decisions, Project Context, with a date before each entry."`
	Tags      []string        `json:"tags,omitempty" jsonschema:"maxItems=32" jsonschema_description:"Further tags, with / between levels: project/greenhouse. Those of the type are added."`
	Links     []string        `json:"links,omitempty" jsonschema:"maxItems=32" jsonschema_description:"Related files: memory/2026-02-13-setup or MEMORY#Decisions. Wikilinks in the text count as well."`
	SessionID string          `json:"session_id,omitempty" jsonschema:"maxLength=128" jsonschema_description:"The session it comes from."`
	Source    string          `json:"source,omitempty" jsonschema:"maxLength=64" jsonschema_description:"The program it comes from: claude-code, hook, manual."`
	File      string          `json:"file,omitempty" jsonschema:"maxLength=512" jsonschema_description:"Required by read: the file, relative to the workspace, such as MEMORY.md."`
}

type memorySection struct {
	Heading string `json:"heading,omitempty" jsonschema:"maxLength=200" jsonschema_description:"In one line, without number signs."`
	Text    string `json:"text" jsonschema:"minLength=1" jsonschema_description:"Markdown without headings."`
}

type memoryFiled struct {
	File       string        `json:"file"`
	URI        string        `json:"uri"`
	Group      string        `json:"group,omitempty" jsonschema_description:"The group that wrote it: reported speech, never a source for MEMORY.md by itself."`
	Redactions int           `json:"redactions,omitempty" jsonschema_description:"Credentials that were taken out; keep them in a password manager."`
	Matter     *memoryMatter `json:"matter,omitempty" jsonschema_description:"The front matter of the file that was read."`
	Text       string        `json:"text,omitempty" jsonschema_description:"What the file that was read says below its front matter."`
	Truncated  bool          `json:"truncated,omitempty" jsonschema_description:"The text goes on: read the resource."`
	Problems   []string      `json:"problems,omitempty" jsonschema_description:"What is not as the format has it."`
	Links      []memoryLink  `json:"links" jsonschema_description:"Where the file's wikilinks lead."`
	More       int           `json:"more,omitempty" jsonschema_description:"How many further links did not fit."`
}

// memoryMatter is seed 003's front matter.
type memoryMatter struct {
	Type      memfile.Type `json:"type,omitempty"`
	Date      string       `json:"date,omitempty"`
	Updated   string       `json:"updated,omitempty"`
	Slug      string       `json:"slug,omitempty"`
	SessionID string       `json:"session_id,omitempty"`
	Source    string       `json:"source,omitempty"`
	Tags      []string     `json:"tags,omitempty"`
}

// maxMemoryText is how many bytes of a file's text are returned.
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

type memoryLink struct {
	Text  string `json:"text" jsonschema_description:"What the link shows."`
	File  string `json:"file,omitempty" jsonschema_description:"Left out: there is no such file."`
	URI   string `json:"uri,omitempty"`
	Found bool   `json:"found" jsonschema_description:"The file is there, and has the heading."`
}

// MemoryFile is the tool memory_file (seed 003). It is for DMs only.
func MemoryFile(v *workspace.View) Tool {
	return Define(Spec{
		Name:  "memory_file",
		Title: "Memory files",
		Description: "Save a session, a topic of the day, or what must survive a compaction as a Markdown file with front matter in memory/, named by date and " +
			"topic. A new file each time; nothing is replaced. For a line in passing use log_append. With action read, see a file's front matter and text, " +
			"what is wrong with it, and where its wikilinks lead.",
	}, func(ctx context.Context, in memoryFile) (memoryFiled, error) {
		saved := workspace.Saved{Name: in.File}
		if in.Action == "save" {
			var err error
			if saved, err = saveMemory(ctx, v, in); err != nil {
				return memoryFiled{}, err
			}
		} else if in.File == "" {
			return memoryFiled{}, fault.New("file: read needs it, relative to the workspace")
		}
		references, err := v.References(saved.Name)
		if errors.Is(err, fs.ErrNotExist) {
			return memoryFiled{}, fault.New("file: there is no such file; name it relative to the workspace, as the resources do after %s", resourceuri.FilePrefix)
		}
		if err != nil {
			return memoryFiled{}, err
		}
		done := memoryFiled{File: saved.Name, URI: resourceuri.File(saved.Name), Redactions: saved.Redactions, Links: []memoryLink{}}
		if in.Action == "read" {
			if err := done.read(v); err != nil {
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
			if ref.Name != "" {
				link.URI = resourceuri.File(ref.Name)
			}
			done.Links = append(done.Links, link)
		}
		left, all := newRoom(), len(done.Links)
		left.take(done.Text)
		done.Problems = fit(&left, done.Problems)
		done.Links = fit(&left, done.Links)
		done.More = all - len(done.Links)
		return done, nil
	})
}

// read fills in what the file says.
func (f *memoryFiled) read(v *workspace.View) error {
	data, err := v.Read(f.File)
	if err != nil {
		return err
	}
	for _, finding := range workspace.Check(f.File, data) {
		f.Problems = append(f.Problems, finding.Message)
	}
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	if file, err := memfile.Parse([]byte(text)); err == nil {
		m := file.Matter
		f.Matter = &memoryMatter{Type: m.Type, Date: m.Date, Updated: m.Updated, Slug: m.Slug, SessionID: m.SessionID, Source: m.Source, Tags: m.Tags}
		text = file.Body
	}
	f.Text, f.Truncated = clip(text, maxMemoryText)
	f.Group = workspace.GroupOf(f.File)
	return nil
}

func saveMemory(ctx context.Context, v *workspace.View, in memoryFile) (workspace.Saved, error) {
	switch {
	case in.Type == "":
		return workspace.Saved{}, fault.New("type: save needs it: one of daily-log, memory-flush, session-save, curated")
	case in.Topic == "" && (in.Type == string(memfile.DailyLog) || in.Type == string(memfile.SessionSave)):
		return workspace.Saved{}, fault.New("topic: save needs it, in 2 to 5 words")
	}
	m := workspace.Memory{
		Type: memfile.Type(in.Type), Topic: in.Topic, SessionID: in.SessionID, Source: in.Source, Tags: in.Tags, Links: in.Links,
	}
	for _, section := range in.Sections {
		m.Parts = append(m.Parts, workspace.Part{Heading: section.Heading, Text: section.Text})
	}
	saved, err := v.SaveMemory(ctx, m)
	var invalid *workspace.InvalidMemoryError
	switch {
	case errors.As(err, &invalid):
		return workspace.Saved{}, fault.New("%v. Nothing was written", invalid)
	case errors.Is(err, workspace.ErrMemoryThere):
		return workspace.Saved{}, fault.New("type: %v: it is read with action read, and edited with workspace_edit", workspace.ErrMemoryThere)
	case errors.Is(err, workspace.ErrTooLarge):
		return workspace.Saved{}, fault.New("sections: %v; save it in several files", workspace.ErrTooLarge)
	}
	return saved, err
}

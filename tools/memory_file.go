package tools

import (
	"context"
	"errors"
	"io/fs"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/resources"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/memfile"
)

type memoryFile struct {
	Action    string          `json:"action" jsonschema:"enum=save,enum=links" jsonschema_description:"save: write a new memory file. links: where the wikilinks of a file lead."`
	Type      string          `json:"type,omitempty" jsonschema:"enum=daily-log,enum=memory-flush,enum=session-save" jsonschema_description:"Required by save. daily-log: a topic of the day. session-save: the end of a session. memory-flush: what must survive before the context is compacted."`
	Topic     string          `json:"topic,omitempty" jsonschema:"maxLength=200" jsonschema_description:"What it is about in 2 to 5 words, which name the file. Required by save, except for a flush."`
	Sections  []memorySection `json:"sections,omitempty" jsonschema:"maxItems=32" jsonschema_description:"Required by save, in order. Usual ones are Context, Key Points, Decisions Made, Action Items; Conversation Summary, Key Takeaways; Session Summary, Important Context to Preserve, Pending Work."`
	Tags      []string        `json:"tags,omitempty" jsonschema:"maxItems=32" jsonschema_description:"Further tags, with / between levels: project/greenhouse. Those of the type are added."`
	Links     []string        `json:"links,omitempty" jsonschema:"maxItems=32" jsonschema_description:"Related files: memory/2026-02-13-setup or MEMORY#Decisions. Wikilinks in the text count as well."`
	SessionID string          `json:"session_id,omitempty" jsonschema:"maxLength=128" jsonschema_description:"The session it comes from."`
	Source    string          `json:"source,omitempty" jsonschema:"maxLength=64" jsonschema_description:"The program it comes from: claude-code, hook, manual."`
	File      string          `json:"file,omitempty" jsonschema:"maxLength=512" jsonschema_description:"Required by links: the file, relative to the workspace."`
}

type memorySection struct {
	Heading string `json:"heading,omitempty" jsonschema:"maxLength=200" jsonschema_description:"In one line, without number signs."`
	Text    string `json:"text" jsonschema:"minLength=1" jsonschema_description:"Markdown without headings."`
}

type memoryFiled struct {
	File       string       `json:"file"`
	URI        string       `json:"uri"`
	Redactions int          `json:"redactions" jsonschema_description:"Credentials that were taken out; keep them in a password manager."`
	Links      []memoryLink `json:"links" jsonschema_description:"Where the file's wikilinks lead."`
	More       int          `json:"more,omitempty" jsonschema_description:"How many further links did not fit."`
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
			"topic. A new file each time; nothing is replaced. For a line in passing use log_append. With action links, see where a file's wikilinks lead.",
	}, func(ctx context.Context, in memoryFile) (memoryFiled, error) {
		saved := workspace.Saved{Name: in.File}
		if in.Action == "save" {
			var err error
			if saved, err = saveMemory(ctx, v, in); err != nil {
				return memoryFiled{}, err
			}
		} else if in.File == "" {
			return memoryFiled{}, fault.New("file: links needs it, relative to the workspace")
		}
		references, err := v.References(saved.Name)
		if errors.Is(err, fs.ErrNotExist) {
			return memoryFiled{}, fault.New("file: there is no such file; name it relative to the workspace, as the resources do after %s", resources.Prefix)
		}
		if err != nil {
			return memoryFiled{}, err
		}
		done := memoryFiled{File: saved.Name, URI: resources.URI(saved.Name), Redactions: saved.Redactions, Links: []memoryLink{}}
		for _, ref := range references {
			link := memoryLink{Text: ref.Alias, File: ref.Name, Found: ref.Found}
			if link.Text == "" {
				link.Text = ref.Target
				if ref.Heading != "" {
					link.Text += "#" + ref.Heading
				}
			}
			if ref.Name != "" {
				link.URI = resources.URI(ref.Name)
			}
			done.Links = append(done.Links, link)
		}
		left, all := newRoom(), len(done.Links)
		done.Links = fit(&left, done.Links)
		done.More = all - len(done.Links)
		return done, nil
	})
}

func saveMemory(ctx context.Context, v *workspace.View, in memoryFile) (workspace.Saved, error) {
	switch {
	case in.Type == "":
		return workspace.Saved{}, fault.New("type: save needs it: one of daily-log, memory-flush, session-save")
	case in.Topic == "" && in.Type != string(memfile.MemoryFlush):
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
	case errors.Is(err, workspace.ErrTooLarge):
		return workspace.Saved{}, fault.New("sections: %v; save it in several files", workspace.ErrTooLarge)
	}
	return saved, err
}

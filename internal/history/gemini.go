package history

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// gemini reads the sessions that Gemini CLI keeps in tmp/PROJECT/chats: a file of JSON Lines each, earlier of JSON.
// Subagents have a folder with the session's ID.
type gemini struct{}

func (gemini) Places(home string, _ func(string) string) []string {
	return []string{filepath.Join(home, ".gemini", "tmp")}
}

// geminiSession is a session's file of JSON, or metadata in one of JSON Lines.
type geminiSession struct {
	ID          string          `json:"sessionId"`
	Summary     string          `json:"summary"`
	Directories []string        `json:"directories"`
	Messages    []geminiMessage `json:"messages"`
}

// geminiMessage is a message.
type geminiMessage struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Model     string          `json:"model"`
	Timestamp json.RawMessage `json:"timestamp"`
	Content   json.RawMessage `json:"content"`        // a string or parts
	Typed     json.RawMessage `json:"displayContent"` // likewise: without the files that the person named
	ToolCalls []struct {
		Name   string          `json:"name"`
		Args   json.RawMessage `json:"args"`
		Result json.RawMessage `json:"result"`
		Shown  any             `json:"resultDisplay"`
	} `json:"toolCalls"`
}

// geminiLine is a line of JSON Lines: metadata, a message, or a change of what is before it.
type geminiLine struct {
	geminiMessage
	Session string         `json:"sessionId"`
	Summary string         `json:"summary"`
	Folders []string       `json:"directories"`
	Set     *geminiSession `json:"$set"`
	Rewind  *string        `json:"$rewindTo"` // the ID of the first message that is not a part of the session any more
}

func (gemini) Read(ctx context.Context, path string, visit func(Session) error) error {
	var files []string
	// A session that was in JSON goes on in JSON Lines, which then have all of it.
	for _, form := range []string{"session-*.jsonl", "*/*.jsonl", "session-*.json"} {
		found, err := filepath.Glob(filepath.Join(path, "*", "chats", filepath.FromSlash(form)))
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := visit(geminiFile(file)); err != nil {
			return err
		}
	}
	return nil
}

// geminiFile reads a session's file.
func geminiFile(path string) Session {
	var g geminiSession
	unknown := 0
	if filepath.Ext(path) == ".jsonl" {
		unknown = g.readLines(path)
	} else if readJSON(path, &g) != nil {
		unknown = 1
	}
	if g.ID == "" {
		return Session{Unknown: 1}
	}
	s := g.session()
	s.Unknown += unknown
	project := filepath.Dir(path)
	parent := ""
	if filepath.Base(project) != "chats" {
		parent, project = filepath.Base(project), filepath.Dir(project)
	}
	// The name of the project's folder is a hash or a short name; the program notes the folder itself.
	if root, err := os.ReadFile(filepath.Join(filepath.Dir(project), ".project_root")); err == nil {
		s.Folder = strings.TrimSpace(string(root))
	} else if len(g.Directories) > 0 {
		s.Folder = g.Directories[0]
	}
	if parent != "" {
		s.subagent(parent)
	}
	return s
}

// readLines reads a file of JSON Lines, and returns the number of entries whose form is not known.
func (g *geminiSession) readLines(path string) (unknown int) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return 1
	}
	file, err := os.Open(path)
	if err != nil {
		return 1
	}
	defer func() { _ = file.Close() }() // opened for reading
	places := map[string]int{}          // of the messages, by their IDs
	if err := eachLine(file, func(line []byte) {
		var l geminiLine
		if !decode(line, &l) || !g.apply(l, places) {
			unknown++
		}
	}); err != nil {
		unknown++
	}
	return unknown
}

// apply adds what a line tells, and reports whether its form is known.
func (g *geminiSession) apply(l geminiLine, places map[string]int) bool {
	put := func(m geminiMessage) { // a message is written again when more of it is known
		if at, ok := places[m.ID]; ok {
			g.Messages[at] = m
			return
		}
		places[m.ID] = len(g.Messages)
		g.Messages = append(g.Messages, m)
	}
	switch {
	case l.Rewind != nil:
		g.Messages = g.Messages[:places[*l.Rewind]] // of an unknown message: all, as the program does
		clear(places)
		for i, m := range g.Messages {
			places[m.ID] = i
		}
	case l.ID != "":
		put(l.geminiMessage)
	case l.Set != nil:
		for _, m := range l.Set.Messages {
			put(m)
		}
		g.note(*l.Set)
	case l.Session != "":
		g.note(geminiSession{ID: l.Session, Summary: l.Summary, Directories: l.Folders})
	default:
		return false
	}
	return true
}

// note takes metadata, of which later lines are right.
func (g *geminiSession) note(about geminiSession) {
	g.ID, g.Summary = cmp.Or(about.ID, g.ID), cmp.Or(about.Summary, g.Summary)
	if len(about.Directories) > 0 {
		g.Directories = about.Directories
	}
}

func (g *geminiSession) session() Session {
	s := Session{ID: g.ID, Title: g.Summary}
	for _, m := range g.Messages {
		role := map[string]string{"user": "user", "gemini": "assistant"}[m.Type]
		if role == "" {
			if !slices.Contains([]string{"info", "error", "warning"}, m.Type) {
				s.Unknown++
			}
			continue
		}
		s.Model = cmp.Or(m.Model, s.Model)
		text := cmp.Or(partsText(m.Typed), partsText(m.Content))
		if role == "user" && geminiSaid(text) {
			continue
		}
		said := []string{text}
		var results []string
		for _, c := range m.ToolCalls {
			said = append(said, "[tool call: "+c.Name+"] "+string(c.Args))
			result := geminiResult(c.Result)
			if shown, _ := c.Shown.(string); !strings.Contains(result, shown) { // a program may shorten what it shows
				result = strings.TrimSpace(shown + "\n" + result)
			}
			results = append(results, result)
		}
		at := moment(m.Timestamp)
		for _, t := range []Turn{
			{Role: role, Text: strings.TrimSpace(strings.Join(said, "\n")), Time: at},
			{Role: "tool", Text: strings.TrimSpace(strings.Join(results, "\n")), Time: at},
		} {
			s.add(t)
		}
	}
	return s
}

// geminiResult returns what a tool returned: the output in its parts, or the parts as they are.
func geminiResult(result json.RawMessage) string {
	var parts []struct {
		Function struct {
			Response struct {
				Output string `json:"output"`
				Error  string `json:"error"`
			} `json:"response"`
		} `json:"functionResponse"`
	}
	var outputs []string
	if decode(result, &parts) {
		for _, p := range parts {
			if output := cmp.Or(p.Function.Response.Output, p.Function.Response.Error); output != "" {
				outputs = append(outputs, output)
			}
		}
	}
	if text := strings.TrimSpace(string(result)); len(outputs) == 0 && text != "null" && text != "[]" {
		return cmp.Or(strings.TrimSpace(partsText(result)), text)
	}
	return strings.Join(outputs, "\n")
}

// geminiSaid reports whether a user's message is what the program wrote in the person's place.
func geminiSaid(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "<session_context>") ||
		strings.HasPrefix(text, "This is the Gemini CLI. We are setting up")
}

// partsText returns the text of a message: a string, or the text of its parts.
func partsText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []json.RawMessage // strings, or objects with a text
	if json.Unmarshal(content, &parts) != nil {
		parts = []json.RawMessage{content}
	}
	var said []string
	for _, raw := range parts {
		var part struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(raw, &text) == nil {
			said = append(said, text)
		} else if decode(raw, &part) && part.Text != "" {
			said = append(said, part.Text)
		}
	}
	return strings.Join(said, "\n")
}

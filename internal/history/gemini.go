package history

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// gemini reads the sessions that Gemini CLI keeps: a JSON file each in tmp/PROJECT/chats.
type gemini struct{}

func (gemini) Places(home string, _ func(string) string) []string {
	return []string{filepath.Join(home, ".gemini", "tmp")}
}

// geminiSession is a session's file.
type geminiSession struct {
	ID       string `json:"sessionId"`
	Summary  string `json:"summary"`
	Messages []struct {
		Type      string          `json:"type"`
		Timestamp string          `json:"timestamp"`
		Content   json.RawMessage `json:"content"` // a string or parts
		ToolCalls []struct {
			Name   string          `json:"name"`
			Args   json.RawMessage `json:"args"`
			Result json.RawMessage `json:"result"`
			Shown  any             `json:"resultDisplay"`
		} `json:"toolCalls"`
	} `json:"messages"`
}

func (gemini) Read(ctx context.Context, path string, visit func(Session) error) error {
	files, err := filepath.Glob(filepath.Join(path, "*", "chats", "session-*.json"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		var g geminiSession
		if readJSON(file, &g) != nil || g.ID == "" {
			if err := visit(Session{Unknown: 1}); err != nil {
				return err
			}
			continue
		}
		s := g.session()
		// The name of the project's folder is a hash, unless the program has noted the folder itself.
		if root, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(file)), ".project_root")); err == nil {
			s.Folder = strings.TrimSpace(string(root))
		}
		if err := visit(s); err != nil {
			return err
		}
	}
	return nil
}

func (g geminiSession) session() Session {
	s := Session{ID: g.ID, Title: g.Summary}
	for _, m := range g.Messages {
		role := map[string]string{"user": "user", "gemini": "assistant"}[m.Type]
		if role == "" {
			if !slices.Contains([]string{"info", "error", "warning"}, m.Type) {
				s.Unknown++
			}
			continue
		}
		at, err := time.Parse(time.RFC3339Nano, m.Timestamp)
		if err != nil {
			at = time.Time{} // not known
		}
		said := []string{geminiText(m.Content)}
		var results []string
		for _, c := range m.ToolCalls {
			said = append(said, "[tool call: "+c.Name+"] "+string(c.Args))
			if shown, ok := c.Shown.(string); ok {
				results = append(results, shown)
			} else {
				results = append(results, string(c.Result))
			}
		}
		for _, t := range []Turn{
			{Role: role, Text: strings.TrimSpace(strings.Join(said, "\n")), Time: at},
			{Role: "tool", Text: strings.TrimSpace(strings.Join(results, "\n")), Time: at},
		} {
			if t.Text != "" {
				s.Turns = append(s.Turns, t)
			}
		}
	}
	return s
}

// geminiText returns the text of a message: a string, or the text of its parts.
func geminiText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	var said []string
	for _, p := range parts {
		said = append(said, p.Text)
	}
	return strings.Join(said, "\n")
}

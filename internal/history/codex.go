package history

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// codex reads the rollouts that Codex keeps: a JSON Lines file for each session in sessions/YYYY/MM/DD.
type codex struct{}

func (codex) Places(home string, lookup func(string) string) []string {
	return []string{filepath.Join(cmp.Or(lookup("CODEX_HOME"), filepath.Join(home, ".codex")), "sessions")}
}

// codexLine is a line of a rollout.
type codexLine struct {
	Timestamp string `json:"timestamp"`
	Type      string `json:"type"`
	Payload   struct {
		ID     string `json:"id"`  // of session_meta
		Cwd    string `json:"cwd"` // likewise
		Source struct {
			Subagent *struct {
				Spawn struct {
					Parent string `json:"parent_thread_id"`
				} `json:"thread_spawn"`
			} `json:"subagent"`
		} `json:"source"` // likewise; of a person's session a string
		Type    string `json:"type"`
		Role    string `json:"role"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Name      string          `json:"name"`
		Arguments string          `json:"arguments"`
		Input     string          `json:"input"`
		Action    json.RawMessage `json:"action"`
		Output    json.RawMessage `json:"output"`
	} `json:"payload"`
}

func (codex) Read(ctx context.Context, path string, visit func(Session) error) error {
	return filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if !d.Type().IsRegular() || !strings.HasPrefix(name, "rollout-") || !strings.HasSuffix(name, ".jsonl") {
			return ctx.Err()
		}
		s, err := codexSession(file)
		if err != nil {
			return visit(Session{Unknown: 1})
		}
		return visit(s)
	})
}

// codexSession reads a rollout.
func codexSession(path string) (s Session, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return s, err
	}
	if info.Size() > maxFile {
		return s, fs.ErrInvalid
	}
	file, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer func() { _ = file.Close() }() // opened for reading
	s.ID = strings.TrimSuffix(filepath.Base(path), ".jsonl")
	lines := bufio.NewReader(file)
	for {
		data, err := lines.ReadBytes('\n')
		if len(data) > 1 {
			s.addCodex(data)
		}
		if errors.Is(err, io.EOF) {
			if s.Parent != "" {
				s.subagent(s.Parent)
			}
			return s, nil
		}
		if err != nil {
			return s, err
		}
	}
}

// addCodex adds what a line of a rollout tells.
func (s *Session) addCodex(data []byte) {
	var l codexLine
	var typed *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &l); err != nil && !errors.As(err, &typed) {
		s.Unknown++
		return
	}
	p := l.Payload
	switch l.Type {
	case "session_meta":
		s.ID, s.Folder = cmp.Or(p.ID, s.ID), cmp.Or(p.Cwd, s.Folder)
		if by := p.Source.Subagent; by != nil {
			s.Parent = cmp.Or(by.Spawn.Parent, s.ID)
		}
		return
	case "turn_context", "event_msg", "compacted": // the messages among these are response items too
		return
	case "response_item":
	default:
		s.Unknown++
		return
	}
	t := Turn{Role: p.Role}
	if at, err := time.Parse(time.RFC3339Nano, l.Timestamp); err == nil {
		t.Time = at
	}
	switch p.Type {
	case "message":
		var said []string
		for _, c := range p.Content {
			said = append(said, c.Text)
		}
		t.Text = strings.TrimSpace(strings.Join(said, "\n"))
		if p.Role != "user" && p.Role != "assistant" || p.Role == "user" && hostSaid(t.Text) {
			return
		}
	case "function_call", "custom_tool_call", "local_shell_call":
		t.Role = "assistant"
		t.Text = strings.TrimSpace("[tool call: " + cmp.Or(p.Name, "shell") + "] " +
			cmp.Or(p.Arguments, p.Input, string(p.Action)))
	case "function_call_output", "custom_tool_call_output":
		t.Role, t.Text = "tool", codexOutput(p.Output)
	case "reasoning", "web_search_call", "ghost_snapshot", "compaction":
		return
	default:
		s.Unknown++
		return
	}
	if t.Text != "" {
		s.Turns = append(s.Turns, t)
	}
}

// hostSaid reports whether a message of the person's is what the host wrote in the person's place.
func hostSaid(text string) bool {
	for _, beginning := range []string{"<environment_context>", "<user_instructions>", "# AGENTS.md instructions"} {
		if strings.HasPrefix(text, beginning) {
			return true
		}
	}
	return false
}

// codexOutput returns what a tool returned: a string, or an object with it, which may be in a string.
func codexOutput(output json.RawMessage) string {
	var text string
	if json.Unmarshal(output, &text) != nil {
		text = string(output)
	}
	var whole struct {
		Output  string `json:"output"`
		Content string `json:"content"`
	}
	if json.Unmarshal([]byte(text), &whole) == nil {
		text = cmp.Or(whole.Output, whole.Content, text)
	}
	return strings.TrimSpace(text)
}

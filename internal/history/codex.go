package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// codex reads the rollouts that Codex keeps: a JSON Lines file for each session in sessions/YYYY/MM/DD, and in
// archived_sessions those that the person archived. It compresses older ones.
type codex struct{}

func (codex) Places(home string, lookup func(string) string) []string {
	dir := cmp.Or(lookup("CODEX_HOME"), filepath.Join(home, ".codex"))
	return []string{filepath.Join(dir, "sessions"), filepath.Join(dir, "archived_sessions")}
}

// codexLine is a line of a rollout.
type codexLine struct {
	Timestamp json.RawMessage `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   struct {
		ID  string `json:"id"`  // of session_meta
		Cwd string `json:"cwd"` // likewise
		Git struct {
			Branch string `json:"branch"`
		} `json:"git"` // likewise
		Model  string `json:"model"` // of turn_context
		Source struct {
			Subagent *struct {
				Spawn struct {
					Parent string `json:"parent_thread_id"`
				} `json:"thread_spawn"`
			} `json:"subagent"`
		} `json:"source"` // likewise; of a person's session a string
		Type      string          `json:"type"`
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"` // a string or parts
		Name      string          `json:"name"`
		Arguments string          `json:"arguments"`
		Input     string          `json:"input"`
		Action    json.RawMessage `json:"action"`
		Output    json.RawMessage `json:"output"`
		Message   string          `json:"message"` // of compacted
	} `json:"payload"`
}

func (codex) Read(ctx context.Context, path string, visit func(Session) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil { // WalkDir follows no link
		path = target
	}
	return filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && file == path:
			return err
		case err != nil: // a folder that cannot be read
			return errors.Join(visit(Session{Unknown: 1}), fs.SkipDir)
		case !d.Type().IsRegular() || !rollout.MatchString(d.Name()):
			return ctx.Err()
		}
		s, err := codexSession(file)
		if err != nil {
			return visit(Session{Unknown: 1})
		}
		return visit(s)
	})
}

// rollout is the name of a rollout.
var rollout = regexp.MustCompile(`^(rollout-.+)\.jsonl(\.zst)?$`)

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
	name := rollout.FindStringSubmatch(filepath.Base(path))
	s.ID = name[1]
	text := io.Reader(file)
	if name[2] != "" {
		unpacked, err := zstd.NewReader(file, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return s, err
		}
		defer unpacked.Close()
		text = unpacked
	}
	read := codexReader{Session: &s}
	err = eachLine(text, read.add)
	if s.Parent != "" {
		s.subagent(s.Parent)
	}
	if err != nil && len(s.Turns) > 0 { // what is before the damage
		s.Unknown++
		err = nil
	}
	return s, err
}

// maxWindow bounds the memory for unpacking, in bytes.
const maxWindow = 64 << 20

// codexReader makes a session of the lines of a rollout.
type codexReader struct {
	*Session
	known bool // the session's own session_meta was read
}

// begin takes what a session_meta tells. A forked session has that of the other session too, after its own.
func (s *codexReader) begin(l codexLine) {
	if s.known {
		return
	}
	p := l.Payload
	s.known = true
	s.ID, s.Folder, s.Branch = cmp.Or(p.ID, s.ID), p.Cwd, p.Git.Branch
	if by := p.Source.Subagent; by != nil {
		s.Parent = cmp.Or(by.Spawn.Parent, s.ID)
	}
}

// add adds what a line of a rollout tells.
func (s *codexReader) add(data []byte) {
	var l codexLine
	if !decode(data, &l) {
		s.Unknown++
		return
	}
	p := l.Payload
	t := Turn{Role: p.Role, Time: moment(l.Timestamp)}
	switch l.Type {
	case "session_meta":
		s.begin(l)
		return
	case "turn_context":
		s.Model = cmp.Or(p.Model, s.Model)
		return
	case "event_msg", "world_state": // the messages among these are response items too
		return
	case "compacted": // what is left of the conversation before it
		s.Session.add(Turn{Role: "system", Text: strings.TrimSpace(p.Message), Time: t.Time})
		return
	case "inter_agent_communication":
		p.Type = "agent_message"
	case "response_item":
	default:
		s.Unknown++
		return
	}
	switch p.Type {
	case "agent_message": // from one agent to another
		t.Role, t.Text = "agent", strings.TrimSpace(partsText(p.Content))
	case "message":
		switch p.Role {
		case "user":
			s.user(p.Content, t.Time)
			return
		case "assistant":
			t.Text = strings.TrimSpace(partsText(p.Content))
		default:
			return
		}
	case "function_call", "custom_tool_call", "local_shell_call":
		t.Role = "assistant"
		t.Text = strings.TrimSpace("[tool call: " + cmp.Or(p.Name, "shell") + "] " +
			cmp.Or(p.Arguments, p.Input, string(p.Action)))
	case "function_call_output", "custom_tool_call_output":
		t.Role, t.Text = "tool", codexOutput(p.Output)
	case "web_search_call":
		t.Role, t.Text = "assistant", "[tool call: web_search] "+string(p.Action)
	case "reasoning", "ghost_snapshot", "compaction", "context_compaction", "tool_search_call",
		"tool_search_output", "image_generation_call", "additional_tools":
		return
	default:
		s.Unknown++
		return
	}
	s.Session.add(t)
}

// user adds what is in the user's place, where the host writes too: each part is one author's.
func (s *codexReader) user(content json.RawMessage, at time.Time) {
	var parts []json.RawMessage
	if json.Unmarshal(content, &parts) != nil {
		parts = []json.RawMessage{content}
	}
	var typed []string
	for _, part := range parts {
		text := strings.TrimSpace(partsText(part))
		own := transcript.Authors(text)
		switch {
		case hostSaid(text):
		case len(own) == 1 && own[0].Role == "user":
			typed = append(typed, text)
		default:
			s.Session.add(Turn{Role: "user", Text: text, Time: at})
		}
	}
	s.Session.add(Turn{Role: "user", Text: strings.Join(typed, "\n"), Time: at})
}

// hostSaid reports whether a text in the person's place is what the host repeats in every session: it says nothing of
// the conversation.
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

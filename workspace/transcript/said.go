package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// Said is what a person or an agent said in a host's own log.
type Said struct {
	ID   string // of the row, "" if the host gives it none
	Role string // user or assistant
	Text string
	Time time.Time // zero if the host does not note it
}

// saidRow is a row of the log that Claude Code or Codex keeps of a session.
type saidRow struct {
	Type        string `json:"type"`
	Timestamp   string `json:"timestamp"`
	UUID        string `json:"uuid"`
	IsMeta      bool   `json:"isMeta"`
	IsSidechain bool   `json:"isSidechain"`
	Summary     bool   `json:"isCompactSummary"`
	Message     struct {
		ID      string          `json:"id"`
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Payload struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"payload"`
}

// SaidIn returns what was said in lines of a host's log, in their order. Tool calls and their results, thinking, what
// subagents say and what the host itself adds are left out, as is a line that is torn or of another form. Rows of one
// message are one.
func SaidIn(data []byte) (said []Said) {
	message := ""
	for line := range bytes.Lines(data) {
		var row saidRow
		var typed *json.UnmarshalTypeError
		if err := json.Unmarshal(line, &row); err != nil && !errors.As(err, &typed) {
			continue
		}
		one := Said{ID: row.UUID, Role: row.Message.Role}
		one.Time, _ = time.Parse(time.RFC3339, row.Timestamp)
		switch {
		case row.Type == "event_msg" && row.Payload.Type == "user_message": // Codex
			one.Role, one.Text = userRole, Typed(row.Payload.Message)
		case row.Type == "event_msg" && row.Payload.Type == "agent_message":
			one.Role, one.Text = "assistant", row.Payload.Message
		case row.Type != "user" && row.Type != "assistant", row.IsMeta, row.IsSidechain, row.Summary:
			continue
		case row.Message.Role == userRole:
			one.Text = typedIn(row.Message.Content)
		default:
			one.Text = spoken(row.Message.Content)
		}
		if one.Text = strings.TrimSpace(one.Text); one.Text == "" {
			continue
		}
		if last := len(said) - 1; last >= 0 && row.Message.ID != "" && row.Message.ID == message {
			said[last].Text += "\n" + one.Text
			continue
		}
		message = row.Message.ID
		said = append(said, one)
	}
	return said
}

// typedIn returns what the person typed in a message in the user's place: of its text, nothing of commands and results.
func typedIn(content json.RawMessage) string {
	var whole string
	if json.Unmarshal(content, &whole) == nil {
		return Typed(whole)
	}
	var parts []string
	for _, b := range blocksOf(content) {
		if typed := Typed(b.Text); b.Type == "text" && typed != "" {
			parts = append(parts, typed)
		}
	}
	return strings.Join(parts, "\n")
}

// spoken returns the text of a message's content: a string, or blocks, of which only text was said.
func spoken(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	return spokenIn(blocksOf(content))
}

// spokenIn returns what was said in blocks: their text.
func spokenIn(blocks []block) string {
	var parts []string
	for _, b := range blocks {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

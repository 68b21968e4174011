package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
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
			one.Role, one.Text = "user", row.Payload.Message
		case row.Type == "event_msg" && row.Payload.Type == "agent_message":
			one.Role, one.Text = "assistant", row.Payload.Message
		case row.Type != "user" && row.Type != "assistant", row.IsMeta, row.IsSidechain, row.Summary:
			continue
		default:
			one.Text = spoken(row.Message.Content)
		}
		one.Text = strings.TrimSpace(hostElements.ReplaceAllString(one.Text, ""))
		if one.Text == "" || one.Role == "user" && hostWords(one.Text) {
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

// hostElements are what a host adds to what a person typed.
var hostElements = regexp.MustCompile(`(?s)<(?:system-reminder|ide_[a-z_]+)>.*?</(?:system-reminder|ide_[a-z_]+)>`)

// hostWords reports whether a user's row is what the host wrote in the user's place: a command and its output, a notice
// of an interruption.
func hostWords(text string) bool {
	for _, beginning := range []string{"<command-", "<local-command-", "<bash-", "<task-", "[Request interrupted"} {
		if strings.HasPrefix(text, beginning) {
			return true
		}
	}
	return false
}

package history

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// claude reads the archive that Claude exports: conversations.json has the messages of each conversation in order.
type claude struct{}

func (claude) Places(string, func(string) string) []string { return nil }

// claudeConversation is an element of conversations.json.
type claudeConversation struct {
	UUID     string `json:"uuid"`
	Name     string `json:"name"`
	Messages []struct {
		Sender  string          `json:"sender"`
		Text    string          `json:"text"`
		Created json.RawMessage `json:"created_at"`
		Content []struct {
			Type  string          `json:"type"`
			Text  string          `json:"text"`
			Name  string          `json:"name"`
			Input json.RawMessage `json:"input"`
			// Of a tool's result: a string, or parts
			Content json.RawMessage `json:"content"`
		} `json:"content"`
		Attachments []struct {
			Name    string `json:"file_name"`
			Content string `json:"extracted_content"`
		} `json:"attachments"`
	} `json:"chat_messages"`
}

func (claude) Read(ctx context.Context, path string, visit func(Session) error) error {
	return eachConversation(ctx, path, func(raw json.RawMessage) error {
		var c claudeConversation
		if !decode(raw, &c) || c.UUID == "" && len(c.Messages) == 0 {
			return visit(Session{Unknown: 1})
		}
		return visit(c.session())
	})
}

func (c claudeConversation) session() Session {
	s := Session{ID: c.UUID, Title: c.Name}
	for _, m := range c.Messages {
		role := map[string]string{"human": "user", "assistant": "assistant"}[m.Sender]
		if role == "" {
			s.Unknown++
			continue
		}
		at := moment(m.Created)
		var said, results, files []string
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				said = append(said, b.Text)
			case "tool_use":
				said = append(said, "[tool call: "+b.Name+"] "+string(b.Input))
			case "tool_result":
				results = append(results, strings.TrimSpace(partsText(b.Content)))
			case "thinking", "token_budget":
			default:
				s.Unknown++
			}
		}
		text := strings.TrimSpace(strings.Join(said, "\n"))
		if text == "" {
			text = strings.TrimSpace(m.Text)
		}
		for _, a := range m.Attachments {
			files = append(files, strings.TrimSpace("[file: "+a.Name+"]\n"+a.Content))
		}
		s.add(Turn{Role: role, Text: text, Time: at})
		// What is in a file is not the person's words.
		s.add(Turn{Role: "tool", Text: strings.TrimSpace(strings.Join(slices.Concat(results, files), "\n")), Time: at})
	}
	return s
}

package history

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// chatGPT reads the archive that ChatGPT exports: conversations.json, or conversations-000.json and so on, has a tree
// of messages for each conversation, of which the branch that the person saw last ends at current_node.
type chatGPT struct{}

func (chatGPT) Places(string, func(string) string) []string { return nil }

// chatGPTConversation is an element of conversations.json.
type chatGPTConversation struct {
	ID             string                 `json:"id"`
	ConversationID string                 `json:"conversation_id"`
	Title          string                 `json:"title"`
	CurrentNode    string                 `json:"current_node"`
	Mapping        map[string]chatGPTNode `json:"mapping"`
}

type chatGPTNode struct {
	Parent  string `json:"parent"`
	Message *struct {
		Author struct {
			Role string `json:"role"`
		} `json:"author"`
		CreateTime json.RawMessage `json:"create_time"`
		Content    struct {
			Type  string            `json:"content_type"`
			Parts []json.RawMessage `json:"parts"`
			Text  string            `json:"text"`
		} `json:"content"`
		Metadata struct {
			Hidden bool   `json:"is_visually_hidden_from_conversation"`
			Model  string `json:"model_slug"` // of an answer
		} `json:"metadata"`
	} `json:"message"`
}

func (chatGPT) Read(ctx context.Context, path string, visit func(Session) error) error {
	return eachConversation(ctx, path, func(raw json.RawMessage) error {
		var c chatGPTConversation
		if !decode(raw, &c) {
			return visit(Session{Unknown: 1})
		}
		return visit(c.session())
	})
}

// last returns the last node of the branch that the person saw last, if the archive does not tell that of the newest
// message; "" if there is no message.
func (c chatGPTConversation) last() string {
	if _, ok := c.Mapping[c.CurrentNode]; ok {
		return c.CurrentNode
	}
	newest, at := "", time.Time{}
	for _, id := range slices.Sorted(maps.Keys(c.Mapping)) {
		m := c.Mapping[id].Message
		if m == nil {
			continue
		}
		if written := moment(m.CreateTime); newest == "" || !written.Before(at) {
			newest, at = id, written
		}
	}
	return newest
}

// session returns the branch that ends at the current node.
func (c chatGPTConversation) session() Session {
	s := Session{ID: c.ConversationID, Title: c.Title}
	if s.ID == "" {
		s.ID = c.ID
	}
	var said []Turn           // the last first
	seen := map[string]bool{} // against a cycle
	for id := c.last(); id != "" && !seen[id]; id = c.Mapping[id].Parent {
		seen[id] = true
		m := c.Mapping[id].Message
		if m == nil || m.Metadata.Hidden || m.Author.Role == "system" {
			continue
		}
		s.Model = cmp.Or(s.Model, m.Metadata.Model) // the last one: it comes first here
		var parts []string
		for _, p := range m.Content.Parts {
			var text string
			var part struct {
				Type string `json:"content_type"`
				Text string `json:"text"`
			}
			switch {
			case json.Unmarshal(p, &text) == nil:
				parts = append(parts, text)
			case json.Unmarshal(p, &part) != nil:
				s.Unknown++
			case part.Text != "":
				parts = append(parts, part.Text)
			case part.Type == "image_asset_pointer":
				parts = append(parts, "[image]")
			default:
				s.Unknown++
			}
		}
		parts = append(parts, m.Content.Text)
		text := strings.TrimSpace(strings.Join(parts, "\n"))
		if text == "" {
			continue
		}
		said = append(said, Turn{Role: m.Author.Role, Text: text, Time: moment(m.CreateTime)})
	}
	for _, t := range slices.Backward(said) {
		s.add(t)
	}
	if len(c.Mapping) == 0 {
		s.Unknown++
	}
	return s
}

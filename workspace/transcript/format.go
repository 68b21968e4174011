package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// kind is the kind of a line of a log.
type kind int

const (
	otherLine  kind = iota // of no interest
	brokenLine             // no object of JSON
	headerLine             // the session header
	aboutLine              // tells something about the session
	entryLine              // a turn
)

// line is a parsed line.
type line struct {
	kind kind
	turn        // of a header: its timestamp and source
	key  string // names the row in hosts' logs that repeat rows when a session is resumed

	blocks []block // the content, if it was decoded

	// Of a header (seed 002, phase 10.4), with the fields that say whose session it was:
	agentID    string
	connection string // "group" for a group's session
	group      string // the group's name

	about // of every kind

	unknown bool // it has a form, or a part of a form, that is not known, and that is left out

	others []line // of an entry in the user's place with several authors: the turns after the first
}

// about is what a line tells about its session.
type about struct {
	folder   string // the absolute path that the host ran in
	branch   string // of git
	title    string // that the host, or the person, gave the session
	model    string // that answers
	subagent bool   // an agent talks to an agent
	parent   string // of a subagent: the id of the session that it works for
}

// turn is an entry whose content has not been decoded yet: most that are counted or skipped are never shown.
type turn struct {
	entry   Entry // without Content, unless shown
	content json.RawMessage
	text    string // of the content, if it was decoded; else ""
	shown   bool   // entry is a preview already

	worksFor string // as about.parent
}

// whole returns the entry with its content.
func (t turn) whole() Entry {
	e := t.entry
	if e.Content = t.text; e.Content == "" {
		e.Content = flatten(t.content, 0)
	}
	return e
}

// short returns the turn with only the content that a preview of n characters needs, so that many can be kept in
// memory.
func (v *View) short(t turn, n int) turn {
	if len(t.content) <= lineChunk {
		t.text = "" // made again if it is shown
		return t
	}
	return turn{entry: v.preview(t, n), shown: true}
}

// preview returns the entry with its content redacted and cut to n characters.
func (v *View) preview(t turn, n int) Entry {
	if t.shown {
		return t.entry
	}
	e := t.whole()
	e.Content, e.Truncated = text.Fit(v.redacted(e.Content, n), n)
	return e
}

// decode decodes the content of a message, unless it is a string, which is only decoded to be shown.
func (l *line) decode(content json.RawMessage) {
	l.content = content
	if l.blocks = blocksOf(content); l.blocks != nil {
		l.text = flattened(l.blocks, 0)
		l.unknown = slices.ContainsFunc(l.blocks, block.unknown)
	}
}

// blank reports whether the content has no text. decode was called. A string is not decoded for that: this runs for
// every line.
func (l *line) blank() bool {
	return l.text == "" && (len(l.content) <= len(`""`) || l.content[0] != '"')
}

// record is a line of any of the supported formats:
//
//	this format:  {"type":"session",…}, {"type":"entry","role","content",…}, of a copy with "model","isSidechain",
//	              "sessionId"
//	Claude Code:  {"type":"user"|"assistant","uuid","timestamp","sessionId","cwd","gitBranch","isMeta","isSidechain",
//	              "isCompactSummary","message":{"role","model","content"}}, {"type":"custom-title"|"ai-title",…}
//	OpenClaw:     {"type":"session","cwd",…}, {"type":"message","id","timestamp","message":{"role","model","content"}},
//	              {"type":"model_change","modelId"},
//	              {"type":"custom_message","id","timestamp","content","display"},
//	              {"type":"compaction"|"branch_summary","id","timestamp","summary"}
type record struct {
	Type         string          `json:"type"`
	Timestamp    stamp           `json:"timestamp"`
	AgentID      string          `json:"agent_id"`
	SourcePlugin string          `json:"source_plugin"`
	Connection   string          `json:"connection"`
	Group        string          `json:"group"`
	Role         string          `json:"role"`
	Content      json.RawMessage `json:"content"`
	MessageID    string          `json:"message_id"`
	SenderID     string          `json:"sender_id"`
	UUID         string          `json:"uuid"`
	ID           string          `json:"id"`
	IsMeta       bool            `json:"isMeta"`
	IsSummary    bool            `json:"isCompactSummary"`
	Summary      string          `json:"summary"` // of OpenClaw's compaction
	Display      any             `json:"display"`
	Cwd          string          `json:"cwd"`
	GitBranch    string          `json:"gitBranch"`
	IsSidechain  bool            `json:"isSidechain"`
	OfSession    string          `json:"sessionId"` // Claude Code's: of a subagent's row, the session it works for
	CustomTitle  string          `json:"customTitle"`
	AITitle      string          `json:"aiTitle"`
	Title        string          `json:"title"`
	Model        string          `json:"model"`
	ModelID      string          `json:"modelId"`
	Message      struct {
		Role    string          `json:"role"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// stamp is a time as a line has it; a number of seconds or milliseconds since 1970 is in RFC 3339.
type stamp string

// UnmarshalJSON implements json.Unmarshaler. A value of another type is no time.
func (s *stamp) UnmarshalJSON(data []byte) error {
	var number float64
	if json.Unmarshal(data, (*string)(s)) == nil || json.Unmarshal(data, &number) != nil {
		return nil
	}
	if number > 1e11 { // in seconds it would be after the year 5000
		number /= 1000
	}
	if number > 0 && number < 1e11 {
		*s = stamp(time.UnixMilli(int64(number * 1000)).UTC().Format(time.RFC3339Nano))
	}
	return nil
}

// byteOrderMark is what a file of UTF-8 may begin with.
var byteOrderMark = []byte("\uFEFF")

// parse reads a line. A line of an unknown form is otherLine.
func parse(data []byte) line {
	// Zeros are what a crash of the machine leaves; some programs begin a file with a mark of its encoding.
	if data = bytes.Trim(bytes.TrimPrefix(data, byteOrderMark), "\x00 \t\r\n"); len(data) == 0 {
		return line{}
	}
	if data[0] != '{' { // also what is JSON and no object: no format has it
		return line{kind: brokenLine}
	}
	var r record
	// A field of an unexpected type is ignored, and the rest of the line is read.
	var typed *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &r); err != nil && !errors.As(err, &typed) {
		return line{kind: brokenLine}
	}
	session := about{folder: r.Cwd, branch: visible(r.GitBranch), subagent: r.IsSidechain, model: r.model()}
	if r.IsSidechain && sessionID.MatchString(r.OfSession) {
		session.parent = r.OfSession
	}
	entry := Entry{Timestamp: string(r.Timestamp), SourcePlugin: r.SourcePlugin, SenderID: r.SenderID}
	switch r.Type {
	case "session":
		return line{
			kind: headerLine, turn: turn{entry: entry}, agentID: r.AgentID, connection: r.Connection,
			group: r.Group, about: session,
		}
	case "entry":
		entry.Role, entry.MessageID = r.Role, r.MessageID
		said := line{kind: entryLine, turn: turn{entry: entry}, about: session}
		said.decode(r.Content)
		if entry.Role == userRole {
			said.divide(false)
		}
		return said
	case "compaction", "branch_summary":
		entry.Role, entry.MessageID = systemRole, r.ID
		said := line{kind: entryLine, turn: turn{entry: entry}, key: r.ID, about: session}
		if said.text = visible(r.Summary); said.text == "" {
			return line{}
		}
		said.content, _ = json.Marshal(r.Summary) // a string can be encoded
		return said
	case "custom-title", "ai-title":
		session.title = text.OneLine(visible(cmp.Or(r.CustomTitle, r.AITitle, r.Title)))
		return line{kind: aboutLine, about: session}
	case "custom_message": // what a program put into an OpenClaw session, which may be to be hidden
		entry.Role, entry.MessageID = r.Type, r.ID
		said := line{kind: entryLine, turn: turn{entry: entry}, key: r.ID, about: session}
		said.decode(r.Content)
		if r.Display == false || said.blank() {
			return line{unknown: said.unknown && r.Display != false}
		}
		return said
	case "user", "assistant", "message":
		entry.Role, entry.MessageID = r.Message.Role, cmp.Or(r.UUID, r.ID)
		said := line{kind: entryLine, turn: turn{entry: entry}, key: entry.MessageID, about: session}
		said.decode(r.Message.Content)
		if r.IsMeta || entry.Role == "" || said.blank() { // blank: nothing but thinking
			return line{unknown: said.unknown}
		}
		switch entry.Role {
		case "toolResult":
			said.entry.Role = toolRole
		case userRole:
			said.divide(r.IsSummary)
		}
		if r.IsSidechain {
			said.fromAgent()
		}
		return said
	case "model_change":
		return line{kind: aboutLine, about: session}
	}
	return line{unknown: !silentTypes[r.Type]}
}

// silentTypes are the hosts' lines that have nothing of what was said.
var silentTypes = setOf(
	// Claude Code's.
	"agent-color", "agent-name", "agent-setting", "attachment", "attribution-snapshot", "content-replacement",
	"file-history-snapshot", "last-prompt", "mode", "permission-mode", "pr-link", "progress", "queue-operation",
	"summary", "system", "tag", "task-summary", "worktree-state",
	// OpenClaw's.
	"custom", "label", "leaf", "session_info", "thinking_level_change",
)

// setOf returns the set of names.
func setOf(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// maxModel is the maximum length of a model's name, in characters.
const maxModel = 100

// model returns the name of the model that a line names, "" for none.
func (r record) model() string {
	name := cmp.Or(r.Message.Model, r.Model, r.ModelID)
	if name == "<synthetic>" { // Claude Code's own words in the model's place
		return ""
	}
	return text.Shorten(text.OneLine(visible(name)), maxModel)
}

// fromAgent makes what a person would have typed another agent's: hosts write a subagent's task in the user's place.
func (l *line) fromAgent() {
	if l.entry.Role == userRole {
		l.entry.Role = agentRole
	}
	for i := range l.others {
		l.others[i].fromAgent()
	}
}

// visible is text.Plain: people and programs that nobody knows have said what is in a log.
var visible = text.Plain

// maxNesting is how deep tool results are followed, against lines that are nested on purpose.
const maxNesting = 3

// block is a part of a message's content.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Name    string          `json:"name"`
	Content json.RawMessage `json:"content"`

	Input     json.RawMessage `json:"input"`     // of Claude Code's tool calls
	Arguments json.RawMessage `json:"arguments"` // of OpenClaw's
}

// blockTypes are the types of blocks that are shown, or that are no text.
var blockTypes = setOf(
	"text", "tool_use", "toolCall", "tool_result", "image", "document", "thinking", "redacted_thinking",
)

// unknown reports whether a block has a form that is not known.
func (b block) unknown() bool { return !blockTypes[b.Type] }

// blocksOf returns the blocks of a message's content, nil if it is a string or none of both.
func blocksOf(content json.RawMessage) (blocks []block) {
	if len(content) == 0 || content[0] != '[' || json.Unmarshal(content, &blocks) != nil {
		return nil
	}
	return blocks
}

// toolInput returns the input of a tool call as text: a string as it is, an object as its fields, in their order.
func toolInput(input json.RawMessage) string {
	var whole string
	if json.Unmarshal(input, &whole) == nil {
		return visible(whole)
	}
	fields := json.NewDecoder(bytes.NewReader(input))
	if start, err := fields.Token(); err != nil || start != json.Delim('{') {
		return ""
	}
	var parts []string
	for fields.More() {
		name, err := fields.Token()
		var value json.RawMessage
		if err != nil || fields.Decode(&value) != nil {
			break
		}
		var said string
		if json.Unmarshal(value, &said) != nil {
			said = string(value)
		}
		parts = append(parts, fmt.Sprintf("%v: %s", name, said))
	}
	return visible(strings.Join(parts, "\n"))
}

// flatten returns the text of a message's content: a string, or blocks.
func flatten(content json.RawMessage, depth int) string {
	var text string
	if len(content) > 0 && content[0] == '"' && json.Unmarshal(content, &text) == nil {
		return visible(text)
	}
	return flattened(blocksOf(content), depth)
}

// flattened returns the text of blocks, of which text, tool results and the inputs of tool calls are included full,
// images by name, and thinking not at all.
func flattened(blocks []block, depth int) string {
	if depth == maxNesting {
		return ""
	}
	var parts []string
	for _, b := range blocks {
		part := ""
		switch b.Type {
		case "text":
			part = visible(b.Text)
		case "tool_use", "toolCall":
			part = strings.TrimSpace("[tool call: " + visible(b.Name) + "] " +
				cmp.Or(toolInput(b.Input), toolInput(b.Arguments)))
		case "tool_result":
			part = flatten(b.Content, depth+1)
		case "image":
			part = "[image]"
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "\n")
}

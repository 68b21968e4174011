package transcript

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Roles of who wrote what is in the user's place. Hosts write there also what no person typed.
const (
	userRole   = "user"
	toolRole   = "tool"   // the output of a command, a notice of a task that ran in the background
	systemRole = "system" // reminders, instructions, what is left of a conversation after its compaction
	agentRole  = "agent"  // of another agent: a subagent's task, a message of a team
)

// Part is what one author wrote of a text in the user's place.
type Part struct {
	Role string // user for what the person typed; else tool, system or agent
	Text string
}

// hostTags are the elements that a whole text in the user's place begins with if a host wrote it, with its role:
// those of Claude Code, then those of Codex and Gemini CLI.
var hostTags = map[string]string{
	"bash-stdout": toolRole, "bash-stderr": toolRole, "local-command-stdout": toolRole,
	"local-command-stderr": toolRole, "task-notification": toolRole, "local-command-caveat": systemRole,
	"teammate-message": agentRole,

	"user_shell_command": toolRole, "subagent_notification": toolRole, "turn_aborted": systemRole,
	"skill": systemRole, "environment_context": systemRole, "user_instructions": systemRole,
	"hook_prompt": systemRole, "recommended_plugins": systemRole, "goal_context": systemRole,
	"internal_model_context": systemRole, "additional_context": systemRole,
	"session_context": systemRole, "state_snapshot": systemRole,
}

// hostBeginnings are how texts of hosts without an element begin.
var hostBeginnings = []string{
	"[Request interrupted", "This session is being continued from a previous conversation",
	"# AGENTS.md instructions", "This is the Gemini CLI. We are setting up",
}

var (
	// hostElements are what a host adds to what a person typed.
	hostElements = regexp.MustCompile(`(?s)<(?:system-reminder|ide_[a-z_]+|user-prompt-submit-hook)>.*?` +
		`</(?:system-reminder|ide_[a-z_]+|user-prompt-submit-hook)>`)
	// leading is the element that a text begins with.
	leading = regexp.MustCompile(`^<([A-Za-z][A-Za-z0-9_-]*)[\s>]`)
	// editorContext is what Codex puts before what a person typed in an editor.
	editorContext = regexp.MustCompile(`(?s)^# (?:Context from my IDE setup|Files mentioned by the user):.*?` +
		`\n## My request for Codex:`)
)

// Authors splits a text in the user's place into what the person typed and what the host put there. It is the one
// place where that is decided: only what a person typed has the role user.
func Authors(text string) (parts []Part) {
	whole := strings.TrimSpace(text)
	if whole == "" {
		return nil
	}
	added := hostElements.FindAllString(whole, -1)
	if len(added) > 0 {
		whole = strings.TrimSpace(hostElements.ReplaceAllString(whole, ""))
	}
	if context := editorContext.FindString(whole); context != "" {
		added, whole = append(added, context), strings.TrimSpace(whole[len(context):])
	}
	if len(added) == 0 {
		return []Part{{hostRole(whole), text}}
	}
	return merged(Part{hostRole(whole), whole}, Part{systemRole, strings.Join(added, "\n")})
}

// hostRole returns the role of who wrote a text that is one author's.
func hostRole(text string) string {
	if m := leading.FindStringSubmatch(text); m != nil {
		name := strings.ToLower(m[1])
		if role := hostTags[name]; role != "" && strings.Contains(strings.ToLower(text), "</"+name+">") {
			return role
		}
	}
	if slices.ContainsFunc(hostBeginnings, func(b string) bool { return strings.HasPrefix(text, b) }) {
		return systemRole
	}
	return userRole
}

// merged returns parts with those of one role as one, in the order of their beginnings, without empty ones.
func merged(parts ...Part) (list []Part) {
	for _, p := range parts {
		i := slices.IndexFunc(list, func(other Part) bool { return other.Role == p.Role })
		switch {
		case p.Text == "":
		case i < 0:
			list = append(list, p)
		default:
			list[i].Text += "\n" + p.Text
		}
	}
	return list
}

// authorsOf is Authors for a message's content: a string, or blocks, of which the results of tools are a tool's.
func authorsOf(content json.RawMessage, blocks []block) []Part {
	if blocks == nil {
		return Authors(flatten(content, 0))
	}
	var parts []Part
	for _, b := range blocks {
		text := flattened([]block{b}, 0)
		switch b.Type {
		case "text":
			parts = append(parts, Authors(text)...)
		case "tool_result":
			parts = append(parts, Part{toolRole, text})
		default:
			parts = append(parts, Part{userRole, text})
		}
	}
	return merged(parts...)
}

// Typed returns what a person typed of a text in the user's place and means as words: "" also for a command.
func Typed(text string) string {
	for _, p := range Authors(text) {
		if p.Role == userRole && !isCommand(p.Text) {
			return strings.TrimSpace(p.Text)
		}
	}
	return ""
}

// isCommand reports whether what a person typed is a command to the host, in the form that the host logs it in.
func isCommand(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "<command-") || strings.HasPrefix(text, "<bash-input>")
}

// divide gives an entry in the user's place the role of its author. If it has several, the others' parts follow in
// l.others. summary says that the host marks it as what is left of a conversation.
func (l *line) divide(summary bool) {
	parts := authorsOf(l.content, l.blocks)
	if summary {
		for i := range parts {
			if parts[i].Role == userRole {
				parts[i].Role = systemRole
			}
		}
		parts = merged(parts...)
	}
	if len(parts) == 0 {
		return
	}
	if l.entry.Role = parts[0].Role; len(parts) == 1 {
		return
	}
	whole := *l
	for i, p := range parts {
		one := whole
		one.entry.Role, one.blocks, one.text = p.Role, nil, p.Text
		one.content, _ = json.Marshal(p.Text) // a string can be encoded
		if i == 0 {
			*l = one
			continue
		}
		if one.key != "" {
			one.key += "#" + strconv.Itoa(i)
		}
		l.others = append(l.others, one)
	}
}

// turns returns the turns of a row: one, or one for each author.
func (l line) turns() []line { return append([]line{l}, l.others...) }

// partShift is where the number of a turn among those of its row is in an offset. A log is much smaller.
const partShift = 56

// partOffset returns the offset of the turn with the number part of the row at an offset.
func partOffset(row int64, part int) int64 { return row | int64(part)<<partShift }

// splitOffset returns what partOffset was called with.
func splitOffset(offset int64) (row int64, part int) {
	return offset & (1<<partShift - 1), int(offset >> partShift)
}

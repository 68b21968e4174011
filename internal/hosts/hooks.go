package hosts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// hookFile is where a host keeps hooks, as JSON: lists below the key "hooks", one for each event.
type hookFile struct {
	file    func(Place) string
	events  []hookEvent
	element func(e hookEvent, command string) object // of the list of an event
	more    field                                    // that the file must have besides, if its key is not ""
	note    string                                   // what the person must do when hooks change, "" for nothing
}

// hookEvent is an event as a host names it.
type hookEvent struct {
	name    string
	matcher string // of the tools, "" for all
	async   bool   // the host does not wait for it
}

// seconds is how long hosts wait for a hook, which takes a fraction of it.
const seconds = 10

var (
	claudeEvents = []hookEvent{
		{name: "SessionStart"},
		{name: "UserPromptSubmit"},
		{name: "PreToolUse", matcher: "Bash|Edit|MultiEdit|Write|NotebookEdit"},
		{name: "PreCompact"},
		// With --print, Claude Code ends before such a hook has run. SessionEnd does its work then.
		{name: "Stop", async: true},
		{name: "SessionEnd"},
	}
	codexEvents = []hookEvent{
		{name: "SessionStart"},
		{name: "UserPromptSubmit"},
		{name: "PreToolUse"},
		{name: "PreCompact"},
		{name: "Stop"},
	}
	geminiEvents = []hookEvent{
		{name: "SessionStart"},
		{name: "BeforeAgent"},
		{name: "AfterAgent"}, // PreCompress runs before every turn
		{name: "SessionEnd"},
	}
	cursorEvents = []hookEvent{
		{name: "sessionStart"},
		{name: "beforeSubmitPrompt"},
		{name: "afterAgentResponse"},
		{name: "preCompact"},
		{name: "sessionEnd"},
	}
)

// claudeHook returns an entry in the form of Claude Code's settings.
func claudeHook(e hookEvent, command string) object {
	hook := object{{"type", "command"}, {"command", command}, {"timeout", seconds}}
	if e.async {
		hook = append(hook, field{"async", true})
	}
	group := object{{"hooks", []object{hook}}}
	if e.matcher != "" {
		group = append(object{{"matcher", e.matcher}}, group...)
	}
	return group
}

func codexHook(e hookEvent, command string) object { return claudeHook(e, command) }

// geminiHook returns an entry in the form of Gemini CLI's settings, whose timeout is in milliseconds.
func geminiHook(_ hookEvent, command string) object {
	return object{{"hooks", []object{{
		{"name", "yamo"}, {"type", "command"}, {"command", command}, {"timeout", 1000 * seconds},
	}}}}
}

func cursorHook(_ hookEvent, command string) object { return object{{"command", command}} }

// command returns the line of a shell that runs the hook of an event. It succeeds even if the program is gone: a
// failing hook can stop what a person does.
func (e Entry) command(host, event string) string {
	words := []string{e.Command, "hook", event, "--host", host}
	var line strings.Builder
	for name, value := range e.variables() {
		line.WriteString(name + "=" + Quoted(value) + " ")
	}
	for _, word := range append(words, e.Hook...) {
		line.WriteString(Quoted(word) + " ")
	}
	return line.String() + "|| true"
}

// isOurs reports whether a text that starts a program starts this one: by its name, or, where the file has another
// name, by the flags that it is always started with.
func isOurs(text string) bool {
	return strings.Contains(text, "yamo-mcp") ||
		strings.Contains(text, "--workspace") && strings.Contains(text, "--connection")
}

// ours reports whether an element of an event's list, decoded, is one that Entry.command made for the host.
func ours(host, event string) func(element any) bool {
	var contains func(value any) bool
	contains = func(value any) bool {
		switch v := value.(type) {
		case string:
			return strings.Contains(v, fmt.Sprintf(" hook %s --host %s ", event, host)) && isOurs(v)
		case []any:
			return len(v) == 1 && contains(v[0])
		case map[string]any:
			return contains(v["command"]) || contains(v["hooks"])
		}
		return false
	}
	return contains
}

// lines returns the command lines in a file's content that Entry.command made for the host, by event.
func (f *hookFile) lines(host string, content map[string]any) []string {
	events, _ := content["hooks"].(map[string]any)
	var found []string
	for _, event := range slices.Sorted(maps.Keys(events)) {
		list, _ := events[event].([]any)
		for _, element := range list {
			if ours(host, event)(element) {
				found = append(found, lineOf(element))
			}
		}
	}
	return found
}

// lineOf returns the command line of an element for which ours holds.
func lineOf(element any) string {
	switch v := element.(type) {
	case string:
		return v
	case []any:
		return lineOf(v[0])
	case map[string]any:
		if line, ok := v["command"].(string); ok {
			return line
		}
		return lineOf(v["hooks"])
	}
	return ""
}

// Quoted returns a word as a POSIX shell reads it.
func Quoted(word string) string {
	plain := word != ""
	for _, r := range word {
		plain = plain && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("/._-+:@%=,", r))
	}
	if plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// install returns text with the hooks of the host, each in the list of its event.
func (f *hookFile) install(host string, e Entry, text []byte) ([]byte, error) {
	var err error
	if f.more.key != "" {
		content, err := (jsonFormat{}).decode(text)
		if err != nil {
			return nil, err
		}
		if _, ok := content[f.more.key]; !ok {
			if text, err = (jsonFormat{}).put(orObject(text), []string{f.more.key}, f.more.value); err != nil {
				return nil, err
			}
		}
	}
	// Of an earlier version, which may have had other events.
	if text, err = f.removeFrom(host, text, func(event string) bool {
		return !slices.ContainsFunc(f.events, func(e hookEvent) bool { return e.name == event })
	}); err != nil {
		return nil, err
	}
	for _, event := range f.events {
		element := f.element(event, e.command(host, event.name))
		list := []string{"hooks", event.name}
		if text, err = (jsonFormat{}).setElement(text, list, ours(host, event.name), element); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// remove returns text without the hooks of the host, and without lists that are empty then.
func (f *hookFile) remove(host string, text []byte) ([]byte, error) {
	return f.removeFrom(host, text, func(string) bool { return true })
}

// removeFrom is remove for the events for which chosen holds.
func (f *hookFile) removeFrom(host string, text []byte, chosen func(event string) bool) ([]byte, error) {
	content, err := (jsonFormat{}).decode(text)
	if err != nil {
		return nil, err
	}
	events, _ := content["hooks"].(map[string]any)
	for _, event := range slices.Sorted(maps.Keys(events)) {
		if !chosen(event) {
			continue
		}
		if text, err = (jsonFormat{}).removeElements(text, []string{"hooks", event}, ours(host, event)); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// others returns a copy of a file's content without the hooks of the host and what is empty then.
func (f *hookFile) others(host string, content map[string]any) map[string]any {
	rest := map[string]any{}
	for key, value := range content {
		if key != f.more.key || f.more.key == "" {
			rest[key] = value
		}
	}
	hooks, ok := content["hooks"].(map[string]any)
	if !ok {
		return rest
	}
	kept := map[string]any{}
	for event, value := range hooks {
		list, ok := value.([]any)
		if !ok {
			kept[event] = value
			continue
		}
		var others []any
		for _, element := range list {
			if !ours(host, event)(element) {
				others = append(others, element)
			}
		}
		if others != nil {
			kept[event] = others
		}
	}
	if rest["hooks"] = any(kept); len(kept) == 0 {
		delete(rest, "hooks")
	}
	return rest
}

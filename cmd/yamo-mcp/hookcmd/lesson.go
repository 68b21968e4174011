package hookcmd

import (
	"context"
	"encoding/json"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kljensen/snowball/english"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// action is what a tool is about to do, by the words that a lesson may share with it.
type action struct {
	words  map[string]bool // stems of the command, or of the file's path and the beginning of the new text
	strong map[string]bool // those of a program or a file: one of them is enough
}

// toolInput is the arguments of the hosts' tools for commands and edits: each has one of each kind.
type toolInput struct {
	Command  any    `json:"command"` // a string, or the program and its arguments
	FilePath string `json:"file_path"`
	Path     string `json:"path"`
	Notebook string `json:"notebook_path"`
	Content  string `json:"content"`
	New      string `json:"new_string"`
	Input    string `json:"input"` // Codex: the patch
	Patch    string `json:"patch"`
}

// preTool returns the lesson that applies to what a tool is about to do, once in a session.
func (r *run) preTool(ctx context.Context) (string, error) {
	var arguments toolInput
	_ = json.Unmarshal(r.in.ToolInput, &arguments) // of a tool that is not known there is nothing to match
	act := arguments.action()
	if len(act.words) == 0 {
		return "", nil
	}
	lessons, err := r.lessons(ctx)
	if err != nil {
		return "", err
	}
	a := r.folder.loadAsked(r.in.SessionID)
	lessons = slices.DeleteFunc(lessons, func(l lesson) bool { return a.has(l.ID) })
	best := applies(act, lessons)
	if best == nil {
		return "", nil
	}
	a.Shown = append(a.Shown, best.ID)
	return best.Text, r.folder.saveAsked(r.in.SessionID, a)
}

// lesson is an active lesson as the hooks need it.
type lesson struct {
	ID    string `json:"id"`
	Text  string `json:"text"`  // what is shown
	About string `json:"about"` // what is matched
}

// newLesson formats a lesson: when it was learned in the audience's time zone, the rule, and why.
func newLesson(hit record.Hit, zone *time.Location) lesson {
	l := hit.Lesson
	shown := hit.CreatedAt.In(zone).Format(time.DateOnly) + " A lesson from an earlier mistake: " +
		text.OneLine(l.PreventativeRule)
	if l.Fix != "" {
		shown += " (what helped: " + text.OneLine(l.Fix) + ")"
	}
	return lesson{
		ID: l.LessonID, Text: text.Shorten(shown, 2*lineChars),
		About: strings.Join([]string{l.ApplicableScope, l.ErrorPattern, l.PreventativeRule, l.Situation, l.Fix}, "\n"),
	}
}

// maxLessons is how many active lessons are considered, the most severe first.
const maxLessons = mesh.MaxLimit

// separators end a command in a shell's line.
var separators = regexp.MustCompile(`[|&;\n(){}` + "`" + `]+`)

// everyday are programs whose name does not tell what is done, and folders that every project has.
var everyday = wordSet(`bash zsh sudo env time exec command cat echo printf grep sed awk find head tail sort
	wc less more ls cd pwd rm mv cp mkdir touch chmod test true false export source which xargs tee curl git npm npx
	yarn pnpm node python python3 pip make cargo docker kubectl go java bun deno uv src lib test tests docs doc main
	index cmd internal pkg home users user tmp var usr bin opt etc app apps packages work code projects readme`)

// wordSet returns the stems of the words in list.
func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[english.Stem(word, true)] = true
	}
	return set
}

// editChars is how much of an edit's new text is matched.
const editChars = 300

// action returns the words for what a tool is about to do: the programs and arguments of a command, the names of files.
// Variables and everyday programs tell nothing about it.
func (in toolInput) action() action {
	act := action{words: map[string]bool{}, strong: map[string]bool{}}
	command := ""
	switch c := in.Command.(type) {
	case string:
		command = c
	case []any:
		for _, part := range c {
			if s, ok := part.(string); ok {
				command += s + " "
			}
		}
	}
	for _, part := range separators.Split(text.First(command, 2_000), -1) {
		fields := strings.Fields(part)
		for len(fields) > 0 && (strings.Contains(fields[0], "=") || everyday[english.Stem(path.Base(fields[0]), true)]) {
			fields = fields[1:] // variables, and programs that start others
		}
		if len(fields) > 0 {
			act.add(path.Base(fields[0]), true)
		}
	}
	act.add(command, false)
	for _, file := range []string{in.FilePath, in.Path, in.Notebook} {
		if file == "" {
			continue
		}
		if ext := path.Ext(file); len(ext) > 1 {
			act.strong[strings.ToLower(ext)] = true
		}
		act.add(strings.TrimSuffix(path.Base(file), path.Ext(file)), true)
		act.add(path.Base(path.Dir(file)), true)
	}
	for _, new := range []string{in.Content, in.New, in.Input, in.Patch} {
		act.add(text.First(new, editChars), false)
	}
	return act
}

// add adds the stems of s to the words, and if strong to those that are enough.
func (a action) add(s string, strong bool) {
	for _, stem := range stems(s) {
		a.words[stem] = true
		if strong && !everyday[stem] && len(stem) > 2 {
			a.strong[stem] = true
		}
	}
}

var wordRuns = regexp.MustCompile(`[\p{L}\p{M}\p{N}_.-]*[\p{L}\p{N}]`)

// stems returns the stems of the words of s that mean something: with their parts, so that "pg_dump" is also "dump".
func stems(s string) []string {
	var list []string
	for _, run := range wordRuns.FindAllString(strings.ToLower(s), -1) {
		run = strings.Trim(run, "-_.")
		parts := strings.FieldsFunc(run, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
		if len(parts) > 1 {
			parts = append(parts, run)
		}
		for _, part := range parts {
			if len([]rune(part)) > 2 && !english.IsStopWord(part) {
				list = append(list, english.Stem(part, true))
			}
		}
	}
	return list
}

// applies returns the lesson that shares the rarest words with an action: at least two, or one that names a program or
// a file. It returns nil if none does: a lesson that does not apply teaches the model to ignore lessons.
func applies(act action, lessons []lesson) *lesson {
	count := map[string]int{} // of lessons with a word
	words := make([]map[string]bool, len(lessons))
	for i, l := range lessons {
		words[i] = map[string]bool{}
		for _, stem := range stems(l.About) {
			words[i][stem] = true
		}
		for _, ext := range extensions.FindAllString(strings.ToLower(l.About), -1) {
			words[i][strings.TrimLeft(ext, " \t\n`*(\"'")] = true
		}
		for word := range words[i] {
			count[word]++
		}
	}
	var best *lesson
	most := 0.
	for i := range lessons {
		shared, strong, weight := 0, false, 0.
		for word := range words[i] {
			if !act.words[word] && !act.strong[word] {
				continue
			}
			if !everyday[word] {
				shared++
			}
			strong = strong || act.strong[word]
			weight += math.Log(1 + float64(len(lessons))/float64(count[word]))
		}
		if (strong || shared >= 2) && weight > most {
			best, most = &lessons[i], weight
		}
	}
	return best
}

// extensions finds the endings of files in a lesson: ".proto files", "*.sql".
var extensions = regexp.MustCompile("(?:^|[\\s`*(\"'])\\.[a-z0-9]{1,8}\\b")

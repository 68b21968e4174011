package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// history writes sessions with the structure of Claude Code's: prompts, thinking, answers, calls of tools with their
// inputs, results that are there twice, snapshots of files, logs of subagents. It is the same each time.
type history struct {
	testing.TB
	dir    string
	random *rand.Rand
	zipf   *rand.Zipf
	words  []string

	logs int   // that were written
	size int64 // of them, in bytes
	when time.Time

	// Of the log that is being written:
	out                *bufio.Writer
	project, id, agent string
	rows               int
}

// historyNeedles are queries with words of one turn each: of the oldest session a prompt, a command, its output and
// a subagent's task, and of the newest a prompt.
var historyNeedles = []string{
	"mainsail Reykjavik", "albatross Valparaiso", "walrus Svalbard", "narwhal Tromso", "gyrocompass Antofagasta",
}

func newHistory(tb testing.TB, dir string) *history {
	random := rand.New(rand.NewPCG(16, 1))
	h := &history{TB: tb, dir: dir, random: random, when: time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)}
	syllables := strings.Fields("ba ce di fo gu ha jo ke li mo nu pa ri so tu va we xi yo zu ste tra plo mic ner dat")
	for range 20_000 {
		var word strings.Builder
		for range 2 + random.IntN(3) {
			word.WriteString(syllables[random.IntN(len(syllables))])
		}
		h.words = append(h.words, word.String())
	}
	h.zipf = rand.NewZipf(random, 1.1, 8, uint64(len(h.words)-1))
	return h
}

// fill writes sessions until there are size bytes of them, and the needles.
func (h *history) fill(size int64) {
	h.Helper()
	for number := 0; h.size < size; number++ {
		project := fmt.Sprintf("project-%02d", number%12)
		id := fmt.Sprintf("%08x-5a5a-4c4c-8e8e-%012x", number, h.random.Uint64()>>16)
		folder := filepath.Join(h.dir, "-home-kate-"+project)
		said := [4]string{}
		if number == 0 {
			copy(said[:], historyNeedles)
		}
		h.log(filepath.Join(folder, id+".jsonl"), project, id, "", func() { h.session(40+h.random.IntN(60), said) })
		for n := range h.random.IntN(3) {
			agent := fmt.Sprintf("agent-%08x%d", number, n)
			path := filepath.Join(folder, id, "subagents", agent+".jsonl")
			h.log(path, project, id, agent, func() { h.session(6, [4]string{}) })
		}
		if number == 0 {
			agent := "agent-ffff"
			h.log(filepath.Join(folder, id, "subagents", agent+".jsonl"), project, id, agent, func() { h.prompt(said[3]) })
		}
	}
	h.says("newest", historyNeedles[4])
}

// says writes a session in which the person said something about words.
func (h *history) says(id, words string) {
	h.Helper()
	path := filepath.Join(h.dir, "-home-kate-project-00", id+".jsonl")
	h.log(path, "project-00", id, "", func() { h.prompt("On the last day we talked about " + words + " at length.") })
}

// log writes one log.
func (h *history) log(path, project, id, agent string, write func()) {
	h.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		h.Fatal(err)
	}
	h.out = bufio.NewWriterSize(file, 1<<20)
	h.project, h.id, h.agent, h.rows = project, id, agent, 0
	write()
	if err := h.out.Flush(); err != nil {
		h.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		h.Fatal(err)
	}
	if err := file.Close(); err != nil {
		h.Fatal(err)
	}
	if err := os.Chtimes(path, h.when, h.when); err != nil {
		h.Fatal(err)
	}
	h.logs, h.size = h.logs+1, h.size+info.Size()
}

// session writes the turns of a session, with said in its prompt, command and result.
func (h *history) session(turns int, said [4]string) {
	for turn := range turns {
		if turn > 0 {
			said = [4]string{}
		}
		h.prompt(h.prose(10+h.random.IntN(60)) + " " + said[0])
		h.row("file-history-snapshot", map[string]any{
			"messageId": h.uuid(), "snapshot": map[string]any{"trackedFileBackups": map[string]any{h.path(): h.uuid()}},
		})
		for range 2 + h.random.IntN(5) {
			h.step(said)
			said = [4]string{}
		}
		h.reply(map[string]any{"type": "text", "text": h.prose(40 + h.random.IntN(200))})
	}
}

// prompt writes what the person typed, or in a subagent's log its task.
func (h *history) prompt(text string) {
	h.row("user", map[string]any{"message": map[string]any{"role": "user", "content": text}})
}

// reply writes a block of the assistant's.
func (h *history) reply(block map[string]any) {
	h.row("assistant", map[string]any{"message": map[string]any{
		"id": "msg_" + h.uuid(), "role": "assistant", "model": "claude-sonnet", "content": []any{block},
		"usage": map[string]any{"input_tokens": 4, "output_tokens": h.random.IntN(900), "cache_read_input_tokens": 48_211},
	}})
}

// step writes a thought, the call of a tool and its result, which Claude Code writes twice.
func (h *history) step(said [4]string) {
	h.reply(map[string]any{
		"type": "thinking", "thinking": h.prose(30 + h.random.IntN(120)), "signature": strings.Repeat("Eq4kUxhA", 60),
	})
	call, output := "toolu_"+h.uuid(), h.code(20+h.random.IntN(250))+said[2]
	use := map[string]any{"type": "tool_use", "id": call, "name": "Bash", "input": map[string]any{
		"command": "grep -rn " + h.word() + " " + h.path() + " " + said[1], "description": h.prose(6),
	}}
	if h.random.IntN(4) == 0 {
		use["name"], use["input"] = "Write", map[string]any{"file_path": h.path(), "content": h.code(100)}
	}
	h.reply(use)
	h.row("user", map[string]any{
		"message": map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": call, "content": output},
		}},
		"toolUseResult": map[string]any{"stdout": output, "stderr": "", "interrupted": false},
	})
}

// row writes a line with the fields that all have.
func (h *history) row(kind string, more map[string]any) {
	h.when = h.when.Add(7 * time.Second)
	h.rows++
	row := map[string]any{
		"type": kind, "uuid": h.uuid(), "parentUuid": h.uuid(), "sessionId": h.id, "cwd": "/home/kate/" + h.project,
		"gitBranch": "main", "version": "2.1.9", "isSidechain": h.agent != "", "userType": "external",
		"timestamp": h.when.Format("2006-01-02T15:04:05.000Z"),
	}
	maps.Copy(row, more)
	data, err := json.Marshal(row)
	if err != nil {
		h.Fatal(err)
	}
	if _, err := h.out.Write(append(data, '\n')); err != nil {
		h.Fatal(err)
	}
}

func (h *history) uuid() string {
	return fmt.Sprintf("%016x%016x", h.random.Uint64(), h.random.Uint64())
}

func (h *history) word() string { return h.words[h.zipf.Uint64()] }

func (h *history) path() string {
	return "/home/kate/" + h.project + "/" + h.word() + "/" + h.word() + ".go"
}

// prose returns sentences of n words.
func (h *history) prose(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 && i%12 == 0 {
			b.WriteString(". ")
		} else if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(h.word())
	}
	return b.String()
}

// code returns n lines of a program.
func (h *history) code(n int) string {
	var b strings.Builder
	for line := range n {
		fmt.Fprintf(&b, "%d\tif %s.%s(%s, %d) != nil {\n", line, h.word(), h.word(), h.word(), h.random.IntN(1000))
	}
	return b.String()
}

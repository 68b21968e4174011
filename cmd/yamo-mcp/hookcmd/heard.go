package hookcmd

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

const (
	// maxTail is how much of a host's log is read at once, in bytes. What is before it stays unread.
	maxTail = 2 << 20
	// maxBefore is how much of it is read of what was said before the first hook of a session, in bytes: a hook has 300
	// ms.
	maxBefore = 512 << 10
	// maxTurns is how many turns are written at once; the first and the last ones are.
	maxTurns = 12
	// firstTurns and lastTurns are how many turns are looked at of those that are read at once, and turnChars how much of
	// each, in characters. That is far more than what is written, and has a bound: 2 MiB can have 10,000 turns.
	firstTurns, lastTurns, turnChars = 10, 150, 8000
	// maxSearched is how many turns of a person are searched for statements, the last ones.
	maxSearched = 150
	// remarkChars is how much is written of what an agent said on the way to its answer.
	remarkChars = 200
	// shortestRemark is the length from which that is worth a line: "Let me look." is not.
	shortestRemark = 40
	// maxRecorded is how many marks of recorded turns a state keeps.
	maxRecorded = 200
)

// turn is what one side said.
type turn struct {
	user bool
	text string // on one line, without credentials
	mark string // of the text and the side
	at   time.Time
}

// newTurn returns what was said, without credentials, and its mark, by which a later hook recognizes the same turn in
// the host's log.
//
// SECURITY: what is cut off is longer than any credential of which the beginning could be written.
func (r *run) newTurn(user bool, said string) turn {
	clean, _ := session.CredentialScrubber(r.list)(text.Plain(text.First(said, turnChars)))
	t := turn{user: user, text: text.OneLine(clean)}
	if user {
		t.text = text.Shorten(t.text, promptChars) // as the state keeps it
	}
	side := "agent "
	if user {
		side = "user "
	}
	t.mark = mark(side + t.text)
	return t
}

// mark returns a short hash by which something is known again.
func mark(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// turns returns what was said since the last call, in its order, and notes in s that it is recorded. The host's log has
// what was said between the prompt and the answer; its last rows may be missing still, so the prompt and the answer
// come from the host's events. Each turn is returned once, from whichever of the two has it first.
func (r *run) turns(s *state, a asked) (list []turn) {
	said := s.unread(r.heard(s, a))
	r.stated = append(r.stated, r.statedIn(said)...)
	left := len(said) - firstTurns - lastTurns
	if left > 0 {
		said = slices.Concat(said[:firstTurns], said[firstTurns+left:])
	}
	for _, one := range said {
		t := r.newTurn(one.Role == "user", one.Text)
		t.at = one.Time
		// An event had it before the log did.
		if i := slices.Index(s.Early, t.mark); i >= 0 {
			s.Early = slices.Delete(s.Early, i, i+1)
			continue
		}
		s.Tail = last(append(s.Tail, t.mark), maxRecorded)
		list = append(list, t)
	}
	if left > 0 {
		s.Early = nil // their rows may be among those that were passed over
	}
	if r.isLate(s, a) {
		return list // the log has this prompt and its answer already, or a later hook finds them there
	}
	if said := a.unanswered(s); said != "" {
		if prompt := r.newTurn(true, said); !slices.Contains(s.Tail, prompt.mark) {
			s.Early = last(append(s.Early, prompt.mark), maxRecorded)
			list = append(list, prompt)
		}
	}
	s.Answered = a.Number
	if answer := r.newTurn(false, r.in.LastMessage); answer.text != "" {
		known := slices.Contains(s.Tail, answer.mark)
		// Nothing was asked since the same answer: the event was reported twice.
		again := len(list) == 0 && s.Answer == answer.mark
		if !known && !again {
			s.Early = last(append(s.Early, answer.mark), maxRecorded)
			list = append(list, answer)
		}
		s.Answer, s.Tail = answer.mark, nil
	}
	return list
}

// unread returns what is in rows of the log that no hook has read, and notes them in s: resuming a session repeats
// rows.
func (s *state) unread(list []transcript.Said) []transcript.Said {
	known := map[string]bool{}
	for _, row := range s.Rows {
		known[row] = true
	}
	list = slices.DeleteFunc(list, func(said transcript.Said) bool {
		if said.ID == "" {
			return false
		}
		row := mark(said.ID)
		if known[row] {
			return true
		}
		known[row] = true
		s.Rows = append(s.Rows, row)
		return false
	})
	s.Rows = last(s.Rows, maxRecorded)
	return list
}

// isLate reports whether an event belongs to a prompt before the last one, in a session with a log: a host that does
// not wait for Stop may run it when the next prompt is there, or when the session has ended.
func (r *run) isLate(s *state, a asked) bool {
	overtaken := r.in.PromptID != "" && a.PromptID != "" && r.in.PromptID != a.PromptID
	return (overtaken || r.event == stop && !s.Ended.IsZero()) && s.Log != "" && s.Read > 0
}

// last returns the last n items of a list.
func last(list []string, n int) []string { return list[max(0, len(list)-n):] }

// heard returns what the host's log has that was not read before, and notes in s how far it was read.
//
// SECURITY: the path comes from the host. Only a plain file outside of the workspace is read, so that a group's hook
// opens nothing private.
func (r *run) heard(s *state, a asked) []transcript.Said {
	file := r.openTranscript(s.Path)
	if file == nil {
		return nil
	}
	defer file.Close() //nolint:errcheck // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	log, from := mark(s.Path), s.Read
	first := s.Log == ""
	known := s.Log == log && from <= info.Size() // else it is another log, or a new one of the same name
	if !known {
		from = 0
	}
	most := int64(maxTail)
	if first {
		most = maxBefore
	}
	start := max(from, info.Size()-most)
	data, err := io.ReadAll(io.NewSectionReader(file, start, info.Size()-start))
	if err != nil {
		return nil
	}
	end := bytes.LastIndexByte(data, '\n') + 1
	s.Log, s.Read = log, start+int64(end)
	if data = data[:end]; start > from {
		data = data[bytes.IndexByte(data, '\n')+1:] // not a whole line
	}
	said := transcript.SaidIn(data)
	// The first hook of a session that began without one: nothing of it is recorded.
	if known || first {
		return said
	}
	// The session goes on in another log, which begins with what was said in the first: only the last exchange is new.
	prompt := a.unanswered(s)
	for i, turn := range slices.Backward(said) {
		if turn.Role == "user" {
			if prompt == "" || r.newTurn(true, turn.Text).mark == r.newTurn(true, prompt).mark {
				return said[i:]
			}
			break // the log has an earlier exchange only
		}
	}
	return nil
}

// unheard returns what the person stated in a session before its first hook, and notes in s that it was read. s.Read
// passes over it, since most of it is no news when the session is resumed, but compaction is the last time to see it.
//
// SECURITY: a group's hook does not look.
func (r *run) unheard(s *state) (list []statement) {
	end := s.Unheard
	s.Unheard = 0
	if end == 0 || s.Log != mark(s.Path) || !r.who.IsDM() {
		return nil
	}
	file := r.openTranscript(s.Path)
	if file == nil {
		return nil
	}
	defer file.Close() //nolint:errcheck // it was only read
	start := max(0, end-maxBefore)
	data, err := io.ReadAll(io.NewSectionReader(file, start, end-start))
	if err != nil {
		return nil
	}
	if start > 0 {
		data = data[bytes.IndexByte(data, '\n')+1:] // not a whole line
	}
	return r.statedIn(transcript.SaidIn(data))
}

// transcriptSize returns the size of a host's log, 0 if it may not be read.
func (r *run) transcriptSize(path string) int64 {
	file := r.openTranscript(path)
	if file == nil {
		return 0
	}
	defer file.Close() //nolint:errcheck // it was only read
	info, err := file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// openTranscript opens a host's log of a session, nil if there is none that may be read.
func (r *run) openTranscript(path string) *os.File {
	path = filepath.Clean(path)
	workspace, ok := r.mayRead(path)
	if !ok {
		return nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil
	}
	if workspace, err = filepath.EvalSymlinks(workspace); err != nil || isBelow(workspace, dir) {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close() //nolint:errcheck // it was only read
	file, err := plain.Open(root, filepath.Base(path), os.O_RDONLY)
	if err != nil {
		return nil
	}
	return file
}

// mayRead reports, without opening or following anything, whether a path can be that of a host's log, and returns the
// workspace's path.
func (r *run) mayRead(path string) (workspace string, ok bool) {
	workspace, err := filepath.Abs(r.Config.Workspace)
	path = filepath.Clean(path)
	return workspace, err == nil && filepath.IsAbs(path) && filepath.Ext(path) == ".jsonl" && !isBelow(workspace, path)
}

// isBelow reports whether a clean path is dir or below it.
func isBelow(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
}

// formatTurns writes turns for the log: prompts and answers, and the beginning of what was said in between.
func formatTurns(list []turn) string {
	var lines []string
	for i, t := range list {
		answer := i == len(list)-1 || list[i+1].user
		switch {
		case t.text == "", !t.user && !answer && len([]rune(t.text)) < shortestRemark:
		case t.user:
			lines = append(lines, "- **User:** "+t.text)
		case answer:
			lines = append(lines, "- **Agent:** "+text.Shorten(t.text, answerChars))
		default:
			lines = append(lines, "- **Agent:** "+text.Shorten(t.text, remarkChars))
		}
	}
	if left := len(lines) - maxTurns; left > 0 {
		const first = 2
		lines = slices.Concat(lines[:first], []string{"- […]"}, lines[first+left:])
	}
	return strings.Join(lines, "\n")
}

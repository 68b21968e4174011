package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// Log is a session's log, for what is derived from logs.
type Log struct {
	Name      string // below the folder, slash-separated; unique
	SessionID string
	Group     string // the group whose session it was, "" for the person's own
	Parent    string // the session whose subagent's it is, as far as its place tells; "" for none
	Size      int64  // bytes
	Modified  time.Time
}

// Turn is an entry with its place in its log. Nothing in it is redacted.
type Turn struct {
	Entry
	Offset  int64  // of its row, in bytes; a row with several authors has several turns, each with its own
	Key     string // names the row, "" if nothing does; a second row of the log with it is the first one repeated
	Spoken  string // what a person or the assistant said: without tool calls, results, code and what the host added
	Folder  string // absolute path that the host ran in, "" if the line does not tell
	Project string // the folder's name
	Group   string // the group whose session it was, by its log's place or header; "" for the person's own
	Unread  bool   // it is the first of a row with a part of unknown form

	Subagent bool   // an agent talks to an agent
	Parent   string // of a subagent's turn: the id of the session that it works for, "" if it is not known
}

// Logs returns the logs that the view may read, newest first. It reads none of them, so that a log may turn out to be
// another audience's.
func (v *View) Logs() ([]Log, error) {
	logs, err := v.logs()
	if err != nil {
		return nil, err
	}
	list := make([]Log, len(logs))
	for i, l := range logs {
		list[i] = exported(l)
	}
	return list, nil
}

func exported(l log) Log {
	return Log{Name: l.name, SessionID: l.id, Group: l.group, Parent: l.parent, Size: l.size, Modified: l.modified}
}

// Follow calls visit for each turn of l whose line begins at from or later, in order, until visit returns false, and
// returns where to continue: after the last complete line that it has read; and of how many lines it could read
// nothing, to which those with Turn.Unread are to be added. from must be 0 or what an earlier call returned. Rows that
// hosts repeat when a session is resumed are visited each time, see Turn.Key. The error is ErrNotFound for a log that
// does not exist or is not the audience's.
func (v *View) Follow(
	ctx context.Context, l Log, from int64, visit func(Turn) bool,
) (end int64, unread int, err error) {
	file, of, err := v.openOwn(l)
	if err != nil {
		return from, 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return from, 0, fmt.Errorf("read session log: %w", cause(err))
	}
	reader := &lineReader{reader: bufio.NewReaderSize(file, lineChunk)}
	for at := from; ; {
		if err := ctx.Err(); err != nil {
			return at, unread, err
		}
		line, tooLong, err := reader.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return at, unread, fmt.Errorf("read session log: %w", cause(err))
		}
		last := errors.Is(err, io.EOF)
		next := at + reader.size
		r := parse(line).bySubagent(l.Parent)
		if last && (len(line) == 0 || r.kind == brokenLine || r.kind == otherLine) {
			return at, unread, nil // being written, or nothing
		}
		goOn := !last
		switch {
		case tooLong, r.kind == brokenLine, r.kind == otherLine && r.unknown:
			unread++
		case r.kind == entryLine:
			for i, one := range r.turns() { // all of a row, because the next call begins after it
				t := placed(one, partOffset(at, i), of)
				t.Unread = r.unknown && i == 0
				goOn = visit(t) && goOn
			}
		}
		if !goOn {
			return next, unread, nil
		}
		at = next
	}
}

// Turns returns the turns of l that begin at offsets, which Follow told. One that is not there any more is left out.
func (v *View) Turns(ctx context.Context, l Log, offsets []int64) (turns []Turn, err error) {
	return v.TurnsWith(ctx, l, offsets, "")
}

// TurnsWith is Turns, and may leave out what does not contain needle, in any letter case: that is much faster.
func (v *View) TurnsWith(ctx context.Context, l Log, offsets []int64, needle string) (turns []Turn, err error) {
	filter := newRawFilter(fold(needle))
	file, of, err := v.openOwn(l)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	buffered := bufio.NewReaderSize(file, lineChunk)
	reader, at := &lineReader{reader: buffered}, int64(-1)
	for _, offset := range offsets {
		if err := ctx.Err(); err != nil {
			return turns, err
		}
		row, part := splitOffset(offset)
		if row != at { // the usual case reads on
			if _, err := file.Seek(row, io.SeekStart); err != nil {
				return turns, fmt.Errorf("read session log: %w", cause(err))
			}
			buffered.Reset(file)
		}
		line, _, err := reader.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return turns, fmt.Errorf("read session log: %w", cause(err))
		}
		if at = row + reader.size; !filter.may(line) {
			continue
		}
		if r := parse(line).bySubagent(l.Parent); r.kind == entryLine && part <= len(r.others) {
			turns = append(turns, placed(r.turns()[part], offset, of))
		}
	}
	return turns, nil
}

// source is what is the same of all turns of a log.
type source struct {
	group  string // whose session it was, "" for the person's own
	folder string // that the log's header names, where a turn names none
}

// openOwn opens the log l, if it is the audience's.
func (v *View) openOwn(l Log) (file *os.File, of source, err error) {
	// SECURITY: a name from an index is not trusted either: a group's is below its own folder.
	if !v.who.IsDM() && !strings.HasPrefix(l.Name, groupsFolder+"/"+v.who.Group()+"/") {
		return nil, of, ErrNotFound
	}
	if file, err = v.open(l.Name); err != nil {
		return nil, of, err
	}
	first, _, err := (&lineReader{reader: bufio.NewReaderSize(file, headBytes)}).next()
	if err == nil || errors.Is(err, io.EOF) {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, of, errors.Join(fmt.Errorf("read session log: %w", cause(err)), file.Close())
	}
	r := parse(first)
	// SECURITY: in a group the header must name the group, as in scan. In a DM it tells whose session it was, wherever
	// the log is.
	named := r.kind == headerLine && r.connection == "group"
	if !v.who.IsDM() && (!named || r.group != v.who.Group()) {
		return nil, of, errors.Join(ErrNotFound, file.Close())
	}
	of.group = l.Group
	if named {
		of.group = cmp.Or(l.Group, r.group)
	}
	if r.kind == headerLine {
		of.folder = r.folder
	}
	return file, of, nil
}

// ParseTurns returns the turns in a line that a host wrote, as Follow visits them, for hosts with lines elsewhere.
// parent is the id of the session whose subagent's it is, "" for none. folder is what the line tells of it also if it
// has no turn; readable is false for one that is no JSON.
func ParseTurns(data []byte, parent string) (turns []Turn, folder string, readable bool) {
	r := parse(data).bySubagent(parent)
	if r.kind != entryLine {
		return nil, r.folder, r.kind != brokenLine
	}
	for i, one := range r.turns() {
		turns = append(turns, placed(one, partOffset(0, i), source{}))
	}
	return turns, r.folder, true
}

// placed returns a parsed entry as the turn at offset.
func placed(r line, offset int64, of source) Turn {
	folder := cmp.Or(r.folder, of.folder)
	t := Turn{
		Group: of.group, Entry: r.whole(), Offset: offset, Key: r.key, Folder: folder, Project: ProjectName(folder),
		Subagent: r.subagent, Parent: r.parent,
	}
	if t.Role == userRole || t.Role == "assistant" || t.Role == agentRole {
		said := spokenIn(r.blocks)
		if r.blocks == nil {
			said = spoken(r.content)
		}
		if t.Role == "assistant" || !isCommand(said) {
			t.Spoken = strings.TrimSpace(codeBlock.ReplaceAllString(visible(said), "\n"))
		}
	}
	return t
}

// codeBlock is code in Markdown. It is found by its words only.
var codeBlock = regexp.MustCompile("(?s)(^|\n)[ \t]*```.*?(\n[ \t]*```[ \t]*|$)")

// Contains reports whether text contains query as it is, in any letter case.
func Contains(text, query string) bool { return strings.Contains(fold(text), fold(query)) }

// Head returns what identifies the beginning of the log l, so that a file that replaced it is noticed: up to its first
// 512 bytes, but no more than n, and the number of them.
func (v *View) Head(l Log, n int64) ([]byte, error) {
	file, _, err := v.openOwn(l)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	head := make([]byte, min(n, headBytes))
	read, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read session log: %w", cause(err))
	}
	return bytes.Clone(head[:read]), nil
}

// headBytes is the length of Head.
const headBytes = 512

// Find returns the log of session id, of two with the same id the DM's own. The errors are those of ReadSession.
func (v *View) Find(id string) (Log, error) {
	l, err := v.find(id)
	return exported(l), err
}

// Marks returns what the words of query begin with in a text, for Show: the longest first.
func (v *View) Marks(query string) (marks []string) {
	for _, w := range v.queryWords(query) {
		marks = append(marks, w.mark)
	}
	slices.SortStableFunc(marks, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return marks
}

// Show returns the turn t of l as a hit: up to n characters around the first of marks that its text contains. ok is
// false if none is left of it.
//
// SECURITY: a turn whose credential is what was asked for is no hit: the answer would confirm it.
func (v *View) Show(l Log, t Turn, marks []string, n int) (hit Hit, ok bool) {
	n = clamp(n, DefaultMaxChars, MaxMaxChars)
	hit = Hit{
		SessionID: l.SessionID, Parent: cmp.Or(l.Parent, t.Parent), Project: t.Project, Group: cmp.Or(l.Group, t.Group),
		Timestamp: t.Timestamp, Role: t.Role, SourcePlugin: t.SourcePlugin,
	}
	if hit.Parent == l.SessionID { // among the turns of its session
		hit.Parent = ""
	}
	folded := fold(t.Content)
	for _, mark := range marks {
		mark = fold(mark)
		before, _, found := strings.Cut(folded, mark)
		if !found {
			continue
		}
		runes := []rune(t.Content) // nothing far from the mark is shown
		content := v.redacted(string(runes[max(0, utf8.RuneCountInString(before)-redactMargin):]), n+redactMargin)
		if before, _, found = strings.Cut(fold(content), mark); found {
			hit.Preview = around(content, utf8.RuneCountInString(before), utf8.RuneCountInString(mark), n)
			return hit, true
		}
	}
	return hit, false
}

// Beginning returns the first n characters of text, without credentials.
func (v *View) Beginning(content string, n int) string {
	n = clamp(n, DefaultMaxChars, MaxMaxChars)
	short, _ := text.Fit(v.redacted(content, n), n)
	return short
}

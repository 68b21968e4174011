package cite

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// Passage is a passage of a workspace file as it is now.
type Passage struct {
	File    string `json:"file"`              // relative to the workspace
	Line    int    `json:"line"`              // on which it begins, from 1
	Heading string `json:"heading,omitempty"` // that it is under
	Text    string `json:"text"`
}

// Turn is a turn of a session log.
type Turn struct {
	Session   string `json:"session_id"`
	Timestamp string `json:"timestamp,omitempty"`
	Role      string `json:"role"`
	Group     string `json:"group,omitempty"` // that said it: quoted speech
	Text      string `json:"text"`
}

// Finder finds the passages and turns of one workspace. View and Hashes are required.
type Finder struct {
	View *workspace.View  // of a DM
	Logs *transcript.View // of a DM; nil for none
	// Hashes returns the keyed hashes that tokens may have, the one of new tokens first. what separates domains.
	Hashes func() ([]Hash, error)
}

// Hash is a keyed hash of a text, of 6 bytes or more.
type Hash func(what, text string) []byte

// maxBlocks is the maximum number of blocks of a passage: its number is one byte of the token.
const maxBlocks = 255

// block is a paragraph or a list item of a file, with what belongs to it.
type block struct {
	text    string // in the form of plain
	heading string
	line    int
	at, end int // bytes of the file
}

// cut divides Markdown into blocks: at blank lines, headings and list items of the first level. A code block is in one.
func cut(file string) (list []block) {
	var scan markdown.Scanner
	heading, number, at, start, first := "", 0, 0, -1, 0
	end := func() {
		if start < 0 {
			return
		}
		if body := plain(file[start:at]); body != "" {
			list = append(list, block{body, heading, first, start, at})
		}
		start = -1
	}
	for line := range strings.Lines(file) {
		number++
		free := scan.Free()
		kind := scan.Next(line)
		level, name := markdown.Heading(line)
		_, item := markdown.Item(line)
		switch {
		case !free:
		case strings.TrimSpace(line) == "":
			end()
			at += len(line)
			continue
		case level > 0 && kind == markdown.Text:
			end()
			heading = name
			at += len(line)
			continue
		case item && line[0] != ' ' && line[0] != '\t':
			end()
		}
		if start < 0 {
			start, first = at, number
		}
		at += len(line)
	}
	end()
	return list
}

// digest returns the hash of blocks.
func digest(hash Hash, list []block) []byte {
	texts := make([]string, len(list))
	for i, b := range list {
		texts[i] = b.text
	}
	return hash("passage", strings.Join(texts, "\n"))[:5]
}

// Token returns the token of a text that was written into a file at a time, the zero Token for a text without words.
func (f Finder) Token(written string, at time.Time) (grammar.Token, error) {
	return f.token(cut(written), at)
}

func (f Finder) token(list []block, at time.Time) (grammar.Token, error) {
	hashes, err := f.Hashes()
	if err != nil || len(list) == 0 {
		return grammar.Token{}, err
	}
	list = list[:min(len(list), maxBlocks)]
	return grammar.PassageToken(at, len(list), digest(hashes[0], list)), nil
}

// Passage returns the passage that a token leads to, false if no file has it any more, or has it in other words. The
// files of the token's day are searched first.
func (f Finder) Passage(ctx context.Context, token grammar.Token) (Passage, bool, error) {
	count, want, ok := token.Passage()
	hashes, err := f.Hashes()
	if !ok || count == 0 || err != nil {
		return Passage{}, false, err
	}
	names := f.View.Quotable()
	slices.SortStableFunc(names, func(a, b string) int { return distance(a, token.Time()) - distance(b, token.Time()) })
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return Passage{}, false, err
		}
		data, _, err := f.View.Head(name)
		if err != nil {
			continue // missing, or refused, which lint reports
		}
		file := strings.ToValidUTF8(string(data), "\uFFFD")
		list := cut(file)
		for i := 0; i+count <= len(list); i++ {
			part := list[i : i+count]
			for _, hash := range hashes {
				if bytes.Equal(digest(hash, part), want) {
					return passageOf(name, file, part), true, nil
				}
			}
		}
	}
	return Passage{}, false, nil
}

func passageOf(name, file string, part []block) Passage {
	first, last := part[0], part[len(part)-1]
	return Passage{File: name, Line: first.line, Heading: first.heading, Text: strings.TrimSpace(file[first.at:last.end])}
}

// distance is 0 for a file whose name begins with the date of a time or of a day next to it, and 1 for any other.
func distance(name string, at time.Time) int {
	base := path.Base(name)
	for _, days := range []int{0, -1, 1} {
		if strings.HasPrefix(base, at.AddDate(0, 0, days).Format(time.DateOnly)) {
			return 0
		}
	}
	return 1
}

// InFile returns the shortest passage of a file, or of its section with a heading if that is not "", that contains each
// of the quotes, with its token. Without such a passage it is the whole section, and the file's first passage is never
// taken for it: then ok is false.
func (f Finder) InFile(
	name, heading string, quotes []string, now time.Time,
) (p Passage, t grammar.Token, ok bool, err error) {
	data, _, err := f.View.Head(name)
	if err != nil {
		return Passage{}, grammar.Token{}, false, err
	}
	file := strings.ToValidUTF8(string(data), "\uFFFD")
	list := cut(file)
	if heading != "" {
		under := func(b block) bool { return grammar.Slug(b.heading) == grammar.Slug(heading) }
		list = list[max(slices.IndexFunc(list, under), 0):]
		if end := slices.IndexFunc(list, func(b block) bool { return !under(b) }); end >= 0 {
			list = list[:end]
		}
	}
	part := list[:min(len(list), maxBlocks)]
	for _, b := range list {
		if len(quotes) > 0 && !slices.ContainsFunc(quotes, func(quote string) bool { return !Occurs(b.text, quote) }) {
			part, heading = []block{b}, b.heading
			ok = true
			break
		}
	}
	if !ok && (heading == "" || len(part) == 0) {
		return Passage{}, grammar.Token{}, false, nil
	}
	at := now
	if day, err := time.Parse(time.DateOnly, path.Base(name)[:min(len(path.Base(name)), len(time.DateOnly))]); err == nil {
		at = day
	}
	t, err = f.token(part, at)
	return passageOf(name, file, part), t, true, err
}

// Turn returns the turn that a token leads to, false if there is none any more.
func (f Finder) Turn(ctx context.Context, token grammar.Token) (Turn, bool, error) {
	session, said, ok := token.Turn()
	if !ok || f.Logs == nil {
		return Turn{}, false, nil
	}
	hashes, err := f.Hashes()
	if err != nil {
		return Turn{}, false, err
	}
	ids, err := f.Logs.IDs()
	if err != nil {
		return Turn{}, false, err
	}
	for _, id := range ids {
		for _, hash := range hashes {
			if !bytes.Equal(hash("session", id)[:3], session) {
				continue
			}
			found, ok, err := f.turn(ctx, id, func(e transcript.Entry) bool {
				return timeOf(e).Equal(token.Time()) && bytes.Equal(hash("turn", plain(e.Content))[:3], said)
			})
			if ok || err != nil {
				return found, ok, err
			}
		}
	}
	return Turn{}, false, nil
}

// InSession returns the first turn of a session log that contains each of the quotes, with its token, false if there is
// none. The error of a session that does not exist is transcript.ErrNotFound.
func (f Finder) InSession(ctx context.Context, id string, quotes []string) (Turn, grammar.Token, bool, error) {
	return f.inSession(ctx, id, quotes, false)
}

// Said returns the token of the first turn of a session log in which a person said quote, false if there is none. What
// an agent said, a tool returned or anyone said in a group is not a person's.
func (f Finder) Said(ctx context.Context, id, quote string) (grammar.Token, bool, error) {
	turn, token, ok, err := f.inSession(ctx, id, []string{quote}, true)
	// SECURITY: what strangers say in a group is not offered as the person's own.
	return token, ok && turn.Group == "", err
}

// inSession is InSession; with person only a person's turns count.
func (f Finder) inSession(
	ctx context.Context, id string, quotes []string, person bool,
) (Turn, grammar.Token, bool, error) {
	if f.Logs == nil {
		return Turn{}, grammar.Token{}, false, transcript.ErrNotFound
	}
	hashes, err := f.Hashes()
	if err != nil {
		return Turn{}, grammar.Token{}, false, err
	}
	var token grammar.Token
	found, ok, err := f.turn(ctx, id, func(e transcript.Entry) bool {
		if person && e.Role != "user" {
			return false
		}
		if len(quotes) == 0 || slices.ContainsFunc(quotes, func(quote string) bool { return !Occurs(e.Content, quote) }) {
			return false
		}
		token = grammar.TurnToken(timeOf(e), hashes[0]("session", id), hashes[0]("turn", plain(e.Content)))
		return true
	})
	return found, token, ok, err
}

// turn returns the first turn of a session log for which wanted is true.
func (f Finder) turn(ctx context.Context, id string, wanted func(transcript.Entry) bool) (t Turn, ok bool, err error) {
	err = f.Logs.EachTurn(ctx, id, func(s transcript.Session, e transcript.Entry) bool {
		if wanted(e) {
			t, ok = Turn{id, e.Timestamp, e.Role, s.Group, e.Content}, true
		}
		return !ok
	})
	return t, ok, err
}

// timeOf returns the time of a turn in milliseconds, 1970 if it has none.
func timeOf(e transcript.Entry) time.Time {
	at, err := time.Parse(time.RFC3339Nano, e.Timestamp)
	if err != nil || at.UnixMilli() < 0 {
		return time.UnixMilli(0).UTC()
	}
	return at.UTC().Truncate(time.Millisecond)
}

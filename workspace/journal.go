package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/daylog"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// MaxLogText is the maximum size of one addition to a daily log, in bytes, title included.
const MaxLogText = 64 << 10

// MaxGroupLog is the maximum size of a group's log of one day, in bytes: strangers write there, and a DM searches it.
// It has room for about 400 exchanges as hooks write them.
const MaxGroupLog = 512 << 10

var (
	// ErrFullLog is returned to a group whose log of the day has reached MaxGroupLog.
	ErrFullLog = fmt.Errorf("this group's log of today is full: it has at most %d KiB; keep what matters with "+
		"memory_store, or continue tomorrow", MaxGroupLog>>10)
	// ErrNoText is returned for an addition without text.
	ErrNoText = errors.New("text must not be empty")
	// ErrLongText is returned for one of more than MaxLogText bytes.
	ErrLongText = fmt.Errorf("text must have at most %d KiB; split it into several additions", MaxLogText>>10)
)

// Journal adds to the daily log on behalf of one session (RFC-0009 §2.5). It is safe for concurrent use, and
// so are the journals of several processes.
type Journal struct {
	view *View

	mu      sync.Mutex
	date    string // of the log last written to
	heading string // this session's block in it
}

// Journal begins the log of a session: in a DM in memory/YYYY-MM-DD.md, in a group in the group's own
// memory/YYYY-MM-DD-group-NAME.md.
func (v *View) Journal() *Journal { return &Journal{view: v} }

// JournalSince continues the log of a session that began at start, in a process of its own: what it adds today is in
// the same block.
func (v *View) JournalSince(start time.Time) *Journal {
	now := v.Now()
	j := v.Journal()
	if start = start.In(now.Location()); start.Format(time.DateOnly) == now.Format(time.DateOnly) {
		j.begin(start)
	}
	return j
}

// begin makes the block of t the session's.
func (j *Journal) begin(t time.Time) {
	j.date, j.heading = t.Format(time.DateOnly), "## Session ["+t.Format("15:04")+"]"
}

// Has reports whether the log of the day of at has body as Append writes it. A caller that was interrupted while it
// appended asks this.
func (v *View) Has(at time.Time, body string) bool {
	body, _ = v.ws.scrub(text.Plain(body))
	if body = strings.Trim(daylog.Escape(body), "\n"); body == "" {
		return false
	}
	data, err := v.Read(dailyLog(v.who, at.In(v.Now().Location()).Format(time.DateOnly)))
	return err == nil && strings.Contains(strings.ReplaceAll(string(data), "\r\n", "\n"), body)
}

// Logged describes an addition that was written to a log.
type Logged struct {
	Name       string // of the log
	Redactions int    // number of credentials that were removed from the text
	Text       string // as the log has it, without the title
}

// Append adds body to today's log (RFC-0009 §2.5). When it returns, the text is on disk. The error is ErrNoText,
// ErrLongText, ErrFullLog, or what the file system reported; then nothing was added.
//
// The first addition of a session on a day begins a block "## Session [HH:MM]", and so does one that would otherwise
// be in another session's block. title, if not "", becomes a "### " heading within the block. Markdown in body that
// would begin a heading, a comment, an anchor or raw HTML is escaped outside code blocks, an open code block is closed,
// and control characters are removed, so that body cannot imitate the log's own structure. Line ends are those of the
// log's last line, CRLF or LF.
func (j *Journal) Append(ctx context.Context, title, body string) (Logged, error) {
	v := j.view
	if len(body)+len(title) > MaxLogText {
		return Logged{}, ErrLongText
	}
	// SECURITY: credentials do not reach a workspace file, not even interspersed with characters that text.Plain removes.
	title, inTitle := v.ws.scrub(text.Plain(title))
	body, inText := v.ws.scrub(text.Plain(body))
	if body = strings.Trim(daylog.Escape(body), "\n"); strings.TrimSpace(body) == "" {
		return Logged{}, ErrNoText
	}
	now := v.Now()
	date := now.Format("2006-01-02")
	name := dailyLog(v.who, date)
	// SECURITY: the access check.
	if !v.who.May(audience.Append, classify(v.who, name)) {
		return Logged{}, missing("append", name)
	}
	if v.isFull(name, len(title)+len(body)) {
		return Logged{}, ErrFullLog
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.date != date {
		j.begin(now)
	}
	var entry strings.Builder
	if title = text.OneLine(daylog.Escape(title)); title != "" {
		entry.WriteString("### " + title + "\n\n")
	}
	entry.WriteString(body + "\n")
	// compose runs under the lock on the log, so that the tail is what the addition really follows.
	compose := func(tail []byte) []byte {
		var out strings.Builder
		switch {
		case len(tail) == 0:
			out.WriteString("# Memory — " + date + "\n\n")
		case tail[len(tail)-1] != '\n': // a hand edit, or a writer that died
			out.WriteString("\n\n")
		default:
			out.WriteString("\n")
		}
		if daylog.LastSession(string(tail)) != j.heading {
			out.WriteString(j.heading + "\n\n")
		}
		out.WriteString(entry.String())
		if at := bytes.LastIndexByte(tail, '\n'); at > 0 && tail[at-1] == '\r' { // as the file has it
			return []byte(strings.ReplaceAll(out.String(), "\n", "\r\n"))
		}
		return []byte(out.String())
	}
	note := Note{Subject: name + ": log entry"}
	err := v.lockedAndRecorded(ctx, note, func() error { return plain.Append(ctx, v.ws.root, name, compose) }, name)
	if err != nil {
		return Logged{}, v.fault("append", name, classify(v.who, name), err)
	}
	return Logged{name, inTitle + inText, body}, nil
}

// isFull reports whether a group's log has no room for more bytes. Sessions that write at the same time may exceed the
// maximum by what each of them adds once.
//
// SECURITY: without it, a group could fill the disk with its log, and slow down the searches of every DM.
func (v *View) isFull(name string, more int) bool {
	if v.who.IsDM() {
		return false
	}
	info, err := plain.Stat(v.ws.root, name)
	return err == nil && info.Size()+int64(more) > MaxGroupLog
}

// Package transcript reads session logs: append-only JSON Lines files, one a session, that a runtime writes
// for replay and review (seed 002, phase 10.4). It never writes one.
//
// A transcripts folder is laid out as
//
//	<session_id>.jsonl                 the direct conversation's sessions
//	<folder>/<session_id>.jsonl        more of them, as hosts that keep one folder a project do
//	groups/<name>/<session_id>.jsonl   sessions of the group called name
//
// A log belongs to a group if it is in that group's folder and its first line, the session header, also has
// "connection":"group","group":"<name>". Every other log is private. A DM reads all logs, and learns which of them were
// a group's from their folder, their header, or a sessions.json next to them as OpenClaw writes it.
//
// The package's invariant: for a group nothing outside groups/<name>/ is opened, stat'ed or listed, and a log there
// that does not name the group is treated as missing. Memory is bounded whatever the files contain: lines are read one
// at a time, and a line of more than 4 MiB, that is no JSON object, or that has a type or a block of unknown form is
// skipped and counted; of the last one the rest is read.
package transcript

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// Limits of seed 002's session_logs, in entries and in characters.
const (
	DefaultLimit    = 50
	MaxLimit        = 500
	DefaultMaxChars = 200
	MaxMaxChars     = 4000
)

var (
	// ErrNotFound is returned for a session that does not exist or that the audience may not see.
	ErrNotFound = errors.New("session_not_found")
	// ErrInvalidID is returned for a session id that no log can have.
	ErrInvalidID = errors.New("session_id must be 1 to 128 of A-Z, a-z, 0-9, '.', '_' and '-', " +
		"beginning with a letter or digit")
	// ErrNoQuery is returned for a search without text.
	ErrNoQuery = errors.New("query must not be empty")
)

// sessionID is what a log's base name may be.
var sessionID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

const (
	extension    = ".jsonl"
	groupsFolder = "groups"
)

// Folder is a transcripts folder. It is safe for concurrent use and caches nothing. It is the folder that has the
// name at the time of each call: a host, or the person, may delete it and make it again.
type Folder struct {
	dir     string
	options Options

	mu     sync.Mutex
	closed bool
	roots  [2]opened // of dir and of Options.Imported
}

// opened is a folder that was opened.
type opened struct {
	root *os.Root // nil while the folder does not exist
	info fs.FileInfo
}

// Options are what the package needs to know of the session and of text. The zero value is valid.
type Options struct {
	// Redact removes credentials from what is returned; nil for a text that is returned as it is.
	Redact func(text string) string
	// Stems returns the stems of a text's words without function words; nil if only literal text is searched.
	Stems func(text string) []string
	// Project returns the identity of the project that a folder is in, "" for none; nil if projects are not known.
	Project func(dir string) string
	// Imported is a second folder of logs, of a folder for each program they come from, "" for none. Only a DM reads it.
	Imported string
}

// Open opens the transcripts folder dir. It may not exist yet: a host makes it with its first session. The caller
// closes it.
func Open(dir string, o Options) (*Folder, error) {
	if dir == "" && o.Imported == "" {
		return nil, errors.New("open transcripts: no folder given")
	}
	f := &Folder{dir: dir, options: o}
	_, err := f.open(0)
	return f, err
}

// open returns the root of the folder, or with 1 that of imported logs, nil if it does not exist.
func (f *Folder) open(which int) (*os.Root, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir := [2]string{f.dir, f.options.Imported}[which]
	if f.closed || dir == "" {
		return f.roots[which].root, nil
	}
	info, err := os.Stat(dir)
	if known := f.roots[which]; err == nil && known.root != nil && os.SameFile(info, known.info) {
		return known.root, nil
	}
	// Not closed here: another call may be reading below it. It is closed when nothing refers to it any more.
	f.roots[which] = opened{}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open transcripts: %w", cause(err))
	}
	if info, err = root.Stat("."); err != nil {
		return nil, errors.Join(fmt.Errorf("open transcripts: %w", cause(err)), root.Close())
	}
	f.roots[which] = opened{root, info}
	return root, nil
}

// importedPrefix begins the names of logs below Options.Imported.
const importedPrefix = "imported:"

// in returns the root that the log or folder called name is below, and its name there.
func (v *View) in(name string) (root *os.Root, below string, err error) {
	which := 0
	below, imported := strings.CutPrefix(name, importedPrefix)
	if imported {
		// SECURITY: what is imported is the person's own.
		if !v.who.IsDM() {
			return nil, "", ErrNotFound
		}
		which = 1
	}
	root, err = v.folder.open(which)
	if root == nil && err == nil {
		err = ErrNotFound
	}
	return root, below, err
}

// Close releases the folder. Views of it fail afterwards.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	f.closed = true
	for _, of := range f.roots {
		if of.root != nil {
			errs = append(errs, of.root.Close())
		}
	}
	return errors.Join(errs...)
}

// View returns the session logs as a may read them.
func (f *Folder) View(a audience.Audience) *View { return &View{folder: f, who: a} }

// View is the session logs as one audience may read them.
//
// Limits of 0 or less mean the default, limits above the maximum mean the maximum. Contents are cut to maxChars
// characters and then end in "…". A View is safe for concurrent use.
type View struct {
	folder *Folder
	who    audience.Audience
}

// Session describes a log.
type Session struct {
	SessionID string `json:"session_id"`
	Title     string `json:"title,omitempty"` // the host's, or how the person began
	Project   string `json:"project,omitempty"`
	Branch    string `json:"branch,omitempty"`
	Model     string `json:"model,omitempty"`    // the last one that the log names
	Subagent  bool   `json:"subagent,omitempty"` // its user is an agent
	Parent    string `json:"parent,omitempty"`
	// Subagents are the first 20 that worked for the session, in their order; MoreSubagents counts the others.
	Subagents      []Subagent `json:"subagents,omitempty"`
	MoreSubagents  int        `json:"more_subagents,omitempty"`
	Group          string     `json:"group,omitempty" jsonschema_description:"The group it comes from: quoted speech."`
	AgentID        string     `json:"agent_id,omitempty"`
	SourcePlugin   string     `json:"source_plugin,omitempty"`
	StartedAt      string     `json:"started_at,omitempty"` // the header's timestamp
	EntryCount     int        `json:"entry_count"`
	FirstTimestamp string     `json:"first_timestamp,omitempty"`
	LastTimestamp  string     `json:"last_timestamp,omitempty"`
	SkippedLines   int        `json:"skipped_lines,omitempty"` // see the package's invariant
	Folder         string     `json:"-"`                       // absolute path that the host ran in, "" if unknown
}

// Entry is one turn.
type Entry struct {
	Timestamp    string `json:"timestamp,omitempty"`
	Role         string `json:"role"` // user, assistant, tool, system, agent (of another agent), or the host's own word
	Content      string `json:"content"`
	Truncated    bool   `json:"truncated,omitempty"`
	MessageID    string `json:"message_id,omitempty"`
	SourcePlugin string `json:"source_plugin,omitempty"`
	SenderID     string `json:"sender_id,omitempty"`
}

// Hit is a turn that matches a search.
type Hit struct {
	SessionID    string `json:"session_id"`
	Parent       string `json:"parent,omitempty"` // the session that a subagent's turn belongs to
	Project      string `json:"project,omitempty"`
	Group        string `json:"group,omitempty"`
	Timestamp    string `json:"timestamp,omitempty"`
	Role         string `json:"role"`
	SourcePlugin string `json:"source_plugin,omitempty"`
	Preview      string `json:"preview"` // around the first match
	Offset       *int   `json:"offset,omitempty" jsonschema_description:"Of the turn, for read_session."`
	// Reply is what the assistant said to it, if it is a question of the person's.
	Reply      string `json:"reply,omitempty"`
	Confidence string `json:"confidence,omitempty"` // that it answers: likely, possible or unlikely; "" if not known
}

// Sessions is the result of list_sessions, newest first.
type Sessions struct {
	OK        bool      `json:"ok"`
	Count     int       `json:"count"`
	Truncated bool      `json:"truncated"` // there are more sessions
	Sessions  []Session `json:"sessions"`
}

// Entries is the result of read_session (from the beginning) and of recent (the last ones), oldest first.
type Entries struct {
	OK           bool    `json:"ok"`
	SessionID    string  `json:"session_id"`
	Header       Session `json:"header"`
	TotalEntries int     `json:"total_entries"`
	Returned     int     `json:"returned"`
	Truncated    bool    `json:"truncated"` // the session has more entries
	Entries      []Entry `json:"entries"`
}

// Hits is the result of search: first the turns that contain the query as it is, the newest session's first, and within
// a session in order; then those that contain its words, the best first.
type Hits struct {
	OK           bool   `json:"ok"`
	Query        string `json:"query"`
	Confidence   string `json:"confidence,omitempty"` // that one of the hits answers
	Count        int    `json:"count"`
	Truncated    bool   `json:"truncated"` // the limit ended the search
	SkippedLines int    `json:"skipped_lines,omitempty"`
	Pending      int    `json:"pending,omitempty"` // sessions that are not indexed to their end yet
	// Incomplete says that there was no time to look everywhere for the query as it is.
	Incomplete bool  `json:"incomplete,omitempty"`
	Hits       []Hit `json:"hits"`
}

package transcript

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

const (
	maxLine   = 4 << 20  // bytes of a line that is read
	lineChunk = 64 << 10 // read buffer
)

// log is the place of a session's log.
type log struct {
	name     string // slash-separated, below the root
	id       string
	group    string // the group whose session it was, by its folder or by sessions.json
	parent   string // the id of the session whose subagent it was, by its folder or by sessions.json
	modified time.Time
	size     int64 // bytes
}

// folders returns the folders whose logs the view may read, in the order of search.
func (v *View) folders() ([]string, error) {
	root, err := v.folder.open(0)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return v.importedFolders(), nil
	}
	// SECURITY: for a group one folder by its exact name, and no listing that names others.
	if !v.who.IsDM() {
		return []string{groupsFolder + "/" + v.who.Group()}, nil
	}
	folders := []string{"."}
	top, err := plain.List(root, ".")
	if err != nil {
		return nil, fmt.Errorf("list transcripts: %w", err)
	}
	for _, entry := range top {
		if entry.IsDir() && entry.Name() != groupsFolder && entry.Name()[0] != '.' {
			folders = append(folders, entry.Name())
		}
	}
	slices.Sort(folders[1:])
	var groups, subagents []string
	for _, folder := range folders {
		subagents = append(subagents, v.subagentFolders(folder)...)
	}
	entries, err := plain.List(root, groupsFolder)
	if err != nil {
		entries = nil // there are no groups
	}
	for _, entry := range entries {
		if entry.IsDir() {
			groups = append(groups, groupsFolder+"/"+entry.Name())
		}
	}
	slices.Sort(groups)
	return slices.Concat(folders, groups, v.importedFolders(), subagents), nil
}

// importedFolders returns the folders of imported logs.
func (v *View) importedFolders() (folders []string) {
	// SECURITY: a group's process does not look whether there are any.
	if !v.who.IsDM() {
		return nil
	}
	root, err := v.folder.open(1)
	if root == nil || err != nil {
		return nil
	}
	top, err := plain.List(root, ".")
	if err != nil {
		return nil
	}
	for _, entry := range top {
		if entry.IsDir() && entry.Name()[0] != '.' {
			folders = append(folders, importedPrefix+entry.Name())
		}
	}
	return folders
}

// at returns the log of session id in folder.
func at(folder, id string) log {
	l := log{name: id + extension, id: id}
	if folder != "." {
		l.name = folder + "/" + l.name
	}
	if group, ok := strings.CutPrefix(folder, groupsFolder+"/"); ok {
		l.group = group
		return l
	}
	l.parent = parentOf(folder)
	return l
}

// logs returns the logs that the view may read, newest first.
func (v *View) logs() ([]log, error) {
	folders, err := v.folders()
	if err != nil {
		return nil, err
	}
	var logs []log
	for _, folder := range folders {
		root, below, err := v.in(folder)
		if err != nil {
			continue
		}
		entries, err := plain.List(root, below)
		if err != nil {
			continue // gone, or not a plain folder
		}
		origins := v.origins(root, below)
		for _, entry := range entries {
			id, ok := strings.CutSuffix(entry.Name(), extension)
			if !ok || !sessionID.MatchString(id) {
				continue
			}
			l := at(folder, id)
			l.settle(origins)
			_, name, err := v.in(l.name)
			if err != nil {
				continue
			}
			info, err := plain.Stat(root, name)
			if err != nil {
				continue
			}
			l.modified, l.size = info.ModTime(), info.Size()
			logs = append(logs, l)
		}
	}
	logs = withoutCopies(logs)
	slices.SortFunc(logs, func(a, b log) int {
		return cmp.Or(b.modified.Compare(a.modified), cmp.Compare(a.name, b.name))
	})
	return logs, nil
}

// withoutCopies leaves out the imported logs of those sessions of the person's own that the host still has.
func withoutCopies(logs []log) []log {
	own := map[string]bool{}
	for _, l := range logs {
		if !strings.HasPrefix(l.name, importedPrefix) && l.group == "" {
			own[l.id] = true
		}
	}
	return slices.DeleteFunc(logs, func(l log) bool { return strings.HasPrefix(l.name, importedPrefix) && own[l.id] })
}

// find returns the log of session id. If two folders have a session with the id, the DM's own comes first.
func (v *View) find(id string) (log, error) {
	if !sessionID.MatchString(id) {
		return log{}, ErrInvalidID
	}
	folders, err := v.folders()
	if err != nil {
		return log{}, err
	}
	for _, folder := range folders {
		l := at(folder, id)
		root, name, err := v.in(l.name)
		if err != nil {
			continue
		}
		if info, err := plain.Stat(root, name); err == nil {
			_, below, _ := v.in(folder) // as l.name
			l.settle(v.origins(root, below))
			l.modified, l.size = info.ModTime(), info.Size()
			return l, nil
		}
	}
	return log{}, ErrNotFound
}

// open opens the log called name. For one that is not there, or is no regular file, the error is ErrNotFound. Whether
// the log is the audience's is for the caller to check.
func (v *View) open(name string) (*os.File, error) {
	root, name, err := v.in(name)
	if err != nil {
		return nil, err
	}
	file, err := plain.Open(root, name, os.O_RDONLY)
	var refused *plain.RefusedError
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, &refused) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("open session log: %w", cause(err))
	}
	return file, nil
}

// scan reads the log l and calls visit for each entry, with the Session so far, until visit returns false. The Session
// counts what was visited. Lines that filter rejects are skipped; nil accepts all. A line that is no JSON, or that has
// a part of unknown form, is counted, but the last one that is no JSON only if it has an end: until then it is being
// written. For a log that the audience may not
// see the error is ErrNotFound, before any entry is visited.
func (v *View) scan(
	ctx context.Context, l log, filter func(line []byte) bool, visit func(Session, turn) bool,
) (Session, error) {
	return v.scanLines(ctx, l, filter, func(s Session, r line) bool { return visit(s, r.turn) })
}

// scanLines is scan with the lines of the entries.
func (v *View) scanLines(
	ctx context.Context, l log, filter func(line []byte) bool, visit func(Session, line) bool,
) (session Session, err error) {
	session = Session{SessionID: l.id, Group: l.group}
	file, err := v.open(l.name)
	if err != nil {
		return session, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()

	reader := &lineReader{reader: bufio.NewReaderSize(file, lineChunk)}
	seen := map[string]struct{}{}
	for number := 0; ; number++ {
		if err := ctx.Err(); err != nil {
			return session, err
		}
		line, tooLong, err := reader.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return session, fmt.Errorf("read session log: %w", cause(err))
		}
		end := errors.Is(err, io.EOF)
		if end && len(line) == 0 && !tooLong {
			// SECURITY: an empty log names no group either.
			if number == 0 && !v.who.IsDM() {
				return session, ErrNotFound
			}
			return session, nil
		}
		if number > 0 && filter != nil && !tooLong && !end && !filter(line) {
			continue
		}
		r := parse(line).bySubagent(l.parent)
		// SECURITY: in a group the header must name the group: a log may have been moved into the folder by mistake.
		if number == 0 && !v.who.IsDM() && (r.kind != headerLine || r.connection != "group" || r.group != v.who.Group()) {
			return session, ErrNotFound
		}
		switch {
		case tooLong, r.kind == brokenLine && !end:
			session.SkippedLines++
		case r.kind == headerLine && number == 0:
			session.AgentID, session.SourcePlugin, session.StartedAt = r.agentID, r.entry.SourcePlugin, r.entry.Timestamp
			session.describe(r.about)    // OpenClaw tells the folder here only
			if r.connection == "group" { // even outside its group's folder
				session.Group = cmp.Or(session.Group, r.group)
			}
		case r.kind == entryLine && !repeated(seen, r.key):
			if r.unknown {
				session.SkippedLines++
			}
			for _, one := range r.turns() {
				session.add(one.entry)
				session.describe(one.about)
				session.work(one.about)
				one.worksFor = one.parent
				if session.Title == "" && (one.entry.Role == userRole || session.Subagent && one.entry.Role == agentRole) {
					session.Title = v.beginning(one.turn)
				}
				if !visit(session, one) {
					return session, nil
				}
			}
		case r.kind == aboutLine:
			session.describe(r.about)
		case r.kind == otherLine && r.unknown:
			session.SkippedLines++
		}
		if end {
			return session, nil
		}
	}
}

// add counts e.
func (s *Session) add(e Entry) {
	s.EntryCount++
	if e.Timestamp == "" {
		return
	}
	s.FirstTimestamp = cmp.Or(s.FirstTimestamp, e.Timestamp)
	s.LastTimestamp = e.Timestamp
}

// describe adds what a line tells about its session. A later line is right where they differ: a branch or a
// model is changed, a title is given again.
func (s *Session) describe(a about) {
	s.Folder = cmp.Or(s.Folder, a.folder)
	s.Project = ProjectName(s.Folder)
	s.Branch, s.Model = cmp.Or(a.branch, s.Branch), cmp.Or(a.model, s.Model)
	s.Title = cmp.Or(a.title, s.Title)
}

// work notes whose turn an entry is, which has been counted. A session is a subagent's if all of its turns are: older
// logs of Claude Code have the turns of subagents among those of their session.
func (s *Session) work(a about) {
	if s.EntryCount == 1 && a.subagent {
		s.Subagent = true
	}
	s.Subagent = s.Subagent && a.subagent
	switch {
	case !s.Subagent:
		s.Parent = ""
	case a.parent != s.SessionID:
		s.Parent = cmp.Or(s.Parent, a.parent)
	}
}

// ProjectName returns the name of the project in folder, which another system may have written: its last element.
func ProjectName(folder string) string {
	folder = strings.TrimRight(folder, `/\`)
	return text.Plain(folder[strings.LastIndexAny(folder, `/\`)+1:])
}

// maxTitle is the maximum length of a title made of a turn, in characters.
const maxTitle = 80

// beginning returns the title of a session whose host gave it none: how the person's first turn begins.
func (v *View) beginning(t turn) string {
	said := strings.TrimSpace(t.whole().Content)
	if isCommand(said) {
		return ""
	}
	title, _ := text.Fit(text.OneLine(v.redacted(said, maxTitle)), maxTitle)
	return title
}

// redactMargin is how many characters after those that are shown are redacted with them, so that no credential is
// recognized by its end only and shown because of the cut.
const redactMargin = 8000

// redacted returns s without credentials, cut to somewhat more than n characters.
//
// SECURITY: what a log contains was never redacted by anyone.
func (v *View) redacted(s string, n int) string {
	s, _ = text.Fit(s, n+redactMargin)
	if redact := v.folder.options.Redact; redact != nil {
		s = redact(s)
	}
	return s
}

// maxSeen bounds the memory for finding repeated rows.
const maxSeen = 50_000

// repeated reports whether key is in seen, and adds it. The key "" is never repeated.
func repeated(seen map[string]struct{}, key string) bool {
	if key == "" {
		return false
	}
	if _, ok := seen[key]; ok {
		return true
	}
	if len(seen) < maxSeen {
		seen[key] = struct{}{}
	}
	return false
}

// cause returns err without a path, which a client must not see.
func cause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

// lineReader yields lines in memory bounded by maxLine.
type lineReader struct {
	reader *bufio.Reader
	line   []byte
	size   int64 // bytes of the last line with its end, even if it was skipped
}

// next returns the next line without its end; it is valid until the next call. A line of more than maxLine bytes is
// skipped and reported as tooLong, without content. At the end err is io.EOF, together with the last line if the file
// does not end in a line end.
func (r *lineReader) next() (line []byte, tooLong bool, err error) {
	r.line, r.size = r.line[:0], 0
	for {
		chunk, err := r.reader.ReadSlice('\n')
		r.size += int64(len(chunk))
		if !tooLong && len(r.line)+len(chunk) > maxLine {
			tooLong, r.line = true, r.line[:0]
		}
		if !tooLong {
			r.line = append(r.line, chunk...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return r.line, tooLong, err
	}
}

package viewer

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/viewer/page"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// turns is the number of turns on a page of a session.
const turns = 100

// sessionsPage is the content of the list of sessions.
type sessionsPage struct {
	Set      bool // the folder of session logs is set
	Sessions []sessionRow
	More     bool
}

// sessionRow is a session in the list.
type sessionRow struct {
	transcript.Session
	Zone page.Zone
	Path string
	Last time.Time
}

func newSessionRow(s transcript.Session) sessionRow {
	row := sessionRow{Session: s, Zone: private, Path: "/sessions/" + url.PathEscape(s.SessionID)}
	if s.Group != "" {
		row.Zone = zoneOf(record.OfGroup(s.Group))
	}
	row.Last, _ = time.Parse(time.RFC3339, s.LastTimestamp) // zero without one
	return row
}

// sessions lists the sessions whose logs the host keeps.
func (s *Site) sessions(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	content := sessionsPage{Set: person.Logs != nil}
	if content.Set {
		list, err := person.Logs.ListSessions(r.Context(), transcript.MaxLimit)
		if err != nil {
			return answer{}, err
		}
		content.More = list.Truncated
		for _, session := range list.Sessions {
			content.Sessions = append(content.Sessions, newSessionRow(session))
		}
	}
	return answer{template: "sessions", page: page.Page{
		Title: "Sessions", Zone: private, Here: "/sessions", Content: content,
	}}, nil
}

// sessionPage is the content of a session's page.
type sessionPage struct {
	sessionRow
	From    int // number of the first turn shown, from 1
	Turns   []transcript.Entry
	Earlier string
	Later   string
}

// session shows the turns of a session.
func (s *Site) session(r *http.Request) (answer, error) {
	person, err := s.person()
	if err != nil {
		return answer{}, err
	}
	if person.Logs == nil {
		return answer{}, fault.New("no folder of session logs is set (transcripts)")
	}
	offset, err := strconv.Atoi(r.URL.Query().Get("offset"))
	if err != nil || offset < 0 {
		offset = 0
	}
	read, err := person.Logs.ReadSession(r.Context(), r.PathValue("id"), offset, turns, transcript.MaxMaxChars)
	if errors.Is(err, transcript.ErrNotFound) || errors.Is(err, transcript.ErrInvalidID) {
		return answer{}, fault.New("there is no session %q", r.PathValue("id"))
	}
	if err != nil {
		return answer{}, err
	}
	content := sessionPage{sessionRow: newSessionRow(read.Header), From: offset + 1, Turns: read.Entries}
	if offset > 0 {
		content.Earlier = content.Path + "?offset=" + strconv.Itoa(max(0, offset-turns))
	}
	if offset+read.Returned < read.TotalEntries {
		content.Later = content.Path + "?offset=" + strconv.Itoa(offset+turns)
	}
	title := content.Title
	if title == "" {
		title = "Session " + read.SessionID
	}
	return answer{template: "session", page: page.Page{
		Title: title, Zone: content.Zone, Here: "/sessions", Content: content,
	}}, nil
}

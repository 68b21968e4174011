package transcript

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/progress"
)

// ListSessions describes the newest limit sessions. They are chosen by modification time and sorted by the time of
// their last entry, newest first (seed 002, phase 10.4).
func (v *View) ListSessions(ctx context.Context, limit int) (Sessions, error) {
	result := Sessions{OK: true, Sessions: []Session{}}
	logs, err := v.logs()
	if err != nil {
		return Sessions{}, err
	}
	limit = clamp(limit, DefaultLimit, MaxLimit)
	for i, l := range logs {
		progress.Report(ctx, i, min(limit, len(logs)), "reading session logs")
		if len(result.Sessions) == limit {
			result.Truncated = true
			break
		}
		session, err := v.scan(ctx, l, nil, func(Session, turn) bool { return true })
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return Sessions{}, err
		}
		result.Sessions = append(result.Sessions, session)
	}
	slices.SortStableFunc(result.Sessions, func(a, b Session) int {
		return cmp.Or(cmp.Compare(b.LastTimestamp, a.LastTimestamp), cmp.Compare(a.SessionID, b.SessionID))
	})
	result.Count = len(result.Sessions)
	return result, nil
}

// ReadSession returns limit entries of the session id after the first offset entries, oldest first. The error is
// ErrInvalidID or ErrNotFound for an id without a readable log.
func (v *View) ReadSession(ctx context.Context, id string, offset, limit, maxChars int) (Entries, error) {
	l, err := v.find(id)
	if err != nil {
		return Entries{}, err
	}
	limit, maxChars = clamp(limit, DefaultLimit, MaxLimit), clamp(maxChars, DefaultMaxChars, MaxMaxChars)
	entries, skipped := []Entry{}, 0
	session, err := v.scan(ctx, l, nil, func(_ Session, said turn) bool {
		if skipped < offset {
			skipped++
		} else if len(entries) < limit {
			entries = append(entries, said.preview(maxChars))
		}
		return true
	})
	if err != nil {
		return Entries{}, err
	}
	return found(session, entries), nil
}

// Recent returns the last limit entries of the session id, oldest first. The id "" means the current session: of the
// audience's own sessions, the one whose log was written last. In a DM that is never a group's session. Errors are
// those of ReadSession.
func (v *View) Recent(ctx context.Context, id string, limit, maxChars int) (Entries, error) {
	var candidates []log
	if id == "" {
		logs, err := v.logs()
		if err != nil {
			return Entries{}, err
		}
		candidates = logs
	} else {
		l, err := v.find(id)
		if err != nil {
			return Entries{}, err
		}
		candidates = []log{l}
	}
	limit, maxChars = clamp(limit, DefaultLimit, MaxLimit), clamp(maxChars, DefaultMaxChars, MaxMaxChars)
	for _, l := range candidates {
		ring := make([]turn, 0, limit)
		next := 0
		session, err := v.scan(ctx, l, nil, func(_ Session, said turn) bool {
			if len(ring) < limit {
				ring = append(ring, said.short(maxChars))
			} else {
				ring[next] = said.short(maxChars)
				next = (next + 1) % limit
			}
			return true
		})
		// A group may have written last, but "the current session" of a DM is its own conversation.
		another := id == "" && v.who.IsDM() && session.Group != ""
		if errors.Is(err, ErrNotFound) || err == nil && another {
			continue
		}
		if err != nil {
			return Entries{}, err
		}
		entries := []Entry{}
		for _, said := range slices.Concat(ring[next:], ring[:next]) {
			entries = append(entries, said.preview(maxChars))
		}
		return found(session, entries), nil
	}
	return Entries{}, ErrNotFound
}

// Search returns the first limit entries whose content contains query, in any letter case; the newest session comes
// first. If id is not "", only that session is searched. The error is ErrNoQuery without a query, or one of
// ReadSession.
func (v *View) Search(ctx context.Context, query, id string, limit, maxChars int) (Hits, error) {
	query = strings.TrimSpace(query)
	if query == "" {
		return Hits{}, ErrNoQuery
	}
	var logs []log
	var err error
	if id == "" {
		logs, err = v.logs()
	} else {
		logs = make([]log, 1)
		logs[0], err = v.find(id)
	}
	if err != nil {
		return Hits{}, err
	}
	limit, maxChars = clamp(limit, DefaultLimit, MaxLimit), clamp(maxChars, DefaultMaxChars, MaxMaxChars)
	result := Hits{OK: true, Query: query, Hits: []Hit{}}
	needle := fold(query)
	filter := newRawFilter(needle)
	length := utf8.RuneCountInString(needle)
	for i, l := range logs {
		progress.Report(ctx, i, len(logs), "searching session logs")
		session, err := v.scan(ctx, l, filter, func(session Session, said turn) bool {
			e := said.whole()
			before, _, ok := strings.Cut(fold(e.Content), needle)
			if !ok {
				return true
			}
			if len(result.Hits) == limit {
				result.Truncated = true
				return false
			}
			result.Hits = append(result.Hits, Hit{
				SessionID: l.id, Group: session.Group, Timestamp: e.Timestamp, Role: e.Role, SourcePlugin: e.SourcePlugin,
				Preview: around(e.Content, utf8.RuneCountInString(before), length, maxChars),
			})
			return true
		})
		if err != nil && (id != "" || !errors.Is(err, ErrNotFound)) {
			return Hits{}, err
		}
		result.SkippedLines += session.SkippedLines
		if result.Truncated {
			break
		}
	}
	result.Count = len(result.Hits)
	return result, nil
}

func found(session Session, entries []Entry) Entries {
	return Entries{
		OK: true, SessionID: session.SessionID, Header: session, TotalEntries: session.EntryCount,
		Returned: len(entries), Truncated: len(entries) < session.EntryCount, Entries: entries,
	}
}

// clamp returns n, or standard if n is not positive, or most if n is greater.
func clamp(n, standard, most int) int {
	if n <= 0 {
		return standard
	}
	return min(n, most)
}

// around returns up to n characters of s that include the length characters from character at.
func around(s string, at, length, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	start := at - max(0, n-length)/4
	start = max(0, min(start, len(runes)-n))
	window := runes[start : start+n]
	if start > 0 {
		window[0] = '…'
	}
	if start+n < len(runes) {
		window[n-1] = '…'
	}
	return string(window)
}

// fold returns s in simple case folding, character for character, so that positions are those of s.
func fold(s string) string {
	return strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, s)
}

package transcript

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/progress"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// ListSessions describes the newest limit sessions. They are chosen by modification time and sorted by the time of
// their last entry, newest first (seed 002, phase 10.4). A subagent is listed under the session that it worked for, or,
// if that is not known or is not there, as a session of its own.
func (v *View) ListSessions(ctx context.Context, limit int) (Sessions, error) {
	result := Sessions{OK: true, Sessions: []Session{}}
	logs, err := v.logs()
	if err != nil {
		return Sessions{}, err
	}
	limit = clamp(limit, DefaultLimit, MaxLimit)
	subagents, err := v.subagents(ctx, logs)
	if err != nil {
		return Sessions{}, err
	}
	// isListed reports whether a subagent is listed under the session that it worked for.
	isListed := func(parent, id string) bool {
		return parent != "" && parent != id && slices.ContainsFunc(logs, func(l log) bool { return l.id == parent })
	}
	for i, l := range logs {
		progress.Report(ctx, i, min(limit, len(logs)), "reading session logs")
		if len(result.Sessions) == limit {
			result.Truncated = true
			break
		}
		if isListed(l.parent, l.id) {
			continue
		}
		session, err := v.scan(ctx, l, nil, func(Session, turn) bool { return true })
		if errors.Is(err, ErrNotFound) || err == nil && session.Subagent && isListed(session.Parent, l.id) {
			continue
		}
		if err == nil {
			err = v.addSubagents(ctx, &session, subagents[l.id])
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
	maxChars = clamp(maxChars, DefaultMaxChars, MaxMaxChars)
	return v.read(ctx, id, offset, limit, func(t turn) Entry { return v.preview(t, maxChars) })
}

// ReadWhole is ReadSession with the whole of each turn.
func (v *View) ReadWhole(ctx context.Context, id string, offset, limit int) (Entries, error) {
	return v.read(ctx, id, offset, limit, func(t turn) Entry { return v.preview(t, maxLine) })
}

// ReadTurn returns of the session id the entry after the first offset entries, and of its content maxChars characters
// after the first from characters. Errors are those of ReadSession.
func (v *View) ReadTurn(ctx context.Context, id string, offset, from, maxChars int) (Entries, error) {
	maxChars = clamp(maxChars, MaxMaxChars, MaxMaxChars)
	return v.read(ctx, id, offset, 1, func(t turn) Entry {
		e := t.whole()
		// SECURITY: from its beginning, so that no credential is recognized by its end only.
		content := []rune(v.redacted(e.Content, from+maxChars))
		e.Content, e.Truncated = text.Fit(string(content[min(from, len(content)):]), maxChars)
		return e
	})
}

// read returns limit entries of the session id after the first offset entries, each as show makes it.
func (v *View) read(
	ctx context.Context, id string, offset, limit int, show func(turn) Entry,
) (Entries, error) {
	l, err := v.find(id)
	if err != nil {
		return Entries{}, err
	}
	limit = clamp(limit, DefaultLimit, MaxLimit)
	entries, skipped := []Entry{}, 0
	session, err := v.scan(ctx, l, nil, func(_ Session, said turn) bool {
		if skipped < offset {
			skipped++
		} else if len(entries) < limit {
			entries = append(entries, show(said))
		}
		return true
	})
	if err != nil {
		return Entries{}, err
	}
	logs, err := v.logs()
	if err != nil {
		return Entries{}, err
	}
	subagents, err := v.subagents(ctx, logs)
	if err != nil {
		return Entries{}, err
	}
	if err := v.addSubagents(ctx, &session, subagents[session.SessionID]); err != nil {
		return Entries{}, err
	}
	return found(session, entries), nil
}

// Recent returns the last limit entries of the session id, oldest first. The id "" means the current session: of the
// audience's own sessions in project, the one whose log was written last, or of all if that has none or is "". In a DM
// that is never a group's session, nor a subagent's. Errors are those of ReadSession.
func (v *View) Recent(ctx context.Context, id, project string, limit, maxChars int) (Entries, error) {
	var candidates []log
	if id == "" {
		logs, err := v.logs()
		if err != nil {
			return Entries{}, err
		}
		if candidates, err = v.projectFirst(ctx, project, logs); err != nil {
			return Entries{}, err
		}
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
				ring = append(ring, v.short(said, maxChars))
			} else {
				ring[next] = v.short(said, maxChars)
				next = (next + 1) % limit
			}
			return true
		})
		// A group or a subagent may have written last, but "the current session" is the person's own conversation.
		another := id == "" && (v.who.IsDM() && session.Group != "" || session.Subagent)
		if errors.Is(err, ErrNotFound) || err == nil && another {
			continue
		}
		if err != nil {
			return Entries{}, err
		}
		entries := []Entry{}
		for _, said := range slices.Concat(ring[next:], ring[:next]) {
			entries = append(entries, v.preview(said, maxChars))
		}
		return found(session, entries), nil
	}
	return Entries{}, ErrNotFound
}

// maxOrdered is how many logs are looked at to find those of this project.
const maxOrdered = 200

// projectFirst returns logs with those of project before all others. Only the newest are looked at.
func (v *View) projectFirst(ctx context.Context, project string, logs []log) ([]log, error) {
	identify := v.folder.options.Project
	if project == "" || identify == nil {
		return logs, nil
	}
	var own, others []log
	for i, l := range logs {
		of := ""
		if i < maxOrdered {
			session, err := v.scan(ctx, l, nil, func(s Session, _ turn) bool { return s.Folder == "" && s.EntryCount < 20 })
			if err != nil && !errors.Is(err, ErrNotFound) {
				return nil, err
			}
			of = identify(session.Folder)
		}
		if of == project {
			own = append(own, l)
		} else {
			others = append(others, l)
		}
	}
	return append(own, others...), nil
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

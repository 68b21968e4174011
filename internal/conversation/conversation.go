// Package conversation is what an audience can find of past conversations: the session logs of its folders, and an
// index of their turns by meaning and words.
//
// The invariant: it reads logs through views of one audience only, and its index is in that audience's own folder.
package conversation

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/when"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/turns"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// View is the conversations that one audience has. It is safe for concurrent use.
type View struct {
	*transcript.View
	Index *turns.Index     // nil: what is searched is read from the logs each time
	Now   func() time.Time // in the zone of the person's dates
	// Answers returns the probability of each text that it answers a query, the best ranked first; nil: it is not known.
	Answers func(ctx context.Context, query string, texts []confidence.Text) ([]float64, error)
	Logger  *slog.Logger
}

// Query is a search for turns.
type Query struct {
	Text      string
	SessionID string // "" for all
	Role      string // user, assistant or tool; "" for all
	// Since and Until select turns from Since on and before Until, in a form that package when reads.
	Since, Until string
	Project      string // short name or identity; "" for all
	InProject    string // identity of the session's project, which ranks first
	Limit        int    // 1 to transcript.MaxLimit; 0: transcript.DefaultLimit
	MaxChars     int    // of a preview, up to transcript.MaxMaxChars; 0: transcript.DefaultMaxChars
}

// chars is the maximum length of a preview, in characters.
func (q Query) chars() int {
	return min(cmp.Or(max(q.MaxChars, 0), transcript.DefaultMaxChars), transcript.MaxMaxChars)
}

// narrowed reports whether the query has conditions that only the index knows.
func (q Query) narrowed() bool { return q.Role+q.Since+q.Until+q.Project != "" }

// Search returns turns: first those that contain the query as it is, in any letter case, the newest session's first;
// then those that answer it by their meaning or have most of its words, the best first. Errors are those of
// transcript.View.Search, and faults for times that are none.
func (v *View) Search(ctx context.Context, q Query) (transcript.Hits, error) {
	q.Text = strings.TrimSpace(q.Text)
	if q.Text == "" {
		return transcript.Hits{}, transcript.ErrNoQuery
	}
	if q.SessionID != "" {
		if _, err := v.Find(q.SessionID); err != nil {
			return transcript.Hits{}, err
		}
	}
	if v.Index == nil && q.narrowed() {
		return transcript.Hits{}, fault.New("query: since:, until:, project: and role: need the index of sessions, " +
			"which cannot be used; search without them")
	}
	if v.Index == nil {
		return v.View.Search(ctx, q.Text, q.SessionID, q.Limit, q.MaxChars)
	}
	request, err := v.request(q)
	if err != nil {
		return transcript.Hits{}, err
	}
	found, err := v.Index.Search(ctx, request)
	if err != nil {
		if ctx.Err() != nil || q.narrowed() {
			return transcript.Hits{}, err
		}
		v.Logger.WarnContext(ctx, "search conversations without their index", slog.Any("error", err))
		return v.View.Search(ctx, q.Text, q.SessionID, q.Limit, q.MaxChars)
	}
	a := &answer{view: v, query: q, needle: unquoted(q.Text), limit: request.Limit, seen: map[seen]bool{}}
	a.Hits = transcript.Hits{OK: true, Query: q.Text, Hits: []transcript.Hit{}}
	if err := a.fill(ctx, found); err != nil {
		return transcript.Hits{}, err
	}
	if err := a.answers(ctx); err != nil {
		return transcript.Hits{}, err
	}
	a.Hits.Count = len(a.Hits.Hits)
	a.Hits.Truncated = a.Hits.Truncated || a.Hits.Count == a.limit && (found.More || len(found.Places) == a.limit)
	a.Hits.Pending, a.Hits.SkippedLines = found.Behind, found.Skipped
	return a.Hits, nil
}

// unquoted returns a query without quotation marks around it: they say that it is meant as it is.
func unquoted(text string) string {
	if inner := strings.TrimSpace(strings.Trim(text, `"`)); inner != "" && text == `"`+strings.Trim(text, `"`)+`"` {
		return inner
	}
	return text
}

// readingTime limits how long the logs themselves are read in a search that an index answers.
const readingTime = 2 * time.Second

// fill adds what was found: first what has the query as it is.
func (a *answer) fill(ctx context.Context, found turns.Found) error {
	if err := a.literal(ctx, found.All); err != nil {
		return err
	}
	if err := a.unread(ctx, found.Unread); err != nil {
		return err
	}
	// Parts of words are in no index. For anything else it would take long to read the logs and find nothing either.
	one := found.Behind == 0 && !a.query.narrowed() && !strings.ContainsFunc(a.needle, unicode.IsSpace)
	if len(a.Hits.Hits) == 0 && one && turns.IsIdentifier(a.needle) {
		if err := a.read(ctx); err != nil {
			return err
		}
		one = false
	}
	if err := a.best(ctx, found.Places); err != nil {
		return err
	}
	if len(a.Hits.Hits) == 0 && one {
		return a.read(ctx)
	}
	return nil
}

// request returns q for the index.
func (v *View) request(q Query) (turns.Query, error) {
	now := v.Now()
	r := turns.Query{
		Text: q.Text, SessionID: q.SessionID, Role: q.Role, Project: q.Project, InProject: q.InProject,
		Limit: min(cmp.Or(max(q.Limit, 0), transcript.DefaultLimit), transcript.MaxLimit), Now: now,
	}
	for _, limit := range []struct {
		field, text string
		to          *time.Time
		read        func(string, time.Time) (time.Time, error)
	}{{"since", q.Since, &r.Since, when.ParseSince}, {"until", q.Until, &r.Until, when.ParseUntil}} {
		if limit.text == "" {
			continue
		}
		t, err := limit.read(limit.text, now)
		if err != nil {
			return r, fault.New("%s: %v", limit.field, err)
		}
		*limit.to = t.UTC()
	}
	if !r.Since.IsZero() && !r.Until.IsZero() && !r.Since.Before(r.Until) {
		return r, fault.New("until: must be later than since")
	}
	return r, nil
}

// answer is the hits of a search as they are found.
type answer struct {
	transcript.Hits
	view   *View
	query  Query
	needle string // what a turn must have to contain the query as it is
	limit  int
	seen   map[seen]bool
	from   []from // of each hit
}

// seen identifies a turn of a session.
type seen struct {
	session, time, role, preview string
}

func (a *answer) full() bool { return len(a.Hits.Hits) >= a.limit }

// add adds a hit, unless the turn is there. ordinal is negative if the turn's number is not known.
func (a *answer) add(h transcript.Hit, ordinal int, f from) {
	key := seen{h.SessionID, h.Timestamp, h.Role, ""}
	if h.Timestamp == "" {
		key.preview = h.Preview
	}
	if ordinal >= 0 {
		h.Offset = &ordinal
		key = seen{session: h.SessionID, role: h.Role, time: h.Timestamp}
		if h.Timestamp == "" {
			key.preview = h.Preview
		}
	}
	if !a.seen[key] && !a.full() {
		a.seen[key] = true
		a.Hits.Hits, a.from = append(a.Hits.Hits, h), append(a.from, f)
	}
}

// literal adds those of places whose turns contain the query as it is.
func (a *answer) literal(ctx context.Context, places []turns.Place) error {
	for len(places) > 0 && !a.full() {
		n := 1 // of one log, and not many more than are needed
		for n < len(places) && n < 64 && places[n].Log.Name == places[0].Log.Name {
			n++
		}
		read, err := a.turns(ctx, places[:n], a.needle)
		if err != nil {
			return err
		}
		for i, t := range read {
			if t == nil || !transcript.Contains(t.Content, a.needle) {
				continue
			}
			marks := []string{a.needle}
			if h, ok := a.view.Show(logOf(places[i].Log), *t, marks, a.query.MaxChars); ok {
				f := from{places[i], t, marks}
				f.place.Strength = 1
				a.add(h, places[i].Ordinal, f)
			}
		}
		places = places[n:]
	}
	a.Hits.Truncated = len(places) > 0
	return nil
}

// unread adds those of places whose turns contain the query as it is, as far as the time allows.
func (a *answer) unread(ctx context.Context, places []turns.Place) error {
	limited, cancel := context.WithTimeout(ctx, readingTime)
	defer cancel()
	truncated := a.Hits.Truncated
	err := a.literal(limited, places)
	a.Hits.Truncated = a.Hits.Truncated || truncated
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		a.Hits.Incomplete = true
		return nil
	}
	return err
}

// best adds places in their order.
func (a *answer) best(ctx context.Context, places []turns.Place) error {
	if a.full() {
		return nil
	}
	read := make([]*transcript.Turn, len(places))
	byLog := map[string][]int{}
	for i, p := range places {
		byLog[p.Log.Name] = append(byLog[p.Log.Name], i)
	}
	for _, at := range byLog {
		slices.SortFunc(at, func(i, j int) int { return cmp.Compare(places[i].Offset, places[j].Offset) })
		some := make([]turns.Place, len(at))
		for i, n := range at {
			some[i] = places[n]
		}
		list, err := a.turns(ctx, some, "")
		if err != nil {
			return err
		}
		for i, n := range at {
			read[n] = list[i]
		}
	}
	marks := a.view.Marks(a.query.Text)
	for i, p := range places {
		if read[i] == nil {
			continue
		}
		t := *read[i]
		h, ok := a.view.Show(logOf(p.Log), t, marks, a.query.MaxChars)
		switch {
		case p.Passage != "":
			h.Preview = a.view.Beginning(p.Passage, a.query.MaxChars)
		case !ok: // what it was found for is a credential
			continue
		}
		a.add(h, p.Ordinal, from{p, &t, marks})
	}
	return nil
}

// turns returns the turns at places of one log, in ascending order; nil for one that is not there any more, or that
// cannot have needle, unless that is "".
func (a *answer) turns(ctx context.Context, places []turns.Place, needle string) ([]*transcript.Turn, error) {
	offsets := make([]int64, len(places))
	for i, p := range places {
		offsets[i] = p.Offset
	}
	read, err := a.view.TurnsWith(ctx, logOf(places[0].Log), offsets, needle)
	if err != nil && !errors.Is(err, transcript.ErrNotFound) {
		return nil, err
	}
	list := make([]*transcript.Turn, len(places))
	for i, p := range places {
		for j := range read {
			if read[j].Offset == p.Offset {
				list[i] = &read[j]
				list[i].Project = cmp.Or(list[i].Project, transcript.ProjectName(p.Folder))
			}
		}
	}
	return list, nil
}

// read adds the turns in which a search of the logs themselves finds the query as it is, as far as the time allows.
func (a *answer) read(ctx context.Context) error {
	r, err := a.view.Literal(ctx, a.needle, a.query.SessionID, a.query.Limit, a.query.MaxChars, readingTime)
	if err != nil {
		return err
	}
	a.Hits.Incomplete = a.Hits.Incomplete || r.Incomplete
	for _, h := range r.Hits {
		a.add(h, -1, from{place: turns.Place{Strength: 1}})
	}
	a.Hits.Truncated = a.Hits.Truncated || r.Truncated
	return nil
}

func logOf(l turns.Log) transcript.Log { return transcript.Log(l) }

package turns

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/when"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/period"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Query is what is searched for.
type Query struct {
	Text         string
	SessionID    string    // "" for all
	Role         string    // user, assistant, tool; "" for all
	Since, Until time.Time // from Since on and before Until; zero for no limit
	Project      string    // identity or short name; "" for all
	InProject    string    // identity of the session's project, which ranks first
	Limit        int       // maximum number of places
	Now          time.Time // what "last week" in Text refers to
}

// Place is a turn that was found.
type Place struct {
	Log     Log
	Folder  string // that the host ran in, "" if it is not known
	Offset  int64  // see Turn.Offset
	Ordinal int    // the number of turns before it in the log
	Passage string // the part of what was said that answers, without credentials; "" for a turn found by its words
	// Strength is the ranking's score of a passage, or the share of the query's words that a turn has that was found by
	// them, weighted by their rarity; 0 to 1.
	Strength float64
}

// Found is the answer to a search.
type Found struct {
	Places []Place // the best first
	// All is the turns that have all words of the query, the newest session's first and in order within a session, up to
	// MaxAll: what has the query as it is, is among them.
	All  []Place
	More bool // All has reached MaxAll
	// Unread is the turns of which the index does not know whether they have the query as it is, in the order of All, up
	// to maxUnread: their text is longer than what is found by its words, or has parts that look like data as the query
	// does.
	Unread  []Place
	Skipped int  // lines of the logs that were searched that could not be read, or not as a whole
	Behind  int  // logs that are not searched to their end yet
	Pending int  // turns without a vector, which are found by their words only
	Off     bool // no embedding model is installed

	exact bool // the best turn that was found by its words has all of them
}

// MaxAll is the maximum length of Found.All.
const MaxAll = 500

// patience is how long a search waits for the index.
const patience = 2 * time.Second

// Search finds turns by meaning and by words, as memories are found; see Found. Only the end of ctx and what makes the
// index unreadable are errors.
func (x *Index) Search(ctx context.Context, q Query) (f Found, err error) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-x.wake():
	case <-timeout.C:
	case <-ctx.Done():
		return Found{}, ctx.Err()
	}
	text, clean := x.Redact(q.Text)
	// SECURITY: a query that is a credential finds nothing, not what is like the placeholder.
	text = strings.TrimSpace(placeholder.ReplaceAllString(text, " "))
	if text == "" || !clean && len(keyword.Stems(text)) == 0 {
		return Found{}, nil
	}
	asked, subject := when.InQuestion(text, q.Now)
	wanted := period.Period(asked)
	meaning, err := x.meaning(ctx, text, &f)
	if err != nil {
		return Found{}, err
	}
	x.mu.Lock()
	p, order := x.store, slices.Clone(x.order)
	f.Behind = x.behind
	for _, s := range x.logs {
		if x.admits(s, q) {
			f.Skipped += s.pos.unread
		}
	}
	x.mu.Unlock()
	_ = p.Vectors.Refresh() // another process may make them; the work reports what is wrong with the file
	_, f.Pending = p.Vectors.Missing(0)
	admit := x.filter(q)
	filter := rank.Filter{Admit: admit, Project: q.InProject}
	if len(wanted) > 0 && anyIn(wanted, p) {
		filter.Prefer = wanted.Share
	} else {
		subject = text
	}
	best := rank.New(rank.Context, []rank.Source{{Projection: p}}, subject, meaning)
	hits := best.Top(q.Limit, filter)
	best.Release()
	var ranked []Place
	x.mu.Lock()
	for _, h := range hits {
		at, ok := x.turns[h.ID]
		if ok && !slices.ContainsFunc(ranked, func(p Place) bool {
			return p.Log.Name == at.log.log.Name && p.Ordinal == at.ordinal
		}) {
			ranked = append(ranked, Place{
				Log: at.log.log, Folder: at.log.pos.folder, Offset: at.offset, Ordinal: at.ordinal, Passage: h.Content,
				Strength: h.Score,
			})
		}
	}
	x.mu.Unlock()
	q.Text = text
	words, err := x.words(ctx, order, keyword.Stems(text), q, &f)
	if err != nil {
		return Found{}, err
	}
	f.Places = weave(ranked, words, f.exact && !answered(text, ranked), q.Limit)
	return f, nil
}

// placeholder is what a credential is replaced by.
var placeholder = regexp.MustCompile(`\[REDACTED:[a-z_]+\]`)

// answered reports whether one of the best places has all words of a query.
func answered(text string, ranked []Place) bool {
	want := len(keyword.Parse(text).In(text))
	return slices.ContainsFunc(ranked[:min(3, len(ranked))], func(p Place) bool {
		return len(keyword.Parse(text).In(p.Passage)) == want
	})
}

// meaning returns the query's vector, nil without one.
func (x *Index) meaning(ctx context.Context, text string, f *Found) ([]float32, error) {
	vectors, err := embed.Queries(ctx, x.Embedder, []string{text})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil || len(vectors) != 1:
		f.Off = errors.Is(err, embed.ErrNoAssets)
		return nil, nil
	}
	return vectors[0], nil
}

// filter returns which turns in memory q admits. It is called with a snapshot held, so that it must not take x.mu.
func (x *Index) filter(q Query) func(*record.Record) bool {
	named := map[string]bool{}
	x.mu.Lock()
	for name, s := range x.logs {
		named[name] = s.log.in(q.SessionID)
	}
	x.mu.Unlock()
	return func(r *record.Record) bool {
		if q.Role != "" && r.Source != q.Role || !within(r.CreatedAt, q) {
			return false
		}
		if q.Project != "" && r.Project != q.Project && record.ProjectName(r.Project) != q.Project {
			return false
		}
		return q.SessionID == "" || named[r.SessionID]
	}
}

func within(t time.Time, q Query) bool {
	return (q.Since.IsZero() || !t.Before(q.Since)) && (q.Until.IsZero() || t.Before(q.Until))
}

// anyIn reports whether a turn in memory is of the time p.
func anyIn(p period.Period, turns *store.Projection) bool {
	s := turns.Snapshot()
	defer s.Release()
	for _, r := range s.Scan() {
		if p.Holds(r) {
			return true
		}
	}
	return false
}

// maxWords bounds the work for a query that is a page of text.
const maxWords = 32

// minCoverage is the share of a query's words, weighted by their rarity, that a turn must have to be found by them.
const minCoverage = .5

// candidate is a turn with a word of the query.
type candidate struct {
	log     Log
	folder  string
	entry   entry // without words
	ordinal int
	has     uint32 // a bit for each word
	length  int    // in words
}

// words returns the turns with most of the words, the best first, that are not found by what was said in them; and sets
// f.All. Stems are the query's.
func (x *Index) words(ctx context.Context, order, stems []string, q Query, f *Found) ([]Place, error) {
	slices.Sort(stems)
	stems = slices.Compact(stems)
	if len(stems) > maxWords {
		stems = stems[:maxWords]
	}
	if len(stems) == 0 {
		return nil, nil
	}
	hashes := make([]uint32, len(stems))
	for i, s := range stems {
		hashes[i] = hashOf(s)
	}
	every := uint32(1)<<len(hashes) - 1
	data, need := isData(q.Text, stems)
	var found []candidate
	turns, with := 0, make([]int, len(hashes))
	for _, name := range order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x.mu.Lock()
		s := x.logs[name]
		if s == nil || !x.admits(s, q) {
			x.mu.Unlock()
			continue
		}
		of := candidate{log: s.log, folder: s.pos.folder}
		loaded := s.loaded
		x.mu.Unlock()
		if _, err := readDigest(digestPath(x.Dir, name), position{}, func(ordinal int, e entry) {
			turns++
			c := of
			c.ordinal, c.length = ordinal, len(e.words)/4
			for i, h := range hashes {
				if e.has(h) {
					c.has |= 1 << i
					with[i]++
				}
			}
			unread := e.flags&flagCut != 0 || data && e.flags&flagData != 0 && c.has&need == need
			if c.has == 0 && !unread || !e.admitted(q, of.log.Modified) {
				return
			}
			e.words = nil
			c.entry = e
			switch {
			case c.has == every && len(f.All) < MaxAll:
				f.All = append(f.All, c.place())
			case unread && len(f.Unread) < maxUnread:
				f.Unread = append(f.Unread, c.place())
			}
			if c.has == 0 {
				return
			}
			if !loaded || e.flags&flagWhole == 0 {
				found = append(found, c)
			}
		}); err != nil {
			return nil, err
		}
	}
	f.More = len(f.All) == MaxAll
	list, exact := best(found, with, turns, q.Limit)
	f.exact = exact
	return list, nil
}

// maxUnread is the maximum length of Found.Unread.
const maxUnread = 20_000

// IsIdentifier reports whether a part of a query without white space is a name or a number of something rather than a
// word, of which a text may have more or less: it has a digit or a sign within, or an upper-case letter after a
// lower-case one.
func IsIdentifier(run string) bool {
	run = strings.Trim(run, `.,;:!?"'()`)
	before := ' '
	for _, c := range run {
		if unicode.IsDigit(c) || strings.ContainsRune("_./:#@=+\\", c) || unicode.IsLower(before) && unicode.IsUpper(c) {
			return len(run) > 3
		}
		before = c
	}
	return false
}

// isData reports whether a query has parts that a turn may have in what looks like data. need has a bit for each of
// stems that is not of such a part only.
func isData(text string, stems []string) (data bool, need uint32) {
	for run := range strings.FieldsSeq(text) {
		if looksSecret(run) || IsIdentifier(run) {
			data = true
			continue
		}
		for _, stem := range keyword.Stems(run) {
			if i := slices.Index(stems, stem); i >= 0 {
				need |= 1 << i
			}
		}
	}
	return data, need
}

// in reports whether a log is that of a session or of one of its subagents.
func (l Log) in(session string) bool { return l.SessionID == session || l.Parent == session }

// admits reports whether q admits turns of a log. x.mu is held.
func (x *Index) admits(s *state, q Query) bool {
	if q.SessionID != "" && !s.log.in(q.SessionID) || !q.Since.IsZero() && s.log.Modified.Before(q.Since) {
		return false
	}
	if q.Project == "" {
		return true
	}
	project, ok := x.projects[s.pos.folder]
	if !ok && x.Project != nil && s.pos.folder != "" {
		project = x.Project(s.pos.folder)
		x.projects[s.pos.folder] = project
	}
	return project != "" && (project == q.Project || record.ProjectName(project) == q.Project)
}

// admitted reports whether q admits a turn, of a log that was modified last at modified.
func (e entry) admitted(q Query, modified time.Time) bool {
	if q.Role != "" {
		role := map[string]byte{"user": roleUser, "assistant": roleAssistant, "tool": roleTool}[q.Role]
		if e.flags&roleMask != role {
			return false
		}
	}
	t := e.moment()
	if t.IsZero() {
		t = modified
	}
	return within(t, q)
}

// place returns where a candidate is.
func (c candidate) place() Place {
	return Place{Log: c.log, Folder: c.folder, Offset: c.entry.offset, Ordinal: c.ordinal}
}

// best returns the places of the candidates with enough of the words, the best first: by the rarity of the words that
// they have, and shorter ones before longer ones. exact reports whether the first has all of them.
func best(found []candidate, with []int, turns, limit int) (places []Place, exact bool) {
	rarity, all := make([]float64, len(with)), 0.
	for i, n := range with {
		rarity[i] = math.Log(1 + (float64(turns-n)+.5)/(float64(n)+.5))
		all += rarity[i]
	}
	scores, shares := make(map[int]float64, len(found)), make(map[int]float64, len(found))
	var kept []int
	for at, c := range found {
		covered := 0.
		for i := range with {
			if c.has&(1<<i) != 0 {
				covered += rarity[i]
			}
		}
		if covered >= minCoverage*all {
			shares[at] = covered / all
			scores[at] = shares[at] / (1 + .05*math.Log1p(float64(c.length)))
			kept = append(kept, at)
		}
	}
	// Stable: of equal scores the newest session comes first.
	slices.SortStableFunc(kept, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for _, at := range kept[:min(limit, len(kept))] {
		p := found[at].place()
		p.Strength = shares[at]
		places = append(places, p)
	}
	return places, len(kept) > 0 && bits.OnesCount32(found[kept[0]].has) == len(with)
}

// weave returns up to limit places: two of those that were ranked by meaning, one that was found by words, and so on.
// With exact, the first is one that was found by words.
func weave(ranked, words []Place, exact bool, limit int) (list []Place) {
	seen := map[Place]bool{}
	for len(list) < limit && len(ranked)+len(words) > 0 {
		from := &ranked
		turn := len(list) % 3
		if (turn == 2 && !exact || turn == 0 && exact) && len(words) > 0 || len(ranked) == 0 {
			from = &words
		}
		p := (*from)[0]
		*from = (*from)[1:]
		key := p
		key.Passage, key.Folder, key.Strength = "", "", 0
		if !seen[key] {
			seen[key] = true
			list = append(list, p)
		}
	}
	return list
}

package transcript

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/progress"
)

// Search returns limit entries for query: first those that contain it as it is, in any letter case, the newest session
// first; then those that contain most of its words in any form and order, the best first. If id is not "", only that
// session is searched. The error is ErrNoQuery without a query, or one of ReadSession.
func (v *View) Search(ctx context.Context, query, id string, limit, maxChars int) (Hits, error) {
	query = strings.TrimSpace(query)
	s, err := v.newSearch(query, id, limit, maxChars)
	if err != nil {
		return Hits{}, err
	}
	if err := s.literal(ctx); err != nil {
		return Hits{}, err
	}
	if words := v.queryWords(query); len(words) > 1 && len(s.result.Hits) < s.limit {
		if err := s.words(ctx, words); err != nil {
			return Hits{}, err
		}
	}
	s.result.Count = len(s.result.Hits)
	return s.result, nil
}

// Literal returns the turns that Search finds for containing query as it is, as far as it finds them within the time
// limit, and tells if that was too short.
func (v *View) Literal(
	ctx context.Context, query, id string, limit, maxChars int, most time.Duration,
) (Hits, error) {
	s, err := v.newSearch(strings.TrimSpace(query), id, limit, maxChars)
	if err != nil {
		return Hits{}, err
	}
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if err := s.literal(limited); err != nil {
		if limited.Err() == nil || ctx.Err() != nil {
			return Hits{}, err
		}
		s.result.Incomplete = true
	}
	s.result.Count = len(s.result.Hits)
	return s.result, nil
}

// newSearch returns a search for query in the session id, or in all if that is "".
func (v *View) newSearch(query, id string, limit, maxChars int) (*search, error) {
	if query == "" {
		return nil, ErrNoQuery
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
		return nil, err
	}
	return &search{
		view: v, logs: logs, named: id != "", needle: fold(query),
		limit: clamp(limit, DefaultLimit, MaxLimit), maxChars: clamp(maxChars, DefaultMaxChars, MaxMaxChars),
		result: Hits{OK: true, Query: query, Hits: []Hit{}},
	}, nil
}

// search is one search of logs.
type search struct {
	view     *View
	logs     []log
	named    bool   // the caller named the session
	needle   string // the query, folded
	limit    int
	maxChars int
	result   Hits
}

// each calls visit for the turns of all logs whose line passes filter, until it returns false. A turn's number is its
// place among those.
func (s *search) each(
	ctx context.Context, filter func([]byte) bool, logs []int, visit func(log int, session Session, said turn) bool,
) (skipped int, err error) {
	stopped := false
	for at, i := range logs {
		progress.Report(ctx, at, len(logs), "searching session logs")
		session, err := s.view.scan(ctx, s.logs[i], filter, func(session Session, said turn) bool {
			stopped = !visit(i, session, said)
			return !stopped
		})
		if err != nil && (s.named || !errors.Is(err, ErrNotFound)) {
			return skipped, err
		}
		skipped += session.SkippedLines
		if stopped {
			break
		}
	}
	return skipped, nil
}

// indexes returns those of all logs.
func (s *search) indexes() []int {
	list := make([]int, len(s.logs))
	for i := range list {
		list[i] = i
	}
	return list
}

// literal adds the turns that contain the query as it is.
func (s *search) literal(ctx context.Context) (err error) {
	s.result.SkippedLines, err = s.each(ctx, newRawFilter(s.needle).may, s.indexes(),
		func(log int, session Session, said turn) bool {
			content := said.whole().Content
			if !strings.Contains(fold(content), s.needle) {
				return true
			}
			if len(s.result.Hits) == s.limit {
				s.result.Truncated = true
				return false
			}
			s.add(s.logs[log], session, said, content, s.needle)
			return true
		})
	return err
}

// add adds a turn with what is around mark in it, which is folded.
//
// SECURITY: a turn whose credential is what was asked for is no hit: the answer would confirm it.
func (s *search) add(l log, session Session, said turn, content, mark string) {
	if before, _, ok := strings.Cut(fold(content), mark); ok { // nothing far from the mark is shown
		runes := []rune(content)
		at := utf8.RuneCountInString(before)
		content = string(runes[max(0, at-redactMargin):])
	}
	content = s.view.redacted(content, s.maxChars+redactMargin)
	before, _, ok := strings.Cut(fold(content), mark)
	if !ok {
		return
	}
	s.result.Hits = append(s.result.Hits, Hit{
		SessionID: l.id, Parent: said.worksForOther(l), Project: session.Project, Group: session.Group,
		Timestamp: said.entry.Timestamp, Role: said.entry.Role, SourcePlugin: said.entry.SourcePlugin,
		Preview: around(content, utf8.RuneCountInString(before), utf8.RuneCountInString(mark), s.maxChars),
	})
}

// queryWord is a word of a query.
type queryWord struct {
	stem string
	mark string // what every form of the word begins with, folded
}

// maxQueryWords bounds the work for a query that is a page of text.
const maxQueryWords = 32

// queryWords returns the words of query that say something, without repetitions.
func (v *View) queryWords(query string) (words []queryWord) {
	if v.folder.options.Stems == nil {
		return nil
	}
	folded := fold(query)
	for _, stem := range v.folder.options.Stems(query) {
		known := slices.ContainsFunc(words, func(w queryWord) bool { return w.stem == stem })
		if known || len(words) == maxQueryWords {
			continue
		}
		mark := fold(stem)
		for !strings.Contains(folded, mark) { // "happi" of "happy"
			_, size := utf8.DecodeLastRuneInString(mark)
			mark = mark[:len(mark)-size]
		}
		words = append(words, queryWord{stem, mark})
	}
	return words
}

// candidate is a turn with some of the query's words.
type candidate struct {
	log, number int     // the turn's place: of its log, and among the turns that pass the filter
	counts      []uint8 // how often it has each word
	length      int     // in words
}

// minCoverage is the share of a query's words, weighted by their rarity, that a hit must have.
const minCoverage = 0.5

// words adds the turns that do not contain the query as it is but its words, ranked by BM25. The statistics are those
// of the logs that are searched: a group's own in a group.
func (s *search) words(ctx context.Context, words []queryWord) error {
	lines := 0
	filters := make([]*rawFilter, len(words))
	for i, w := range words {
		filters[i] = newRawFilter(w.mark)
	}
	passes := func(line []byte) bool {
		return slices.ContainsFunc(filters, func(f *rawFilter) bool { return f.may(line) })
	}
	var found []candidate
	total := 0 // length of all candidates
	_, err := s.each(ctx, func(line []byte) bool { lines++; return passes(line) }, s.indexes(),
		func(log int, session Session, said turn) bool {
			c := candidate{log: log, number: session.EntryCount, counts: make([]uint8, len(words))}
			content := said.whole().Content
			matched := false
			for _, stem := range s.view.folder.options.Stems(content) {
				c.length++
				if i := slices.IndexFunc(words, func(w queryWord) bool { return w.stem == stem }); i >= 0 {
					c.counts[i], matched = uint8(min(int(c.counts[i])+1, math.MaxUint8)), true
				}
			}
			if matched && !strings.Contains(fold(content), s.needle) {
				found = append(found, c)
				total += c.length
			}
			return true
		})
	if err != nil || len(found) == 0 {
		return err
	}
	best := rank(found, len(words), lines, float64(total)/float64(len(found)))
	if room := s.limit - len(s.result.Hits); len(best) > room {
		best, s.result.Truncated = best[:room], true
	}
	return s.show(ctx, best, words, passes)
}

// rank returns the candidates that have enough of the query's words, the best first. turns is the number of all turns,
// length the mean length of a candidate.
func rank(found []candidate, words, turns int, length float64) []candidate {
	rarity := make([]float64, words)
	all := 0.0
	for i := range rarity {
		with := 0.0
		for _, c := range found {
			if c.counts[i] > 0 {
				with++
			}
		}
		n := max(float64(turns), with)
		rarity[i] = math.Log(1 + (n-with+0.5)/(with+0.5))
		all += rarity[i]
	}
	scores := make(map[int]float64, len(found)) // by place in found
	kept := make([]int, 0, len(found))
	for at, c := range found {
		covered := 0.0
		for i, n := range c.counts {
			if n > 0 {
				covered += rarity[i]
				scores[at] += rarity[i] * float64(n) * 2.2 / (float64(n) + 1.2*(0.25+0.75*float64(c.length)/length))
			}
		}
		if covered >= minCoverage*all {
			scores[at] *= covered / all
			kept = append(kept, at)
		}
	}
	// Stable: of equal scores the newest session comes first.
	slices.SortStableFunc(kept, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	best := make([]candidate, len(kept))
	for i, at := range kept {
		best[i] = found[at]
	}
	return best
}

// show adds the turns of best, in that order. It reads their logs again: keeping the text of all candidates would need
// as much memory as the logs.
func (s *search) show(ctx context.Context, best []candidate, words []queryWord, passes func([]byte) bool) error {
	type place struct{ log, number int }
	rankOf := map[place]int{}
	var logs []int
	for i, c := range best {
		rankOf[place{c.log, c.number}] = i
		if !slices.Contains(logs, c.log) {
			logs = append(logs, c.log)
		}
	}
	shown := make([][]Hit, len(best))
	before := s.result.Hits
	_, err := s.each(ctx, passes, logs, func(log int, session Session, said turn) bool {
		i, ok := rankOf[place{log, session.EntryCount}]
		if !ok {
			return true
		}
		content := said.whole().Content
		s.result.Hits = nil
		s.add(s.logs[log], session, said, content, markIn(fold(content), best[i], words))
		shown[i] = s.result.Hits
		return true
	})
	s.result.Hits = slices.Concat(append([][]Hit{before}, shown...)...)
	return err
}

// markIn returns the longest of the words that c has and folded shows.
func markIn(folded string, c candidate, words []queryWord) (mark string) {
	for i, w := range words {
		if c.counts[i] > 0 && len(w.mark) > len(mark) && strings.Contains(folded, w.mark) {
			mark = w.mark
		}
	}
	return mark
}

// Package learn finds, in memories of failures, what a lesson could be made of (RFC-0011 §8.2).
//
// It only reads what memories say and makes nothing up: a field that no memory says is reported as missing.
package learn

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// CandidateTag marks a memory that a lesson should be made of (RFC-0011 §8.2 step 1).
const CandidateTag = "#lesson_learned_candidate"

// Why something is a candidate.
const (
	BecauseError    = "error"     // a memory of the last 24 hours has metadata.status "error"
	BecauseTagged   = "candidate" // one of the last 24 hours has CandidateTag, among its tags or in its text
	BecauseRepeated = "repeated"  // the pattern was seen more than once within 7 days
)

// Sighting is a memory and what it says of a lesson.
type Sighting struct {
	Record *record.Record
	stored record.Moment
	said   Saying
}

// Sight reads a memory.
func Sight(hit record.Hit) Sighting {
	return Sighting{hit.Record, hit.Stored(), SayingOf(hit.Record)}
}

// Compare is negative for a memory that was stored before another.
func (s Sighting) Compare(other Sighting) int { return s.stored.Compare(other.stored) }

// because says why a memory by itself is a candidate.
func (s Sighting) because(recent time.Time) (reasons []string) {
	if s.Record.CreatedAt.Before(recent) {
		return nil
	}
	if status, _ := s.Record.Metadata["status"].(string); strings.EqualFold(strings.TrimSpace(status), "error") {
		reasons = append(reasons, BecauseError)
	}
	if s.Record.HasTag(CandidateTag) || strings.Contains(s.Record.Content, CandidateTag) {
		reasons = append(reasons, BecauseTagged)
	}
	return reasons
}

// Suspicion is the sightings that one lesson could be made of, oldest first.
type Suspicion struct {
	Sightings []Sighting
	Because   []string
}

// Gather puts the sightings of one pattern and scope together and leaves out what gives no reason. A sighting
// that names no scope speaks for every scope of its pattern.
func Gather(seen []Sighting, recent time.Time) (list []Suspicion) {
	byPattern := map[string][]Sighting{}
	var alone []Suspicion
	var patterns []string
	for _, s := range seen {
		pattern := s.said[fieldPattern]
		if pattern == "" {
			alone = append(alone, Suspicion{Sightings: []Sighting{s}})
			continue
		}
		if byPattern[pattern] == nil {
			patterns = append(patterns, pattern)
		}
		byPattern[pattern] = append(byPattern[pattern], s)
	}
	list = alone
	for _, pattern := range patterns {
		list = append(list, byScope(byPattern[pattern])...)
	}
	for i := range list {
		list[i].explain(recent)
	}
	list = slices.DeleteFunc(list, func(s Suspicion) bool { return len(s.Because) == 0 })
	slices.SortStableFunc(list, func(a, b Suspicion) int { return a.Sightings[0].Compare(b.Sightings[0]) })
	return list
}

// byScope parts the sightings of one pattern.
func byScope(seen []Sighting) []Suspicion {
	var scopes []string
	for _, s := range seen {
		if scope := s.said[fieldScope]; scope != "" && !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	if len(scopes) == 0 {
		return []Suspicion{{Sightings: seen}}
	}
	list := make([]Suspicion, len(scopes))
	for i, scope := range scopes {
		for _, s := range seen {
			if said := s.said[fieldScope]; said == "" || said == scope {
				list[i].Sightings = append(list[i].Sightings, s)
			}
		}
	}
	return list
}

// explain fills in why it is suspected.
func (s *Suspicion) explain(recent time.Time) {
	for _, one := range s.Sightings {
		s.Because = append(s.Because, one.because(recent)...)
	}
	if len(s.Sightings) > 1 {
		s.Because = append(s.Because, BecauseRepeated)
	}
	slices.SortFunc(s.Because, func(a, b string) int {
		order := []string{BecauseError, BecauseTagged, BecauseRepeated}
		return cmp.Compare(slices.Index(order, a), slices.Index(order, b))
	})
	s.Because = slices.Compact(s.Because)
}

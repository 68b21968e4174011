// Package learn finds, in memories of failures, what a lesson could be made of (RFC-0011 §8.2).
//
// It only reads memories and makes nothing up: a field of the lesson that no memory contains is reported as missing.
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

// Reasons for which memories are a candidate (RFC-0011 §8.2 step 1).
const (
	BecauseError    = "error"     // a memory of the last 24 hours has metadata.status "error"
	BecauseTagged   = "candidate" // one of the last 24 hours has CandidateTag, among its tags or in its text
	BecauseRepeated = "repeated"  // the pattern was seen more than once within 7 days
)

// Sighting is a memory with the fields of a lesson that were found in it.
type Sighting struct {
	Record *record.Record
	stored record.Moment
	said   Saying
}

// Sight finds the fields of a lesson in a memory.
func Sight(hit record.Hit) Sighting {
	return Sighting{hit.Record, hit.Stored(), SayingOf(hit.Record)}
}

// Compare orders sightings by when the memories were stored, the oldest first, see record.Moment.
func (s Sighting) Compare(other Sighting) int { return s.stored.Compare(other.stored) }

// because returns the reasons for which a memory by itself is a candidate: none if it was stored before recent.
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

// Suspicion is the sightings that one lesson could be made of, oldest first, and the reasons (BecauseError and so on).
type Suspicion struct {
	Sightings []Sighting
	Because   []string
}

// Gather groups sightings, which are in order, by error pattern and scope, and returns the groups for which there is a
// reason, the one seen first first. A sighting without a pattern is a group by itself; one without a scope belongs to
// every scope of its pattern. Errors and tags count from recent on; repetitions count among all sightings.
func Gather(seen []Sighting, recent time.Time) (list []Suspicion) {
	byPattern := map[string][]Sighting{}
	var unnamed []Suspicion
	var patterns []string
	for _, s := range seen {
		pattern := s.said[fieldPattern]
		if pattern == "" {
			unnamed = append(unnamed, Suspicion{Sightings: []Sighting{s}})
			continue
		}
		if byPattern[pattern] == nil {
			patterns = append(patterns, pattern)
		}
		byPattern[pattern] = append(byPattern[pattern], s)
	}
	list = unnamed
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

// byScope divides the sightings of one pattern by their scope.
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

// explain sets Because, without duplicates and in the order of the constants.
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

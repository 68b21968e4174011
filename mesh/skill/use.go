package skill

import (
	"math"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// How a skill's reliability changes. RFC-0011 leaves the numbers open; these are those of the published implementation
// of the mesh, so that the same feedback has the same effect.
const (
	firstReliability   = .5
	successReliability = .1
	failureReliability = -.2

	// DefaultPruneThreshold is the reliability (0..1) below which skills are pruned by default.
	DefaultPruneThreshold = .3
)

// Use is feedback about a skill (RFC-0011 §4.1 updateSkillReliability). Its JSON is the data of a ledger entry.
type Use struct {
	At      record.Moment `json:"-"` // of the entry
	Success bool          `json:"success"`
	AgentID string        `json:"agent_id,omitempty"`
}

// Reliability returns a skill's reliability (0..1, two decimals) and when it was used last, zero if never, from its
// uses and the times of its new texts.
//
// It begins at 0.5. A success adds 0.1, a failure subtracts 0.2, within 0..1. A new text is not blamed for the
// failures of the old one: it raises a lower reliability to 0.5. Uses may come from two ledgers, so they are put in
// order here.
func Reliability(uses []Use, revised []record.Moment) (reliability float64, last time.Time) {
	type event struct {
		at       record.Moment
		revision bool
		by       float64
	}
	var events []event
	for _, u := range uses {
		by := failureReliability
		if u.Success {
			by = successReliability
		}
		events = append(events, event{at: u.At, by: by})
		if u.At.Time.After(last) {
			last = u.At.Time
		}
	}
	for _, at := range revised {
		events = append(events, event{at: at, revision: true})
	}
	slices.SortFunc(events, func(a, b event) int { return a.at.Compare(b.at) })
	reliability = firstReliability
	for _, e := range events {
		if e.revision {
			reliability = max(reliability, firstReliability)
		} else {
			// Rounded each time, so that .1 added and subtracted often does not drift from what a reader computes.
			reliability = math.Round(100*min(1, max(0, reliability+e.by))) / 100
		}
	}
	return reliability, last
}

// Hit returns a skill of the compartment called from with the reliability that follows from uses.
func (s *State) Hit(from record.Visibility, uses []Use) record.SkillHit {
	hit := record.SkillHit{Skill: s.Skill, Visibility: from, UseCount: len(uses)}
	hit.Reliability, hit.LastUsed = Reliability(uses, s.Revised)
	return hit
}

package edit

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Source is what caused an event.
type Source string

// The sources of events.
const (
	FromSession  Source = "session"  // a tool that the agent called
	FromSweep    Source = "sweep"    // dreaming: what it promoted to MEMORY.md
	FromDiary    Source = "diary"    // dreaming: what it wrote into DREAMS.md about a sweep
	FromProposal Source = "proposal" // the owner accepted a proposal, which refers_to names
	FromCommand  Source = "command"  // another command of the owner
	FromHand     Source = "hand"     // a change outside this program, which noticed it later
)

// Origin is the source of an event, with the details of a sweep.
type Origin struct {
	Source Source `json:"source"`
	Sweep  *Sweep `json:"sweep,omitempty"` // of FromSweep
}

// Sweep contains what a dreaming sweep counted and decided.
type Sweep struct {
	Recalls  int      `json:"recalls"`        // of all considered memories
	Memories int      `json:"memories"`       // number of recalled memories
	Days     int      `json:"days"`           // length of the period that it considered
	Promoted []string `json:"promoted"`       // ids of memories, best first
	Held     []string `json:"held,omitempty"` // ids of memories that a person must confirm
}

// MadeBy returns the event's origin. For events that were recorded before the record had the field, it is derived from
// their operation, actor and, for sweeps, their rationale.
func (e Event) MadeBy() Origin {
	if e.Origin != nil {
		return *e.Origin
	}
	sweep, swept := e.oldSweep()
	switch {
	case swept:
		return Origin{Source: FromSweep, Sweep: sweep}
	case !e.IsEdit() && e.Op != OpPropose, grammar.Op(e.Op) == grammar.Promote:
		return Origin{Source: sourceOf(e.Op)}
	case e.RefersTo != "":
		return Origin{Source: FromProposal}
	case e.File == workspace.DreamsFile && strings.HasPrefix(e.Key, "dream:"):
		return Origin{Source: FromDiary}
	}
	return Origin{Source: FromSession}
}

// sourceOf returns the source of an operation that no session can request.
func sourceOf(op string) Source {
	switch op {
	case OpSnapshot, OpObserved, OpDrift, OpUndone:
		return FromHand
	}
	return FromCommand
}

var oldSummary = regexp.MustCompile(`^dreaming: ([0-9]+) recalls of ([0-9]+) memories in ([0-9]+) days; ` +
	`promoted [^;]+(?:; held back for a person ([^;]+))?$`)

// oldSweep reads the rationale and evidence of a sweep's edit from the time when the record had no origin. Such a
// rationale names up to 20 of the memories that were held back.
func (e Event) oldSweep() (*Sweep, bool) {
	m := oldSummary.FindStringSubmatch(e.Rationale)
	if m == nil || e.File != workspace.MemoryFile || grammar.Op(e.Op) != grammar.AppendItem ||
		!workspace.IsDreamed(e.Section) {
		return nil, false
	}
	sweep := &Sweep{}
	for i, n := range []*int{&sweep.Recalls, &sweep.Memories, &sweep.Days} {
		*n, _ = strconv.Atoi(m[i+1]) // only digits; too many of them give the largest int
	}
	for _, ref := range e.Evidence {
		if token, err := grammar.ParseToken(ref); err == nil && token.MemoryID() != "" {
			sweep.Promoted = append(sweep.Promoted, token.MemoryID())
		}
	}
	if m[4] != "" {
		named, _, _ := strings.Cut(m[4], " and ")
		sweep.Held = strings.Split(named, ", ")
	}
	return sweep, true
}

// origin returns the origin for the event of a request.
func (q Request) origin() *Origin {
	origin := q.Origin
	switch {
	case q.decided != nil:
		// The owner's decision is the source, no matter which session proposed the edit.
		origin = Origin{Source: FromProposal}
	case q.Op == grammar.Promote:
		origin = Origin{Source: FromCommand}
	case origin.Source == "":
		origin.Source = FromSession
	}
	return &origin
}

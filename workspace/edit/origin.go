package edit

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Source is what wrote an event.
type Source string

// The sources of events.
const (
	FromSession  Source = "session"  // a tool that the agent called
	FromSweep    Source = "sweep"    // dreaming: what it promoted to MEMORY.md
	FromDiary    Source = "diary"    // dreaming: what it wrote into DREAMS.md about a sweep
	FromProposal Source = "proposal" // the owner accepted a proposal, which refers_to names
	FromCommand  Source = "command"  // another command of the owner
	FromHand     Source = "hand"     // nothing of this program: the file was changed, which it noticed later
)

// Origin is where an event comes from.
type Origin struct {
	Source Source `json:"source"`
	Sweep  *Sweep `json:"sweep,omitempty"` // of FromSweep
}

// Sweep is what a sweep counted and decided.
type Sweep struct {
	Recalls  int      `json:"recalls"`        // of all memories that it considered
	Memories int      `json:"memories"`       // that were recalled
	Days     int      `json:"days"`           // that it looked back
	Promoted []string `json:"promoted"`       // ids of memories, best first
	Held     []string `json:"held,omitempty"` // ids of memories that a person must confirm
}

// MadeBy is the event's origin. Events that were recorded before the record had the field have it worked out from
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

// sourceOf is the source of what no session asks for.
func sourceOf(op string) Source {
	switch op {
	case OpSnapshot, OpObserved, OpDrift, OpUndone:
		return FromHand
	}
	return FromCommand
}

var oldSummary = regexp.MustCompile(`^dreaming: ([0-9]+) recalls of ([0-9]+) memories in ([0-9]+) days; ` +
	`promoted [^;]+(?:; held back for a person ([^;]+))?$`)

// oldSweep reads the rationale that sweeps gave their edits when the record had no origin, and what they cited. A
// rationale names at most 20 of the memories that were held back.
func (e Event) oldSweep() (*Sweep, bool) {
	m := oldSummary.FindStringSubmatch(e.Rationale)
	if m == nil || e.File != workspace.MemoryFile || grammar.Op(e.Op) != grammar.AppendItem ||
		!workspace.IsDreamed(e.Section) {
		return nil, false
	}
	sweep := &Sweep{}
	for i, n := range []*int{&sweep.Recalls, &sweep.Memories, &sweep.Days} {
		*n, _ = strconv.Atoi(m[i+1]) // digits; of too many the largest number
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

// origin is what the event of a request has as its origin.
func (q Request) origin() *Origin {
	origin := q.Origin
	switch {
	case q.decided != nil:
		origin = Origin{Source: FromProposal}
	case q.Op == grammar.Promote:
		origin = Origin{Source: FromCommand}
	case origin.Source == "":
		origin.Source = FromSession
	}
	return &origin
}

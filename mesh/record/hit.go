package record

import (
	"strconv"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// Accesses is how often, and when last, the audience itself has found a memory: RFC-0011 §2.2's access_count and
// last_accessed. They are counted from the recall entries of the audience's own ledger, so that a search writes to no
// table, and folded into the rows of the audience's own memory_entries when those are written anyway.
//
// SECURITY: what a DM finds leaves no trace in the shared store or a group's, and what a group finds none outside its
// own: no ledger or table counts what another audience was looking for.
type Accesses struct {
	Count int32     `json:"count"`
	Last  time.Time `json:"last,omitzero"` // UTC, milliseconds; zero if Count is 0
}

// Hit is a memory as an audience sees it: found by a search, or looked up.
type Hit struct {
	*Record
	Visibility Visibility
	Link       string  // the resource of the workspace file that it is a passage of, "" for a memory
	Score      float64 // 0..1, two decimals; 0 if there was no query
	Elsewhere  string  // the short name of its project, if that is not the session's
	Passage    string  // the part of a long memory that fits the query best, "" for its beginning
	Place      string  // where the passage is: "part 7 of 12, offset 8123", or "line 40" of a file; "" for a whole memory
	// Strength is the ranking's own measure before Score became a probability, 0 to 1. Dreaming counts it.
	Strength float64
	// Probability is the estimate that the memory answers the query, 0 to 1; 0 if there was no query. A later hit can
	// have a higher one: Score is of the order.
	Probability float64
	Signals     []Signal
	Accesses    Accesses  // set by mesh.View.Get only
	Replaced    []Past    // what it replaced, the latest last
	Past        *Revision // why it is not current, nil if it is
	Corrects    string    // an older result that it says is not so any more, without superseding it; "" for none
	Standing    bool      // it is a standing instruction or a preference, see IsStanding, or replaced one
	Sightings   int       // texts that were counted for it because they have its words; 0 for one
}

// Before returns what the memory replaced last, on one line of up to maxChars characters, "" if it replaced nothing. A
// short correction such as "He retired." does not say what it is about.
func (h Hit) Before(maxChars int) string {
	if len(h.Replaced) == 0 {
		return ""
	}
	return text.Shorten(text.OneLine(h.Replaced[len(h.Replaced)-1].Content), maxChars)
}

// From returns the source of the memory as an audience called home is told it: of another group's memory the group,
// with the source that was given there in quotes.
//
// SECURITY: a group can store any source, "user" too, and one that reads like another memory. A quoted source cannot.
func (h Hit) From(home Visibility) string {
	switch {
	case !h.Foreign(home):
		return h.Source
	case h.Source == "":
		return string(h.Visibility)
	}
	return string(h.Visibility) + " as " + strconv.Quote(h.Source)
}

// Quote returns s, or if the memory is another group's than home, s in quotes and with the group's name.
//
// SECURITY: it is for lists that a model reads as text, where nothing else separates what strangers said.
func (h Hit) Quote(home Visibility, s string) string {
	if !h.Foreign(home) {
		return s
	}
	return string(h.Visibility) + " said: " + strconv.Quote(s)
}

// Foreign reports whether the memory is that of a group other than home.
func (h Hit) Foreign(home Visibility) bool { return h.Visibility.Group() != "" && h.Visibility != home }

// Past is a memory that another one replaced.
type Past struct {
	*Record
	Until time.Time // when it stopped being true
	Why   string
}

// Signal is what one part of the ranking contributed to a score.
type Signal struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

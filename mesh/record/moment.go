package record

import (
	"cmp"
	"strings"
	"time"
)

// Moment is the place of a ledger entry among those of all compartments. How fast the machine is does not decide it:
// the entries of one compartment that share a millisecond have the order of their ledger, and entries of different
// compartments share one only if they were written at the same time, see ledger.Append.
type Moment struct {
	Time        time.Time // when the entry was written, or an imported memory made: UTC, milliseconds
	Compartment Visibility
	Seq         int64 // of the entry in the compartment's ledger
}

// Compare returns a negative number if m is earlier than other, a positive number if it is later, and 0 for the same
// entry.
func (m Moment) Compare(other Moment) int {
	return cmp.Or(
		m.Time.Compare(other.Time),
		strings.Compare(string(m.Compartment), string(other.Compartment)),
		cmp.Compare(m.Seq, other.Seq),
	)
}

// Stored returns when the memory was stored.
func (h Hit) Stored() Moment { return Moment{h.CreatedAt, h.Visibility, h.Seq} }

// CompareStored orders memories by when they were stored, the oldest first.
func CompareStored(a, b Hit) int { return a.Stored().Compare(b.Stored()) }

// Stored returns when the skill was first stored; later texts do not change it.
func (h SkillHit) Stored() Moment { return Moment{h.CreatedAt, h.Visibility, h.Seq} }

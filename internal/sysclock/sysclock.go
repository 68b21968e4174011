// Package sysclock is the default clock of everything that writes dates.
//
// Its invariant: it is the machine's, unless the program was linked to be another day for a test; nothing that is set
// at run time changes it.
package sysclock

import "time"

// shift is how far the clock is from the machine's, in the form of time.ParseDuration. Tests set it with
// -ldflags "-X github.com/yamo-protocol/yamo-mcp/internal/sysclock.shift=-24h".
var shift string

// offset is shift; a wrong one is the machine's time.
var offset, _ = time.ParseDuration(shift)

// Now returns the current time.
func Now() time.Time { return time.Now().Add(offset) }

// Package sysclock is the default clock of everything that writes dates.
//
// Its invariant: it is the machine's, unless the program was linked to be another day for a test; no flag, setting or
// variable changes it.
package sysclock

import (
	"os"
	"strings"
	"time"
)

// shift is how far the clock is from the machine's, in the form of time.ParseDuration. Tests set it with
// -ldflags "-X github.com/yamo-protocol/yamo-mcp/internal/sysclock.shift=-24h". In a program that is linked with
// "beside" it is what the file with the program's name and ".clock" contains when the program starts, so that one
// program can be of many days.
var shift string

// offset is shift; a wrong one is the machine's time.
var offset, _ = time.ParseDuration(distance())

// distance returns shift, or what the file beside the program contains if shift is "beside"; "" without that file.
func distance() string {
	if shift != "beside" {
		return shift
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	data, err := os.ReadFile(path + ".clock")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// Now returns the current time.
func Now() time.Time { return time.Now().Add(offset) }

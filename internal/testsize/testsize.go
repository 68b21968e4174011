// Package testsize decides how much of a large test runs.
//
// A test that draws from many cases, or repeats a random one, has a usual size, which is enough to notice a fault that
// is not rare, and a full one for `make prove` and the nightly run, which set YAMO_PROVE.
package testsize

import "os"

// Full reports whether tests run in their full size.
func Full() bool { return os.Getenv("YAMO_PROVE") != "" }

// Pick returns full if tests run in their full size, and usual otherwise.
func Pick(usual, full int) int {
	if Full() {
		return full
	}
	return usual
}

package page

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// The script is the file dist/htmx.min.js of the npm package htmx.org 2.0.11, unchanged.
const htmxSum = "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"

func TestScriptIsTheReleasedOne(t *testing.T) {
	t.Parallel()
	data, err := assets.ReadFile("assets/htmx.min.js")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != htmxSum {
		t.Errorf("htmx.min.js has the SHA-256 %s, want %s", got, htmxSum)
	}
}

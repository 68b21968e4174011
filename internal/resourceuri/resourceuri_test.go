package resourceuri_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
)

func ExampleFile() {
	fmt.Println(resourceuri.File("SOUL.md"))
	fmt.Println(resourceuri.File("notes/to do?.md"))
	// Output:
	// yamo://workspace/SOUL.md
	// yamo://workspace/notes/to%20do%3F.md
}

func ExampleParseFile() {
	fmt.Println(resourceuri.ParseFile("yamo://workspace/notes/to%20do%3F.md"))
	fmt.Println(resourceuri.ParseFile("yamo://workspace/%53OUL.md")) // an alias of SOUL.md
	// Output:
	// notes/to do?.md true
	//  false
}

func TestEvidence(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		resourceuri.Evidence("ev:a/b c"):          "ev:a/b c",
		resourceuri.EvidencePrefix + "ev%3Athere": "ev:there",
		resourceuri.EvidencePrefix:                "",
		resourceuri.EvidencePrefix + "%zz":        "",
		resourceuri.Startup:                       "",
	} {
		token, ok := resourceuri.ParseEvidence(uri)
		if ok != (want != "") {
			t.Errorf("ParseEvidence(%q) ok = %t", uri, ok)
		}
		if ok && token != want {
			t.Errorf("ParseEvidence(%q) = %q, want %q", uri, token, want)
		}
	}
}

// One file, one URI: File and ParseFile are inverse, whatever the name or URI.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		"SOUL.md", "%53OUL.md", "memory%2F2026-02-14.md", "../SOUL.md", "x/%2e%2e/SOUL.md", "a b?#c",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if name, ok := resourceuri.ParseFile(resourceuri.File(text)); !ok || name != text {
			t.Errorf("ParseFile(File(%q)) = %q, %t", text, name, ok)
		}
		uri := text
		if !strings.HasPrefix(uri, resourceuri.FilePrefix) {
			uri = resourceuri.FilePrefix + text
		}
		if name, ok := resourceuri.ParseFile(uri); ok && resourceuri.File(name) != uri {
			t.Errorf("%q is an alias of %q and is accepted", uri, resourceuri.File(name))
		}
	})
}

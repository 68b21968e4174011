package passage_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/workspace/passage"
)

// Of a long MEMORY.md the first and the newest sections remain, in no more characters than allowed.
func TestNewest(t *testing.T) {
	t.Parallel()
	var memory strings.Builder
	memory.WriteString("# Memory\n\n## Preferences\n\n- Tea.\n")
	for i := range 400 {
		fmt.Fprintf(&memory, "\n## Section %d\n\n- Fact %d is of medium length, as facts often are.\n", i, i)
	}
	kept := passage.Newest(memory.String(), 3000)
	for _, want := range []string{"- Tea.", "Fact 399 ", "Fact 390 ", "[…]"} {
		if !strings.Contains(kept, want) {
			t.Errorf("MEMORY.md lacks %q", want)
		}
	}
	for n := range 400 {
		if size := utf8.RuneCountInString(passage.Newest(memory.String(), n)); size > n {
			t.Errorf("up to %d characters: got %d", n, size)
		}
	}
}

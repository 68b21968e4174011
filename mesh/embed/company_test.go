package embed

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A text has one vector, to the last bit, whatever it is embedded together with: which texts share a batch is a matter
// of timing, and a search must not depend on it.
func TestVectorsDoNotDependOnCompany(t *testing.T) {
	requireAssets(t)
	l := shared()
	var texts []string
	for _, n := range []int{3, 4, 7, 8, 9, 15, 17, 30, 33, 60, 100, 150, 254, 400} {
		texts = append(texts, words(n, 1), words(n, 2), words(n, 3))
	}
	texts = append(texts, "", "x", strings.Repeat("canary ", 300), "Ærøskøbing, 東京, 🦜")
	together, err := l.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		single, err := l.Embed(t.Context(), []string{text})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(single[0], together[i]); diff != "" {
			t.Errorf("%s (-single +together):\n%s", fmt.Sprintf("%.40q", text), diff[:min(len(diff), 500)])
		}
	}
}

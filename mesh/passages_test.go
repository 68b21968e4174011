package mesh

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// prose is n bytes of English: this project's documents.
func prose(t *testing.T, n int) string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"../docs/*.md", "../docs/adr/*.md", "../*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	var b strings.Builder
	for b.Len() < n {
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(text)
			b.WriteString("\n\n")
		}
	}
	return b.String()[:n]
}

// A sentence in 370 kB of other text is first when it is asked for in its own words, at once, and
// among the first five for a question in other words, next to short memories about similar things. The result quotes it
// with its place.
func TestPlantedSentences(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/planted.txt")
	if err != nil {
		t.Fatal(err)
	}
	questions, short := map[string]string{}, notes(200)
	var facts []string
	for line := range strings.Lines(string(raw)) {
		fact, question, planted := strings.Cut(strings.TrimSpace(line), " | ")
		switch {
		case planted:
			questions[fact], facts = question, append(facts, fact)
		case !strings.HasPrefix(fact, "#"):
			short = append(short, fact)
		}
	}
	paragraphs := strings.Split(prose(t, 370_000), "\n\n")
	for i, fact := range facts {
		at := len(paragraphs) * (2*i + 1) / (2 * len(facts))
		paragraphs[at] += " " + fact + " " + paragraphs[at+1]
	}
	v := open(t, t.TempDir(), audience.DM(), model(t))
	long := keep(t, v, record.Memory{Content: strings.Join(paragraphs, "\n\n")})
	for _, text := range short {
		keep(t, v, record.Memory{Content: text})
	}
	ask := func(query string) (place int, hit record.Hit) {
		t.Helper()
		hits := search(t, v, SearchRequest{Query: query}).Hits
		place = slices.IndexFunc(hits, func(h record.Hit) bool { return h.ID == long.ID })
		if place >= 0 {
			hit = hits[place]
		}
		return place, hit
	}
	check := func(when string) {
		t.Helper()
		for _, fact := range facts {
			place, hit := ask(fact)
			if place != 0 {
				t.Errorf("%s: %q is at place %d", when, fact, place)
				continue
			}
			if !strings.Contains(strings.Join(strings.Fields(hit.Passage), " "), fact) {
				t.Errorf("%s: the passage of %q is %q", when, fact, hit.Passage)
			}
			if !strings.HasPrefix(hit.Place, "part ") || !strings.Contains(hit.Place, ", offset ") {
				t.Errorf("%s: the place of %q is %q", when, fact, hit.Place)
			}
		}
	}
	if found := search(t, v, SearchRequest{Query: facts[0]}); found.Pending == 0 {
		t.Error("everything has a vector at once")
	}
	check("at once")
	settleVectors(t, v)
	check("with vectors")
	among := 0
	for fact, question := range questions {
		if place, _ := ask(question); place >= 0 && place < 5 {
			among++
		} else {
			t.Logf("%q: %q is at place %d", question, fact, place)
		}
	}
	if among < len(facts)-2 {
		t.Errorf("%d of %d questions find their sentence among the first five", among, len(facts))
	}
	for _, text := range short[200:] {
		if hits := search(t, v, SearchRequest{Query: text}).Hits; hits[0].Content != text {
			t.Errorf("%q is not the first result for itself", text)
		}
	}
}

package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

func TestTwin(t *testing.T) {
	t.Parallel()
	kept := record.Record{ID: "mem_1_a", AgentID: "kate", Memory: record.Memory{Content: "text", Type: "event"}}
	for name, test := range map[string]struct {
		change func(*record.Record)
		twin   bool
	}{
		"the same":        {func(*record.Record) {}, true},
		"other tags":      {func(r *record.Record) { r.Tags = []string{"new"} }, true},
		"another text":    {func(r *record.Record) { r.Content = "Text" }, false},
		"another type":    {func(r *record.Record) { r.Type = "global" }, false},
		"another session": {func(r *record.Record) { r.SessionID = "s1" }, false},
		"another agent":   {func(r *record.Record) { r.AgentID = "tom" }, false},
		"another skill":   {func(r *record.Record) { r.Skill = "tea" }, false},
	} {
		p := projection(t)
		p.Add(&kept)
		asked := kept
		asked.ID = ""
		test.change(&asked)
		s := p.Snapshot()
		if got := s.Twin(&asked) != nil; got != test.twin {
			t.Errorf("%s: a twin %v, want %v", name, got, test.twin)
		}
		s.Release()
		p.Remove("mem_1_a")
		s = p.Snapshot()
		if s.Twin(&asked) != nil {
			t.Errorf("%s: a removed memory is a twin", name)
		}
		s.Release()
	}
}

// RFC-0011 §8.2: of the lessons of a pattern the most certain counts, the earlier of equals, and one that had expired
// when the next was stored counts no more. A deletion makes the next best count again.
func TestLessonsContend(t *testing.T) {
	t.Parallel()
	lesson := func(id string, confidence float64, age time.Duration) *record.Record {
		return &record.Record{
			ID: id, CreatedAt: epoch.Add(-age),
			Lesson: &record.Lesson{PatternID: "p", RuleConfidence: confidence},
		}
	}
	const old = 400 * 24 * time.Hour // more than projection's retention
	for name, test := range map[string]struct {
		lessons []*record.Record
		remove  string
		want    string
	}{
		"the more certain":           {[]*record.Record{lesson("a", .7, 0), lesson("b", .8, 0)}, "", "b"},
		"not the less certain":       {[]*record.Record{lesson("a", .8, 0), lesson("b", .7, 0)}, "", "a"},
		"the first of equals":        {[]*record.Record{lesson("a", .7, 0), lesson("b", .7, 0)}, "", "a"},
		"not an expired one":         {[]*record.Record{lesson("a", .9, old), lesson("b", .7, 0)}, "", "b"},
		"the next best":              {[]*record.Record{lesson("a", .7, 0), lesson("b", .8, 0)}, "b", "a"},
		"none":                       {[]*record.Record{lesson("a", .7, 0)}, "a", ""},
		"others do not need to move": {[]*record.Record{lesson("a", .7, 0), lesson("b", .8, 0)}, "a", "b"},
	} {
		p := projection(t)
		p.Add(test.lessons...)
		if test.remove != "" {
			p.Remove(test.remove)
		}
		s := p.Snapshot()
		got := ""
		if best := s.Lesson("p"); best != nil {
			got = best.ID
		}
		if got != test.want {
			t.Errorf("%s: %q is the lesson, want %q", name, got, test.want)
		}
		if n := len(s.Lessons()); n != min(1, len(test.want)) {
			t.Errorf("%s: %d lessons of one pattern", name, n)
		}
		s.Release()
	}
}

func TestReflectionsOfOneKey(t *testing.T) {
	t.Parallel()
	made := func(id, method string) *record.Record {
		return &record.Record{ID: id, Reflection: &record.Reflection{Key: "k", Method: method}}
	}
	for name, test := range map[string]struct {
		made   []*record.Record
		remove string
		want   string
	}{
		"the first extract":     {[]*record.Record{made("a", record.ByExtract), made("b", record.ByExtract)}, "", "a"},
		"a model's":             {[]*record.Record{made("a", record.ByExtract), made("b", record.ByModel)}, "", "b"},
		"the first model's":     {[]*record.Record{made("a", record.ByModel), made("b", record.ByModel)}, "", "a"},
		"no extract after it":   {[]*record.Record{made("a", record.ByModel), made("b", record.ByExtract)}, "", "a"},
		"the extract again":     {[]*record.Record{made("a", record.ByExtract), made("b", record.ByModel)}, "b", "a"},
		"an extract that is on": {[]*record.Record{made("a", record.ByExtract), made("b", record.ByExtract)}, "a", "b"},
	} {
		p := projection(t)
		p.Add(test.made...)
		if test.remove != "" {
			p.Remove(test.remove)
		}
		s := p.Snapshot()
		if got := s.Reflection("k"); got == nil || got.ID != test.want {
			t.Errorf("%s: %+v, want %s", name, got, test.want)
		}
		s.Release()
	}
}

// The neighbours of a memory are those of its session that are still there.
func TestSessionsSkipWhatIsRemoved(t *testing.T) {
	t.Parallel()
	p := projection(t)
	say := func(id, session string) {
		p.Add(&record.Record{ID: id, Memory: record.Memory{Content: "text " + id, SessionID: session}})
	}
	say("a", "s")
	say("b", "other")
	say("c", "s")
	p.Remove("c") // the last of its session
	say("d", "s")
	say("e", "")
	s := p.Snapshot()
	defer s.Release()
	if before, _ := s.Keywords.Neighbours(3); before != 0 {
		t.Errorf("d comes after document %d of its session, want 0", before)
	}
	if s.Docs[0].Session != s.Docs[3].Session || s.Docs[0].Session == s.Docs[1].Session {
		t.Errorf("sessions %d, %d, %d", s.Docs[0].Session, s.Docs[1].Session, s.Docs[3].Session)
	}
	if s.Docs[4].Session != -1 {
		t.Errorf("a memory without a session is in session %d", s.Docs[4].Session)
	}
	if s.Sessions != 2 {
		t.Errorf("%d sessions, want 2", s.Sessions)
	}
}

// docs/ranking.md: nothing up to 60 words, .1 for each doubling, at most .3.
func TestLongMemoriesRankLower(t *testing.T) {
	t.Parallel()
	for words, want := range map[int]float32{1: 0, 60: 0, 120: .1, 240: .2, 480: .3, 4000: .3} {
		p := projection(t)
		var text strings.Builder
		for i := range words {
			fmt.Fprintf(&text, "w%d ", i)
		}
		p.Add(&record.Record{ID: "a", Memory: record.Memory{Content: text.String()}})
		s := p.Snapshot()
		if got := s.Docs[0].Long; got < want-.001 || got > want+.001 {
			t.Errorf("%d words: %v, want %v", words, got, want)
		}
		s.Release()
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	sentence := "The ferry to the island leaves at ten past nine in the morning. "
	for name, test := range map[string]struct {
		text string
		has  bool
	}{
		"empty": {"", false}, "short": {sentence, false}, "long": {strings.Repeat(sentence, 40), true},
		"one word": {strings.Repeat("x", 5000), true},
	} {
		if got := HasParts(test.text); got != test.has {
			t.Errorf("%s: has parts %v, want %v", name, got, test.has)
		}
	}
	text := strings.Repeat(sentence, 40)
	parts := (&Passages{Chunks: Chunks(text), text: text}).Embedded()
	if len(parts) < 2 {
		t.Fatalf("%d parts", len(parts))
	}
	for i, part := range parts {
		if n := scrub.EstimateTokens(part); n > seenTokens {
			t.Errorf("part %d has %d tokens, more than the %d that the model sees", i, n, seenTokens)
		}
		if !strings.Contains(text, part) {
			t.Errorf("part %d is not in the text: %q", i, part)
		}
	}
	if last := parts[len(parts)-1]; !strings.HasSuffix(strings.TrimSpace(text), strings.TrimSpace(last)) {
		t.Errorf("the end of the text is in no part; the last is %q", last)
	}
}

// The keyword index of RFC-0011 §5.1 is built late and then follows: it has what is there at each call.
func TestBM25Follows(t *testing.T) {
	t.Parallel()
	p := projection(t)
	add := func(id, text string) {
		p.Add(&record.Record{ID: id, Memory: record.Memory{Content: text}})
	}
	match := func() map[int]float64 {
		s := p.Snapshot()
		defer s.Release()
		index, release := s.BM25()
		defer release()
		terms := keyword.Terms("kettle")
		var stats keyword.BM25Statistics
		index.Count(terms, &stats)
		return index.Match(terms, stats)
	}
	want := func(when string, docs ...int) {
		t.Helper()
		got := match()
		wanted := map[int]bool{}
		for _, doc := range docs {
			wanted[doc] = true
		}
		for doc, score := range got {
			if !wanted[doc] || score <= 0 {
				t.Errorf("%s: document %d with %v", when, doc, score)
			}
		}
		if diff := cmp.Diff(len(docs), len(got)); diff != "" {
			t.Errorf("%s: number of matches (-want +got):\n%s", when, diff)
		}
	}
	add("a", "the kettle boils")
	add("b", "the kettle was removed before anyone looked")
	add("c", "the oven")
	p.Remove("b")
	want("at first", 0)
	add("d", "another kettle")
	want("after an addition", 0, 3)
	p.Remove("a")
	want("after a removal", 3)
}

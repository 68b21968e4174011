package integration

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
)

// significant is the |t| from which two samples differ, as dudect has it: by chance, one comparison in 100,000 does.
const significant = 4.5

// How long a group's search takes does not depend on what a DM in the same process has stored and searched, by the
// method of dudect (Reparaz, Balasch, Verbauwhede: "Dude, is my code constant time?"): queries of two classes come in
// random order, and Welch's t-test compares their times.
func TestTimesOfAGroupsSearches(t *testing.T) {
	t.Parallel()
	workspace := sample(t)
	at := startHTTP(t, launch{workspace: workspace})
	dm := connect(t, launch{
		workspace: workspace, over: overHTTP, at: at, token: at.NewToken("--connection", "dm"),
	})
	defer dm.end()
	group := connect(t, launch{
		workspace: workspace, over: overHTTP, at: at, token: at.NewToken("--connection", "group", "--group", club),
	})
	defer group.end()

	random := rand.New(rand.NewPCG(3, 5))
	size := testsize.Pick(40, 1000)
	for _, sentence := range sentences(random, 20) {
		group.store(sentence, nil)
	}
	private := sentences(random, 2*size)
	for i, sentence := range private {
		if i < size {
			dm.store(sentence, nil)
		}
		dm.search(sentence, nil)
	}

	// The DM is active while the group's searches are measured.
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i = (i + 1) % len(private) {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				dm.try("tools/call", map[string]any{
					"name": "memory_search", "arguments": map[string]any{"query": private[i]},
				})
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	for _, sentence := range sentences(random, 20) {
		group.search(sentence, nil) // until nothing is done for the first time
	}

	var first float64
	for round, known := range [][]string{private[:size], private[size:]} {
		value := welch(timesOf(group, random, known, sentences(random, size)))
		t.Logf("what the DM has stored and searched, or searched only, against what nobody has: t = %.1f", value)
		if round == 0 {
			first = value
		} else if math.Abs(first) > significant && math.Abs(value) > significant && first*value > 0 {
			// One of them alone may be the machine's.
			t.Errorf("the times of a group's searches show what a DM has: t = %.1f and %.1f", first, value)
		}
	}

	// What follows shows that the method would notice: the group's own repeated queries, which need no model. Its cache
	// of 1,000 texts must have them still while others are asked.
	own := sentences(random, min(size, 250))
	for _, sentence := range own {
		group.search(sentence, nil)
	}
	if value := welch(timesOf(group, random, own, sentences(random, len(own)))); math.Abs(value) < significant {
		t.Errorf("repeated queries take as long as others by this measurement (t = %.1f), so it shows nothing", value)
	}
}

// sentences returns n sentences of eight words, which are a token each.
func sentences(random *rand.Rand, n int) []string {
	words := strings.Fields(`river table window garden winter summer letter music paper stone bridge market doctor
		teacher mother father kitchen forest island mountain station school church castle horse engine bottle silver
		copper cotton sugar butter`)
	list := make([]string, n)
	for i := range list {
		random.Shuffle(len(words), func(a, b int) { words[a], words[b] = words[b], words[a] })
		list[i] = strings.Join(words[:8], " ")
	}
	return list
}

// timesOf searches for the texts of two classes in random order, and returns what each took, in seconds.
func timesOf(s *session, random *rand.Rand, a, b []string) (ofA, ofB []float64) {
	s.tb.Helper()
	a, b = slices.Clone(a), slices.Clone(b)
	for len(a)+len(b) > 0 {
		from, to := &a, &ofA
		if random.IntN(len(a)+len(b)) >= len(a) {
			from, to = &b, &ofB
		}
		start := time.Now()
		s.search((*from)[0], nil)
		*to = append(*to, time.Since(start).Seconds())
		*from = (*from)[1:]
	}
	return ofA, ofB
}

// welch returns Welch's t of two samples without what is above the 80th percentile of both: what interrupts a request
// says nothing about what it does.
func welch(a, b []float64) float64 {
	all := slices.Sorted(slices.Values(slices.Concat(a, b)))
	limit := all[len(all)*8/10]
	mean := func(list []float64) (mean, spread float64) {
		list = slices.DeleteFunc(slices.Clone(list), func(v float64) bool { return v > limit })
		n := float64(len(list))
		for _, v := range list {
			mean += v / n
		}
		for _, v := range list {
			spread += (v - mean) * (v - mean) / (n - 1)
		}
		return mean, spread / n
	}
	meanOfA, ofA := mean(a)
	meanOfB, ofB := mean(b)
	return (meanOfA - meanOfB) / math.Sqrt(ofA+ofB)
}

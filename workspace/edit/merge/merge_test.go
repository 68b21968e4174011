package merge

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
)

func TestBodies(t *testing.T) {
	t.Parallel()
	const refused = "refused"
	for name, c := range map[string]struct{ base, ours, theirs, want string }{
		"another paragraph": {
			"\n\nSail.\n\nFar.\n", "\n\nSail.\n\nVery far.\n", "\n\nRow.\n\nFar.\n", "\n\nRow.\n\nVery far.\n",
		},
		"an item after it":  {"- a\n- b\n", "- a\n- b\n- mine\n", "- a\n", "- a\n- mine\n"},
		"an item before it": {"- a\n- b\n", "- mine\n- a\n- b\n", "- a\n", "- mine\n- a\n"},
		"the item next to it": {
			"- a\n- b\n- c\n", "- a\n- b\n- see\n", "- a\n- c\n", "- a\n- see\n",
		},
		"put back between":  {"- a\n- c\n- d\n", "- a\n- c\n- e\n", "- a\n- b\n- c\n- d\n", "- a\n- b\n- c\n- e\n"},
		"ours is theirs":    {"- b\n", "- a\n", "- a\n", "- a\n"},
		"ours is base":      {"- b\n\n", "- b\n\n\n", "- a\n\n", "- a\n\n\n"},
		"line ends":         {"- a\n- b\n", "- a\r\n- b\r\n- c\r\n", "- a\n", "- a\r\n- c\r\n"},
		"stay apart":        {"Sail.\n\nFar.\n", "Sail.\n\nFar.\n\nMine.\n", "Sail.\n", "Sail.\n\nMine.\n"},
		"no line end":       {"- a\n- b", "- a\n- b\n- c", "- a", "- a\n- c"},
		"all of it removed": {"\n\n- a\n\n", "\n\n- a\n- mine\n\n", "\n\n", "\n\n- mine\n\n"},

		"a word of it":        {"- The rent is 950.\n", "- The rent is 960.\n", "- The rent is 900.\n", refused},
		"another text":        {"It is 950.\n", "Bus line 25.\n", "It is 900.\n", refused},
		"more in the item":    {"- Berta bakes\n", "- Berta bakes and is 40\n", "- Ana lives here\n", refused},
		"a line below it":     {"- a\n- b\n", "- a\n- b\n  who is mine\n", "- a\n", refused},
		"in its paragraph":    {"Sail.\n", "Sail.\nAnd row.\n", "Walk.\n", refused},
		"removed":             {"- a\n- b\n- c\n", "- a\n- b\n", "- a\n", refused},
		"moved":               {"- a\n- b\n- c\n", "- b\n- a\n- c\n", "- a\n- c\n", refused},
		"repeated":            {"- a\n- b\n- c\n", "- a\n- b\n- c\n- b\n", "- a\n- c\n", refused},
		"in the middle of it": {"- x\n- b\n- c\n", "- x\n- b\n- mine\n- c\n", "- x\n", refused},
		"next to what it removed": {
			"- a\n- c\n", "- a and more\n- c\n", "- a\n- b\n- c\n", refused,
		},
		"where it removed":    {"- a\n- c\n", "- a\n- mine\n- c\n", "- a\n- b\n- c\n", refused},
		"put back by hand":    {"- a\n- c\n- d\n", "- a\n- c\n- d\n- b\n", "- a\n- b\n- c\n- d\n", refused},
		"now a code block":    {"a\n\nb\n", "```\na\n\nb\n```\n", "a\n", refused},
		"one of two the same": {"- b\n- b\n", "- b and more\n- b\n", "- b\n", refused},
	} {
		got, ok := Bodies(c.base, c.ours, c.theirs)
		if !ok {
			got = refused
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// story is a text, an edit of it and what a person did then: lists of numbers, each the number of a unit, so that it is
// known which unit of a result is which.
type story struct{ before, after, now []int }

// tell makes up a story. The edit moves no unit; a person may.
func tell(r *rand.Rand) (s story) {
	next := 0
	change := func(list []int, kinds int) []int {
		list = slices.Clone(list)
		for range 1 + r.IntN(3) {
			at, kind := r.IntN(len(list)+1), r.IntN(kinds)
			next++
			switch {
			case kind == 0 || at == len(list):
				list = slices.Insert(list, at, next)
			case kind == 1:
				list[at] = next
			case kind == 2:
				list = slices.Delete(list, at, at+1)
			default:
				unit := list[at]
				list = slices.Delete(list, at, at+1)
				list = slices.Insert(list, r.IntN(len(list)+1), unit)
			}
		}
		return list
	}
	for range r.IntN(8) {
		next++
		s.before = append(s.before, next)
	}
	s.after = change(s.before, 3)
	s.now = change(s.after, 4)
	return s
}

// body writes units as items, items of two lines, headings and paragraphs. Numbers that are equal modulo same are
// written the same; 0 for none.
func body(list []int, same int) string {
	var out strings.Builder
	out.WriteString("\n\n")
	for _, n := range list {
		if same > 0 {
			n %= same
		}
		form := []string{"- item N\n", "\nParagraph N\nis long.\n\n", "- item N\n  is long\n\n", "### Heading N\n"}[n%4]
		out.WriteString(strings.ReplaceAll(form, "N", strconv.Itoa(n)))
	}
	return out.String()
}

// digits matches the number of a unit.
var digits = regexp.MustCompile(`[0-9]+`)

// only returns the elements of list that are in others.
func only(list, others []int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(n int) bool { return !slices.Contains(others, n) })
}

// What is taken back after other changes is refused, or the text is what the person's changes make of the text before
// the edit: its units and theirs, each in its order, none of the edit's, and no other.
func TestBodiesInventNothing(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(14, 1))
	merged, cases := 0, testsize.Pick(4000, 400000)
	for range cases {
		s := tell(r)
		got, ok := Bodies(body(s.after, 0), body(s.now, 0), body(s.before, 0))
		if !ok || slices.Equal(s.now, s.before) {
			continue
		}
		merged++
		name := fmt.Sprintf("before %v, after %v, now %v", s.before, s.after, s.now)
		var numbers []int
		for _, u := range split(got)[1:] {
			n, err := strconv.Atoi(digits.FindString(u.text))
			if err != nil || u.key != split(body([]int{n}, 0))[1].key {
				t.Fatalf("%s: no one wrote %q", name, u.text)
			}
			numbers = append(numbers, n)
		}
		var want []int
		for _, n := range s.before { // without what the person removed
			if slices.Contains(s.now, n) || !slices.Contains(s.after, n) {
				want = append(want, n)
			}
		}
		for _, n := range s.now { // with what they added
			if !slices.Contains(s.after, n) {
				want = append(want, n)
			}
		}
		for _, n := range s.after {
			if !slices.Contains(s.before, n) && !slices.Contains(s.now, n) {
				t.Fatalf("%s: the person changed %d of the edit, and the result is %v", name, n, numbers)
			}
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(numbers))); diff != "" {
			t.Fatalf("%s: units (-want +got):\n%s", name, diff)
		}
		if !slices.Equal(only(s.now, numbers), only(numbers, s.now)) {
			t.Fatalf("%s: %v is not in the order of the present text", name, numbers)
		}
		moved := !slices.Equal(only(s.now, s.after), only(s.after, s.now))
		if !moved && !slices.Equal(only(s.before, numbers), only(numbers, s.before)) {
			t.Fatalf("%s: %v is not in the order of the text before the edit", name, numbers)
		}
	}
	if merged < cases/20 {
		t.Errorf("only %d of %d were merged", merged, cases)
	}
}

// The same for texts that repeat themselves: each unit is there as often as the changes say.
func TestBodiesCount(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(14, 2))
	for range testsize.Pick(4000, 400000) {
		s := tell(r)
		same := 2 + r.IntN(6)
		checkCounts(t, body(s.after, same), body(s.now, same), body(s.before, same))
	}
}

// checkCounts fails the test if a merge has another number of any unit than its texts.
func checkCounts(t *testing.T, base, ours, theirs string) {
	t.Helper()
	got, ok := Bodies(base, ours, theirs)
	if !ok || seal.Canonical(ours) == seal.Canonical(theirs) {
		return
	}
	count := map[string]int{}
	for _, c := range []struct {
		body string
		n    int
	}{{got, 1}, {base, 1}, {ours, -1}, {theirs, -1}} {
		for _, u := range split(c.body) {
			count[u.key] += c.n
		}
	}
	for key, n := range count {
		if n != 0 {
			t.Fatalf("%d times too often:\n%s\nbase:\n%s\nours:\n%s\ntheirs:\n%s\nmerged:\n%s", n, key, base, ours, theirs,
				got)
		}
	}
}

func FuzzBodies(f *testing.F) {
	f.Add("\n\n- a\n- b\n", "\n\n- a\n- b\n- c\n", "\n\n- a\n")
	f.Add("a\n\nb", "a\n\nb\n\n```\nc", "a")
	f.Add("\r\n- a\r\n\r\n  b\r\n- c", "- a\n\n  b\n- c\n| d |\n", "- a\n\n  b\n")
	f.Add("<!-- a\n\n", "<!-- a\n\n-->\n- b", "# a\n- b")
	f.Fuzz(checkCounts)
}

package history

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"regexp"
	"slices"
	"strings"
)

// Names names the logs of one source's sessions. Two sessions with one ID have two names, unless the second is the
// beginning of the first or the same: programs keep a session twice when they change its form. The zero value is valid.
type Names struct {
	turns map[string][]uint64 // hashes of the turns, by name
	seed  maphash.Seed
}

// Of returns the name of the log of s. again reports that a session before s has all of its turns. A session without
// turns has no log.
func (n *Names) Of(s Session) (name string, again bool) {
	if len(s.Turns) == 0 {
		return "", false
	}
	if n.turns == nil {
		n.turns, n.seed = map[string][]uint64{}, maphash.MakeSeed()
	}
	hashes := make([]uint64, len(s.Turns))
	for i, t := range s.Turns {
		hashes[i] = maphash.String(n.seed, t.Text) ^ maphash.String(n.seed, t.Role)<<1
	}
	id := s.ID
	if id == "" { // the same in the next archive
		first := fnv.New64a()
		_, _ = first.Write([]byte(s.Turns[0].Text)) // it never fails
		id = fmt.Sprintf("session-%016x", first.Sum64())
	}
	name = fileName(id)
	for number := 2; ; number++ {
		before, taken := n.turns[name]
		if taken && isPrefix(hashes, before) {
			return name, true
		}
		if !taken {
			n.turns[name] = hashes
			return name, false
		}
		name = fmt.Sprintf("%s-%d", fileName(id), number)
	}
}

func isPrefix(some, all []uint64) bool {
	return len(some) <= len(all) && slices.Equal(some, all[:len(some)])
}

// odd is what the name of a session log cannot have.
var odd = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// fileName returns id as the name of a session log.
func fileName(id string) string {
	id = strings.TrimLeft(odd.ReplaceAllString(id, "-"), "._-")
	return cmp.Or(id[:min(len(id), 120)], "session")
}

package rank

import (
	"math"
	"slices"
)

// leader is a memory with its score: document doc of the part with that index in Candidates.parts.
type leader struct {
	score     float32
	part, doc int
}

// before reports whether a is ranked before b. Equal scores are decided by place, so that the same search has the same
// order every time.
func (a leader) before(b leader) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	if a.part != b.part {
		return a.part < b.part
	}
	return a.doc < b.doc
}

// leaders keeps the best n of what is added: a heap with the worst of them on top.
type leaders struct {
	list      []leader
	n         int
	threshold float32 // minimum score of a leader, once there are n
}

func newLeaders(n int) *leaders {
	return &leaders{list: make([]leader, 0, n), n: n, threshold: float32(math.Inf(-1))}
}

// add adds l if it is one of the best n so far. It is small enough to be inlined: for most of a large memory the
// comparison with the threshold is all that happens.
func (h *leaders) add(l leader) {
	if l.score >= h.threshold {
		h.insert(l)
	}
}

// insert adds l to the heap, replacing the worst if it is full.
func (h *leaders) insert(l leader) {
	if len(h.list) < h.n {
		h.list = append(h.list, l)
		h.up(len(h.list) - 1)
	} else if l.before(h.list[0]) {
		h.list[0] = l
		h.down()
	}
	if len(h.list) == h.n {
		h.threshold = h.list[0].score
	}
}

// up restores the heap after a change at index at, towards the root.
func (h *leaders) up(at int) {
	for at > 0 {
		parent := (at - 1) / 2
		if h.list[at].before(h.list[parent]) {
			return
		}
		h.list[at], h.list[parent] = h.list[parent], h.list[at]
		at = parent
	}
}

// down restores the heap after a change of the root.
func (h *leaders) down() {
	for at := 0; ; {
		worst := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(h.list); child++ {
			if h.list[worst].before(h.list[child]) {
				worst = child
			}
		}
		if worst == at {
			return
		}
		h.list[at], h.list[worst] = h.list[worst], h.list[at]
		at = worst
	}
}

// sorted returns the leaders, best first. It destroys the heap, so nothing can be added after it.
func (h *leaders) sorted() []leader {
	slices.SortFunc(h.list, func(a, b leader) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	return h.list
}

package rank

import (
	"math"
	"slices"
)

// leader is a memory with its score: the document doc of a ranking's part.
type leader struct {
	score     float32
	part, doc int
}

// before reports whether a is ranked before b. Of equals the one stored first is.
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
	list  []leader
	n     int
	least float32 // what a leader's score must at least be now
}

func newLeaders(n int) *leaders {
	return &leaders{list: make([]leader, 0, n), n: n, least: float32(math.Inf(-1))}
}

// add is short for almost all of many.
func (h *leaders) add(l leader) {
	if l.score >= h.least {
		h.insert(l)
	}
}

func (h *leaders) insert(l leader) {
	if len(h.list) < h.n {
		h.list = append(h.list, l)
		h.up(len(h.list) - 1)
	} else if l.before(h.list[0]) {
		h.list[0] = l
		h.down()
	}
	if len(h.list) == h.n {
		h.least = h.list[0].score
	}
}

// up moves a leader to where no worse one is below it.
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

// down moves the uppermost to where no worse one is below it.
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

// sorted returns what was kept, best first. Nothing can be added any more.
func (h *leaders) sorted() []leader {
	slices.SortFunc(h.list, func(a, b leader) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	return h.list
}

package mesh

import "slices"

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
	list []leader
	n    int
}

func newLeaders(n int) *leaders { return &leaders{list: make([]leader, 0, n), n: n} }

func (h *leaders) add(l leader) {
	if len(h.list) < h.n {
		h.list = append(h.list, l)
		for at := len(h.list) - 1; at > 0; {
			parent := (at - 1) / 2
			if h.list[at].before(h.list[parent]) {
				break
			}
			h.list[at], h.list[parent] = h.list[parent], h.list[at]
			at = parent
		}
		return
	}
	if h.list[0].before(l) {
		return
	}
	h.list[0] = l
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

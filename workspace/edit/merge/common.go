package merge

import "slices"

// Common returns for each line of next the index of the line of was that it is, -1 for a new one: a longest common
// subsequence.
func Common(was, next []string) []int {
	kept := make([]int, len(next))
	head := 0
	for head < len(was) && head < len(next) && was[head] == next[head] {
		kept[head] = head
		head++
	}
	a, b := was[head:], next[head:]
	tail := 0
	for tail < len(a) && tail < len(b) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		kept[len(next)-1-tail] = len(was) - 1 - tail
		tail++
	}
	a, b = a[:len(a)-tail], b[:len(b)-tail]
	for j := range b {
		kept[head+j] = -1
	}
	// A table of both is too large for two long texts that have nothing in common; then none of it counts as kept.
	if len(a)*len(b) > maxTable {
		return kept
	}
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := range slices.Backward(a) {
		for j := range slices.Backward(b) {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			kept[head+j] = head + i
			i++
			j++
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return kept
}

// maxTable is the maximum number of pairs of lines that are compared.
const maxTable = 16 << 20

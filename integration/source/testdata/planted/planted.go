// Package planted has sorts that TestOrders must find, and some that it must not.
package planted

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"
)

type memory struct {
	ID            string
	CreatedAt     time.Time
	LastTimestamp string
	Seq           int64
	Score         float64
}

func byTime(list []memory) {
	slices.SortFunc(list, func(a, b memory) int { return a.CreatedAt.Compare(b.CreatedAt) })
}

func byTimeLast(list []memory) {
	slices.SortStableFunc(list, func(a, b memory) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.CreatedAt.Compare(a.CreatedAt))
	})
}

func byMilliseconds(list []memory) {
	slices.SortFunc(list, func(a, b memory) int { return cmp.Compare(a.CreatedAt.UnixMilli(), b.CreatedAt.UnixMilli()) })
}

func bySlice(list []memory) {
	sort.Slice(list, func(i, j int) bool { return list[i].CreatedAt.Before(list[j].CreatedAt) })
}

func byText(list []memory) memory {
	return slices.MaxFunc(list, func(a, b memory) int { return strings.Compare(a.LastTimestamp, b.LastTimestamp) })
}

func byID(list []memory) {
	slices.SortFunc(list, func(a, b memory) int { return cmp.Compare(a.ID, b.ID) })
}

func named(a, b memory) int { return a.CreatedAt.Compare(b.CreatedAt) }

func (m memory) older(other memory) bool { return m.CreatedAt.Before(other.CreatedAt) }

func byIndex(list []memory, order []int) {
	slices.SortFunc(order, func(a, b int) int { return list[a].CreatedAt.Compare(list[b].CreatedAt) })
}

func byKey(all map[string]memory, keys []string) string {
	return slices.MinFunc(keys, func(a, b string) int { return all[a].CreatedAt.Compare(all[b].CreatedAt) })
}

type memories []memory

func (m memories) Less(i, j int) bool { return m[i].CreatedAt.Before(m[j].CreatedAt) }

func (m memories) before(a, b memory) bool { return a.CreatedAt.Before(b.CreatedAt) }

var newer = func(a, b memory) bool { return a.CreatedAt.After(b.CreatedAt) }

func bySequence(list []memory) {
	slices.SortFunc(list, func(a, b memory) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Seq, b.Seq))
	})
}

func since(list []memory, at time.Time) []memory {
	return slices.DeleteFunc(list, func(m memory) bool { return m.CreatedAt.Before(at) })
}

func bySequenceOfIndex(list []memory, order []int) {
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(list[a].Seq, list[b].Seq) })
}

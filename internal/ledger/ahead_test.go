package ledger

import (
	"errors"
	"slices"
	"testing"
)

// Entries reach visit in their order and all of them before wait returns; after an error none does.
func TestAhead(t *testing.T) {
	t.Parallel()
	const entries = 1000
	stop := errors.New("stop")
	for _, failing := range []int64{0, 1, 128, 129, entries} {
		var seen []int64
		send, wait := ahead(func(e Entry, at cursor) error {
			if seen = append(seen, e.Seq); e.Seq != at.seq {
				t.Errorf("entry %d comes with the place of %d", e.Seq, at.seq)
			}
			if e.Seq == failing {
				return stop
			}
			return nil
		})
		for seq := int64(1); seq <= entries; seq++ {
			if err := send(Entry{Seq: seq}, cursor{seq: seq}); err != nil {
				if !errors.Is(err, stop) {
					t.Errorf("send: %v", err)
				}
				break
			}
		}
		err := wait()
		want := int64(entries)
		if failing > 0 {
			want = failing
		}
		if (failing > 0) != errors.Is(err, stop) {
			t.Errorf("failing at %d: wait returns %v", failing, err)
		}
		if int64(len(seen)) != want || !slices.IsSorted(seen) {
			t.Errorf("failing at %d: %d entries were visited, the last is %d", failing, len(seen), seen[len(seen)-1])
		}
	}
}

package turns

import "testing"

// Whatever is in a frame of a digest, reading it ends, and what is not a frame is refused.
func FuzzReadFrame(f *testing.F) {
	f.Add((&frame{}).encode())
	f.Add([]byte{})
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0xff, 0xff, 0xff, 0xff, 0x0f, 1})
	f.Fuzz(func(t *testing.T, body []byte) {
		visited := 0
		after, ok := readFrame(body, position{}, func(ordinal int, e entry) {
			if ordinal != visited || len(e.words)%4 != 0 {
				t.Errorf("turn %d has the number %d and %d bytes of words", visited, ordinal, len(e.words))
			}
			visited++
		})
		if ok && after.turns != visited {
			t.Errorf("%d turns were read, and the position says %d", visited, after.turns)
		}
	})
}

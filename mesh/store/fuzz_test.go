package store

import "testing"

// Whatever is in the documents of an image, reading them ends, and what is not documents is refused.
func FuzzReadDocuments(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0})
	f.Add([]byte{1, 1, 1, 'a', 1, 0, 0, 0, 0, 0, 0, 0, 1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, section []byte) {
		n, err := readDocuments(section, make([]held, 100), make([]derived, 100))
		if err == nil && n > len(section) {
			t.Errorf("%d documents in %d bytes", n, len(section))
		}
	})
}

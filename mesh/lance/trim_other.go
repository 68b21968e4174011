//go:build !linux || !cgo

package lance

// trim does nothing: only glibc is known to keep what was freed.
func trim() {}

//go:build !linux || !(amd64 || arm64)

package confine

// Process does nothing on this system, and succeeds: its users have chosen it, and can do nothing about that.
func Process(Allowed) error { return nil }

// Isolate does nothing on this system, like [Process].
func Isolate(func(start func() error) error) error { return nil }

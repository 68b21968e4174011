// Package confine takes from the process what it never needs, so that a defect in a library it uses cannot start a
// program, open a connection, or read the memory of another process.
//
// Its invariant: what was taken cannot be had back, by any thread of the process, or by a program that it starts.
//
// It is the second line of defence: the program's own checks keep audiences apart, and do not rely on it.
//
// The filter is written with golang.org/x/net/bpf. The libraries for seccomp either need libseccomp, or let the system
// calls of other architectures pass, which a processor has beside its own.
package confine

// Allowed is what a process keeps.
type Allowed struct {
	Programs bool // it may start programs
	Network  bool // it may open sockets
}

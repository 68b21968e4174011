package native

// The first run path serves an unpacked release (bin/ next to lib/); link_dev_*.go adds this folder's.

/*
#cgo LDFLAGS: -L${SRCDIR}/cxx -L${SRCDIR}/lib/linux_amd64 -llancedb_go -Wl,-rpath,$ORIGIN/../lib
*/
import "C"

//go:build !release

package native

/*
#cgo LDFLAGS: -Wl,-rpath,${SRCDIR}/lib/linux_amd64
*/
import "C"

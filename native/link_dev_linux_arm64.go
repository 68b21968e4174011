//go:build !release

package native

/*
#cgo LDFLAGS: -Wl,-rpath,${SRCDIR}/lib/linux_arm64
*/
import "C"

//go:build !release

package native

/*
#cgo LDFLAGS: -Wl,-rpath,${SRCDIR}/lib/darwin_arm64
*/
import "C"

package native

// The first run path serves an unpacked release (bin/ next to lib/); link_dev_*.go adds this folder's.

/*
#cgo LDFLAGS: -L${SRCDIR}/lib/darwin_arm64 -llancedb_go -lc++
#cgo LDFLAGS: -framework Security -framework CoreFoundation -framework SystemConfiguration
#cgo LDFLAGS: -Wl,-rpath,@executable_path/../lib
*/
import "C"

package native

// The first run path serves an unpacked release (bin/ beside lib/); link_dev_*.go adds this folder's.

/*
#cgo LDFLAGS: -L${SRCDIR}/lib/darwin_arm64 -llancedb_go -lc++ -framework Security -framework CoreFoundation -framework SystemConfiguration -Wl,-rpath,@executable_path/../lib
*/
import "C"

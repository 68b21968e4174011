//go:build cgo

package lance

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
static void trim(void) { malloc_trim(0); }
static void bound(void) {
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
}
#else
static void trim(void) {}
static void bound(void) {}
#endif
*/
import "C"

import "os"

// glibc keeps what was freed for each of the many threads that the native libraries have, and the more the larger the
// blocks are that they free: 300 MB while the ids of 1,000,000 rows are read. With two heaps for all threads, blocks of
// 1 MiB on given back at once, and no more than that kept at the end of a heap, it is next to nothing. An operator's
// settings are left alone.
func init() {
	if os.Getenv("MALLOC_ARENA_MAX") == "" && os.Getenv("GLIBC_TUNABLES") == "" {
		C.bound()
	}
}

// trim gives memory that the native library has freed within a heap back to the system: 180 MB after the ids of
// 1,000,000 rows were read, before heaps were bounded.
func trim() { C.trim() }

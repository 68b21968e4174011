//go:build cgo

package lance

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
static void trim(void) { malloc_trim(0); }
#else
static void trim(void) {}
#endif
*/
import "C"

// trim gives memory that the native library has freed back to the system. glibc keeps it for each of the many threads
// that the library had: 180 MB after the ids of 1,000,000 rows were read.
func trim() { C.trim() }

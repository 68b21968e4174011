package vector

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// numbers returns the numbers of body, whose byte order is this processor's: in body's own memory if it is aligned,
// else decoded to scratch.
func numbers(body []byte, scratch []float32) []float32 {
	if len(body) < 4 || uintptr(unsafe.Pointer(&body[0]))%4 > 0 { //nolint:gosec // looks at the alignment only
		decode(body, scratch)
		return scratch
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&body[0])), len(body)/4) //nolint:gosec // as long as body, and aligned
}

// products sets each sum to the product of a row of codes with query.
func products(codes []byte, query []int8, sums []int32) {
	if !cpu.X86.HasAVX2 || len(sums) == 0 || len(query) == 0 {
		productsGo(codes, query, sums)
		return
	}
	_ = codes[len(query)/2*len(sums)-1] // the loop checks no bounds
	productsAVX2(&codes[0], &query[0], len(query)/block, len(sums), &sums[0])
}

// largestNumber returns the largest absolute value.
func largestNumber(v []float32) float32 {
	if !cpu.X86.HasAVX2 || len(v) == 0 || len(v)%block > 0 {
		return largestNumberGo(v)
	}
	return largestAVX2(&v[0], len(v)/block)
}

// packCodes writes the codes of v, given the reciprocal of their step.
func packCodes(v []float32, codes []byte, scale float32) {
	if !cpu.X86.HasAVX2 || len(v) == 0 || len(v)%block > 0 {
		packCodesGo(v, codes, scale)
		return
	}
	_ = codes[len(v)/2-1] // the loop checks no bounds
	packAVX2(&v[0], &codes[0], len(v)/block, scale)
}

// productsAVX2 is productsGo for rows of the given number of blocks, which must not be 0.
//
//go:noescape
func productsAVX2(codes *byte, query *int8, blocks, rows int, sums *int32)

// largestAVX2 is largestNumberGo for whole blocks.
//
//go:noescape
func largestAVX2(v *float32, blocks int) float32

// packAVX2 is packCodesGo for whole blocks.
//
//go:noescape
func packAVX2(v *float32, codes *byte, blocks int, scale float32)

//go:build !amd64

package vector

// numbers decodes the numbers of body to scratch and returns it.
func numbers(body []byte, scratch []float32) []float32 {
	decode(body, scratch)
	return scratch
}

// products sets each sum to the product of a row of codes with query.
func products(codes []byte, query []int8, sums []int32) { productsGo(codes, query, sums) }

// largestNumber returns the largest absolute value.
func largestNumber(v []float32) float32 { return largestNumberGo(v) }

// packCodes writes the codes of v, given the reciprocal of their step.
func packCodes(v []float32, codes []byte, scale float32) { packCodesGo(v, codes, scale) }

package suspect

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sync"
)

// weights is a network of one hidden layer: for each hidden unit the scale and the signed bytes of its inputs' weights,
// its bias and its weight in the sum, and at the end the bias of that. Numbers are 32-bit, little-endian.
//
//go:embed weights.bin
var weights []byte

// network computes the logarithm of the odds that a suspect is a secret.
type network struct {
	in        [][]float32 // of each hidden unit
	bias, out []float32
	last      float32
}

// fitted is the network of weights.
var fitted = sync.OnceValue(func() *network {
	number := func(at int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(weights[at:])) }
	n := &network{}
	at := 0
	for at+4 < len(weights) {
		scale, row := number(at), make([]float32, size)
		for i := range row {
			row[i] = scale * float32(int8(weights[at+4+i]))
		}
		at += 4 + size
		n.in, n.bias, n.out = append(n.in, row), append(n.bias, number(at)), append(n.out, number(at+4))
		at += 8
	}
	n.last = number(at)
	return n
})

// activate computes the values of the hidden units.
func (n *network) activate(x, units []float32) {
	for h, row := range n.in {
		sum := n.bias[h]
		for i, w := range row {
			sum += w * x[i]
		}
		units[h] = max(0, sum)
	}
}

// odds returns the logarithm of the odds for features.
func (n *network) odds(x []float32) float32 {
	units := make([]float32, len(n.in))
	n.activate(x, units)
	sum := n.last
	for h, unit := range units {
		sum += n.out[h] * unit
	}
	return sum
}

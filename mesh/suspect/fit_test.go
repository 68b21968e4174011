package suspect

import (
	"encoding/binary"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/prose"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/redacttest"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
)

var (
	fit       = flag.Bool("fit", false, "fit weights.bin to the texts of package prose and to -documents")
	documents = flag.String("documents", "", "folder of .md, .txt and .rst files that tell no secrets")
)

const proseTexts = "../scrub/redact/prose/testdata/"

// example is a suspect to learn from.
type example struct {
	x      []float32
	secret bool
}

// reader reads suspects of texts with the model, and redacts by rules.
type reader struct {
	t        *testing.T
	model    embed.Tokenwise
	redactor *redact.Redactor
}

func newReader(t *testing.T) reader {
	t.Helper()
	local := embed.NewLocal(embed.Options{})
	t.Cleanup(func() { _ = local.Close() })
	return reader{t, embed.Cached(local, 8), redact.New(nil)}
}

// examples returns the suspects of a text, some of which are in secrets.
func (r reader) examples(text string, secrets []string, chosen func(prose.Suspect) bool) (list []example) {
	r.t.Helper()
	err := each(r.t.Context(), r.model, text, chosen, func(s prose.Suspect, x []float32) {
		e := example{x: x}
		for _, secret := range secrets {
			for at := range len(text) {
				if strings.HasPrefix(text[at:], secret) && at < s.End && s.Start < at+len(secret) {
					e.secret = true
				}
			}
		}
		list = append(list, e)
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// TestFit fits the weights; see README.md.
func TestFit(t *testing.T) {
	if !*fit {
		t.Skip("only with -fit")
	}
	r := newReader(t)
	var list []example
	all := func(prose.Suspect) bool { return true }
	// Some more than those in doubt, because documents have few.
	doubtful := func(s prose.Suspect) bool { return s.Odds >= -7 }
	told := append(redacttest.ReadTold(t, proseTexts+"told.ndjson.gz"),
		redacttest.ReadTold(t, "testdata/told.ndjson.gz")...)
	for _, c := range told {
		list = append(list, r.examples(c.Text, c.Secrets, all)...)
		without := c.Text
		for _, s := range c.Secrets {
			without = strings.ReplaceAll(without, s, sensitive.Placeholder(sensitive.Password))
		}
		if without != c.Text {
			list = append(list, r.examples(without, nil, all)...)
		}
	}
	t.Logf("%d suspects in texts", len(list))
	if *documents != "" {
		redacttest.EachParagraph(t, *documents, func(text string) { list = append(list, r.examples(text, nil, doubtful)...) })
	}
	t.Logf("%d with documents", len(list))
	if err := os.WriteFile("weights.bin", train(list).bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// train fits networks, whose mean hardly depends on how they begin, and returns it as one.
func train(list []example) *network {
	const members = 4
	n := &network{}
	for seed := range members {
		one := trainOne(list, rand.New(rand.NewPCG(1, uint64(seed))))
		for h := range one.out {
			one.out[h] /= members
		}
		n.in, n.bias, n.out = append(n.in, one.in...), append(n.bias, one.bias...), append(n.out, one.out...)
		n.last += one.last / members
	}
	return n
}

// hidden is the number of hidden units of each network.
const hidden = 24

// trainOne fits a network by AdamW, and returns the mean of its weights in the later half of the steps.
func trainOne(list []example, random *rand.Rand) *network {
	const rounds, batch, rate, decay = 12, 64, 1e-3, 2e-2
	const beta1, beta2, tiny = .9, .999, 1e-8
	const biases, outs = hidden, 2 * hidden // their ends, after the rows
	count := hidden*size + outs + 1
	w, g, m, v := make([]float32, count), make([]float32, count), make([]float32, count), make([]float32, count)
	mean, units := make([]float64, count), make([]float32, hidden)
	for i := range hidden * size {
		w[i] = float32(random.NormFloat64() / math.Sqrt(float64(size)))
	}
	for h := range hidden {
		w[hidden*size+biases+h] = float32(random.NormFloat64() / math.Sqrt(hidden))
	}
	n, gradient := view(w), view(g)
	total := rounds * ((len(list) + batch - 1) / batch)
	steps := 0
	for range rounds {
		for some := range slices.Chunk(random.Perm(len(list)), batch) {
			clear(g)
			for _, at := range some {
				e := list[at]
				n.activate(e.x, units)
				odds := w[count-1]
				for h, unit := range units {
					odds += n.out[h] * unit
				}
				wrong := float32(1 / (1 + math.Exp(-float64(odds))))
				if e.secret {
					wrong--
				}
				wrong /= float32(len(some))
				g[count-1] += wrong
				for h, unit := range units {
					if unit <= 0 {
						continue
					}
					gradient.out[h] += wrong * unit
					back := wrong * n.out[h]
					gradient.bias[h] += back
					row := gradient.in[h]
					for i, x := range e.x {
						row[i] += back * x
					}
				}
			}
			steps++
			slow := float32(rate * min(1, 2*float64(total-steps)/float64(total)))
			c1, c2 := float32(1-math.Pow(beta1, float64(steps))), float32(1-math.Pow(beta2, float64(steps)))
			for i := range w {
				m[i] = beta1*m[i] + (1-beta1)*g[i]
				v[i] = beta2*v[i] + (1-beta2)*g[i]*g[i]
				w[i] -= slow * (m[i]/c1/(float32(math.Sqrt(float64(v[i]/c2)))+tiny) + decay*w[i])
				if steps > total/2 {
					mean[i] += float64(w[i]) / float64(total-total/2)
				}
			}
		}
	}
	for i := range w {
		w[i] = float32(mean[i])
	}
	return view(w)
}

// view returns the network whose numbers w has: the rows, the biases, the weights of the sum, and its bias.
func view(w []float32) *network {
	n := &network{last: w[len(w)-1], bias: w[hidden*size:][:hidden], out: w[hidden*size+hidden:][:hidden]}
	for h := range hidden {
		n.in = append(n.in, w[h*size:][:size])
	}
	return n
}

// bytes returns the network in the form of weights.bin.
func (n *network) bytes() (raw []byte) {
	number := func(x float32) { raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x)) }
	for h, row := range n.in {
		largest := float32(0)
		for _, x := range row {
			largest = max(largest, x, -x)
		}
		scale := max(largest, 1e-9) / math.MaxInt8
		number(scale)
		for _, x := range row {
			raw = append(raw, byte(int8(math.Round(float64(x/scale)))))
		}
		number(n.bias[h])
		number(n.out[h])
	}
	number(n.last)
	return raw
}

package prose

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/redacttest"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
)

var (
	fit       = flag.Bool("fit", false, "fit learned/weights.bin to the texts of testdata and to -documents")
	documents = flag.String("documents", "", "folder of .md, .txt and .rst files that tell no secrets")
)

// TestFit fits the weights; see learned/README.md.
func TestFit(t *testing.T) {
	if !*fit {
		t.Skip("only with -fit")
	}
	list := told(t)
	w := regression(list)
	for { // what is taken for a secret in a document is learned
		known := len(list)
		if *documents != "" {
			redacttest.EachParagraph(t, *documents, func(text string) {
				for _, e := range examplesOf(text, nil) {
					if !e.rules && e.sum(w) > -2 {
						list = append(list, e)
					}
				}
			})
		}
		t.Logf("%d words", len(list))
		if len(list) < known+known/100 { //nolint:mnd // one in 100
			break
		}
		w = regression(list)
	}
	quantized := make([]byte, buckets)
	for i, x := range w {
		quantized[i] = byte(int8(max(math.MinInt8, min(math.MaxInt8, math.Round(x/weightUnit)))))
	}
	if err := os.WriteFile("learned/weights.bin", quantized, 0o600); err != nil {
		t.Fatal(err)
	}
}

// example is a word to learn from.
type example struct {
	features
	secret bool
	rules  bool // the points are enough
}

// told returns the words of the texts to learn from, of the same without their secrets, and of texts that only look
// like secrets. The forms of the tests are no part of them: for these the points are always right.
func told(t *testing.T) (list []example) {
	t.Helper()
	for _, c := range redacttest.ReadTold(t, "testdata/told.ndjson.gz") {
		list = append(list, examplesOf(c.Text, c.Secrets)...)
		redacted := c.Text
		for _, s := range c.Secrets {
			redacted = strings.ReplaceAll(redacted, s, sensitive.Placeholder(sensitive.Password))
		}
		if redacted != c.Text {
			list = append(list, examplesOf(redacted, nil)...)
		}
	}
	benign := slices.Concat(
		redacttest.ToldLookalikes, redacttest.EverydayTexts, redacttest.SentencesLater,
		redacttest.Lookalikes, redacttest.LaterLookalikes, redacttest.UnseenLookalikes)
	for _, f := range redacttest.ReadFields(t, "../notation/testdata/fields.ndjson") {
		if f.Benign != "" {
			benign = append(benign, f.Benign)
		}
	}
	for _, text := range benign {
		list = append(list, examplesOf(text, nil)...)
	}
	return list
}

// examplesOf returns the words of a text to learn from.
func examplesOf(text string, secrets []string) (list []example) {
	p := newPassage(text, chars.LowerUnicode(text))
	for _, j := range p.judge(p.scored()) {
		e := example{features: j.features, rules: j.points >= enough}
		for _, s := range secrets {
			for at := strings.Index(text, s); at >= 0 && at < j.end; {
				e.secret = e.secret || j.start < at+len(s)
				next := strings.Index(text[at+1:], s)
				if next < 0 {
					break
				}
				at += 1 + next
			}
		}
		list = append(list, e)
	}
	return list
}

// regression fits the weights of a logistic regression by AdaGrad: the mean of the later half of rounds, so that they
// hardly depend on the order.
func regression(list []example) []float64 {
	const rounds, rate, decay = 40, .1, 2e-4
	w, squares := make([]float64, buckets), make([]float64, buckets)
	order := rand.New(rand.NewPCG(1, 2))
	mean := make([]float64, buckets)
	for round := range rounds {
		for _, n := range order.Perm(len(list)) {
			e := list[n]
			wrong := 1 / (1 + math.Exp(-e.sum(w)))
			if e.secret {
				wrong--
			}
			for _, b := range e.features {
				g := wrong + decay*w[b]
				squares[b] += g * g
				w[b] -= rate * g / (1e-3 + math.Sqrt(squares[b]))
			}
		}
		for b := range w {
			if round >= rounds/2 {
				mean[b] += w[b] / (rounds - rounds/2)
			}
		}
	}
	return mean
}

func (f features) sum(w []float64) (sum float64) {
	for _, b := range f {
		sum += w[b]
	}
	return sum
}

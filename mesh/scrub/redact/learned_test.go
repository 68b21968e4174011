package redact

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	fit       = flag.Bool("fit", false, "fit learned/weights.bin to the texts of testdata and to -documents")
	documents = flag.String("documents", "", "folder of .md, .txt and .rst files that tell no secrets")
)

// toldText is a text with the secrets that it tells.
type toldText struct {
	Author, Kind, Text string
	Secrets            []string
}

func readTold(t *testing.T, name string) (list []toldText) {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(z); d.More(); {
		var c toldText
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// Texts that were held back: those of three authors of whom nothing was learned, and half of two others'. The last two
// authors were asked for secrets that are told in unusual ways.
func TestHeldOut(t *testing.T) {
	t.Parallel()
	const unusual = "r" // the first of the last two
	r := New(nil)
	texts, right := map[string]int{}, map[string]int{}
	for _, c := range readTold(t, "heldout.ndjson.gz") {
		kind := c.Kind
		if c.Author >= unusual {
			kind = "unusual " + kind
		}
		texts[kind]++
		ok := false
		if len(c.Secrets) == 0 { // an address, for instance, is redacted everywhere
			_, found := r.RedactOnly(c.Text, []Kind{Password, APIKey, Token, PrivateKey})
			ok = len(found) == 0
		} else {
			got, _ := r.Redact(c.Text)
			ok = !slices.ContainsFunc(c.Secrets, func(s string) bool { return strings.Contains(got, s) })
		}
		if ok {
			right[kind]++
		}
	}
	t.Logf("right: %v of %v", right, texts)
	for kind, least := range map[string]int{
		"pair": 57, "prose": 182, "benign": 119, "unusual pair": 74, "unusual prose": 223, "unusual benign": 235,
	} {
		if right[kind] < least {
			t.Errorf("%s: %d of %d, at least %d before", kind, right[kind], texts[kind], least)
		}
	}
}

// TestFit fits the weights; see learned/README.md.
func TestFit(t *testing.T) {
	if !*fit {
		t.Skip("only with -fit")
	}
	list := told(t)
	w := regression(list)
	for { // what is taken for a secret in a document is learned
		known := len(list)
		eachParagraph(t, func(text string) {
			for _, e := range examplesOf(text, nil) {
				if !e.rules && e.sum(w) > -2 {
					list = append(list, e)
				}
			}
		})
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

// TestDocuments lists what is redacted in -documents.
func TestDocuments(t *testing.T) {
	if *documents == "" || *fit {
		t.Skip("only with -documents and without -fit")
	}
	r := New(nil)
	paragraphs, size := 0, 0
	eachParagraph(t, func(text string) {
		size += len(text)
		paragraphs++
		for _, f := range r.find(text) {
			if slices.Contains([]Kind{Password, APIKey, Token, PrivateKey}, f.Kind) {
				t.Logf("%s %q in %q", f.Kind, text[f.Start:f.End], text[max(0, f.Start-100):min(len(text), f.End+50)])
			}
		}
	})
	t.Logf("%d paragraphs, %.1f MB", paragraphs, float64(size)/1e6)
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
	for _, c := range readTold(t, "told.ndjson.gz") {
		list = append(list, examplesOf(c.Text, c.Secrets)...)
		redacted := c.Text
		for _, s := range c.Secrets {
			redacted = strings.ReplaceAll(redacted, s, Placeholder(Password))
		}
		if redacted != c.Text {
			list = append(list, examplesOf(redacted, nil)...)
		}
	}
	for _, text := range slices.Concat(
		toldLookalikes, everydayTexts, sentencesLater, lookalikes, laterLookalikes, unseenLookalikes,
		benignFields(t)) {
		list = append(list, examplesOf(text, nil)...)
	}
	return list
}

// examplesOf returns the words of a text to learn from.
func examplesOf(text string, secrets []string) (list []example) {
	p := newPassage(text, lowerCase(text))
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

// eachParagraph calls do with each paragraph of -documents.
func eachParagraph(t *testing.T, do func(text string)) {
	t.Helper()
	if *documents == "" {
		return
	}
	const most, shortest, longest = 1 << 20, 20, 4000 // bytes
	seen := map[string]bool{}
	err := filepath.WalkDir(*documents, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !slices.Contains([]string{".md", ".txt", ".rst"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || len(text) > most {
			return err
		}
		for part := range strings.SplitSeq(string(text), "\n\n") {
			if len(part) >= shortest && len(part) <= longest && !seen[part] {
				seen[part] = true
				do(part)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

package redact

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGitleaksSamples compares with gitleaks itself: what its detector finds in the samples of its rules is
// redacted, apart from the ids and public keys of the skipped rules and the exceptions listed here.
func TestGitleaksSamples(t *testing.T) {
	t.Parallel()
	exceptions := map[string]int{
		"jwt-base64":               1, // a token encoded twice, 1,800 bytes without a word around it
		"sidekiq-secret":           1, // two short hexadecimal words
		"sourcegraph-access-token": 1, // a SHA-1 that only the service's name announces
	}
	data, err := os.ReadFile("testdata/gitleaks-samples.ndjson.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	s := New(nil)
	sampled, kept := map[string]bool{}, map[string]int{}
	for d := json.NewDecoder(z); d.More(); {
		var sample struct{ Rule, Text, Secret string }
		if err := d.Decode(&sample); err != nil {
			t.Fatal(err)
		}
		sampled[sample.Rule] = true
		if skipped[sample.Rule] {
			continue
		}
		if out, _ := s.Redact(sample.Text); strings.Contains(out, sample.Secret) {
			kept[sample.Rule]++
			if exceptions[sample.Rule] == 0 {
				t.Errorf("%s: %.200q became %.200q", sample.Rule, sample.Text, out)
			}
		}
	}
	if diff := cmp.Diff(exceptions, kept); diff != "" {
		t.Errorf("samples that were kept, by rule (-want +got):\n%s", diff)
	}
	l, err := loadRules(ruleFile)
	if err != nil {
		t.Fatal(err)
	}
	var unsampled []string
	for _, r := range l.rules {
		if !sampled[r.id] {
			unsampled = append(unsampled, r.id)
		}
	}
	slices.Sort(unsampled)
	want := []string{ // gitleaks has no sample for these, or only one that needs a file name
		"dropbox-long-lived-api-token", "dropbox-short-lived-api-token", "freemius-secret-key",
		"hashicorp-tf-password", "kubernetes-secret-yaml", "nuget-config-password",
	}
	if diff := cmp.Diff(want, unsampled); diff != "" {
		t.Errorf("rules without a sample (-want +got):\n%s", diff)
	}
}

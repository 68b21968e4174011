package redact

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/redacttest"
)

// TestForms redacts secrets in the forms in which they are written, and holds the shares that docs/redaction.md names.
func TestForms(t *testing.T) {
	t.Parallel()
	r := New(nil)
	least := map[string]int{"pair": 97, "prefix": 97, "prose": 90, "number": 90} // percent
	for name, set := range map[string][]redacttest.Form{
		"written with the rules": redacttest.Forms, "held back": redacttest.HeldForms, "written later": redacttest.LaterForms,
		"unseen": redacttest.UnseenForms,
		"placed": redacttest.PlacedForms,
	} {
		kept, total := map[string]int{}, map[string]int{}
		for _, c := range set {
			total[c.Group]++
			before, rest, _ := strings.Cut(c.Text, "«")
			secret, after, _ := strings.Cut(rest, "»")
			got, _ := r.Redact(before + secret + strings.NewReplacer("«", "", "»", "").Replace(after))
			if strings.Contains(got, secret) {
				kept[c.Group]++
				t.Logf("%s: kept: %s", name, c.Text)
			}
		}
		for group, n := range total {
			found := 100 * (n - kept[group]) / n
			t.Logf("%s: %s: %d of %d", name, group, n-kept[group], n)
			if found < least[group] {
				t.Errorf("%s: %s: %d%% are redacted, want %d%%", name, group, found, least[group])
			}
		}
	}
}

// TestLookalikesStay keeps what only looks like a secret: at most one in a hundred may be taken for one.
func TestLookalikesStay(t *testing.T) {
	t.Parallel()
	r := New(nil)
	altered := 0
	list := slices.Concat(redacttest.Lookalikes, redacttest.LaterLookalikes, redacttest.UnseenLookalikes)
	for _, text := range list {
		if got, _ := r.Redact(text); got != text {
			altered++
			t.Logf("%s\n became %s", text, got)
		}
	}
	if altered*100 > len(list) {
		t.Errorf("%d of %d were altered", altered, len(list))
	}
}

// A secret far into a long text is found, also where the text has no blanks to divide it by.
func TestSecretsInLongTexts(t *testing.T) {
	t.Parallel()
	r := New(nil)
	for name, filler := range map[string]string{
		"words": strings.Repeat("kettle ", 1000), "no blanks": strings.Repeat("茶壺", 1000),
	} {
		got, _ := r.Redact(filler + "\nunzip -P kettle42 a.zip\n" + filler)
		if strings.Contains(got, "kettle42") || !utf8.ValidString(got) {
			t.Errorf("%s: kept, or not UTF-8: %q", name, got[len(filler):len(filler)+40])
		}
	}
}

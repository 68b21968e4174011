package redact

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"regexp/syntax"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// TestRuleFileIsThatOfTheRelease fails when the rules were edited: they change with a release of gitleaks only.
func TestRuleFileIsThatOfTheRelease(t *testing.T) {
	t.Parallel()
	const want = "8586f402f402a7792564ed2a5709a6540009359a3e7a2f99974b4a4ffa4fdc6f" // v8.30.1; rules/README.md
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(ruleFile))); got != want {
		t.Errorf("rules/gitleaks.toml has SHA-256 %s, want %s", got, want)
	}
}

func TestRulesCompile(t *testing.T) {
	t.Parallel()
	l, err := loadRules(ruleFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range l.rules {
		r.regex()
		for _, a := range r.allow {
			a.regexes()
		}
	}
	if len(l.rules) < 190 {
		t.Errorf("%d rules, fewer than there were", len(l.rules))
	}
}

func TestRulesLoadOnFirstUse(t *testing.T) {
	t.Parallel()
	loads := 0
	s := New(&ruleSet{load: sync.OnceValues(func() (*loadedRules, error) { loads++; return loadRules(ruleFile) })})
	if loads != 0 {
		t.Fatal("New loads the rules")
	}
	for range 2 {
		s.Redact("text")
	}
	if loads != 1 {
		t.Errorf("the rules were loaded %d times", loads)
	}
}

// sample returns a random text that matches re.
func sample(rnd *rand.Rand, re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		var ascii []rune
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1] && r < 0x7f; r++ {
				if r > ' ' {
					ascii = append(ascii, r)
				}
			}
		}
		if len(ascii) == 0 {
			return " "
		}
		return string(ascii[rnd.IntN(len(ascii))])
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "." // mostly an unescaped dot
	case syntax.OpCapture, syntax.OpConcat:
		var b strings.Builder
		for _, s := range re.Sub {
			b.WriteString(sample(rnd, s))
		}
		return b.String()
	case syntax.OpAlternate:
		return sample(rnd, re.Sub[rnd.IntN(len(re.Sub))])
	case syntax.OpRepeat, syntax.OpPlus, syntax.OpStar, syntax.OpQuest:
		lo, hi := re.Min, re.Max
		switch re.Op {
		case syntax.OpPlus:
			lo, hi = 1, 12
		case syntax.OpStar, syntax.OpQuest:
			lo, hi = 0, 1
		}
		if hi < 0 || hi > lo+40 {
			hi = lo + 40
		}
		if re.Flags&syntax.NonGreedy != 0 {
			hi = lo
		}
		var b strings.Builder
		for range lo + rnd.IntN(hi-lo+1) {
			b.WriteString(sample(rnd, re.Sub[0]))
		}
		return b.String()
	}
	return "" // anchors, boundaries, the empty match
}

// secretSample returns a text with a secret that gitleaks' own rule r finds,
// and the secret.
func secretSample(rnd *rand.Rand, r *rule) (text, secret string, ok bool) {
	tree, err := syntax.Parse(strings.ReplaceAll(r.regex().String(), proseTail, ""), syntax.Perl)
	if err != nil {
		return "", "", false
	}
	for range 60 {
		text = sample(rnd, tree)
		m := r.regex().FindStringSubmatch(text)
		if m == nil {
			continue
		}
		secret = m[0]
		for k := 1; k < len(m); k++ {
			if m[k] != "" && (r.group == 0 || r.group == k) {
				secret = m[k]
				break
			}
		}
		if !r.allowed(text, m[0], secret) {
			return text, secret, true
		}
	}
	return "", "", false
}

// TestRulesFindTheirTokens makes tokens by every rule and puts them where
// tokens occur. At least 99 of 100 must go.
func TestRulesFindTheirTokens(t *testing.T) {
	t.Parallel()
	l, err := loadRules(ruleFile)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	s := New(nil)
	frames := []string{
		"%s", "use %s for the deploy", "The token is %s.", "It is (%s), keep it.", "**%s**", "`%s`",
		"\"%s\"", "first line\n- %s\nlast line", "用%s。", "see <%s>",
	}
	rules, total, missed := 0, 0, 0
	for _, r := range l.rules {
		if r.reach == anywhere || r.id == "generic-api-key" {
			continue // these have tests of their own
		}
		found := false
		for range 5 {
			text, secret, ok := secretSample(rnd, r)
			if !ok {
				continue
			}
			found = true
			for _, f := range frames {
				if (r.reach == assignment || r.reach == around) && strings.ContainsAny(f, "\"`<用") {
					continue // an assignment is not quoted as a whole
				}
				total++
				if out, _ := s.Redact(fmt.Sprintf(f, text)); strings.Contains(out, secret) {
					missed++
					t.Logf("%s: kept in %q", r.id, f)
				}
			}
		}
		if found {
			rules++
		} else {
			t.Logf("%s: no sample", r.id)
		}
	}
	t.Logf("%d rules, %d places, %d missed (%.2f%% caught)", rules, total, missed, 100-100*float64(missed)/float64(total))
	if rules < 170 || missed*100 > total {
		t.Errorf("%d of %d tokens of %d rules were kept; at most 1%% may be, of at least 170 rules", missed, total, rules)
	}
}

// TestMemoryOfRules keeps the loaded rules within a tenth of the idle program's limit of 60 MB. It measures the
// heap of the process, so that it does not run in parallel.
func TestMemoryOfRules(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	l, err := loadRules(ruleFile)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(l)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > 6<<20 {
		t.Errorf("the rules take %d bytes", used)
	} else {
		t.Logf("the rules take %d bytes", used)
	}
}

// BenchmarkLoadRules measures what the first redaction costs once.
func BenchmarkLoadRules(b *testing.B) {
	for b.Loop() {
		if _, err := loadRules(ruleFile); err != nil {
			b.Fatal(err)
		}
	}
}

package block

import (
	"math"
	"strings"
	"testing"
	"testing/quick"
	"time"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                          "",
		"plain, text: with = all":   "plain, text: with = all",
		"a;b;;c":                    "a,b,,c",
		"a\nb\r\nc\td":              "a b  c d",
		"nul\x00esc\x1bdel\x7f":     "nul esc del ",
		"nel\u0085ls\u2028ps\u2029": "nel ls ps ",
		"bad\xff\xfeutf8":           "bad\ufffdutf8",
		"日本語 – „quoted“ `code`":     "日本語 – „quoted“ `code`",
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
	if err := quick.Check(func(s string) bool { return isValue(Escape(s)) }, nil); err != nil {
		t.Errorf("Escape does not return a VALUE: %v", err)
	}
	if err := quick.CheckEqual(Escape, func(s string) string { return Escape(Escape(s)) }, nil); err != nil {
		t.Errorf("Escape is not idempotent: %v", err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":           "MemoryMesh_YAMO_AGENT",
		"claude":     "MemoryMesh_claude",
		"my-agent 2": "MemoryMesh_my_agent_2",
		"a;\nb":      "MemoryMesh_a__b",
		"é":          "MemoryMesh__",
	} {
		if got := AgentName(in); got != want {
			t.Errorf("AgentName(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"": "_", "-a": "_-a", ".a": "_.a", "a b": "a_b", "x-y.z_1": "x-y.z_1", "é": "_",
	} {
		if got := key(in); got != want || !isKey(got) {
			t.Errorf("key(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFormatConfidence(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in   float64
		want string
	}{
		{0, "0.0"},
		{1, "1.0"},
		{0.7, "0.7"},
		{0.85, "0.85"},
		{0.1 + 0.2, "0.3"},
		{float64(float32(0.7)), "0.7"},
		{1.0 / 30, "0.0333"},
		{0.00004, "0.0"},
		{0.99999, "1.0"},
		{1.0000001, "1.0"},
		{7, "1.0"},
		{-0.5, "0.0"},
		{math.Copysign(0, -1), "0.0"},
		{math.NaN(), "0.0"},
		{math.Inf(1), "1.0"},
		{math.Inf(-1), "0.0"},
	} {
		if got := FormatConfidence(tc.in); got != tc.want {
			t.Errorf("FormatConfidence(%v) = %s, want %s", tc.in, got, tc.want)
		}
	}
}

func TestFormatTime(t *testing.T) {
	t.Parallel()
	for want, in := range map[string]time.Time{
		"2026-01-02T03:04:05.678Z": testTime,
		"2026-01-02T03:04:05.000Z": time.Date(2026, 1, 2, 3, 4, 5, 999_999, time.UTC),
	} {
		if got := FormatTime(in); got != want {
			t.Errorf("FormatTime(%v) = %s, want %s", in, got, want)
		}
	}
}

func TestPreviewCountsCharacters(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"short", "short"},
		{strings.Repeat("ü", 60), strings.Repeat("ü", 60)},
		{strings.Repeat("ü", 61), strings.Repeat("ü", 60)},
		{strings.Repeat("\U0001f511", 99), strings.Repeat("\U0001f511", 60)},
		{"a\n" + strings.Repeat("b", 99), "a " + strings.Repeat("b", 58)},
	} {
		got := preview(tc.in)
		if got != tc.want || !utf8.ValidString(got) {
			t.Errorf("preview(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
}

package page

import "testing"

func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"plain\ntext", "plain\ntext"},
		{`<script>alert("x")</script>&`, "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;&amp;"},
		{"a\u202Eb", `a<span class="unseen" title="changes the direction of text">U+202E</span>b`},
		{"a\u200Bb", `a<span class="unseen" title="an invisible character">U+200B</span>b`},
		{"\U000E0041", `<span class="unseen" title="a hidden tag character">U+E0041</span>`},
		{"\x1b[31m", `<span class="unseen" title="a control character">U+001B</span>[31m`},
		{"\xff", `<span class="unseen" title="a byte that is not UTF-8">FF</span>`},
		{"👩\u200D👧 ❤\uFE0F 10\u00A0km", "👩\u200D👧 ❤\uFE0F 10\u00A0km"},
		{"\u3164", `<span class="unseen" title="an invisible character">U+3164</span>`},
	} {
		if got := string(Text(c.text)); got != c.want {
			t.Errorf("Text(%q) = %s, want %s", c.text, got, c.want)
		}
	}
}

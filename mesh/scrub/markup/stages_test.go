package markup

import "testing"

func TestStages(t *testing.T) {
	t.Parallel()
	if got := Clean("**a** [b](http://c.d) <i>e</i>"); got != "a b (http://c.d) e" {
		t.Errorf("Clean: %q", got)
	}
	if got := Filter("a\n\nSent from my iPhone\n\nb"); got != "a\n\nb" {
		t.Errorf("Filter: %q", got)
	}
	if got := Filter("Sent from my iPhone"); got != "Sent from my iPhone" {
		t.Errorf("Filter emptied a text: %q", got)
	}
	if got := Normalize("T\n=\n\n\n\n* a\n+ b  "); got != "# T\n\n- a\n- b" {
		t.Errorf("Normalize: %q", got)
	}
}

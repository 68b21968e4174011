package viewer

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestSameWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		typed, stored string
		want          bool
	}{
		{"Ana likes tea.", "Ana likes tea.", true},
		{"* one\n* two", "- one\n- two", true},
		{"Ana likes tea & cake", "Ana likes cake", false},
		{"one <script>alert(1)</script> two", "one two", false},
		{"mail a@b.example now", "mail [REDACTED:EMAIL] now", true},
		{"mail a@b.example now <b>x</b>", "mail [REDACTED:EMAIL] now", false},
		{"mail a@b.example and c@d.example", "mail [REDACTED:EMAIL] and [REDACTED:EMAIL]", true},
		{"a@b.example and c@d.example end", "[REDACTED:EMAIL] and [REDACTED:EMAIL] end", true},
		{"lost a@b.example end", "[REDACTED:EMAIL]", true}, // a placeholder may stand for several words
		{"!", "!", true},
	} {
		if got := sameWords(test.typed, test.stored); got != test.want {
			t.Errorf("sameWords(%q, %q) = %t", test.typed, test.stored, got)
		}
	}
}

// What a correction does not keep is named on the page that follows. Its words are never taken from the address.
func TestCorrectSaysWhatWasLeftOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	correct := func(text string) string {
		id := f.store(record.Memory{Content: "The code of the shed is on the door: " + text}, "")
		return f.get(f.post("/memory/"+id+"/correct", http.StatusSeeOther, url.Values{"text": {text}}), http.StatusOK)
	}
	f.lacks(correct("The shed is open."), "Not stored", "left out")
	f.shows(correct("Write to ana@garden.example about the shed."), "Corrected.", "Not stored: 1 email address;",
		"[REDACTED:")
	page := correct("The shed is <script>alert(1)</script> & green <b>now</b>")
	f.shows(page, "Some of the text was left out")
	f.lacks(page, "Not stored:")
	f.shows(correct("The shed is open, write to ana@garden.example <script>alert(1)</script>"),
		"Not stored: 1 email address;", "Some of the text was left out")
	f.lacks(f.get("/?done=corrected&redacted=evil+words:1&redacted=email:-1", http.StatusOK), "evil", "Not stored")
}

// A retired memory, which nothing replaced, can be made current again, or be corrected.
func TestReviveRetired(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.store(record.Memory{Content: "The shed is locked", Tags: []string{"garden"}, OccurredAt: "2026-05-04"}, "")
	f.shows(f.post("/memory/"+id+"/revive", http.StatusUnprocessableEntity, nil), "it is current already")
	page := f.get(f.post("/memory/"+id+"/retire", http.StatusSeeOther, url.Values{"why": {"sold"}}), http.StatusOK)
	f.shows(page, "nothing replaced it", "Make it current again", "Save the correction")
	f.lacks(page, "Correct what replaced it")
	next := f.post("/memory/"+id+"/revive", http.StatusSeeOther, nil)
	page = f.get(next, http.StatusOK)
	f.shows(page, "It is current again.", "garden", "about 4 May 2026", "/memory/"+id)
	f.shows(f.get("/", http.StatusOK), "The shed is locked")
	f.shows(f.get("/memory/"+id, http.StatusOK), "Correct what replaced it")
	f.shows(f.post("/memory/"+id+"/revive", http.StatusUnprocessableEntity, nil), "only a private memory")

	other := f.store(record.Memory{Content: "The shed is blue"}, "")
	f.post("/memory/"+other+"/retire", http.StatusSeeOther, nil)
	f.shows(f.post("/memory/"+other+"/correct", http.StatusUnprocessableEntity, url.Values{"text": {"The shed is blue"}}),
		"use the button for that")
	page = f.get(f.post("/memory/"+other+"/correct", http.StatusSeeOther, url.Values{"text": {"The shed is red"}}), 200)
	f.shows(page, "Corrected.", "The shed is red", "/memory/"+other)
}

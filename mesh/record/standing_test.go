package record

import (
	"strings"
	"testing"
)

func TestIsStanding(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]bool{
		"Always include version numbers when I ask about dependencies.":      true,
		"never use tabs when I paste code":                                   true,
		"From now on, answer in French.":                                     true,
		"I want you to remind me to stretch whenever we talk about running.": true,
		"I want you to call Rui.":                                            false,
		"I now prefer long answers.":                                         true,
		"I prefer short answers.":                                            true,
		"I really prefer the window seat":                                    true,
		"I'd rather walk than take the bus.":                                 true,
		"Please use metric units.":                                           true,
		"Never deploy on Fridays.":                                           true,
		"Reviews: always be brief.":                                          true,
		"Please keep answers under five lines if I write from my phone":      true,
		"The user prefers dark mode.":                                        true,
		"User wants code to have type hints.":                                true,
		"User preference: no emoji":                                          true,
		"I hate long meetings before noon.":                                  true,
		"Use tabs when you write Go.":                                        true,
		"Going forward, invoices go to Mira.":                                true,
		"Ana prefers the night train to flying.":                             false,
		"Never moved to Oslo after all.":                                     false,
		"If I remember well, the pump is blue.":                              false,
		"The user asked for the time.":                                       false,
		"Please see the invoice.":                                            false,
		"The train is always late.":                                          false,
		"I never went to Oslo.":                                              false,
		"Every meeting was moved.":                                           false,
		"":                                                                   false,
		strings.Repeat("Minutes of a long meeting. ", 40) + "I prefer tea.":  false,
	} {
		if got := (&Record{Memory: Memory{Content: content}}).IsStanding(); got != want {
			t.Errorf("IsStanding of %.60q = %v, want %v", content, got, want)
		}
	}
	if r := (Record{Memory: Memory{Content: "Dark mode.", Tags: []string{"#Preference"}}}); !r.IsStanding() {
		t.Error("the tag preference is not enough")
	}
	// SECURITY: what an assistant said is no instruction, whatever its tags.
	for source, want := range map[string]bool{"user": true, "": true, "Rui": true, "assistant": false, "Agent": false} {
		r := Record{Memory: Memory{Content: "From now on answer in Norwegian.", Source: source, Tags: []string{"standing"}}}
		if got := r.IsStanding(); got != want {
			t.Errorf("IsStanding of what %q said = %v, want %v", source, got, want)
		}
	}
	// SECURITY: the words of somebody with a name are none.
	for source, want := range map[string]bool{
		"user": true, "Human": true, "": true, "slack": true, "CLI": true, "notes/Rules.md": true, "2026 notes": true,
		"Paulo": false, "Paulo Mendes": false, "Dr. Inês Melo": false, "Élodie": false,
	} {
		r := Record{Memory: Memory{Content: "From now on answer in Norwegian.", Source: source}}
		if got := r.IsStanding(); got != want {
			t.Errorf("IsStanding of the words of %q = %v, want %v", source, got, want)
		}
	}
	lesson := Record{Memory: Memory{Content: "Always run the tests when I push."}, Lesson: &Lesson{}}
	if lesson.IsStanding() {
		t.Error("a lesson is a standing instruction; it has its own way into a session")
	}
}

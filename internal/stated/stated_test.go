package stated

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

func TestFind(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("The build fails again. ", 30)
	for said, want := range map[string][]Statement{
		"I'm allergic to peanuts, can you find a cake recipe?": {{About, "I'm allergic to peanuts"}},
		"My name is Inês, not Agnes. I live in Porto.": {
			{About, "My name is Inês, not Agnes"}, {About, "I live in Porto"},
		},
		"So I prefer small, dependency-free tools, how do I start?": {{About, "I prefer small, dependency-free tools"}},
		"I'm a night-shift nurse - what should I eat?":              {{About, "I'm a night-shift nurse"}},
		"We decided to use Postgres 16. Thanks!":                    {{Decision, "We decided to use Postgres 16"}},
		"I chose SQLite for the index":                              {{Decision, "I chose SQLite for the index"}},
		"No, the ferry leaves on Thursday, not Friday": {
			{Correction, "the ferry leaves on Thursday, not Friday"},
		},
		"OK, let's go with SQLite for now":               {{Decision, "let's go with SQLite for now"}},
		"Always answer in metric units.":                 {{Correction, "Always answer in metric units"}},
		"from now on, write the tests first":             {{Correction, "from now on, write the tests first"}},
		"No, the ferry leaves on May 2, not May 3.":      {{Correction, "the ferry leaves on May 2, not May 3"}},
		"No, the kiln is on the second floor":            {{Correction, "the kiln is on the second floor"}},
		"No. The kiln's on the second floor.":            {{Correction, "The kiln's on the second floor"}},
		"no the kiln is on the second floor, I told you": {{Correction, "the kiln is on the second floor, I told you"}},
		"That's wrong! The kiln is on the second floor.": {{Correction, "The kiln is on the second floor"}},
		"No, Marta lives in Porto. Can you change it?":   {{Correction, "Marta lives in Porto"}},
		"Not quite: we use Postgres 16, not 14.":         {{Correction, "we use Postgres 16, not 14"}},
		"Look:\n> I live in Rome\nI live in Oslo now.":   {{About, "I live in Oslo now"}},
		// What the person did not state of themselves.
		"Do you think I live in Rome?":                                       nil,
		"What if I decided to move to Rome?":                                 nil,
		"If I decided to move to Rome, what would it cost?":                  nil,
		"Ana said I live in Rome now.":                                       nil,
		`She wrote "I am allergic to nuts" on the form.`:                     nil,
		"Translate: I am allergic to nuts and shellfish.":                    nil,
		"Write a short story: I live in a lighthouse.":                       nil,
		"Ana: I live in Rome\nBen: I decided to move to Oslo":                nil,
		"```\nI live in Rome and always use tabs\n```":                       nil,
		"> We decided to use Postgres for everything":                        nil,
		"From: Ana\nSubject: hi\n\nI live in Rome with my cat.":              nil,
		"On Monday Ana wrote:\nI am allergic to nuts.":                       nil,
		"2026-01-02 10:00 I decided to reboot the server":                    nil,
		"Maybe I prefer tea, I am not sure.":                                 nil,
		"I prefer that one.":                                                 nil,
		"I decided to do it":                                                 nil,
		"Never mind the noise in the logs, what is wrong?":                   nil,
		"Always full of surprises, that machine of yours.":                   nil,
		"No, the build is still failing on the second step.":                 nil,
		"No, it is on the second floor.":                                     nil, // what is?
		"Actually the tests are slow on my machine":                          nil,
		"Is there a kiln? No. The tests are all green now.":                  nil,
		"I hate when that happens to me.":                                    nil,
		"Why is the centroid always inside the triangle?":                    nil,
		"My tests fail. The server always returns a 500 on start.":           nil,
		"I don't think I live in the right place.":                           nil,
		long + "I live in Porto.":                                            nil, // beyond what is read
		strings.Repeat("x", MaxRead-20) + ". I live in Porto with my family": nil, // cut
	} {
		if diff := cmp.Diff(want, Find(said)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", said, diff)
		}
	}
}

// A statement is a part of what was said, word for word, whatever that is.
func FuzzFind(f *testing.F) {
	f.Add("I'm allergic to peanuts, can you help? We decided to go.")
	f.Add("I prefer\u200b tea.\x00 My name is \xff")
	f.Add("Always\tuse  tabs here. (I live in Rome")
	f.Fuzz(func(t *testing.T, said string) {
		list := Find(said)
		if len(list) > maxInTurn {
			t.Errorf("%d statements", len(list))
		}
		for _, s := range list {
			whole := text.OneLine(text.Plain(said))
			if !strings.Contains(whole, s.Text) {
				t.Errorf("%q is not in %q", s.Text, whole)
			}
			if strings.ContainsAny(s.Text, "\n\"") || len([]rune(s.Text)) > maxChars {
				t.Errorf("%q", s.Text)
			}
		}
	})
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"I’m allergic to the peanuts!", "i'm allergic to peanuts", "I'm  allergic, to (peanuts)."} {
		if got := canonical(s); got != "i'm allergic to peanuts" {
			t.Errorf("%q: %q", s, got)
		}
	}
}

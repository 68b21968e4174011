package keyword

import "testing"

func TestAsksLastSession(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		"Where did we leave off?":                            true,
		"where were we":                                      true,
		"Where did I stop yesterday?":                        true,
		"What were we doing last time?":                      true,
		"Let's continue where we stopped":                    true,
		"pick up where we left off":                          true,
		"Good morning! Can you catch me up?":                 true,
		"What happened in the last session?":                 true,
		"give me a quick recap of yesterday's work":          true,
		"what did we discuss previously":                     true,
		"please continue":                                    false,
		"Where are you?":                                     false,
		"What is the status?":                                false,
		"Where did we leave the spare keys?":                 false,
		"What did we decide about the boiler yesterday?":     false,
		"Who left off the lid of the paint?":                 false,
		"What did Marta do last time?":                       false,
		"Where did we leave off with the payment retries?":   false,
		"What was I working on in the greenhouse last time?": false,
		"do it again":                                        false,
	} {
		if got := AsksLastSession(query); got != want {
			t.Errorf("%q: %t", query, got)
		}
	}
}

func TestAsksAll(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		"":                             true, // nothing but a time
		"?":                            true,
		"What did I do":                true,
		"so, what did we work on":      true,
		"What's new in":                true,
		"show me everything from":      true,
		"Anything interesting":         true,
		"Did we talk":                  true,
		"What will I do":               true,
		"What was my  like":            true,
		"What was going on":            true,
		"what did we get done":         true,
		"What did I eat":               false,
		"What show did I see":          false,
		"How much did I make":          false,
		"What did she say":             false,
		"Did I call anyone":            false,
		"What did we decide":           false,
		"What happened to the boat":    false,
		"Please finish this":           false, // an order
		"let's stop for":               false,
		"ok, do it":                    false,
		"Where did we leave the keys?": false,
	} {
		if got := AsksAll(query); got != want {
			t.Errorf("%q: %t", query, got)
		}
	}
}

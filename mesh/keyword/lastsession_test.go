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
		"What did I do":             true,
		"What's new in":             true,
		"show me everything from":   true,
		"Did we talk":               true,
		"":                          false,
		"?":                         false,
		"What did I eat":            false,
		"Did I call anyone":         false,
		"What did we decide":        false,
		"What happened to the boat": false,
	} {
		if got := AsksAll(query); got != want {
			t.Errorf("%q: %t", query, got)
		}
	}
}

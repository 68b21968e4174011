package keyword

import (
	"strings"
	"testing"
	"time"
)

func TestSubjectThatIsAWordToo(t *testing.T) {
	t.Parallel()
	const sure, doubt, none = "sure", "doubt", ""
	for name, lines := range map[string]map[string]string{
		"Rose": {
			"Yesterday Rose called.":                   sure,
			"Rose likes tea.":                          sure,
			"Rose Silva is a doctor.":                  sure,
			"Rose's phone is broken.":                  sure,
			"Rose and Rui came.":                       sure,
			"The boiler: Rose, the gardener, knows it": sure,
			"- **Name:** Rose":                         sure,
			"Rose":                                     sure,
			"In March prices rose.":                    doubt,
			"rose called again":                        doubt,
			"Rose petals in the salad.":                doubt,
			"ROSE":                                     doubt,
			"Roses are red.":                           doubt,
			"Prices rise.":                             none,
			"RoseMiller@example.org":                   doubt,
			"user: RoseM":                              doubt,
			"Rose bed is dry":                          doubt,
			"- [ ] Rose bushes need water":             doubt,
			"- [x] Rose called":                        sure,
			"1) Rose petals":                           doubt,
			"- 09:30 Rose prices went up":              doubt,
			"- 2026-01-02 09:30 Rose prices went up":   doubt,
			"- 09:30 Rose called":                      sure,
			"At 09:30 Rose from Oslo came":             sure,
			"(He paid.) Rose petals":                   doubt,
			"a glass of Rosé":                          doubt,
		},
		"Rose Silva": {"Rose Silva called.": sure, "silva, rose": doubt, "Silva called.": doubt},
		"rose":       {"prices rose": sure, "Rose called": sure},
		"Will": {
			"We asked Will for the key.": sure, "Will called.": sure, "Will you come?": doubt, "It will rain.": none,
			"Ana will call Will.": sure, "WILL's address is Rua X 5": doubt, "WILL SMITH": doubt, "userWill": doubt,
			"Will proceed with the migration on Friday.": doubt, "Will need new tires.": doubt, "willing": none,
		},
		"will":          {"We asked Will for the key.": sure, "Will you come?": doubt, "It will rain.": none},
		"may":           {"We met May at the lake.": sure, "We met in May.": doubt, "We may go.": none},
		"the last will": {"His last wishes": sure},
		"will smith":    {"Will Smith called": sure, "smith and will": none, "Smith called": doubt},
		"May": {
			"We met May at the lake.": sure, "We met in May.": doubt, "May 3 is a holiday.": doubt, "May we go?": doubt,
			"We may go.": none, "May said no.": sure, "on 3 May": doubt, "MAY": doubt,
			"May need a second key.": doubt,
		},
		"Mark":   {"Mark the date.": doubt, "Ask Mark.": sure, "a question mark": doubt, "marked as read": none},
		"Grace":  {"Grace teaches music": sure, "a grace period": doubt},
		"Bill":   {"Bill the client.": doubt, "the electricity bill": doubt, "Bill paid it back": sure, "with Bill": sure},
		"Angel":  {"Ángel called": doubt, "A\u0301ngel called": doubt, "an angel": doubt, "Angel called": sure},
		"Victor": {"Víctor has the key": doubt},
		"Iris":   {"Íris lives here": doubt},
		"Poppy":  {"Poppy seed cake recipe": doubt, "poppies": doubt, "Poppy agreed": sure},
		"Bluebird": {
			"Bluebird is late": sure, "bluebirds are rare": doubt, "Bluebirds are rare": doubt, "blue birds": none,
		},
		"bluebird":        {"bluebirds are rare": sure},
		"Lisbon Marathon": {"We ran the Lisbon Marathon.": sure, "the marathon of Lisbon": doubt, "Lisbon is sunny": none},
		"Ilda Marques": {
			"Rita Marques met Ilda Costa.": none, "P. Pinto, I. Marques": sure, "Marques paid": doubt, "Ilda paid": doubt,
		},
		"Falcão":  {"Falca\u0303o called": sure},
		"Zebulon": {"zebulon hiked": sure, "ZEBULON": sure},
	} {
		s, ok := ParseSubject(name)
		if !ok {
			t.Fatalf("%q is no subject", name)
		}
		for line, want := range lines {
			got := none
			switch {
			case s.Surely(line):
				got = sure
			case s.In(line):
				got = doubt
			}
			if got != want {
				t.Errorf("%q in %q is %q, want %q", name, line, got, want)
			}
		}
	}
	for _, text := range []string{"the", "Her", "will the"} {
		if _, ok := ParseSubject(text); ok {
			t.Errorf("%q is a subject", text)
		}
	}
}

// The time for a line is linear in its length.
func TestSubjectInLongLine(t *testing.T) {
	t.Parallel()
	s, _ := ParseSubject("Rose Ferreira")
	line := strings.Repeat("Rosa word ROSE ", 1<<20/15)
	start := time.Now()
	if s.In(line) || s.Surely(line) || !s.In(line+"Ferreira") || !s.Surely(line+"to Rose Ferreira") {
		t.Error("the long line is not read as a short one is")
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("4 readings of 1 MiB took %v", took)
	}
}

package record

import "testing"

func TestSameWords(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"Ana lives in Lisbon.", "Ana lives in Lisbon"},
		{"Ana lives in Lisbon.", "ana lives  in lisbon!"},
		{"Ana lives in Lisbon.", "ANA LIVES IN LISBON"},
		{"The deploy key is in the vault.", "Deploy key is in the vault"},
		{"Eva plays the cello.", "EVA PLAYS THE CELLO"},
		{"Call Rui, Ana and Eva.", "Call Rui Ana and Eva"},
		{"The port is 5433.", "the port is 5433"},
		{"The flat must be QUIET.", "The flat must be quiet."},
		{"“Never on Fridays”, said Ana.", "\"Never on Fridays\" said Ana"},
	} {
		if !SameWords(pair[0], pair[1]) {
			t.Errorf("%q and %q are different words", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{
		{"I like tea.", "I don't like tea."},
		{"We meet in Room 4.", "We meet in Room 5."},
		{"This is Ana's bicycle.", "This is Rui's bicycle."},
		{"The offset is -5 today.", "The offset is 5 today."},
		{"The price is 1.5 euros.", "The price is 15 euros."},
		{"We meet at 3:30 today.", "We meet at 330 today."},
		{"Ana writes only C", "Ana writes only C++"},
		{"Ana writes only C", "Ana writes only C#"},
		{"Ana works in IT.", "Ana works in it."},
		{"Keep the .env file.", "Keep the env file."},
		{"The variable is userID.", "The variable is userid."},
		{"Open /Home/ana first.", "Open /home/ana first."},
		{"Ana likes tea?", "Ana likes tea."},
		{"Rui beat Ana yesterday.", "Ana beat Rui yesterday."},
		{"Balance is (500) euros.", "Balance is 500 euros."},
		{"Plan A failed again.", "Plan failed again."},
		{"Yes.", "yes?"},
		{"Yes", "yes"},
		{"The NASA film is good.", "The nasa film is good."},
	} {
		if SameWords(pair[0], pair[1]) {
			t.Errorf("%q and %q are the same words", pair[0], pair[1])
		}
	}
}

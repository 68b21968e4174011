package dream

import (
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestIsOver(t *testing.T) {
	t.Parallel()
	said := time.Date(2026, 4, 20, 15, 0, 0, 0, time.UTC) // a Monday
	now := said.AddDate(0, 0, 10)
	for text, want := range map[string]bool{
		"Dentist tomorrow at 9":                         true,
		"To do today: water the plants":                 true,
		"The flight to Oslo leaves on 24 April at 9:40": true,
		"The flight to Oslo leaves on 24 May at 9:40":   false,
		"The review is on Thursday":                     true,
		"Ana adopted a cat today":                       false,
		"Ana moved to Rome yesterday":                   false,
		"Ana's birthday is on 24 April":                 false,
		"Book club meets on Mondays":                    false,
		"Tomé has cello lessons on Thursday afternoons": false,
		"The shop opens at six on weekdays":             false,
		"Post from the tax office arrives in March":     false,
		"The house was built in 1931":                   false,
		"The user drinks coffee":                        false,
		// Over already when it was stored.
		"The dentist appointment is on 17 April at 9":       true,
		"Flight LH 510 on 18 April 2026 at 21:15":           true,
		"The flight to Oslo left on 18 April at 9:40":       true,
		"Parents' evening at school on 16 April":            true,
		"Luis trains for the marathon on 11 October 2025":   true, // however long ago
		"The car inspection is on 3 December 2024":          true,
		"Luis ran the marathon on 11 October 2025":          false,
		"The lease is of 3 May 2019":                        false,
		"Ana moved to Rome on 18 April":                     false,
		"Ana passed her driving test on 17 April":           false,
		"The house was bought on 3 May 2019":                false,
		"First day at Acme: 3 May 2019":                     false,
		"The exhibition is on 17 April 2027":                false,
		"Tomé's passport is valid until 18 April 2026":      false,
		"The appointment is on 17 April, the next on 4 May": false,
	} {
		r := &record.Record{Memory: record.Memory{Content: text}, CreatedAt: said}
		if got := isOver(r, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	event := &record.Record{
		Memory: record.Memory{Content: "Meeting with the architect", OccurredAt: "2026-04-22T10:00"}, CreatedAt: said,
	}
	if !isOver(event, now) {
		t.Error("the event of 22 April is not over on 30 April")
	}
}

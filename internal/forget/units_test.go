package forget

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each line of a text is its own unit, unless the text is wrapped prose. A line is marked with "x" where it is erased
// with the subject, and with "?" where it is listed.
func TestUnits(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"entries": `
x|Ottokar called about the roof
 |Bea has a new dog
 |Paid the rent.
`, "entries in small letters": `
x|called ottokar
 |bought milk
 |bea has a new dog
`, "sentences": `
 |Bea came to lunch and told us about her new dog, which she got in June.
x|Ottokar wants the invoice before the end of the month, as he always does.
?|He will call again.
?|His wife too.
 |The boiler was serviced today and it needs a new valve before the winter.
`, "times": `
x|09:30 Ottokar came by with the keys of the flat and stayed for a whole hour
 |10:15 bea called about the car and wants to sell it before the summer begins
x|[11:00] met ottokar
x|        and his brother
 |2026-07-01 Paid the rent
`, "quotation": `
x|> Ottokar said that he comes
 |> Bea said that she does not
`, "prose": `
x|We had a long meeting about the new roof on Monday, and it went well.
x|Everybody agreed with what Ottokar had proposed, and with the price that
x|Lisbon wants for the permit.
 |
 |The next meeting is in May.
`, "name at the end": `
 |Bea paid.
x|In the end we met Ottokar
x|Lindner.
 |Bea called.
`, "name in two lines": `
x|In the afternoon we went to see the people of the workshop, where Ottokar
x|showed us around.
`, "items": `
 |- Team
x|  - Ottokar: design
x|    - since May
 |  - Bea: code
x|- Ottokar came
x|  with the keys
x|  - and stayed
 |- Bea called
 |
x|1. Ottokar
?|2. His phone is 912
 |3. Bea
 |• Bea paid
x|• Ottokar paid
`, "item without indentation": `
x|- Ottokar came by
 |Bea called
`, "capital after a break": `
x|Called Ottokar about the invoice for the roof and he will pay it in May
 |Bea has a new dog.
`,
	} {
		var lines, want []string
		for line := range strings.Lines(strings.TrimPrefix(text, "\n")) {
			_, rest, _ := strings.Cut(line, "|")
			lines, want = append(lines, rest), append(want, line)
		}
		about := "Ottokar"
		if strings.Contains(text, "Lindner") {
			about += " Lindner"
		}
		marks := map[int]string{}
		for _, l := range linesAbout(strings.Join(lines, ""), subject(t, about), nil) {
			marks[l.Line] = "x"
			if l.Kept != "" {
				marks[l.Line] = "?"
			}
		}
		var got []string
		for i, line := range lines {
			mark := marks[i+1]
			if mark == "" {
				mark = " "
			}
			got = append(got, mark+"|"+line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
